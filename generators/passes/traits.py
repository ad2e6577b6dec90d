"""What few passes have: each trait is one fact that others need to know of a pass, with its reason to be known.

A row of the pass table lists the traits of its pass (`PassRow.traits`). Who needs the fact asks `PassRow.trait` for it,
`PassRow.named` for the names in it, `PassRow.has` whether it is there, or `generators.passes.table.with_trait` for all
the rows that have it. What every row answers is in the records of `generators.passes.row`.
"""

from __future__ import annotations

from dataclasses import dataclass


class Trait:
    """One fact about a pass."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Naming(Trait):
    """A fact that is a list of names or texts."""

    names: tuple[str, ...]


# Its place among other passes


@dataclass(frozen=True, slots=True)
class Synchronises(Naming):
    """Makes barriers between threads explicit in these scopes of `EVERY_SCOPE`: what none of them orders afterwards may
    race."""


@dataclass(frozen=True, slots=True)
class ReliesOn(Trait):
    """The pass without which the result means nothing, so that a reduction removes both or none."""

    name: str


@dataclass(frozen=True, slots=True)
class Undoes(Naming):
    """Passes that have to be applied again where their result is asked for: what this one adds has not seen them."""


@dataclass(frozen=True, slots=True)
class ActsWith(Trait):
    """The option of the PassContext without which the pass changes nothing."""

    option: str


@dataclass(frozen=True, slots=True)
class FirstOnly(Trait):
    """The pass takes a module straight from the front end: no pass may stand before it."""


@dataclass(frozen=True, slots=True)
class KeepsItsMark(Trait):
    """What it has rewritten still carries the mark that it looks for: it is not for its own result, also not where a
    build applies the rest of a pipeline that has it."""


@dataclass(frozen=True, slots=True)
class Overwrites(Trait):
    """Afterwards calls that count as pure overwrite values in place. Passes that replace a value by an equal one do not
    expect that, so that only lowering may follow (relax.op.call_tir_inplace warns of it)."""


# The passes that are applied before it


@dataclass(frozen=True, slots=True)
class PreparedBy(Naming):
    """Passes to apply just before: without them this one has nothing to do, or what it leaves cannot be built."""


@dataclass(frozen=True, slots=True)
class TakesBlocks(Trait):
    """Takes every PrimFunc for one of sblocks. A setup leaves the pass out where a program has others."""


@dataclass(frozen=True, slots=True)
class TakesAnyLoops(Trait):
    """Takes PrimFuncs of loops as LowerOpaqueBlock leaves them. A share of its setups leaves out the passes that only
    tidy loops before."""


@dataclass(frozen=True, slots=True)
class SetUpWithout(Naming):
    """Passes of the TIR pipeline that the setup leaves out where this one is drawn by itself: they break what it looks
    for, which the official pipelines show often enough."""


@dataclass(frozen=True, slots=True)
class MakesLoops(Trait):
    """Without this pass of the TIR pipeline there are no loops, or no threads, after LowerOpaqueBlock. The other passes
    before it only tidy. (LowerOpaqueBlock removes loops of one iteration unless AnnotateIrregularLoop has marked them.)
    """


# What it does on purpose, so that it is no finding


@dataclass(frozen=True, slots=True)
class AgainWith(Naming):
    """Operators and attributes of modules with which an idempotent pass does more at a second application."""


@dataclass(frozen=True, slots=True)
class ReadsAllFunctions(Trait):
    """What the pass does to one function follows from all of the module, dead ones too, on purpose."""


@dataclass(frozen=True, slots=True)
class Consumes(Naming):
    """Attributes of functions that are a request to this pass, which removes them when it has done it."""


@dataclass(frozen=True, slots=True)
class InferenceOnly(Trait):
    """The pass takes every batch_norm for one of inference, whatever its attribute `training` says."""


@dataclass(frozen=True, slots=True)
class Refuses(Trait):
    """A regular expression: an internal error with such a message refuses what the pass is not for."""

    message: str


@dataclass(frozen=True, slots=True)
class ExpectsForced(Trait):
    """The pass brings in impure calls and is documented to come after RemovePurityChecking. Where it comes earlier, an
    impure result is no finding."""


# What else decides its result, so that a fault may not be that of the pass, or of all of it


@dataclass(frozen=True, slots=True)
class AppliesInside(Naming):
    """Passes that it applies inside of itself and that are not idempotent. What a second application changes is theirs
    where one of them alone changes the result, too."""


@dataclass(frozen=True, slots=True)
class Asks(Trait):
    """The attribute of operators that holds what the pass does to each: it has code for every one of them."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Evaluates(Trait):
    """Values of the module are computed with the code that `tvm.tirx.build` makes of it: where a pass of that build is
    wrong, so is the result."""


@dataclass(frozen=True, slots=True)
class FollowsAnnotations(Trait):
    """The pass does as annotations of loops say, which the reference ignores: where its result is wrong, the fault may
    be that of the pass that wrote the annotation."""


# Builds


@dataclass(frozen=True, slots=True)
class Lowers(Naming):
    """Operators that no other pass of an official pipeline lowers. LegalizeOps leaves them."""


@dataclass(frozen=True, slots=True)
class NeededByVM(Trait):
    """Without this pass of the official pipelines, operators stay that the VM cannot run."""


@dataclass(frozen=True, slots=True)
class LeftOutBy(Trait):
    """The option of the PassContext with which `tvm.tirx.build` leaves the pass out."""

    option: str


@dataclass(frozen=True, slots=True)
class NoBuildSets(Trait):
    """Why no row of `oracles.builds.cpu_builds` sets the option of the PassContext that has the name of the pass."""

    why: str


# The census of passes in the tests


@dataclass(frozen=True, slots=True)
class FiresLess(Trait):
    """The share of its applications by itself that change the module, where `PassRow.floor` asks too much."""

    at_least: float
    why: str


@dataclass(frozen=True, slots=True)
class Quiet(Trait):
    """Why no program here shows a change by the structural hash."""

    why: str


# A test or a script of a user applies it: a pass object shows no arguments


@dataclass(frozen=True, slots=True)
class ObjectNamed(Trait):
    """What the pass object is called, where that is not the name of the row. Several rows may share one."""

    name: str


@dataclass(frozen=True, slots=True)
class AlsoMadeBy(Naming):
    """More constructors to compare with."""


@dataclass(frozen=True, slots=True)
class FollowsArguments(Trait):
    """What the pass keeps follows from its arguments: other kernels, other legalisations, another precision."""


@dataclass(frozen=True, slots=True)
class InPlaceOnly(Trait):
    """The pass changes how a PrimFunc is called, or asks for one in the form that the passes before it leave: its
    numbers say nothing about a PrimFunc that a test wrote by hand."""

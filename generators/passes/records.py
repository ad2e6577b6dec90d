"""What few rows of the pass table say besides (`generators.passes.row`): each record is about one thing that others
need to know of a pass."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Excuses:
    """What a pass does on purpose, so that it is no finding."""

    again_with: frozenset[str] = frozenset()
    """Operators and module attributes with which an idempotent pass does more at a second application."""
    of_all_functions: bool = False
    """What it does to one function follows from all of the module, dead ones too, on purpose."""
    consumes: frozenset[str] = frozenset()
    """Attributes of functions that are a request to this pass, which removes them when it has done it."""
    inference_only: bool = False
    """The pass takes every batch_norm for one of inference, whatever its attribute `training` says."""
    refuses: str | None = None
    """A regular expression: an internal error with such a message refuses what the pass is not for."""
    expects_forced: bool = False
    """The pass brings in impure calls and is documented to come after RemovePurityChecking. Where it comes earlier,
    an impure result is no finding."""


@dataclass(frozen=True, slots=True)
class Blame:
    """What else decides the result of a pass, so that a fault may not be that of the pass, or of all of it."""

    applies: tuple[str, ...] = ()
    """Passes that it applies inside of itself and that are not idempotent. What a second application changes is theirs
    where one of them alone changes the result, too."""
    asks: str = ""
    """The attribute of operators that holds what the pass does to each: it has code for every one of them."""
    evaluates: bool = False
    """Values of the module are computed with the code that `tvm.tirx.build` makes of it: where a pass of that build is
    wrong, so is the result."""
    follows_annotations: bool = False
    """The pass does as annotations of loops say, which the reference ignores: where its result is wrong, the fault may
    be that of the pass that wrote the annotation."""


@dataclass(frozen=True, slots=True)
class Builds:
    """What builds have to know of a pass."""

    lowers: frozenset[str] = frozenset()
    """Operators that no other pass of an official pipeline lowers. LegalizeOps leaves them."""
    needed_by_vm: bool = False
    """Without this pass of the official pipelines, operators stay that the VM cannot run."""
    left_out_by: str = ""
    """The option of the PassContext with which `tvm.tirx.build` leaves the pass out."""
    no_build_sets: str = ""
    """Why no row of `oracles.builds.cpu_builds` sets the option of the PassContext that has the name of the pass; "" if
    there is no such option, or a row sets it."""


@dataclass(frozen=True, slots=True)
class Census:
    """What the census of passes in the tests has to know of a pass."""

    at_least: float | None = None
    """The share of its applications by itself that change the module, where `PassRow.floor` asks too much."""
    why_fewer: str = ""
    """The reason for `at_least`."""
    quiet: str = ""
    """Why no program here shows a change by the structural hash; "" where programs do."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the code of a loaded pass names, where it can be read (`generators.passes.vocabulary`)."""

    shapes: tuple[str, ...] = ()
    """Recipes with the nodes that the code of the pass names, where that can be read. A share of its programs gets
    one."""
    prim_shapes: tuple[str, ...] = ()
    """Shapes of PrimFunc with the nodes of TIR, or the fields of blocks, that the code of the pass names, where that
    can be read. Some of the programs for a pass of PrimFuncs get one."""
    operators: tuple[str, ...] = ()
    """Operators that the code of the pass names, where that can be read: chains of them are drawn."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """What to know of the pass where a test or a script of a user applies it: a pass object shows no arguments."""

    name: str = ""
    """What the pass object is called, where that is not the name of the row. Several rows may share one."""
    sources: tuple[str, ...] = ()
    """More constructors to compare with."""
    by_arguments: bool = False
    """What the pass keeps follows from its arguments: other kernels, other legalisations, another precision."""
    in_place_only: bool = False
    """The pass changes how a PrimFunc is called, or asks for one in the form that the passes before it leave: its
    numbers say nothing about a PrimFunc that a test wrote by hand."""

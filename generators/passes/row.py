"""What a row of the pass table says: how to construct a pass, where it may stand, what it promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any

import numpy as np

from generators.source import Source

LOOPS_ALONE = "loops_alone"
"""The feature of programs with a PrimFunc that has no sblocks."""


class Phase(IntEnum):
    """How far a module has been lowered: by `relax.get_default_pipeline`, then its PrimFuncs by `tvm.tirx.build`."""

    HIGH = 0
    """High-level operators."""
    LEGAL = 1
    """After LegalizeOps: call_tir of schedulable PrimFuncs."""
    ANNOTATED = 2
    """After AnnotateTIROpPattern."""
    GROUPED = 3
    """After FuseOps: private functions with attribute Primitive."""
    FUSED = 4
    """After FuseTIR."""
    NONDATAFLOW = 5
    """After ToNonDataflow."""
    IMPURE = 6
    """After RemovePurityChecking: every function is force_pure."""
    LOWERED = 7
    """After CallTIRRewrite: destination passing, builtin.alloc_tensor."""
    PLANNED = 8
    """After StaticPlanBlockMemory: storages and tensors."""
    ALLOCATED = 9
    """After LowerAllocTensor."""
    KILLED = 10
    """After KillAfterLastUse."""
    BUILTIN = 11
    """After LowerRuntimeBuiltin."""
    SHAPELESS = 12
    """After VMShapeLower."""
    SYMBOLED = 13
    """After AttachGlobalSymbol: Relax is ready for the VM code generator, the PrimFuncs are as they were."""
    BOUND = 14
    """After BindTarget: PrimFuncs of schedulable blocks, with their target."""
    INIT = 15
    """After LowerInitBlock."""
    PLACED = 16
    """After PlanAndUpdateBufferAllocationLocation."""
    OPAQUE = 17
    """After ConvertBlocksToOpaque."""
    COMPACT = 18
    """After CompactBufferAllocation."""
    LOOPS = 19
    """After LowerOpaqueBlock: loops, stores, allocations."""
    FLAT = 20
    """After FlattenBuffer."""
    VECTORS = 21
    """After VectorizeLoop."""
    STORAGE = 22
    """After StorageRewrite."""
    SYNCED = 23
    """After ThreadSync: barriers between the threads of a GPU are explicit."""
    SPLIT = 24
    """After SplitHostDevice."""
    PACKED = 25
    """After MakePackedAPI."""
    STORED = 26
    """After BF16StorageLegalize: host and device functions may go their own ways."""
    BUILTINS = 27
    """After LowerTVMBuiltin."""
    INTRINSICS = 28
    """After LowerIntrin: ready for LLVM."""

    @property
    def of_relax(self) -> bool:
        """Whether Relax passes are still to come, none of the TIR pipeline has been."""
        return self <= Phase.SYMBOLED


class Meaning(Enum):
    """What a pass promises about the numbers."""

    SAME = "same"
    """Bit for bit the same operations: no value may change."""
    ROUNDED = "rounded"
    """The same function of the inputs up to reassociation and rounding."""
    APPROXIMATE = "approximate"
    """Lower precision or fast mathematics on purpose: judged with the precision of `lowers_to`."""
    CHANGED = "changed"
    """Another function on purpose (training statistics, gradients): numbers are not compared."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a pass constructor may need to know of one parameter of the entry function."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    is_tensor: bool = True
    value: np.ndarray[Any, Any] | None = None
    """The argument of the first entry call, None where it is unknown."""


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """What pass constructors may depend on: the entry function's parameters and symbolic dims."""

    parameters: tuple[Parameter, ...] = ()
    symbols: tuple[tuple[str, int], ...] = ()
    """Names of the symbolic dims with their values in the first entry call."""
    num_input: int | None = None
    functions: tuple[str, ...] = ("main",)
    """The public functions; the first is the entry function."""
    features: frozenset[str] = frozenset()
    """Which of the features that rows name in `wants` this program has."""
    schedule: tuple[str, ...] = ()
    """Steps of a schedule of its PrimFunc, expressions over `sch`."""
    scheduled: str = ""
    """The name of that PrimFunc."""


@dataclass(frozen=True, slots=True)
class PassRow:
    """One pass of TVM (or of a user's file).

    `sources` are the constructor expressions to choose from; where they depend on the program,
    `draw_source` makes one instead and returns None when this program has no use for the pass.
    `calling` names the row of `oracles.calls.table` that says how to call the result.
    `operators` are those that the pass looks for, where it is known: chains of them are drawn.
    `shapes` are recipes with the nodes that its code names, where that is known: one is planted besides, mostly.
    `recipes` are the shapes of program that the pass fires on (rows of `generators.recipes`), `wants`
    the language features that it needs ("num_input", "vdevice", ...); "prim_funcs" are drawn PrimFuncs of the
    shapes that schedules are for, at times; "any_prim_funcs" are drawn PrimFuncs of every shape, half of the time,
    and "part_blocks" lets blocks of the former cover a part of what they write.
    `options` are configurations of the PassContext that the pass reads, dicts as Python text; one is drawn at times.
    `phases` is where the pass is documented to stand; `gives` the phase it leads to, None for the same.
    `prepared_by` names the rows to apply just before, without which the pass has nothing to work on.
    `of_any_loops`: it takes PrimFuncs of loops as LowerOpaqueBlock leaves them, so that its setup leaves out at times
    what tidies them before.
    `first_only` is True where the pass asks for a module straight from the front end, with no pass before it.
    `buildable` is False where the result is meant for an external code generator: local functions stay in it,
    so that `LambdaLift` must follow before an official pipeline can.
    `inference_only` passes take every batch_norm for one of inference, whatever its attribute `training` says.
    `idempotent` only where nothing that the pass makes can make room for it again: rewrites of patterns may.
    `of_blocks`: it takes every PrimFunc for one of sblocks, so that no setup has it where a program has others.
    `relies_on`: the pass without which its result means nothing, so that no reduction leaves it alone.
    `overwrites`: behind it values are overwritten in place by calls that count as pure, which passes that take equal
    values for one do not expect; only lowering may follow (relax.op.call_tir_inplace warns of it).
    `in_repertoire`: False where there is nothing to do for it but on targets with threads.
    `refuses`: what its internal errors say where they refuse what the pass is not for (a regular expression).
    `lowers_to`: the dtype whose precision is all that an APPROXIMATE pass keeps.
    `well_formed`: False where TVM's own tests say that what the pass leaves is not, for a later pass to mend.
    `keeps_functions` and `keeps_attributes`: whether every function that was there is there afterwards (public Relax
    functions that people call must be in any case), and every attribute of the functions that stayed. `consumes`:
    attributes of functions that tell the pass something and that it takes away when it has done it. `keeps_buffers`:
    False where a PrimFunc is to be given other tensors afterwards than its calls give, which nobody has changed yet.
    """

    name: str
    sources: tuple[str, ...]
    phases: frozenset[Phase]
    why: str
    gives: Phase | None = None
    meaning: Meaning = Meaning.SAME
    calling: str = "same"
    idempotent: bool = True
    of_blocks: bool = False
    relies_on: str | None = None
    needs_target: bool = False
    recipes: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    draw_source: Callable[[Source, ProgramFacts], str | None] | None = None
    options: tuple[str, ...] = ()
    well_formed: bool = True
    keeps_attributes: bool = True
    consumes: frozenset[str] = frozenset()
    keeps_functions: bool = True
    keeps_buffers: bool = True
    in_repertoire: bool = True
    refuses: str | None = None
    lowers_to: str | None = None
    prepared_by: tuple[str, ...] = ()
    of_any_loops: bool = False
    first_only: bool = False
    buildable: bool = True
    inference_only: bool = False
    overwrites: bool = False
    notes: str = field(default="")

    @property
    def of_relax(self) -> bool:
        """Whether the pass may stand while Relax passes are still to come."""
        return any(phase.of_relax for phase in self.phases)

    def draw(self, source: Source, facts: ProgramFacts) -> str | None:
        """A constructor expression, or None when the program has nothing for this pass."""
        return self.draw_source(source, facts) if self.draw_source else source.pick(self.sources)

    def draw_options(self, source: Source) -> str:
        """A configuration of the PassContext for this pass; "" for what is so by default."""
        return source.pick(self.options) if self.options and source.flip() else ""


@dataclass(frozen=True, slots=True)
class ExcludedPass:
    """A pass of this TVM that is in no row, and why a TVM developer would agree."""

    name: str
    reason: str

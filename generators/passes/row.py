"""What a row of the pass table says of a pass: its constructor, its place among passes, its promises, what fires it.

The rows are in the other files of this folder; what few passes have besides is a trait (`generators.passes.traits`).
What the passes of a case are applied to is drawn elsewhere; what constructors may ask of a program is in
`generators.program_facts`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, IntEnum, auto
from typing import TypeVar

from generators.compat.texts import native
from generators.passes.traits import ActsWith, FiresLess, Naming, Trait
from generators.program_facts import Feature, ProgramFacts
from generators.source import Source

T = TypeVar("T", bound=Trait)
FLOOR, PLANTED_FLOOR = 0.05, 0.2
"""The floor of a pass (`PassRow.floor`), and of one for which shapes of program are planted."""
SAME_CALLING = "same"
"""The calling convention of a pass that keeps signatures."""


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
    """After BF16StorageLegalize: from here on host and device functions are lowered apart."""
    BUILTINS = 27
    """After LowerTVMBuiltin."""
    INTRINSICS = 28
    """After LowerIntrin: ready for LLVM."""

    @property
    def of_relax(self) -> bool:
        """Whether Relax passes are still to come and no pass of the TIR pipeline has run."""
        return self <= Phase.SYMBOLED


class Meaning(Enum):
    """What a pass promises about the numbers."""

    SAME = "same"
    """Bit for bit the same operations: no value may change."""
    ROUNDED = "rounded"
    """The same function of the inputs up to reassociation and rounding."""
    APPROXIMATE = "approximate"
    """Lower precision or fast mathematics on purpose: judged with the precision of `Promise.lowers_to`."""
    CHANGED = "changed"
    """Another function on purpose (training statistics, gradients): numbers are not compared."""


class Role(Enum):
    """What other rooms need a certain pass for. `generators.passes.table.the` gives the row of a role."""

    LEGALIZES = auto()
    """Turns operators into calls of PrimFuncs."""
    BINDS_THREADS = auto()
    """Binds the loops of PrimFuncs to the threads of a GPU, as the CUDA pipeline does."""
    SYNCHRONISES = auto()
    """Puts barriers between the threads of a GPU: one row for each kind of memory."""
    GUARDS_DEVICE_MEMORY = auto()
    """Refuses what the host would do with memory of a GPU, in every pipeline for one."""
    SCHEDULES = auto()
    """Applies the schedule that was drawn with a program."""
    APPLIES_TRACES = auto()
    """Applies traces of schedules that it finds or is given, and writes into no module otherwise: several rows."""
    LIFTS_LOCAL_FUNCTIONS = auto()
    """Makes local functions private ones."""
    TIDIES_BINDINGS = auto()
    """Drops bindings that only rename."""
    DROPS_DEAD_CODE = auto()
    """Drops bindings and functions without use."""


@dataclass(frozen=True, slots=True)
class Documented:
    """What TVM itself says of the place of a pass among others (see `generators.passes.order`), and of the modules that
    it takes (see `oracles.preconditions`)."""

    quote: str
    """TVM's words, with single spaces between them."""
    where: str
    """The file of TVM's wheel that holds them: Python source, or LIBRARY for a message of the C++ code."""
    after: tuple[str, ...] = ()
    """Passes that come before this one."""
    before: tuple[str, ...] = ()
    """Passes that do not come before this one."""
    ends_rewriting: bool = False
    """Afterwards only passes for later phases follow."""
    floats: frozenset[str] = frozenset()
    """The dtypes of floats in the modules that it takes, empty for all."""
    infos: frozenset[str] = frozenset()
    """Keys of the global infos that modules must have."""


LIBRARY = "lib/libtvm_compiler.so"
"""The file of TVM's wheel that holds the messages of its passes."""


EVERY_SCOPE = frozenset({"shared", "shared.dyn", "warp", "global"})
"""The scopes of memory that threads of a GPU share. "global" stands for all memory that is not of a kernel."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a pass among other passes."""

    phases: frozenset[Phase]
    """The phases that the pass is documented for."""
    gives: Phase | None = None
    """The phase that the pass leads to; None where the module stays in its phase."""
    fires_in: frozenset[Phase] = frozenset()
    """Of `phases`, those in which it has something to do, where passes before it have done that in the others: a share
    of the sequences that begin with it begin in one of these."""
    needs_target: bool = False
    """The pass asks for the current target."""
    documented: tuple[Documented, ...] = ()
    """What TVM says of the order. No sequence against it is drawn, and none is reduced to one."""

    def phase_after(self, phase: Phase) -> Phase:
        """The phase to which the pass leads from this one."""
        return phase if self.gives is None else self.gives


@dataclass(frozen=True, slots=True)
class Promise:
    """What a pass keeps, and what its result is."""

    meaning: Meaning = Meaning.SAME
    """What stays of the numbers."""
    lowers_to: str | None = None
    """The dtype whose precision is all that an APPROXIMATE pass keeps."""
    calling: str = SAME_CALLING
    """How to call the result: the name of a row of `oracles.calls.table`."""
    idempotent: bool = True
    """A second application changes nothing. False where what the pass makes can give it new work: rewrites of patterns
    may."""
    keeps_functions: bool = True
    """Every function stays. (Public Relax functions that a user calls stay in any case.)"""
    keeps_attributes: bool = True
    """Functions that stay keep their attributes."""
    keeps_buffers: bool = True
    """False where the calls of a PrimFunc must be changed afterwards to give it other tensors, which the pass does not
    do itself."""
    well_formed: bool = True
    """False where TVM's own tests say that the result is not well-formed until a later pass mends it."""
    buildable: bool = True
    """False where the result is for an external code generator: local functions stay in it, so that they must be lifted
    before an official pipeline can follow."""

    @property
    def keeps_signature(self) -> bool:
        """Whether public functions are called as before."""
        return self.calling == SAME_CALLING


class Measured(Enum):
    """How the rate of a pass was measured."""

    EVENLY = auto()
    """In a campaign that draws each row as often as any other:
    `python -m benchmarks.bench_fire_rate --mixed 2000 --even --target llvm cuda`."""
    ALONE = auto()
    """In 240 cases of its own, times how often such a campaign draws the row."""


@dataclass(frozen=True, slots=True)
class Rate:
    """In how many of 1,000 cases a pass changes a module."""

    per_1000: int
    measured: Measured = Measured.EVENLY


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the code of a loaded pass names, where it can be read (`generators.passes.vocabulary`)."""

    shapes: tuple[str, ...] = ()
    """Recipes with the nodes that the code of the pass names. A share of its programs gets one."""
    prim_shapes: tuple[str, ...] = ()
    """Shapes of PrimFunc with the nodes of TIR, or the fields of blocks, that the code of the pass names. Some of the
    programs for a pass of PrimFuncs get one."""
    telling_shapes: tuple[str, ...] = ()
    """Those of them whose node few passes name: half of these programs get one, where there is any."""
    operators: tuple[str, ...] = ()
    """Operators that the code of the pass names: chains of them are drawn."""
    dtypes: tuple[str, ...] = ()
    """Dtypes that it names: some of these chains are of such values."""
    features: tuple[Feature, ...] = ()
    """What its programs have in a share of the cases, since the code asks for such nodes."""


@dataclass(frozen=True, slots=True)
class Fires:
    """What programs and arguments give a pass something to do."""

    recipes: tuple[str, ...] = ()
    """Shapes of program that the pass rewrites (rows of `generators.recipes`)."""
    favoured: tuple[str, ...] = ()
    """Those of `recipes`, or of `prim_recipes`, that have more forms than the others: they are drawn twice as often."""
    prim_recipes: tuple[str, ...] = ()
    """Shapes of PrimFunc that the pass rewrites (rows of `generators.tir.recipes`)."""
    marks: tuple[str, ...] = ()
    """Attributes, annotations, scopes and intrinsics that `prim_recipes` hold and few other programs: code of a loaded
    pass that names one of them is about the same shapes."""
    hints: frozenset[str] = frozenset()
    """Annotations and attributes (rows of `generators.tir.hints`) that the pass reads: drawn PrimFuncs get some."""
    wants: frozenset[Feature] = frozenset()
    """Features that the pass needs."""
    draw_source: Callable[[Source, ProgramFacts], str | None] | None = None
    """Makes a constructor expression for a program; None when the program has no use for the pass."""
    options: tuple[str, ...] = ()
    """Configurations of the PassContext that the pass reads, dicts as Python text. Half of its applications get one,
    and all where it acts with an option alone."""
    in_repertoire: bool = True
    """False where the pass has something to do on targets with threads only."""
    rate: Rate | None = None
    """How often the pass has changed a module, from which follows how often it is drawn (`generators.passes.need`);
    None where that was in one of 2,000 cases at most, or the row is new."""
    vocabulary: Vocabulary = Vocabulary()
    """Of a loaded pass."""

    def measured(self, per_1000: int) -> Fires:
        """The same for a pass with this rate."""
        return replace(self, rate=Rate(per_1000))


@dataclass(frozen=True, slots=True)
class PassRow:
    """One pass of TVM, or of a user's file."""

    name: str
    """The name of the pass in reports and on the command line; with the namespace for passes of TIR."""
    sources: tuple[str, ...]
    """Constructor expressions to choose from, the official pipelines' own first; see also `Fires.draw_source`."""
    why: str
    """Why the row says so: a source file of TVM, a test of it, an issue."""
    place: Place
    promise: Promise = Promise()
    fires: Fires = Fires()
    traits: tuple[Trait, ...] = ()
    """What few passes have: at most one of each class."""
    role: Role | None = None
    """What other rooms need the pass for."""
    space: str = ""
    """The name space of TVM that a pass of a user's file belongs to, as it is no part of its name; "" for Relax."""

    def trait(self, kind: type[T]) -> T | None:
        """The trait of this class, None without it."""
        return next((trait for trait in self.traits if isinstance(trait, kind)), None)

    def named(self, kind: type[Naming]) -> tuple[str, ...]:
        """The names in the trait of this class, none without it."""
        trait = self.trait(kind)
        return () if trait is None else trait.names

    def has(self, kind: type[Trait]) -> bool:
        """Whether the pass has the trait."""
        return self.trait(kind) is not None

    @property
    def of_relax(self) -> bool:
        """Whether the pass may stand while Relax passes are still to come."""
        return any(phase.of_relax for phase in self.place.phases)

    @property
    def floor(self) -> float:
        """The share of the applications of the pass by itself that change the module, at least: held by the census of
        passes in the tests."""
        if (less := self.trait(FiresLess)) is not None:
            return less.at_least
        return PLANTED_FLOOR if self.fires.recipes or self.fires.prim_recipes else FLOOR

    def draw(self, source: Source, facts: ProgramFacts) -> str | None:
        """A constructor expression, or None when the program has nothing for this pass."""
        draw = self.fires.draw_source
        drawn = draw(source, facts) if draw else source.pick(self.sources)
        return None if drawn is None else native(drawn)

    def draw_options(self, source: Source) -> str:
        """A configuration of the PassContext for this pass; "" for TVM's default, under which it may do nothing."""
        wanted = bool(self.fires.options) and (self.has(ActsWith) or source.flip())
        return source.pick(self.fires.options) if wanted else ""


@dataclass(frozen=True, slots=True)
class ExcludedPass:
    """A pass of this TVM that is in no row, and why a TVM developer would agree."""

    name: str
    reason: str

"""What is known of a program besides its module: which features it has, and what constructors of passes may ask."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from generators.dtypes import Array


class Feature(Enum):
    """What a program may have so that a pass finds something to do.

    Rows of passes, recipes and statements ask for features; generators draw programs that have them.
    """

    NUM_INPUT = "num_input"
    """main has the attribute `num_input`, which splits inputs from weights."""
    VDEVICE = "vdevice"
    """Virtual devices, and hints that name them."""
    SYMBOLIC = "symbolic"
    """Symbolic dimensions."""
    CONSTANTS = "constants"
    """Most operands are constants."""
    FLOAT32_ONLY = "float32_only"
    """Every tensor is float32."""
    SCALAR_LOSS = "scalar_loss"
    """main returns one scalar that can be differentiated."""
    PRIVATE_FUNCTIONS = "private_functions"
    """Private functions that main calls."""
    LOCAL_FUNCTIONS = "local_functions"
    """Functions that are defined within a function."""
    LIBRARY_PREFIX = "library_prefix"
    """The module says what the names of its PrimFuncs begin with in a library (`system_lib_prefix`)."""
    GPU_TARGET = "gpu_target"
    """The target has threads."""
    PRIM_FUNCS = "prim_funcs"
    """Drawn PrimFuncs of shapes that schedules are for, in a share of the programs."""
    ANY_PRIM_FUNCS = "any_prim_funcs"
    """Drawn PrimFuncs of every shape, in a share of the programs."""
    PART_BLOCKS = "part_blocks"
    """Blocks of drawn PrimFuncs may cover a part of what they write."""
    INTEGERS = "integers"
    """Drawn PrimFuncs that go through small ranges of integers, in a share of the programs."""
    SCHEDULE = "schedule"
    """A drawn PrimFunc with the steps of a schedule."""
    LOOPS_ALONE = "loops_alone"
    """A PrimFunc without sblocks."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a pass constructor may need to know of one parameter of the entry function."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    is_tensor: bool = True
    value: Array | None = None
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
    features: frozenset[Feature] = frozenset()
    """The features that this program has."""
    schedule: tuple[str, ...] = ()
    """Steps of a schedule of its PrimFunc, expressions over `sch`."""
    scheduled: str = ""
    """The name of that PrimFunc."""
    alike: frozenset[str] = frozenset()
    """The symbolic dims whose name stands for the same number in every function that has one of this name."""
    loss: int = 0
    """The place of the loss among the results."""

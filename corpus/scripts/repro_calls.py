"""The part of a repro script that runs entry calls and compares what they give with what the reference gave.

What a function takes and returns is read off its text, so that a script has no code for tuples where there are none.
A pass may change how a function is called: see `oracles.calls.table`. No TVM is imported here.
"""

from __future__ import annotations

import ast
import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from corpus import arrays_file
from corpus.encoding import INLINE_ELEMENTS
from corpus.finding import Expectation, OutputTolerance
from corpus.frames import FRAMES
from corpus.scripts.module_text import array_source, number_source
from corpus.scripts.syntax import syntax_of
from corpus.store import StoredCase, to_json
from generators.case import Argument, Shape
from generators.dtypes import OF_ML_DTYPES, Array
from generators.externs import EXTERNS
from oracles.calls.script import Way
from oracles.calls.table import way_after

PLAIN_ELEMENTS = 256
"""Arrays up to this size stand in a script that people read, so that it needs no other file."""
ALIKE = 2.0
"""Tolerances of which one is written for all: the largest is at most so many times the smallest."""
Gives: TypeAlias = Literal["tensor", "tensors", "anything", "handed", "inputs"]
"""What a call gives: one tensor, a tuple of tensors, anything (an object, a shape, nested tuples), nothing as its
outputs go to a callback, or nothing as it is a PrimFunc that writes into its inputs."""


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """One entry call as the template `calls.py.j2` reads it: sources of its arguments, and of what it must give.

    plain_tolerances: the tolerances for a script that people read: see `_plain_tolerance`.
    prelude: lines before the call. arrays: which arguments are arrays. dtypes: of the outputs. any_value: some elements
    may hold any value, so that they are not compared.
    """

    function: str
    prelude: str
    arguments: Sequence[str]
    arrays: Sequence[int]
    gives: Gives
    wanted: Sequence[str]
    tolerances: Sequence[str]
    plain_tolerances: Sequence[str]
    dtypes: frozenset[str]
    any_value: bool

    @property
    def all_arrays(self) -> bool:
        """Whether every argument is an array."""
        return len(self.arrays) == len(self.arguments)

    @property
    def floats(self) -> frozenset[str]:
        """Those of the dtypes that are inexact."""
        return frozenset(dtype for dtype in self.dtypes if "float" in dtype)

    @property
    def wide(self) -> bool:
        """Whether differences of the floats can be taken as they are."""
        return self.floats <= {"float32", "float64"}


@dataclass(frozen=True, slots=True)
class CallLines:
    """The lines that make the calls, and what these need once: arrays of the file beside, functions of our own, and a
    function that flattens results."""

    text: str
    reads_arrays: bool
    uses_externs: bool
    flattens: bool


@dataclass(frozen=True, slots=True)
class Calls:
    """The entry calls of one script. single: the script itself holds arrays that are too large to stand inline,
    which are read from the `inputs.npz` next to it otherwise. plain: the script is for an issue.
    compares: what the calls give is compared; else a call that ends in any way is wrong."""

    stored: StoredCase
    single: bool
    plain: bool = False
    compares: bool = True

    @property
    def use_machine(self) -> bool:
        """Whether a virtual machine makes some of the calls: all but those of PrimFuncs."""
        script, calls = self.stored.case.module.script, self.stored.case.calls
        names = [calls[expectation.call].function for expectation in self.stored.expectations]
        return not all(_is_prim_func(_function(script, name)) for name in names)

    def lines(self, built: str, compiled: object, device: str, tensor: str, walled: bool) -> CallLines:
        """The lines that make the calls in what was `built` and compare the results.

        compiled: the expression that compiles `mod`, for calls of PrimFuncs. tensor: the function that makes a
        tensor of an array. walled: inputs stand between pages that cannot be read, by the check's own `walled`.
        """
        sources = _Sources(self._arrays(), PLAIN_ELEMENTS if self.plain else INLINE_ELEMENTS)
        ways = _Ways(sources, tensor, walled)
        calls = [_call(self.stored, expectation, ways) for expectation in self.stored.expectations]
        text = FRAMES.get_template("calls.py.j2").render(
            machine=built if self.use_machine else None,
            device=device,
            compiled=compiled,
            calls=calls,
            repeated=len(calls) > 1 and all(call == calls[0] for call in calls),
            plain=self.plain,
            compares=self.compares,
        )
        flattens = self.compares and any(call.gives == "anything" for call in calls)
        return CallLines(text, sources.read, bool(calls), flattens)

    def inputs(self, function: str) -> CallLines:
        """The list of arrays that the first entry call of a function is given, as an expression."""
        sources = _Sources(self._arrays(), PLAIN_ELEMENTS if self.plain else INLINE_ELEMENTS)
        call = next(call for call in self.stored.case.calls if call.function == function)
        arrays = ", ".join(sources.of(one) for one in call.arguments if isinstance(one, np.ndarray))
        return CallLines(f"[{arrays}]", sources.read, uses_externs=False, flattens=False)

    def once(self, made: Sequence[CallLines]) -> str:
        """What these lines need once, before the passes."""
        script = self.stored.case.module.script
        named = [extern for extern in EXTERNS.values() if f'"{extern.name}"' in script]
        reads = any(lines.reads_arrays for lines in made)
        return FRAMES.get_template("once.py.j2").render(
            reads_arrays=reads,
            arrays=_embedded(self._arrays()) if self.single and reads else None,
            externs=named if any(lines.uses_externs for lines in made) else (),
            flattens=any(lines.flattens for lines in made),
        )

    def _arrays(self) -> dict[str, Array]:
        """The arrays of `inputs.npz`, by their names there."""
        arrays: dict[str, Array] = {}
        to_json(self.stored, arrays)
        return arrays


class _Sources:
    """How a script names arrays. arrays: those in `inputs.npz`. read: whether the script reads one of them."""

    def __init__(self, arrays: dict[str, Array], most: int = INLINE_ELEMENTS) -> None:
        self.arrays = arrays
        self.read = False
        self._most = most
        self._names = {_identity(array): name for name, array in arrays.items()}

    def of(self, array: Array) -> str:
        """The source of an array: its elements, or where it is read from."""
        text = array_source(array, self._most)
        if text is not None and (array.size <= self._most or _identity(array) not in self._names):
            return text
        self.read = True
        name = f'ARRAYS["{self._names[_identity(array)]}"]'
        return f'{name}.view("{array.dtype}")' if str(array.dtype) in OF_ML_DTYPES else name


@dataclass(frozen=True, slots=True)
class _Ways:
    """How a script names arrays, and makes tensors of them."""

    sources: _Sources
    tensor: str
    walled: bool


def _embedded(arrays: dict[str, Array]) -> str:
    return base64.b64encode(arrays_file.written(arrays)).decode()


# --- calls ----------------------------------------------------------------------------------------------


def _call(stored: StoredCase, expectation: Expectation, ways: _Ways) -> ScriptCall:
    entry = stored.case.calls[expectation.call]
    arguments = [_given(argument, ways) for argument in entry.arguments]
    function = _function(stored.case.module.script, entry.function)
    way = Way(entry.function, arguments, function)
    if not _is_prim_func(function):
        for call in (*stored.case.setup, *stored.case.passes):
            way_after(call, way)
    return ScriptCall(
        function=entry.function,
        prelude=way.prelude,
        arguments=way.arguments,
        arrays=[index for index, value in enumerate(entry.arguments) if isinstance(value, np.ndarray)],
        gives="handed" if way.handed else _gives(function, len(expectation.outputs)),
        wanted=[ways.sources.of(output) for output in expectation.outputs],
        tolerances=[_tolerance_source(tolerance, ways.sources) for tolerance in expectation.tolerances],
        plain_tolerances=[_plain_tolerance(tolerance, ways.sources) for tolerance in expectation.tolerances],
        dtypes=frozenset(str(output.dtype) for output in expectation.outputs),
        any_value=not all(np.isfinite(tolerance).all() for tolerance in expectation.tolerances),
    )


# --- what is read off the text --------------------------------------------------------------------------


def _function(script: str, name: str) -> ast.FunctionDef | None:
    try:
        nodes = ast.walk(syntax_of(script))
    except SyntaxError:
        return None
    return next((node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name), None)


def _is_prim_func(function: ast.FunctionDef | None) -> bool:
    return function is not None and any("T.prim_func" in ast.unparse(d) for d in function.decorator_list)


def _gives(function: ast.FunctionDef | None, outputs: int) -> Gives:
    """What a function with so many outputs gives, "anything" where the text does not say."""
    if _is_prim_func(function):
        return "inputs"
    returns = None if function is None else function.returns
    if _is_type(returns, "Tensor") and outputs == 1:
        return "tensor"
    if isinstance(returns, ast.Call) and _is_type(returns, "Tuple"):
        return "tensors" if all(_is_type(field, "Tensor") for field in returns.args) else "anything"
    return "anything"


def _is_type(node: ast.expr | None, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name


# --- sources -----------------------------------------------------------------------------------------------


def _given(argument: Argument, ways: _Ways) -> str:
    if isinstance(argument, tuple):
        fields = "".join(f"{_given(field, ways)}, " for field in argument)
        return f"({fields.rstrip(' ')})"
    if isinstance(argument, Shape):
        return f"tvm.runtime.ShapeTuple({list(argument.extents)})"
    if isinstance(argument, np.ndarray):
        source = ways.sources.of(argument)
        walled = ways.walled and argument.dtype.kind in "iuf"
        return f"walled({source}, at_end)" if walled else f"{ways.tensor}({source})"
    return number_source(argument)


def _tolerance_source(tolerance: OutputTolerance, sources: _Sources) -> str:
    if not isinstance(tolerance, np.ndarray):
        return number_source(tolerance)
    same = tolerance.size > 0 and (tolerance == tolerance.flat[0]).all()
    return number_source(tolerance.flat[0].item()) if same else sources.of(tolerance)


def _plain_tolerance(tolerance: OutputTolerance, sources: _Sources) -> str:
    """The largest tolerance of an output, rounded up, where all are alike; else as in `repro.py`, since a wrong element
    with a tolerance far below the largest must not pass."""
    values = np.asarray(tolerance, np.float64)
    if values.size == 0 or not np.isfinite(values).all() or values.max() > ALIKE * values.min():
        return _tolerance_source(tolerance, sources)
    return number_source(_rounded_up(float(values.max())))


def _rounded_up(number: float) -> float:
    """A number of two digits that is not below the number."""
    if number <= 0:
        return number
    unit = math.floor(math.log10(number)) - 1
    return float(f"{math.ceil(number / 10.0**unit)}e{unit}")


def _identity(array: Array) -> object:
    return array.shape, array.tobytes()

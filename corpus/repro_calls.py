"""The part of a repro script that runs entry calls and compares what they give with what the reference gave.

What a function takes and returns is read off its text, so that a script has no code for tuples where there are none.
A pass may change how a function is called: see `oracles.calls.table`. No TVM is imported here.
"""

from __future__ import annotations

import ast
import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corpus.encoding import INLINE_ELEMENTS
from corpus.finding import Expectation, Tolerance
from corpus.module_text import array_source, indented, number_source
from corpus.store import StoredCase, to_json
from generators.case import Argument, Shape
from generators.dtypes import OF_ML_DTYPES
from generators.externs import EXTERNS
from oracles.calls.script import Way
from oracles.calls.table import way_after

WIDTH = 120

_BESIDE = 'ARRAYS = np.load(os.path.join(os.path.dirname(__file__), "inputs.npz"))\n'
_EMBEDDED = """\
import base64, io

ARRAYS = np.load(io.BytesIO(base64.b64decode("{data}")))
"""

_FLAT = """\
def flat(value):
    if hasattr(value, "numpy"):
        return [value.numpy()]
    if isinstance(value, tvm.runtime.ShapeTuple) or not hasattr(value, "__iter__"):
        return [np.array(value)]
    return [leaf for field in value for leaf in flat(field)]

"""

_EACH = """\
assert len(results) == len(wanted), f"{len(results)} outputs instead of {len(wanted)}"
for number, (got, want, tolerance) in enumerate(zip(results, wanted, tolerances)):
"""

_SAME_TYPE = """\
kinds = [f"{a.dtype}{a.shape}" for a in (got, want)]
assert kinds[0] == kinds[1], f"OUTPUT is {kinds[0]} instead of {kinds[1]}"
"""
_EXACT = "wrong = got != want\n"
_BOUNDED = "wrong = ~np.isclose({got}, {want}, rtol=0, atol={tolerance}, equal_nan=True)\n"
_DEFINED = """\
tolerance = np.broadcast_to(tolerance, want.shape)
defined = np.isfinite(tolerance)  # Elsewhere any value is right.
got, want, tolerance = got[defined], want[defined], tolerance[defined]
"""
_SAY = 'assert not wrong.any(), f"OUTPUT is {got[wrong][0]} instead of {want[wrong][0]}"\n'


@dataclass(slots=True)
class Calls:
    """The entry calls of one script. single: the script itself holds arrays that are too large to stand inline,
    which are read from the `inputs.npz` next to it otherwise."""

    stored: StoredCase
    single: bool
    _arrays: dict[str, Any] = field(init=False, default_factory=dict)
    _names: dict[object, str] = field(init=False)
    _text: str = field(init=False, default="")

    def __post_init__(self) -> None:
        to_json(self.stored, self._arrays)
        self._names = {_identity(array): name for name, array in self._arrays.items()}

    @property
    def use_machine(self) -> bool:
        """Whether a virtual machine makes some of the calls: all but those of PrimFuncs."""
        script, calls = self.stored.case.module.script, self.stored.case.calls
        names = [calls[expectation.call].function for expectation in self.stored.expectations]
        return not all(_is_prim_func(_function(script, name)) for name in names)

    def text(self, built: str, compiled: object, device: str, tensor: str, walled: bool) -> str:
        """The lines that make the calls in what was `built` and compare the results.

        compiled: the expression that compiles `mod`, for calls of PrimFuncs. tensor: the function that makes a
        tensor of an array. walled: inputs stand between pages that cannot be read, by the check's own `walled`.
        """
        ways = _Ways(self._names, compiled, tensor, walled)
        calls = _in_turn([_call(self.stored, expectation, ways) for expectation in self.stored.expectations])
        if self.use_machine:
            calls = f"vm = relax.VirtualMachine({built}, {device})\n{calls}"
        self._text = calls
        return calls

    def once(self) -> str:
        """What the calls of `text` need once, before the passes."""
        lines = ""
        if "ARRAYS[" in self._text:
            lines += _embedded(self._arrays) if self.single else _BESIDE
        script = self.stored.case.module.script
        for extern in EXTERNS.values():
            if f'"{extern.name}"' in script and self._text:
                lines += f'tvm.register_global_func("{extern.name}", {extern.source})\n'
        return lines + (_FLAT if " flat(" in self._text else "")


@dataclass(frozen=True, slots=True)
class _Ways:
    """How a script names arrays, compiles for a call of a PrimFunc, and makes tensors."""

    names: dict[object, str]
    compiled: object
    tensor: str
    walled: bool


def _in_turn(calls: list[str]) -> str:
    """The calls one after the other; a loop where they are the same, for memory that outlives a call."""
    if len(calls) < 2 or len(set(calls)) > 1:
        return "".join(calls)
    return f"for _ in range({len(calls)}):\n{indented(calls[0])}"


def _embedded(arrays: dict[str, Any]) -> str:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return _EMBEDDED.format(data=base64.b64encode(buffer.getvalue()).decode())


# --- calls ----------------------------------------------------------------------------------------------


def _call(stored: StoredCase, expectation: Expectation, ways: _Ways) -> str:
    entry = stored.case.calls[expectation.call]
    names = ways.names
    arguments = [_given(argument, ways) for argument in entry.arguments]
    function = _function(stored.case.module.script, entry.function)
    if _is_prim_func(function):
        return _prim_func_call(entry.function, entry.arguments, arguments, ways) + _compare(expectation, names, None)
    way = Way(entry.function, arguments, function)
    for call in (*stored.case.setup, *stored.case.passes):
        way_after(call, way)
    shape = _returned(function)
    called = f'vm["{entry.function}"]'
    if way.handed:
        call_line = _line("handed = {}\n" + called, way.arguments, "")
        shape = "handed"
        lines = call_line + "results = [handed[index] for index in sorted(handed)]\n"
    elif shape == "tensor" and len(expectation.outputs) == 1:
        lines = _line(f"got = {called}", way.arguments, ".numpy()")
    elif shape == "tuple":
        lines = _line("results = [t.numpy() for t in " + called, way.arguments, "]")
    else:
        lines = _line(f"results = flat({called}", way.arguments, ")")
    return way.prelude + lines + _compare(expectation, names, shape)


def _prim_func_call(name: str, values: Sequence[Argument], arguments: list[str], ways: _Ways) -> str:
    arrays = [index for index, value in enumerate(values) if isinstance(value, np.ndarray)]
    kept = "inputs" if len(arrays) == len(arguments) else f"[inputs[index] for index in {arrays}]"
    return (
        _line("inputs = ", arguments, "", "[]")
        + f'{ways.compiled}["{name}"](*inputs)\n'
        + f"results = [t.numpy() for t in {kept}]\n"
    )


def _line(head: str, entries: Sequence[str], tail: str, brackets: str = "()") -> str:
    """`head(entries)tail`, one line where it fits, else one line per entry."""
    line = f"{head}{brackets[0]}{', '.join(entries)}{brackets[1]}{tail}"
    if len(line.splitlines()[-1]) <= WIDTH:
        return f"{line}\n"
    rows = "".join(f"    {entry},\n" for entry in entries)
    return f"{head}{brackets[0]}\n{rows}{brackets[1]}{tail}\n"


# --- what is read off the text --------------------------------------------------------------------------


def _function(script: str, name: str) -> ast.FunctionDef | None:
    try:
        nodes = ast.walk(ast.parse(script))
    except SyntaxError:
        return None
    return next((node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name), None)


def _is_prim_func(function: ast.FunctionDef | None) -> bool:
    return function is not None and any("T.prim_func" in ast.unparse(d) for d in function.decorator_list)


def _returned(function: ast.FunctionDef | None) -> str:
    """What it returns: "tensor", "tuple" of tensors, or "" for anything else and for what the text does not say."""
    returns = None if function is None else function.returns
    if _is_type(returns, "Tensor"):
        return "tensor"
    if isinstance(returns, ast.Call) and _is_type(returns, "Tuple"):
        return "tuple" if all(_is_type(field, "Tensor") for field in returns.args) else ""
    return ""


def _is_type(node: ast.expr | None, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name


# --- what is compared -----------------------------------------------------------------------------------


def _compare(expectation: Expectation, names: dict[object, str], shape: str | None) -> str:
    wanted = [_array_source(output, names) for output in expectation.outputs]
    tolerances = [_tolerance_source(tolerance, names) for tolerance in expectation.tolerances]
    dtypes = {str(output.dtype) for output in expectation.outputs}
    open_ended = not all(np.isfinite(tolerance).all() for tolerance in expectation.tolerances)
    kinds = _SAME_TYPE + (_DEFINED if open_ended else "")
    if shape == "tensor" and len(wanted) == 1:
        body = kinds + _wrong(dtypes, "tolerance" if open_ended else tolerances[0]) + _SAY
        rows = f"want = {wanted[0]}\n" + (f"tolerance = {tolerances[0]}\n" if open_ended else "")
        return rows + body.replace("OUTPUT", "the output")
    rows = _line("wanted = ", wanted, "", "[]") + _line("tolerances = ", tolerances, "", "[]")
    body = (kinds + _wrong(dtypes, "tolerance") + _SAY).replace("OUTPUT", "output {number}")
    return rows + _EACH + "".join(f"    {line}\n" for line in body.splitlines())


def _wrong(dtypes: set[str], tolerance: str) -> str:
    """Integers are compared exactly; floats of few bits in float64, so that the difference is not rounded."""
    floats = {dtype for dtype in dtypes if "float" in dtype}
    if not floats:
        return _EXACT
    wide = floats <= {"float32", "float64"}
    got, want = ("got", "want") if wide else ('got.astype("float64")', 'want.astype("float64")')
    bounded = _BOUNDED.format(got=got, want=want, tolerance=tolerance)
    if floats == dtypes:
        return bounded
    return bounded.rstrip("\n") + ' if "float" in str(want.dtype) else got != want\n'


def _given(argument: Argument, ways: _Ways) -> str:
    if isinstance(argument, tuple):
        fields = "".join(f"{_given(field, ways)}, " for field in argument)
        return f"({fields.rstrip(' ')})"
    if isinstance(argument, Shape):
        return f"tvm.runtime.ShapeTuple({list(argument.extents)})"
    if isinstance(argument, np.ndarray):
        source = _array_source(argument, ways.names)
        walled = ways.walled and argument.dtype.kind in "iuf"
        return f"walled({source}, at_end)" if walled else f"{ways.tensor}({source})"
    return number_source(argument)


def _tolerance_source(tolerance: Tolerance, names: dict[object, str]) -> str:
    if not isinstance(tolerance, np.ndarray):
        return number_source(tolerance)
    same = tolerance.size > 0 and (tolerance == tolerance.flat[0]).all()
    return number_source(tolerance.flat[0].item()) if same else _array_source(tolerance, names)


def _identity(array: np.ndarray[Any, Any]) -> object:
    return array.shape, array.tobytes()


def _array_source(array: np.ndarray[Any, Any], names: dict[object, str]) -> str:
    text = array_source(array)
    if text is not None and (array.size <= INLINE_ELEMENTS or _identity(array) not in names):
        return text
    name = f'ARRAYS["{names[_identity(array)]}"]'
    return f'{name}.view("{array.dtype}")' if str(array.dtype) in OF_ML_DTYPES else name

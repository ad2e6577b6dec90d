"""TVMScript that TVM's parser reads as something else than its printer wrote, or refuses, written in another way.

Places are found in the syntax tree and replaced in the text, which keeps the printer's comments and lines. Nothing here
is trusted: `corpus.module_text` keeps a script only where it parses back to a structurally equal module. No TVM is
imported here.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

Edits: TypeAlias = "Iterator[tuple[ast.expr, str]]"
"""Expressions, and the text that is to stand in their place."""

UNCHECKED = "check_well_formed=False"
_SCALAR = re.compile(r"(u?int|float|bfloat)\d+\w*|bool")
_UNFOLDED = {"T.min": "T.Min", "T.max": "T.Max", "T.truncmod": "T.Mod"}
_AXES = ("T.axis.spatial", "T.axis.reduce", "T.axis.scan", "T.axis.opaque")
_LARGEST_FLOAT32 = 3.4028234663852886e38


def replaced(script: str, edits: Iterable[tuple[ast.expr, str]]) -> str:
    """The script with these expressions of its syntax tree replaced. None may lie in another one."""
    lines = script.encode().split(b"\n")  # Columns of a syntax tree count bytes.
    places = {(node.lineno, node.col_offset): (node, text) for node, text in edits}
    for _, (node, text) in sorted(places.items(), key=lambda place: place[0], reverse=True):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        lines[first : last + 1] = [lines[first][: node.col_offset] + text.encode() + lines[last][node.end_col_offset :]]
    return b"\n".join(lines).decode()


def readable(script: str) -> str:
    """The script without what no parser of TVM reads."""
    for edits in (_type_arguments, _wide_floats):
        script = replaced(script, edits(script))
    return script


def scripts(script: str) -> Iterator[str]:
    """The script with one rewriting after another, each once it changes something."""
    for edits in REWRITES:
        changed = replaced(script, edits(script))
        if changed != script:
            script = changed
            yield script


def _calls(script: str) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Call)]


def _type_arguments(script: str) -> Edits:
    """CallTIRRewrite gives types to calls of an operator whose constructor takes none."""
    lines = script.splitlines()
    for call in _calls(script):
        if ast.unparse(call.func) == "R.builtin.alloc_tensor" and [k.arg for k in call.keywords] == ["ty_args"]:
            numbers = [isinstance(argument, ast.Constant) for argument in call.args]
            sources = map(ast.unparse, call.args)
            given = ", ".join(f"T.int64({x})" if number else x for x, number in zip(sources, numbers, strict=True))
            types = ", ".join(map(ast.unparse, getattr(call.keywords[0].value, "elts", ())))
            line = lines[call.lineno - 1]
            inner = " " * (len(line) - len(line.lstrip()) + 4)
            made = f'tvm.ir.Op.get("relax.builtin.alloc_tensor"), [{given}], None, [{types}]'
            yield call, f"tvm.ir.Call(\n{inner}{made})"


def _wide_floats(script: str) -> Edits:
    """The parser makes a float32 of the argument of `T.float64(1e300)` first."""
    for call in _calls(script):
        value = _number(call.args) if ast.unparse(call.func) == "T.float64" else None
        if value is not None and _LARGEST_FLOAT32 < abs(value) < math.inf:
            yield call, f'T.FloatImm("float64", {value!r})'


def _number(arguments: list[ast.expr]) -> float | None:
    """The number that is the only argument; None where it is something else. `T.float64()` is a type."""
    try:
        [number] = arguments
        return float(ast.literal_eval(number))
    except (ValueError, TypeError):
        return None


def _scalar_types(script: str) -> Edits:
    """Scalars in the types of Relax are printed as `T.int64`, which is a value there and no type."""
    calls = _calls(script)
    called = {id(call.func) for call in calls}
    of_relax = [call for call in calls if ast.unparse(call.func).startswith("R.")]
    for node in [node for call in of_relax for node in ast.walk(call) if id(node) not in called]:
        match node:
            case ast.Attribute(value=ast.Name(id="T"), attr=attr) if _SCALAR.fullmatch(attr):
                yield node, f'R.Prim("{attr}")'


def _scalars_of_64_bits(script: str) -> Edits:
    """Relax prints the int64 of a call of a variable, of a sum and of an index as a bare number, an int32 there."""
    functions = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.FunctionDef)]
    relax = [node for node in functions if any("R.function" in ast.unparse(d) for d in node.decorator_list)]
    for call in [node for function in relax for node in ast.walk(function) if isinstance(node, ast.Call)]:
        name = ast.unparse(call.func)
        if "." not in name or name == "R.take" or (name.startswith("T.") and not _SCALAR.fullmatch(name[2:])):
            numbers = [argument for argument in call.args if isinstance(argument, ast.Constant)]
            for number in [one for one in numbers if type(one.value) is int]:
                yield number, f"T.int64({ast.unparse(number)})"


def _unfolded(script: str) -> Edits:
    """`T.min(1, 2)` is computed when it is parsed; `T.Min(1, 2)` is not."""
    for call in _calls(script):
        if (name := ast.unparse(call.func)) in _UNFOLDED:
            yield call.func, _UNFOLDED[name]


def _axes_from_int32(script: str) -> Edits:
    """`T.axis.spatial(n, i)` begins at a zero of the dtype of n; Python code often makes a zero of int32."""
    for call in _calls(script):
        if ast.unparse(call.func) in _AXES and call.args and not isinstance(call.args[0], ast.Tuple):
            yield call.args[0], f"(0, {ast.unparse(call.args[0])})"


def _ill_formed(script: str) -> Edits:
    """A module that TVM's checkers refuse is parsed where the script says that it is not to be checked."""
    for node in ast.parse(script).body:
        for decorator in getattr(node, "decorator_list", ()):
            if ast.unparse(decorator) == "I.ir_module":
                yield decorator, f"I.ir_module({UNCHECKED})"


REWRITES: tuple[Callable[[str], Edits], ...] = (
    _scalar_types,
    _unfolded,
    _scalars_of_64_bits,
    _ill_formed,
    _axes_from_int32,
)
"""In the order to try; each is added to those before it."""

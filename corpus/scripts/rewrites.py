"""TVMScript that TVM's parser reads as something else than its printer wrote, or refuses, written in another way.

Places are found in the syntax tree and replaced in the text, which keeps the printer's comments and lines. Nothing here
is trusted: `corpus.scripts.module_text` keeps a script only where it parses back to a structurally equal module. No TVM
is imported here.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TypeAlias

from corpus.scripts.syntax import syntax_of

Edits: TypeAlias = "Iterator[tuple[ast.expr | ast.stmt, str]]"
"""Expressions and statements, and the text that is to stand in their place."""

UNCHECKED = "check_well_formed=False"
_SCALAR = re.compile(r"(u?int|float|bfloat)\d+\w*|bool")
_UNFOLDED = {"T.min": "T.Min", "T.max": "T.Max", "T.truncmod": "T.Mod"}
_AXES = ("T.axis.spatial", "T.axis.reduce", "T.axis.scan", "T.axis.opaque")
_LARGEST_FLOAT32 = 3.4028234663852886e38


def replaced(script: str, edits: Iterable[tuple[ast.expr | ast.stmt, str]]) -> str:
    """The script with these parts of its syntax tree replaced. None may lie in another one."""
    lines = script.encode().split(b"\n")  # Columns of a syntax tree count bytes.
    places = {(node.lineno, node.col_offset): (node, text) for node, text in edits}
    for _, (node, text) in sorted(places.items(), key=lambda place: place[0], reverse=True):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        lines[first : last + 1] = [lines[first][: node.col_offset] + text.encode() + lines[last][node.end_col_offset :]]
    return b"\n".join(lines).decode()


def readable(script: str) -> str:
    """The script without what no parser of TVM reads."""
    for edits in (_type_arguments, _wide_floats, _not_finite, _mode_of_take_backward, _bound_empty_tuples):
        script = replaced(script, edits(script))
    return script


def scripts(script: str) -> Iterator[str]:
    """The script with one rewriting after another, each once it changes something: first those of REWRITES alone, then
    all of them again on top of each of RARE."""
    yield from _one_after_another(script)
    for edits in RARE:
        changed = replaced(script, edits(script))
        if changed != script:
            script = changed
            yield script
            yield from _one_after_another(script)


def _one_after_another(script: str) -> Iterator[str]:
    for edits in REWRITES:
        changed = replaced(script, edits(script))
        if changed != script:
            script = changed
            yield script


def _source(script: str, node: ast.expr) -> str:
    """The text of an expression as it stands in the script."""
    return ast.get_source_segment(script, node) or ast.unparse(node)


def _calls(script: str) -> list[ast.Call]:
    return [node for node in ast.walk(syntax_of(script)) if isinstance(node, ast.Call)]


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


def _not_finite(script: str) -> Edits:
    """Relax prints `R.const("nan", "float32")`, and the parser takes numbers alone."""
    for number in [call.args[0] for call in _calls(script) if ast.unparse(call.func) == "R.const" and call.args]:
        if isinstance(number, ast.Constant) and number.value in ("nan", "inf", "-inf"):
            yield number, f'float("{number.value}")'


def _mode_of_take_backward(script: str) -> Edits:
    """`R.grad.take_backward` takes no mode, which its call has: `R.take` makes the same attributes."""
    for call in _calls(script):
        if ast.unparse(call.func) == "R.grad.take_backward" and [k.arg for k in call.keywords] == ["axis", "mode"]:
            given = [_source(script, argument) for argument in call.args]
            options = [f"{keyword.arg}={_source(script, keyword.value)}" for keyword in call.keywords]
            attrs = f"R.take({', '.join([*given[-2:], *options])}).attrs"
            yield call, f'tvm.ir.Call("relax.grad.take_backward", [{", ".join(given)}], {attrs})'


def _bound_empty_tuples(script: str) -> Edits:
    """Relax prints a dataflow block whose output is an empty tuple as `a: R.Tuple` above it and `R.tuple()` in it."""
    for node in ast.walk(syntax_of(script)):
        body = getattr(node, "body", ())  # that of a lambda is an expression
        for one, other in pairwise(body if isinstance(body, list) else ()):
            match one, other:
                case ast.AnnAssign(target=ast.Name(id=name), value=None), ast.With(body=[ast.Expr(value=made), *_]):
                    if ast.unparse(made) == "R.tuple()":
                        yield one, "# The empty tuple is bound in the block."
                        yield made, f"{name} = R.tuple()"


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
    functions = [node for node in ast.walk(syntax_of(script)) if isinstance(node, ast.FunctionDef)]
    relax = [node for node in functions if any("R.function" in ast.unparse(d) for d in node.decorator_list)]
    for call in [node for function in relax for node in ast.walk(function) if isinstance(node, ast.Call)]:
        name = ast.unparse(call.func)
        if "." not in name or name == "R.take" or (name.startswith("T.") and not _SCALAR.fullmatch(name[2:])):
            for number in filter(_is_integer, call.args):
                yield number, f"T.int64({ast.unparse(number)})"


def _is_integer(argument: ast.expr) -> bool:
    match argument:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)) | ast.Constant(value=value):
            return type(value) is int
        case _:
            return False


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
    for node in syntax_of(script).body:
        for decorator in getattr(node, "decorator_list", ()):
            if ast.unparse(decorator) == "I.ir_module":
                yield decorator, f"I.ir_module({UNCHECKED})"


def _empty_shapes(script: str) -> Edits:
    """`R.Shape([])` is read as a shape of any rank; any other iterable of nothing is one of rank 0."""
    for call in _calls(script):
        if ast.unparse(call) == "R.Shape([])":
            yield call.args[0], "iter([])"


def _void_calls(script: str) -> Edits:
    """A PrimFunc that calls another gets an empty tuple in TVMScript, and void from passes that were made before."""
    functions = [node for node in ast.walk(syntax_of(script)) if isinstance(node, ast.FunctionDef)]
    prims = [node for node in functions if any("T.prim_func" in ast.unparse(d) for d in node.decorator_list)]
    for node in [node for function in prims for node in ast.walk(function) if isinstance(node, ast.Expr)]:
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="Module")) as called, args=given):
                arguments = ", ".join(_source(script, argument) for argument in given)
                yield node.value, f'tvm.ir.Call({ast.unparse(called)}, [{arguments}], ret_ty="void")'


def _untyped_pointers(script: str) -> Edits:
    """`T.tvm_access_ptr` gives a pointer to what its first argument is; TVM's schedules make plain handles of it."""
    for call in _calls(script):
        if ast.unparse(call.func) == "T.tvm_access_ptr" and call.args:
            yield call.func, "T.call_intrin"
            yield call.args[0], f'"handle", "tirx.tvm_access_ptr", {_source(script, call.args[0])}'


REWRITES: tuple[Callable[[str], Edits], ...] = (
    _scalar_types,
    _unfolded,
    _scalars_of_64_bits,
    _ill_formed,
    _axes_from_int32,
)
"""In the order to try; each is added to those before it."""
RARE: tuple[Callable[[str], Edits], ...] = (_empty_shapes, _void_calls, _untyped_pointers)
"""Where the printed text stands for two things, of which the parser reads the usual one."""

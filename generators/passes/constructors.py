"""Reads the expressions that construct passes, without evaluating them. No TVM here.

A case of another user says how its passes are constructed. Such a text is either word for word in the pass table, or a
call of constructors of the table with literals and with what the rows draw besides: arrays, patterns, virtual devices,
maps of indices, and the steps of a schedule. `constructor` reads one of these; all else is `NotOfTheTable`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeAlias

from generators.passes.table import PASSES
from generators.passes.traits import AlsoMadeBy
from generators.script_shape import complaint_about

Names: TypeAlias = Mapping[str, Any]
"""What the first words of dotted names stand for: `generators.tvm_api.PASS_NAMES`, and PASSES of a loaded file."""

LOOKS = frozenset({"get_sblock", "get_loops", "get_child_blocks", "get_producers", "get_consumers", "work_on"})
STEPS = frozenset(
    """add_unit_loop annotate annotate_buffer_access bind blockize cache_index cache_inplace cache_read cache_write
    compute_at compute_inline decompose_padding decompose_reduction fuse fuse_reduction_epilogue loop_partition merge
    pad_einsum parallel read_at reindex reindex_cache_read reindex_cache_write reorder reorder_block_iter_var
    reverse_compute_at reverse_compute_inline rfactor rolling_buffer sample_categorical sample_compute_location
    sample_partitioned_tile sample_perfect_tile set_scope split storage_align tensorize transform_block_layout
    transform_layout unannotate unroll unsafe_set_dtype vectorize write_at""".split()  # noqa: SIM905 - a list of words
)
"""The methods of a schedule that a case may call; a test holds them against `generators.tir.primitives`."""

_DRAWN = frozenset({"np.array", "np.nan", "np.inf", "dpl.is_op", "dpl.wildcard", "dpl.is_const", "relax.VDevice"})
_INTRINSIC, _SCRIPT = "s_tir.TensorIntrin.register", "script.from_source"
_MODULE_PASS, _SCHEDULE = "transform.module_pass", "s_tir.Schedule"
_PATTERN = "dpl.is_op"
LOADED = "PASSES"
"""What constructors call the passes of a loaded file."""
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_SCALARS = (str, int, float, bool, type(None))
PASS_FILE = "<pass>"
"""What tracebacks name as the file of the expression that constructs a pass."""
_LONGEST = 1 << 18
"""Characters of an expression."""


class NotOfTheTable(ValueError):
    """The text is no expression of the pass table; says which part."""


@dataclass(frozen=True, slots=True)
class Constructor:
    """An expression that was read. fixed: whether it stands in the table as it is."""

    source: str
    tree: ast.expr
    fixed: bool

    def __call__(self, names: Names) -> Any:
        """What it constructs: each call is a look-up and a call of what was found."""
        if self.fixed:
            return eval(_code(self.source), dict(names))  # the table's own text
        return _value(self.tree, names, {})


@lru_cache(maxsize=1024)
def constructor(source: str) -> Constructor:
    """The expression that a text is. Raises NotOfTheTable."""
    if source in _texts():
        return Constructor(source, ast.Constant(None), fixed=True)
    tree = _parsed(source)
    try:
        _check(tree, frozenset())
    except RecursionError:
        raise NotOfTheTable("nested too deeply") from None
    return Constructor(source, tree, fixed=False)


def expression(text: str) -> str:
    """The text, where it is an expression of Python, of the table or not, or nothing: a pass that a test suite brought
    has none. Nothing is evaluated. Raises NotOfTheTable for any other text, which passfuzz never writes."""
    if text and text not in _texts():
        _parsed(text)
    return text


def literal(node: ast.expr) -> Any:
    """The value of literals, and of calls of np.array with these. Raises NotOfTheTable for anything else."""
    import numpy

    if any(_plain_name(part).partition(".")[0] not in ("", "np") for part in ast.walk(node)):
        raise NotOfTheTable(f"no literal: {_shown(node)}")
    _check(node, frozenset())
    return _value(node, {"np": numpy}, {})


def options_of(text: str) -> dict[str, Any]:
    """The configuration of a PassContext: a dict of literals, or {} for no text. Raises NotOfTheTable."""
    if not text:
        return {}
    try:
        options = ast.literal_eval(_parsed(text))
    except (ValueError, TypeError, RecursionError, MemoryError):
        options = None
    if not isinstance(options, dict) or not all(isinstance(name, str) for name in options):
        raise NotOfTheTable(f"options are no dict of literals: {text[:80]}")
    return options


def read_table() -> None:
    """Reads the table's expressions now, so that processes forked from this one need not."""
    _called()


# --- what may be said -------------------------------------------------------------------------------------


@cache
def _texts() -> frozenset[str]:
    """The expressions that the table spells out."""
    return frozenset(text for row in PASSES.values() for text in (*row.sources, *row.named(AlsoMadeBy)))


@cache
def _called() -> frozenset[str]:
    """The names that may be called: those in the table's expressions without functions of their own, and the passes
    of rows that draw their expressions."""
    trees = [ast.parse(text, mode="eval") for text in _texts()]
    plain = [tree for tree in trees if not any(isinstance(node, ast.Lambda) for node in ast.walk(tree))]
    named = {_plain_name(node) for tree in plain for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    drawn = {f"relax.transform.{name}" for name, row in PASSES.items() if row.fires.draw_source and "." not in name}
    return frozenset({name for name in named if name} | drawn | _DRAWN)


def _parsed(text: str) -> ast.expr:
    if len(text) > _LONGEST:
        raise NotOfTheTable(f"longer than {_LONGEST} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotOfTheTable(f"no expression of Python: {text[:80]!r}") from error


def _plain_name(node: ast.AST) -> str:
    """A dotted name, without a leading `tvm`; "" for any other node."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(words)]).removeprefix("tvm.")


def _shown(node: ast.AST) -> str:
    try:
        text = ast.unparse(node)
    except RecursionError:
        text = "(nested too deeply)"
    return text if len(text) <= 80 else f"{text[:80]}..."


def _check(node: ast.expr, bound: frozenset[str]) -> None:
    """Raises NotOfTheTable for the first part that may not be said. bound: parameters of functions around it."""
    for part, names in _parts(node, bound):
        _check(part, names)


def _parts(node: ast.expr, bound: frozenset[str]) -> Iterator[tuple[ast.expr, frozenset[str]]]:
    """The parts of an expression that are expressions, each with what is bound there. Raises NotOfTheTable."""
    match node:
        case ast.Constant(value=value) if isinstance(value, _SCALARS):
            return
        case ast.Name(id=name) if name in bound:
            return
        case ast.Attribute() if _plain_name(node) in _called():
            return
        case ast.Lambda(args=args, body=body) if _is_plain(args):
            yield body, bound | {one.arg for one in args.args}
        case ast.Call(keywords=keywords) if (steps := _schedule_of(node)) is not None:
            yield from ((step, frozenset({"sch"})) for step in steps)
            yield from ((part.value, bound) for part in keywords)
        case ast.Call(keywords=keywords) if _may_be_called(node) and _named(keywords):
            yield from ((part, bound) for part in _parts_of_call(node))
        case _:
            parts = _parts_of_value(node, in_function=bool(bound))
            if parts is None:
                raise NotOfTheTable(f"not of the pass table: {_shown(node)}")
            yield from ((part, bound) for part in parts)


def _parts_of_call(call: ast.Call) -> Iterator[ast.expr]:
    match call.func:
        case ast.Call() as made:  # is_op(...)(...)
            yield made
        case ast.Attribute(value=ast.Call() as made):  # array(...).reshape(...)
            yield made
    if _plain_name(call.func) != _SCRIPT:
        yield from (*call.args, *(keyword.value for keyword in call.keywords))


def _parts_of_value(node: ast.expr, in_function: bool) -> list[ast.expr] | None:
    """The parts of a container, of an operator's result, or of an element; None for anything else."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return parts
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return [*filter(None, keys), *values]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return [operand]
        case ast.BinOp(left=left, op=operator, right=right) if in_function and type(operator) in _OPERATORS:
            return [left, right]
        case ast.Subscript(value=ast.Call() as value, slice=ast.Constant(value=int())):
            return [value]
        case _:
            return None


def _named(keywords: list[ast.keyword]) -> bool:
    return all(keyword.arg is not None for keyword in keywords)


def _is_plain(args: ast.arguments) -> bool:
    return not (args.defaults or args.kw_defaults or args.kwonlyargs or args.posonlyargs or args.vararg or args.kwarg)


def _may_be_called(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id="sch"), attr=method):
            return method in STEPS or method in LOOKS
        case ast.Attribute(value=ast.Call(func=made), attr="reshape"):
            return _plain_name(made) == "np.array"
        case ast.Call(func=made):
            return _plain_name(made) == _PATTERN
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str())):
            return name == LOADED and not call.args and not call.keywords
        case func if _plain_name(func) == _SCRIPT:
            return _is_script(call)
        case func:
            return _plain_name(func) in _called() | {_INTRINSIC}


def _is_script(call: ast.Call) -> bool:
    """Whether the TVMScript in the call is plain."""
    match call:
        case ast.Call(args=[ast.Constant(value=str(text))], keywords=[]):
            return complaint_about(text) is None
        case _:
            return False


def _schedule_of(call: ast.Call) -> list[ast.expr] | None:
    """The steps of a schedule that stands as a pass; None for any other call."""
    match call:
        case ast.Call(
            args=[
                ast.Lambda(
                    args=ast.arguments(args=[ast.arg(arg="mod"), ast.arg(arg="ctx")]) as parameters,
                    body=ast.Subscript(value=ast.Tuple(elts=[first, *steps, last]), slice=end),
                )
            ]
        ) if _plain_name(call.func) == _MODULE_PASS and _is_plain(parameters) and _named(call.keywords):
            begins = ast.unparse(first) == f"(sch := tvm.{_SCHEDULE}(mod))"
            ends = ast.unparse(last) == "sch.mod" and ast.unparse(end) == "-1"
            return steps if begins and ends else None
        case _:
            return None


# --- what it gives ----------------------------------------------------------------------------------------


def _value(node: ast.expr, names: Names, bound: Names) -> Any:
    """The value of an expression that was checked."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return bound[name]
        case ast.Tuple(elts=parts):
            return tuple(_value(part, names, bound) for part in parts)
        case ast.List(elts=parts):
            return [_value(part, names, bound) for part in parts]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(filter(None, keys), values, strict=True)
            return {_value(key, names, bound): _value(value, names, bound) for key, value in pairs}
        case ast.UnaryOp(operand=operand):
            return -_value(operand, names, bound)
        case ast.BinOp(left=left, op=operator, right=right):
            return _OPERATORS[type(operator)](_value(left, names, bound), _value(right, names, bound))
        case ast.Subscript(value=value, slice=ast.Constant(value=index)):
            return names[LOADED][index] if isinstance(value, ast.Name) else _value(value, names, bound)[index]
        case ast.Lambda():
            return _function(node, names, bound)
        case ast.Attribute(value=value, attr=attr):
            return getattr(_place(value, names, bound), attr)
        case ast.Call():
            return _called_with(node, names, bound)
        case _:
            raise NotOfTheTable(_shown(node))


def _place(node: ast.expr, names: Names, bound: Names) -> Any:
    """What a name or an attribute is looked up in."""
    match node:
        case ast.Name(id=name):
            return bound[name] if name in bound else names[name]
        case ast.Attribute(value=value, attr=attr):
            return getattr(_place(value, names, bound), attr)
        case _:
            return _value(node, names, bound)


def _called_with(call: ast.Call, names: Names, bound: Names) -> Any:
    steps = _schedule_of(call)
    keywords = {part.arg or "": _value(part.value, names, bound) for part in call.keywords}
    if steps is not None:
        return names["tvm"].transform.module_pass(_scheduling(steps, names), **keywords)
    return _value(call.func, names, bound)(*(_value(part, names, bound) for part in call.args), **keywords)


def _scheduling(steps: list[ast.expr], names: Names) -> Callable[[Any, Any], Any]:
    """A function over a module that takes the steps of a schedule."""

    def scheduled(mod: Any, ctx: Any) -> Any:
        sch = names["tvm"].s_tir.Schedule(mod)
        for step in steps:
            _value(step, names, {"sch": sch})
        return sch.mod

    scheduled.__name__ = "<lambda>"
    return scheduled


def _function(node: ast.Lambda, names: Names, bound: Names) -> Callable[..., Any]:
    """A function with the parameters of the expression, which TVM looks at."""
    parameters = [one.arg for one in node.args.args]

    def function(*given: Any) -> Any:
        return _value(node.body, names, {**bound, **dict(zip(parameters, given, strict=True))})

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__name__ = "<lambda>"
    function.__signature__ = inspect.Signature([inspect.Parameter(one, kind) for one in parameters])  # type: ignore[attr-defined]
    return function


@lru_cache(maxsize=1024)
def _code(source: str) -> Any:
    return compile(source, PASS_FILE, "eval")

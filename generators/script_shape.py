"""Whether the text of a module is plain TVMScript, so that TVM's parser runs nothing of its author. No TVM here.

TVM's parser evaluates the expressions of a script as Python: a constant, an annotation, the shape of a parameter, also
one that is given as a string. So only what scripts need is let through: the calls of `script_names.txt`, literals,
operators, and names that the script binds itself. Everything is looked at, wherever it stands.

What the module does when it is built and run is another matter: a PrimFunc may call any function of the process. That
is what the walls of `fuzzer.processes.sandbox` are for.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

NAMES_FILE = Path(__file__).with_name("script_names.txt")
"""Dotted names, one a line; one that ends in `*` stands for all below it. `tests/generators/test_script_shape.py` holds
them against TVM."""
_ROOTS = frozenset({"T", "R", "I", "tvm", "np", "Axis", "TypeVar"})
"""What a script may name besides its own names (`corpus.scripts.module_text.script_names`)."""
_FUNCTIONS = frozenset({"range", "float", "int", "bool", "len", "min", "max", "abs", "iter", "TypeVar"})
_HELPERS = frozenset({"retyped", "laid_out", "ranged"})
"""`corpus.scripts.script_losses.HELPERS`, in the lines after a module."""
_AS_VARIABLES = frozenset(
    """abs all any bin bool bytes chr dict filter float format hash hex id input int iter len list map max min next oct
    ord pow range repr reversed round set slice sorted str sum tuple type zip""".split()  # noqa: SIM905 - a list of words
)
"""Functions of Python whose names are names of variables in models. Mentioned and not called, they do nothing."""
_ATTRIBUTES = frozenset(
    """access_ptr astype attrs buffer byte_offset data dtype elem_offset extent ir load local min offset_of partition
    permute ptr_to region reshape scope shape store strides ty view vload vstore""".split()  # noqa: SIM905 - a list of words
)
"""Attributes of what a script has made: buffers, regions, arrays."""
_DTYPE = re.compile(r"[a-z]+[0-9_a-z]*")
_ODD_BREAK = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_LOAD_JSON = "tvm.ir.load_json"
_ONLY_CALLED = frozenset({_LOAD_JSON, "np.array", "np.full", "np.ones", "np.zeros"})
_TAKE_FUNCTIONS = frozenset({"T.comm_reducer", "T.CommReducer", "T.index_map"})
"""What may be given a function: it is called with variables."""
_DECORATORS = frozenset({"I.ir_module", "T.prim_func", "R.function"})
_IMPORTED = ("tvm", "numpy", "typing", "ml_dtypes", "__future__")


@dataclass(frozen=True, slots=True)
class NotPlain:
    """What is not plain, and its line, from 1."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class _BoundNames:
    """What a script binds: all its names, and those of its classes."""

    bound: frozenset[str]
    classes: frozenset[str]


def complaint_about(script: str) -> NotPlain | None:
    """The first part of a script that is not plain TVMScript; None for a plain one, and for no Python at all, which
    TVM does not run either."""
    try:
        tree = ast.parse(script)
    except (SyntaxError, ValueError):
        return None
    except (RecursionError, MemoryError):
        return NotPlain(1, "nested too deeply to be looked at")
    names = _names_in(tree)
    if _ODD_BREAK.search(script):
        return NotPlain(1, "a line break that not every reader counts as one")
    taken = sorted(names.bound & _ROOTS)
    if taken:
        return NotPlain(1, f"gives {taken[0]} another meaning")
    refused = (_refused(node, names) for node in _all(tree))
    return min((one for one in refused if one is not None), key=lambda one: one.line, default=None)


@cache
def allowed() -> tuple[frozenset[str], tuple[str, ...]]:
    """The dotted names of the file, and the beginnings of those that stand for all below."""
    names = NAMES_FILE.read_text(encoding="utf-8").split()
    return frozenset(name for name in names if name[-1] != "*"), tuple(name[:-1] for name in names if name[-1] == "*")


def _is_allowed(name: str) -> bool:
    names, beginnings = allowed()
    return name in names or (name.startswith(beginnings) and "._" not in name)


# --- the nodes --------------------------------------------------------------------------------------------


def _all(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node to be looked at for itself: not dotted names, which are looked at as a whole, and no docstrings."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        match node:
            case ast.Attribute() if _dotted(node):
                pass
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Call():
                waiting.extend(_parts_of_call(node))
            case _:
                waiting.extend(ast.iter_child_nodes(node))


def _parts_of_call(node: ast.Call) -> Iterator[ast.AST]:
    """Without the function where the call names it, without what is JSON, and of functions over axes their bodies."""
    name = _dotted(node.func)
    if name == _LOAD_JSON:
        return
    if not name and not isinstance(node.func, ast.Name):
        yield node.func
    yield from node.keywords
    for one in node.args:
        if name in _TAKE_FUNCTIONS and isinstance(one, ast.Lambda):
            yield from (one.args, one.body)
        else:
            yield one


def _names_in(tree: ast.AST) -> _BoundNames:
    nodes = list(ast.walk(tree))
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    return _BoundNames(frozenset(name for node in nodes for name in _bound_by(node)), frozenset({*classes, "cls"}))


def _bound_by(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return (name,)
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case _ if type(node).__name__ == "TypeVar":  # Python 3.12: def f[n](...)
            return (str(getattr(node, "name", "")),)
        case _:
            return ()


def _refused(node: ast.AST, names: _BoundNames) -> NotPlain | None:
    if _is_plain(node, names):
        return None
    try:
        text = " ".join(ast.unparse(node).split())
    except (RecursionError, ValueError):
        text = type(node).__name__
    return NotPlain(getattr(node, "lineno", 1), text if len(text) <= 100 else f"{text[:100]}...")


_STRUCTURE = (
    ast.alias, ast.Expr, ast.Return, ast.Pass, ast.Break, ast.Continue, ast.If, ast.While, ast.With, ast.withitem,
    ast.Assert, ast.Tuple, ast.List, ast.Set, ast.Slice, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
"""Nodes that are plain where their parts are."""


def _is_plain(node: ast.AST, names: _BoundNames) -> bool:
    """Whether a node is plain, its parts apart."""
    match node:
        case ast.stmt() if not isinstance(node, _STRUCTURE):
            return _is_plain_statement(node)
        case ast.Module(body=statements):
            return _stand_alone(statements)
        case ast.arguments(defaults=defaults, kw_defaults=others):
            return not any(map(_holds_text, (*defaults, *filter(None, others)))) and not (node.vararg or node.kwarg)
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
            return _is_plain_name(name)
        case ast.Name(id=name):
            return _is_plain_name(name) and (name in names.bound or name in names.classes)
        case ast.keyword(arg=name):
            return name is not None
        case ast.expr() if not isinstance(node, _STRUCTURE):
            return _is_plain_expression(node, names)
        case _:
            return isinstance(node, _STRUCTURE) or type(node).__name__ == "TypeVar"


def _is_plain_expression(node: ast.expr, names: _BoundNames) -> bool:
    match node:
        case ast.Attribute():
            return _is_plain_attribute(node, names)
        case ast.Call():
            return _is_plain_call(node, names)
        case ast.Dict(keys=keys):
            return None not in keys
        case ast.Constant(value=str(text)):
            return _is_plain_text(text, names)
        case ast.Constant(value=value):
            return value is None or value is ... or isinstance(value, (int, float))
        case ast.BinOp(left=left, right=right):
            return not (_holds_text(left) or _holds_text(right))
        case ast.Subscript(value=value):
            return not _holds_text(value)
        case _:
            return False


def _is_plain_name(name: str) -> bool:
    return not name.startswith("__") and (not _is_builtin(name) or name in _AS_VARIABLES)


def _is_plain_statement(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom():
            return _is_import(node)
        case ast.ClassDef(bases=bases, keywords=keywords, name=name):
            return not bases and not keywords and not name.startswith("__")
        case ast.FunctionDef(name=name, decorator_list=decorators):
            marked = bool(decorators) and all(_dotted_head(one) in _DECORATORS for one in decorators)
            return marked and not name.startswith("__") and name not in _HELPERS and not _is_builtin(name)
        case ast.Assign(targets=targets, value=value):
            return all(map(_is_place, targets)) and not _holds_text(value)
        case ast.AnnAssign(target=target, value=value):
            return _is_place(target) and not (value is not None and _holds_text(value))
        case ast.AugAssign(target=target, value=value):
            return _is_place(target) and not _holds_text(value)
        case ast.For(target=target, iter=made):
            return _is_place(target) and isinstance(made, ast.Call)
        case _:
            return False


def _stand_alone(statements: list[ast.stmt]) -> bool:
    """Whether no line holds parts of two statements: the lines of imports and docstrings are cut out before TVM sees
    the rest (`corpus.scripts.module_text.without_imports`), which must not turn a text into code."""
    return all((one.end_lineno or 0) < other.lineno for one, other in pairwise(statements))


def _is_builtin(name: str) -> bool:
    return hasattr(builtins, name)


def _is_import(node: ast.Import | ast.ImportFrom) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return all(name.partition(".")[0] in _IMPORTED for name in names)


def _is_place(node: ast.expr) -> bool:
    """Whether something may be assigned there: names, elements, attributes; each is looked at for itself."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(map(_is_place, parts))
        case ast.Subscript(value=ast.Name() | ast.Attribute()) | ast.Name():
            return True
        case _:
            return False


def _holds_text(node: ast.expr) -> bool:
    """Whether the value may be, or be made of, a text of the script: texts are never put together, so that each that
    is evaluated was looked at."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, (str, bytes))
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.BoolOp(values=parts):
            return any(map(_holds_text, parts))
        case ast.IfExp(body=one, orelse=other):
            return _holds_text(one) or _holds_text(other)
        case ast.Subscript(value=value):
            return _holds_text(value)
        case ast.Dict(values=values):
            return any(map(_holds_text, values))
        case _:
            return False


# --- names and calls --------------------------------------------------------------------------------------


def _dotted(node: ast.expr) -> str:
    """A name with its attributes, where it begins with one of the roots; "" for anything else."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    if not (isinstance(node, ast.Name) and node.id in _ROOTS):
        return ""
    return ".".join([node.id, *reversed(words)])


def _is_plain_attribute(node: ast.Attribute, names: _BoundNames) -> bool:
    name = _dotted(node)
    if name:
        return _is_allowed(name) and name not in _ONLY_CALLED
    if isinstance(node.value, ast.Name) and node.value.id in names.classes:
        return not node.attr.startswith("__")  # a function of the module
    return node.attr in _ATTRIBUTES


def _is_plain_call(node: ast.Call, names: _BoundNames) -> bool:
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    match node.func:
        case ast.Name(id=name) if name in _HELPERS:
            return True
        case ast.Name(id="float"):
            return not any(map(_holds_text, given)) or [*map(ast.unparse, given)] in _INFINITIES
        case ast.Name(id="TypeVar"):
            return all(isinstance(one, ast.Constant) for one in given)
        case ast.Name(id=name) if _is_builtin(name):
            return name in _FUNCTIONS and not any(map(_holds_text, given))
        case ast.Name(id=name):
            return name in names.bound
        case ast.Attribute() as func if _dotted(func) == _LOAD_JSON:
            return len(given) == 1 and isinstance(given[0], ast.Constant)
        case ast.Attribute() as func if _dotted(func).startswith("np."):
            return _is_allowed(_dotted(func)) and all(map(_is_number_or_dtype, given))
        case ast.Attribute() as func:
            return _is_allowed(_dotted(func)) if _dotted(func) else True  # an attribute, looked at for itself
        case ast.Subscript() | ast.Call():
            return _dotted_head(node.func).startswith("T.")
        case _:
            return False


_INFINITIES = tuple([f"'{sign}{word}'"] for sign in ("", "-", "+") for word in ("nan", "inf"))


def _dotted_head(node: ast.expr) -> str:
    while isinstance(node, (ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return _dotted(node)


def _is_number_or_dtype(node: ast.expr) -> bool:
    """Whether an argument of NumPy's is no text but the name of a dtype."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _DTYPE.fullmatch(node.value) is not None
    return not _holds_text(node)


def _is_plain_text(text: str, names: _BoundNames) -> bool:
    """Whether a text is plain if it is evaluated: TVM takes shapes as texts, and does not say of all what they are."""
    if "(" not in text:
        return True
    return all(_is_plain_source(source, names) for source in {text, text.strip()})


def _is_plain_source(text: str, names: _BoundNames) -> bool:
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return True
    except (RecursionError, MemoryError):
        return False
    free = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not _is_builtin(node.id)}
    known = _BoundNames(names.bound | (free - _ROOTS), names.classes)  # a name that nothing binds is an error of TVM's
    return all(_is_plain(node, known) for node in _all(tree.body))

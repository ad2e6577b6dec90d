"""Modules inside of a script that does other things too: which there are, and the text of one alone. No TVM here.

Nothing of the script is run. A module is a class or a function that TVM's parser reads, with a decorator that says so.
"""

from __future__ import annotations

import ast

from corpus.scripts.syntax import syntax_of

_OF_CLASSES, _OF_FUNCTIONS = frozenset({"ir_module"}), frozenset({"function", "prim_func"})
"""The last words of decorators."""
METADATA = "metadata"
"""What TVM calls the constants that it prints apart."""


def modules_in(text: str) -> tuple[str, ...]:
    """The names of the modules at the top of a script, in order; a function that stands alone counts as one. () for
    what is no Python."""
    return tuple(node.name for node in _modules(_top(text)))


def may_make(text: str, name: str) -> bool:
    """Whether a script that is run may bind the name at its top, as far as its text tells."""
    tree = _top(text)
    nodes = [part for node in tree for part in ast.walk(node)]
    made = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    imported = {one.asname or one.name.partition(".")[0] for one in nodes if isinstance(one, ast.alias)}
    unknown = "*" in imported or any(isinstance(node, ast.Name) and node.id in _BINDS_ANY for node in nodes)
    return unknown or not tree or name in made | imported | {one for node in tree for one in _bound(node)}


_BINDS_ANY = ("globals", "exec", "locals", "vars", "setattr")
"""Functions by which a script may bind a name that its text does not say."""


def alone(text: str, name: str) -> str | None:
    """The text of the last module of this name with the values that it names; other lines are empty, so that numbers of
    lines stay. None where there is none."""
    tree = _top(text)
    found = [node for node in _modules(tree) if node.name == name]
    if not found:
        return None
    kept: list[ast.stmt] = [found[-1]]
    wanted = _names(found[-1])
    for node in reversed(tree[: tree.index(found[-1])]):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and wanted & _bound(node) and not _is_run(node):
            kept.append(node)
            wanted |= _names(node)
    lines = text.replace("\r\n", "\n").split("\n")
    numbers = {number for node in kept for number in range(_first_line(node), (node.end_lineno or node.lineno) + 1)}
    shown = [line if number in numbers else "" for number, line in enumerate(lines, 1)]
    for decorator in found[-1].decorator_list if isinstance(found[-1], ast.ClassDef) else ():
        if not isinstance(decorator, ast.Call):  # however the script calls it
            shown[decorator.lineno - 1] = "@I.ir_module"
    return "\n".join(shown)


def script_part(text: str) -> tuple[int, str] | None:
    """The line and the text of the first statement that uses a module of the script, which no module file does; None
    where there is none."""
    tree = _top(text)
    names = {node.name for node in _modules(tree)}
    for node in tree:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and _names(node) & names:
            return node.lineno, ast.unparse(node)[:80]
    return None


def lacks_metadata(text: str) -> bool:
    """Whether a script names its constants and does not bring them: it was printed without `show_meta=True`."""
    try:
        tree = syntax_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == METADATA]
    return bool(names) and all(isinstance(node.ctx, ast.Load) for node in names)


def _top(text: str) -> list[ast.stmt]:
    try:
        return syntax_of(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _modules(tree: list[ast.stmt]) -> list[ast.ClassDef | ast.FunctionDef]:
    found: list[ast.ClassDef | ast.FunctionDef] = []
    for node in tree:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            wanted = _OF_CLASSES if isinstance(node, ast.ClassDef) else _OF_FUNCTIONS
            if any(_last_word(one) in wanted for one in node.decorator_list):
                found.append(node)
    return found


def _last_word(decorator: ast.expr) -> str:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _first_line(node: ast.stmt) -> int:
    above: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in above)])


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}


def _bound(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _is_run(node: ast.stmt) -> bool:
    """Whether a value is a call other than those that a printed script has above its module."""
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(ast.unparse(call.func) not in ("TypeVar", "tvm.ir.load_json") for call in calls)

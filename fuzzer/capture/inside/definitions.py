"""The functions and classes that a pass of the user's own is made of, as source text that stands alone.

What can be imported from TVM, NumPy or the standard library is imported. What is in the user's files, or inside of a
function there, is copied with all that it names.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import os
import sys
import textwrap
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import TypeAlias

Definable: TypeAlias = FunctionType | type
"""What has a text of its own."""
_INSTALLED = ("site-packages", "dist-packages")


class Unsayable(Exception):
    """A value that no line of Python makes; says which."""


class Definitions:
    """Source lines in the order in which they must run. say: the expression for any other value."""

    def __init__(self, say: Callable[[object, Definitions], str]) -> None:
        self.lines: list[str] = []
        self.left_out: list[str] = []
        self._say = say
        self._bound: dict[str, object] = {}

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def name_of(self, made: Definable) -> str:
        """The name under which a function or a class of the user's own is defined by now. Raises Unsayable."""
        name = made.__name__
        if isinstance(made, FunctionType) and name == "<lambda>":
            return self._bind_new("function", made, lambda place: f"{place} = {self._lambda(made)}")
        if name in self._bound:
            if self._bound[name] is not made:
                raise Unsayable(f"two things are called {name}")
            return str(name)
        self._bound[name] = made
        written = _as_written(made)
        source, tree = _source_of(written)
        self._bind_names(tree, _surroundings(written))
        self.lines += ["", source.rstrip()]
        return str(name)

    def value(self, expression: str) -> str:
        """A name for a long expression, which would not be read inside of another."""
        return self._bind_new("value", expression, lambda place: f"{place} = {expression}")

    def _bind_new(self, stem: str, value: object, line: Callable[[str], str]) -> str:
        place = next(f"_{stem}_{number}" for number in range(1, 1 << 20) if f"_{stem}_{number}" not in self._bound)
        self._bound[place] = value
        self.lines.append(line(place))
        return place

    def _lambda(self, made: FunctionType) -> str:
        _, tree = _source_of(made, whole=False)
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and _same_parameters(node, made)]
        if len(found) != 1:
            raise Unsayable("a lambda whose text cannot be told from its neighbours")
        self._bind_names(found[0], _surroundings(made))
        return f"({ast.unparse(found[0])})"

    def _bind_names(self, tree: ast.AST, around: Mapping[str, object]) -> None:
        """Defines what a text names and does not bind itself. What cannot be said is left out: it may not be needed."""
        for name in sorted(_free_names(tree)):
            if name in around and name not in self._bound:
                try:
                    self._bind(name, around[name])
                except Unsayable as error:
                    self.left_out.append(f"{name}: {error}")

    def _bind(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType):
            self._bound[name] = value
            self.lines.append(import_line(value, name))
        elif isinstance(value, (FunctionType, type)) and not is_installed(value):
            real = self.name_of(value)
            if real != name:
                self._bound[name] = value
                self.lines.append(f"{name} = {real}")
        elif isinstance(value, (FunctionType, type)):
            self._bound[name] = value
            self.lines += [f"import {value.__module__}", f"{name} = {path_of(value)}"]
        else:
            text = self._say(value, self)
            self._bound[name] = value
            self.lines.append(f"{name} = {text}")


def _free_names(tree: ast.AST) -> set[str]:
    """The names that a text reads and does not bind anywhere itself."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return {node.id for node in names} - bound


def import_line(module: ModuleType, name: str) -> str:
    """Imports a module under a name. Raises Unsayable for one of the user's own."""
    if sys.modules.get(module.__name__) is not module or not _is_installed_module(module):
        raise Unsayable(f"a module of the user's own, {module.__name__}")
    return f"import {module.__name__} as {name}"


def is_installed(made: Definable) -> bool:
    """Whether a function or class can be imported wherever TVM can."""
    module = sys.modules.get(getattr(made, "__module__", None) or "")
    if module is None or not _is_installed_module(module):
        return False
    try:
        path_of(made)
    except Unsayable:
        return False
    return True


def path_of(made: Definable) -> str:
    """The dotted name of what an installed module holds. Raises Unsayable."""
    place: object = sys.modules.get(made.__module__)
    path = f"{made.__module__}.{made.__qualname__}"
    for word in made.__qualname__.split("."):
        place = getattr(place, word, None)
    wrapped = getattr(place, "__wrapped__", None)
    if place is not made and wrapped is not made and not _same_class(place, made):
        raise Unsayable(f"{path} is something else")
    return path


def _same_class(one: object, other: object) -> bool:
    return isinstance(one, type) and isinstance(other, type) and one.__name__ == other.__name__


def _is_installed_module(module: ModuleType) -> bool:
    top = sys.modules.get(module.__name__.partition(".")[0], module)
    file = getattr(top, "__file__", None) or getattr(module, "__file__", None)
    if top.__name__ in ("tvm", "tvm_ffi", "numpy", "builtins") or top.__name__ in sys.stdlib_module_names:
        return top.__name__ != "__main__"
    return file is not None and any(part in _INSTALLED for part in os.path.normpath(file).split(os.sep))


def _as_written(made: Definable) -> Definable:
    """The class of the user's where `made` is what a decorator of TVM has made of it, as `mutator` does
    (python/tvm/ir/utils.py, derived_object); else itself."""
    written = vars(made).get("_cls") if isinstance(made, type) else None
    return written if isinstance(written, type) and getattr(made, "_type", "") == "TVMDerivedObject" else made


def _surroundings(made: Definable) -> dict[str, object]:
    """The values that the names in a function or class stand for, built-in ones apart."""
    if isinstance(made, FunctionType):
        found = dict(made.__globals__)
        for name, cell in zip(made.__code__.co_freevars, made.__closure__ or (), strict=True):
            try:
                found[name] = cell.cell_contents
            except ValueError:  # not yet bound
                continue
    else:
        found = dict(vars(sys.modules.get(made.__module__, builtins)))
        for one in vars(made).values():
            if isinstance(one, FunctionType):
                found.update(_surroundings(one))
    return {name: value for name, value in found.items() if not name.startswith("__")}


def _source_of(made: Definable, whole: bool = True) -> tuple[str, ast.AST]:
    """The text of a function without its decorators, or of a class, and its tree. Raises Unsayable.

    whole: False for the lines around a lambda, which may be a part of a statement.
    """
    try:
        lines, _ = inspect.getsourcelines(made)
        text = textwrap.dedent("".join(lines))
        if not whole:
            return text, _tree_of_part(text)
        node = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError) as error:
        raise Unsayable(f"no source of {getattr(made, '__qualname__', made)}") from error
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        text = "\n".join(text.split("\n")[node.lineno - 1 :])
        node.decorator_list = []
    return text, node


def _tree_of_part(text: str) -> ast.AST:
    """The tree of lines that may begin or end in the middle of a statement: of the first part that Python reads."""
    for shape in ("{}", "({})", "{}\n    pass", "({}", "[{}"):
        try:
            return ast.parse(shape.format(text.strip().rstrip(",")))
        except SyntaxError:
            continue
    at = text.find("lambda")
    for end in range(len(text), at, -1):
        try:
            return ast.parse(text[at:end].strip(), mode="eval")
        except SyntaxError:
            continue
    raise SyntaxError("no lambda")


def _same_parameters(node: ast.Lambda, made: FunctionType) -> bool:
    code = made.__code__
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
    return names == list(code.co_varnames[: code.co_argcount])

"""Reads the words of the code of a Python pass: its strings, and the names that count of what it names."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import resolve_name
from pathlib import Path
from types import CellType, FunctionType, ModuleType

from generators.passes.refusals import refusals

_NAMESPACE = "op"
"""What operators are attributes of, as in `relax.op.add`."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The names that count, by where they stand: alone, as attributes, as the name of a function that is used, and as
    the group of an operator, as in `op.nn.relu`. Of strings every word counts."""

    names: Set[str]
    attributes: Set[str]
    functions: Set[str]
    groups: Set[str]


class CodeWords:
    """The words of the literals, the operators and the names that count in the code that something uses, as far as it
    is that of one module, or of modules in a folder.

    told: those that stand outside of refusals as well. A refusal is a condition on which code gives back what it was
    given, as in `if collect(func.body, tirx.While): return func`: what it names is what the pass does not change.
    """

    def __init__(self, lexicon: Lexicon, module: str, folder: Path | None) -> None:
        self._lexicon = lexicon
        self.found: set[str] = set()
        self.told: set[str] = set()
        self._refuses = False
        self._module = module
        self._folder = folder
        self._seen: set[tuple[int, bool]] = set()
        self._files: dict[str, dict[int, list[ast.AST]]] = {}
        self._unread: set[Path] = set()

    def read(self, value: object) -> None:
        """Adds what is in a value that code uses: a function, also one of `functools.partial`, a class, a literal or a
        container of these."""
        if isinstance(value, str):
            self._add(value.split())
        if isinstance(value, str) or {(id(value), False), (id(value), self._refuses)} & self._seen:
            return
        self._seen.add((id(value), self._refuses))
        if isinstance(value, FunctionType):
            self._add({value.__name__} & self._lexicon.functions)
            if self._is_own(value.__module__):
                self._read_function(value)
        elif isinstance(value, type):
            if self._is_own(value.__module__):
                self._each(part for part in vars(value).values() if isinstance(part, FunctionType))
        elif isinstance(value, partial):
            self._each((value.func, *value.args, *value.keywords.values()))
        elif isinstance(value, dict):
            self._each([*value, *value.values()])
        elif isinstance(value, tuple | list | set | frozenset):
            self._each(value)

    def _add(self, *words: Iterable[str]) -> None:
        self.found.update(*words)
        if not self._refuses:
            self.told.update(*words)

    def _each(self, values: Iterable[object]) -> None:
        for value in values:
            self.read(value)

    def _is_own(self, module: str) -> bool:
        return module == self._module or self._loaded(module) is not None

    def _loaded(self, module: str) -> ModuleType | None:
        """A module of the folder that is imported already."""
        path, there = self._path(module), sys.modules.get(module)
        file = getattr(there, "__file__", None)
        return there if path is not None and file is not None and Path(file).resolve() == path.resolve() else None

    def _path(self, module: str) -> Path | None:
        """The file in the folder that an import of the module would find there."""
        if self._folder is None or not module:
            return None
        base = self._folder.joinpath(*module.split("."))
        return next((path for path in (Path(f"{base}.py"), base / "__init__.py") if path.is_file()), None)

    def _read_import(self, module: str, names: Iterable[str]) -> None:
        """What an import inside of a function brings in."""
        there = self._loaded(module)
        if there is not None:
            self._each(vars(there).get(name) for name in names)
        elif module not in sys.modules and (path := self._path(module)) is not None and path not in self._unread:
            self._unread.add(path)
            for part in _parsed(str(path)):
                for node in ast.walk(part):
                    self._read_node(node, {})

    def _of_module(self, owner: ast.expr, name: str, names: Mapping[str, object]) -> object:
        """The value of `owner.name`, where the owner is a module of the folder; else None."""
        match owner:
            case ast.Name(id=variable):
                held = names.get(variable)
            case ast.Attribute(value=outer, attr=inner):
                held = self._of_module(outer, inner, names)
            case _:
                return None
        own = isinstance(held, ModuleType) and self._loaded(held.__name__) is not None
        return vars(held).get(name) if own else None

    def _read_function(self, function: FunctionType) -> None:
        self._each(_content(cell) for cell in function.__closure__ or ())
        self._each((*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()))
        code = function.__code__
        if code.co_filename not in self._files:
            self._files[code.co_filename] = _definitions(code.co_filename)
        for part in self._files[code.co_filename].get(code.co_firstlineno, ()):
            parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            refused = {id(node) for test in refusals(part, parameters) for node in ast.walk(test)}
            for node in ast.walk(part):
                around, self._refuses = self._refuses, self._refuses or id(node) in refused
                self._read_node(node, function.__globals__)
                self._refuses = around

    def _read_node(self, node: ast.AST, names: Mapping[str, object]) -> None:
        match node:
            case ast.Constant(value=str(text)):
                self.read(text)
            case ast.Name(id=name):
                self._add({name} & self._lexicon.names)
                self.read(names.get(name))
            case ast.Attribute(value=owner, attr=name):
                self._add({name} & self._lexicon.attributes, self._operator(owner, name))
                self.read(self._of_module(owner, name, names))
            case ast.ImportFrom(module=module, level=level, names=brought):
                package = str(names.get("__package__") or "")
                origin = "." * level + (module or "")
                if level == 0 or package:
                    with suppress(ImportError):  # More dots than packages: the import fails where it is run.
                        self._read_import(resolve_name(origin, package), [alias.name for alias in brought])
            case ast.Import(names=brought):
                for alias in brought:
                    self._read_import(alias.name, ())

    def _operator(self, owner: ast.expr, name: str) -> tuple[str, ...]:
        """The operator that is an attribute, as in `op.add` or `op.nn.relu`; () for any other attribute."""
        match owner:
            case ast.Name(id=group) | ast.Attribute(attr=group):
                if group == _NAMESPACE:
                    return (name,)
                return (f"{group}.{name}",) if group in self._lexicon.groups else ()
        return ()


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _definitions(path: str) -> dict[int, list[ast.AST]]:
    """The bodies of the functions and lambdas of a file, by the line on which their code begins; {} for text
    that is not Python."""
    found: dict[int, list[ast.AST]] = {}
    for node in (node for part in _parsed(path) for node in ast.walk(part)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            found.setdefault(_first_line(node), []).extend([node.body] if isinstance(node, ast.Lambda) else node.body)
    return found


def _parsed(path: str) -> list[ast.stmt]:
    """The statements of a file, of whose docstrings only words with a dot are left: English has the words "where",
    "round" and "take", too; [] for text that is not Python."""
    linecache.checkcache(path)
    try:
        module = ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return []
    for node in ast.walk(module):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text)) as literal):
                literal.value = " ".join(word for word in text.split() if "." in word)
    return module.body


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> int:
    """The `co_firstlineno` of its code: that of the first decorator where it has some."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min((node.lineno, *(decorator.lineno for decorator in decorators)))

"""The state of code generation for one function: names, constants, scopes, what is known to be initialised.

Not here: the code of any node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from oracles.reference.errors import TrapSite, Unsupported
from oracles.reference.tir.dependence import Dependence
from oracles.reference.tir.intervals import Bounds
from oracles.reference.tir.nodes import Block, Buffer, DType, Expr, Stmt, Watched

EmitExpr: TypeAlias = "Callable[[EmitState, Any], Code]"
"""The code of one kind of expression."""
EmitStmt: TypeAlias = "Callable[[EmitState, Any], None]"
"""Adds the lines of one kind of statement."""


class Axis(NamedTuple):
    """An independent loop: its extent and its dimension in grids, counted from the right (-1 is the last)."""

    extent: int
    position: int


class Code(NamedTuple):
    """Python source of a value. `grid`: an array over the axes; `view`: it may share memory with a buffer."""

    text: str
    grid: bool
    view: bool = False


class Tables(NamedTuple):
    """The functions that emit code, by class of node; see `table.py`."""

    expressions: Mapping[type, EmitExpr]
    statements: Mapping[type, EmitStmt]


@dataclass(slots=True)
class EmittedNames:
    """The names of the generated function, and the constants that some of them stand for."""

    constants: dict[str, object] = field(default_factory=dict)
    _sites: dict[str, str] = field(default_factory=dict)
    _floats: dict[tuple[str, str], str] = field(default_factory=dict)
    _variables: dict[int, str] = field(default_factory=dict)
    _temporaries: int = 0

    def temporary(self) -> str:
        """A fresh name."""
        self._temporaries += 1
        return f"t{self._temporaries}"

    def variable(self, key: int) -> str:
        """The name of a variable. Numbered in order of use, so that equal functions get equal code."""
        return self._variables.setdefault(key, f"v{len(self._variables)}")

    def site(self, text: TrapSite) -> str:
        """The name of the constant with this text."""
        found = self._sites.get(text)
        if found is None:
            found = f"s{len(self._sites)}"
            self._sites[text] = found
            self.constants[found] = text
        return found

    def float_constant(self, value: float, dtype: DType) -> str:
        """The name of a float constant of exactly this type."""
        key = (float(value).hex(), dtype.name)
        found = self._floats.get(key)
        if found is None:
            found = f"c{len(self._floats)}"
            self._floats[key] = found
            with np.errstate(all="ignore"):
                self.constants[found] = dtype.numpy.type(value)
        return found


@dataclass(slots=True)
class Buffers:
    """What is known of buffers, by slot, and of memory, by the slot of the buffer that owns it.

    Fixed for the function: `viewed`, memory that views share; `unsure`, buffers whose elements may become
    uninitialised again; `watched`, memory whose accesses are checked for data races; `flying`, memory that asynchronous
    copies store to; `units`, bytes of a unit of initialisation where this is less than an element. At the current
    point: `full`, buffers of which all elements are initialised; `outside`, buffers that exist outside of all loops;
    `views`, the views among these by memory.
    """

    viewed: frozenset[int] = frozenset()
    unsure: frozenset[int] = frozenset()
    watched: frozenset[int] = frozenset()
    flying: frozenset[int] = frozenset()
    units: Mapping[int, int] = field(default_factory=dict)
    full: set[int] = field(default_factory=set)
    outside: set[int] = field(default_factory=set)
    views: dict[int, list[int]] = field(default_factory=dict)

    def parts(self, buffer: Buffer) -> int:
        """How many units of initialisation an element has."""
        width: int = buffer.dtype.numpy.itemsize
        return width // self.units.get(buffer.memory, width)

    def mask_of(self, buffer: Buffer) -> str:
        """The code of the initialisation mask: None where all elements are known to be initialised."""
        return "None" if buffer.slot in self.full else f"m{buffer.slot}"


@dataclass(slots=True)
class EmitState:
    """What is known at the current point of the generated function.

    name: of the PrimFunc. values: the code of each variable in scope that is no axis, by key. mask: the name of the
    grid that says where the current code counts, or None. block: the sblock around. around: those that allocate, the
    outermost first. axes: the independent loops around,
    by the key of their variable; `rank` is how many dimensions grids have, `depth` how many of these are taken. loops:
    how many loops around run one iteration at a time. scattering: how many axes around have iterations that may store
    to one element. actor: the statement of a thread whose accesses are checked for data races. copying:
    whether an asynchronous copy makes the stores. hoisted: for each scope,
    the names of expressions that were computed before a statement, for this statement and those that follow.
    """

    name: str
    tables: Tables
    bounds: Bounds
    dependence: Dependence
    buffers: Buffers
    names: EmittedNames = field(default_factory=EmittedNames)
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    values: dict[int, Code] = field(default_factory=dict)
    mask: str | None = None
    block: str = ""
    around: tuple[Block, ...] = ()
    axes: dict[int, Axis] = field(default_factory=dict)
    rank: int = 0
    depth: int = 0
    loops: int = 0
    scattering: int = 0
    actor: Watched | None = None
    copying: bool = False
    hoisted: list[dict[Expr, str]] = field(default_factory=lambda: [{}])

    def expr(self, node: Expr) -> Code:
        """The code of any expression."""
        return self.tables.expressions[type(node)](self, node)

    def stmt(self, node: Stmt) -> None:
        """Adds the lines of any statement. Raises Unsupported for one that has no code."""
        emit = self.tables.statements.get(type(node))
        if emit is None:
            raise Unsupported(type(node).__name__)
        emit(self, node)

    def line(self, text: str) -> None:
        """One line at the current indentation."""
        self.lines.append("    " * self.indent + text)

    def site(self, what: str) -> str:
        """The name of the constant that says where a trap is: function, block and `what`, usually a buffer."""
        return self.names.site(TrapSite(self.name, self.block or "root", what))

    def under(self, condition: str) -> str:
        """The mask of a part that is also under `condition`."""
        return condition if self.mask is None else f"({self.mask} & {condition})"

    def named(self, node: Expr) -> str | None:
        """The name of an expression that was hoisted around here."""
        for scope in self.hoisted:
            if node in scope:
                return scope[node]
        return None

    def hoist(self, node: Expr, text: str) -> str:
        """A name for the value of `node`, computed by `text` before the current statement unless it has one."""
        name = self.named(node)
        if name is None:
            name = self.names.temporary()
            self.line(f"{name} = {text}")
            self.hoisted[-1][node] = name
        return name

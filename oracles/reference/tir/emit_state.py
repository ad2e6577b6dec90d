"""The state of code generation for one function: names, constants, scopes, what is known to be initialised.

Not here: any code of a construct (see `emit.py`, which also says what generated code looks like).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from oracles.reference.tir.dependence import Dependence
from oracles.reference.tir.intervals import Bounds
from oracles.reference.tir.nodes import Buffer, DType, Expr, Watched


class Axis(NamedTuple):
    """An independent loop: its extent and its dimension in grids, counted from the right (-1 is the last)."""

    extent: int
    position: int


class Code(NamedTuple):
    """Python source of a value. `grid`: an array over the axes; `view`: it may share memory with a buffer."""

    text: str
    grid: bool
    view: bool = False


class EmitterState:
    """What is known at the current point of the generated function."""

    def __init__(self, name: str, bounds: Bounds, dependence: Dependence) -> None:
        self.name = name
        self.bounds = bounds
        self.dependence = dependence
        self.lines: list[str] = []
        self.indent = 1
        self.names: dict[int, Code] = {}
        self.axes: dict[int, Axis] = {}
        self.rank = 0
        self.depth = 0
        self.loops = 0
        self.outside: set[int] = set()
        self.mask: str | None = None
        self.block = ""
        self.full: set[int] = set()
        self.viewed: frozenset[int] = frozenset()
        self.unsure: frozenset[int] = frozenset()
        self.watched: frozenset[int] = frozenset()
        self.actor: Watched | None = None
        """Whose accesses these are."""
        self.scattering = 0
        """How many axes are around whose iterations may store to one element."""
        self.views: dict[int, list[int]] = {}
        self.units: Mapping[int, int] = {}
        self.hoisted: list[dict[Expr, str]] = [{}]
        self.constants: dict[str, Any] = {}
        self._sites: dict[str, str] = {}
        self._floats: dict[tuple[str, str], str] = {}
        self._temporaries = 0
        self._variables: dict[int, str] = {}

    def parts(self, buffer: Buffer) -> int:
        """How many units of initialisation an element has."""
        width: int = buffer.dtype.numpy.itemsize
        return width // self.units.get(buffer.memory, width)

    def line(self, text: str) -> None:
        """One line at the current indentation."""
        self.lines.append("    " * self.indent + text)

    def temporary(self) -> str:
        """A fresh name."""
        self._temporaries += 1
        return f"t{self._temporaries}"

    def variable(self, key: int) -> str:
        """The name of a variable: equal functions get equal code."""
        return self._variables.setdefault(key, f"v{len(self._variables)}")

    def site(self, what: str) -> str:
        """The name of the constant that says where a trap is: function, block and buffer."""
        text = f"{self.name}, block {self.block or 'root'}: {what}"
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

    def under(self, condition: str) -> str:
        """The mask of a part that is also under `condition`."""
        return condition if self.mask is None else f"({self.mask} & {condition})"

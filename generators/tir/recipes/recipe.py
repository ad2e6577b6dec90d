"""A recipe: the shape of PrimFunc that some pass of TIR fires on, drawn with random sizes, values and surroundings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.source import Source
from generators.targets import TargetRow
from generators.tir.prim_program import PrimProgram


@dataclass(frozen=True, slots=True)
class PrimRecipe:
    """`draw` makes a whole function, or raises Unfit where what it drew does not go together.

    threads: the function holds kernels, for targets with threads alone. host: for targets without threads alone, since
    its loops are scheduled for a CPU, or stand in no blocks, so that no rule binds them to threads. Rows of passes name
    their recipes in `Fires.prim_recipes`.
    """

    name: str
    draw: Callable[[Source], PrimProgram]
    threads: bool = False
    host: bool = False

    def fits(self, target: TargetRow) -> bool:
        """Whether the target can run the function."""
        return not self.host if target.threads else not self.threads

"""A recipe: the program shape that some pass fires on, drawn with random operands and surroundings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.program_facts import Feature
from generators.relax.scope import Scope


@dataclass(frozen=True, slots=True)
class Recipe:
    """`draw` plants the shape into the scope of main, or raises Unavailable.

    plain: it needs a block that is no dataflow block; dataflow: its passes look into those alone. costly: some pass
    takes many times as long on it, or it is not decided once it is lowered, so that it is planted for its own passes
    alone. for_any: passes that do not look for it go wrong on it as well, so that it is planted as often as what no
    pass looks for. wants: the feature that the program must have besides. A recipe is called like its `draw`.
    """

    name: str
    draw: Callable[[Scope], None]
    plain: bool = False
    wants: Feature | None = None
    dataflow: bool = False
    costly: bool = False
    for_any: bool = False

    def __call__(self, scope: Scope) -> None:
        """Plants the shape."""
        self.draw(scope)

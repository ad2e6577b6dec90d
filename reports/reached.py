"""How much of TVM's own code a run has reached, as summary.json holds it: basic blocks, in all and by folder."""

from __future__ import annotations

from dataclasses import dataclass

from reports.finding_row import Number, WholeNumber

ALL = "all"
"""The name of the whole beside those of folders."""


@dataclass(frozen=True, slots=True)
class Grown:
    """How many blocks were reached after so many seconds of a run, by folder."""

    at_s: Number
    blocks: dict[str, WholeNumber]


@dataclass(frozen=True, slots=True)
class Reached:
    """build_id: of the library whose blocks they are. reached, blocks: how many by folder, and how many there are;
    growth: at moments of the run, the first ones closer together."""

    build_id: str
    reached: dict[str, WholeNumber]
    blocks: dict[str, WholeNumber]
    growth: tuple[Grown, ...] = ()

    @property
    def line(self) -> str:
        """For readers."""
        folders = (f"{name} {self.percent(name)}" for name in self.blocks if name != ALL)
        return f"reached {self.percent(ALL)} of TVM's basic blocks ({', '.join(folders)})"

    def percent(self, name: str, count: int | None = None) -> str:
        """The share of a folder's blocks: those reached, or `count`; "-" of none."""
        blocks = self.blocks.get(name, 0)
        reached = self.reached.get(name, 0) if count is None else count
        return f"{reached / blocks:.1%}" if blocks else "-"

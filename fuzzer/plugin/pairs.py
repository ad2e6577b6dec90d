"""How far the reference follows other people's tests: modules before and after a pass, and what was missing.

A pair counts where the pass has made something else of its module. It is interpreted where the reference has run both
sides; else there is a `fuzzer.trial.foreign.gaps.Gap`, which may be of the test's own nature. No TVM here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fuzzer.trial.foreign.gaps import Gap
from generators.json_values import JsonObject

PAIRS_FILE = "pairs.json"
"""Under OUT: which pairs were interpreted, and why others were not."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """interpreted: on both sides. missing: reasons. by_nature: reasons of which none is the reference's."""

    interpreted: int
    missing: dict[str, int]
    by_nature: dict[str, int]

    @staticmethod
    def of(counted: Mapping[Gap | None, int]) -> Pairs:
        """Sorted from a counter of gaps; None stands for an interpreted pair."""
        missing: Counter[str] = Counter()
        nature: Counter[str] = Counter()
        for gap, number in counted.items():
            if gap is not None:
                (nature if gap.by_nature else missing)[gap.reason] += number
        return Pairs(counted.get(None, 0), dict(missing.most_common()), dict(nature.most_common()))

    @property
    def whole(self) -> int:
        """All pairs."""
        return self.possible + sum(self.by_nature.values())

    @property
    def possible(self) -> int:
        """Pairs that could be interpreted."""
        return self.interpreted + sum(self.missing.values())

    def line(self) -> str:
        """Both shares in one line."""
        done = self.interpreted
        return (
            f"interpreted before and after: {done:,} of {self.whole:,} pairs ({_share(done, self.whole)}), "
            f"{_share(done, self.possible)} of those that can be"
        )

    def to_json(self) -> JsonObject:
        return {
            "pairs": self.whole,
            "interpreted": self.interpreted,
            "by_nature": self.by_nature,
            "missing": self.missing,
        }


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "none"

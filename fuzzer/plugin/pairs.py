"""How far the reference follows other people's tests: modules before and after a pass, and what was missing.

A pair counts where the pass has made something else of its module. It is interpreted where the reference has run both
sides; else there is a reason. Some reasons are the test's own nature, and no interpreter could do better. No TVM here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oracles.reference.errors import UNWRITTEN, symptom_of

INTERPRETED = "interpreted"

BY_NATURE: tuple[tuple[str, str], ...] = (
    (symptom_of("out-of-bounds"), "the module reads or writes out of bounds on every input tried"),
    (UNWRITTEN, "the module reads what nobody has written on every input tried"),
    (symptom_of("division-by-zero"), "the module divides by zero on every input tried"),
    ("reference: packed function", "calls a function that only the test's process or another library has"),
    ("reference: call_packed", "calls a function that only the test's process or another library has"),
    ("reference: relax.ccl.", "needs several devices"),
    ("reference: relax.dist.", "needs several devices"),
    ("reference: builtin with context vm.builtin.cuda_graph", "needs a device"),
    ("reference: tirx.ptx", "an instruction of a device"),
    ("reference: tirx.start_profile_intrinsic", "an instruction of a device"),
    ("reference: tirx.s_tir.cp_async", "an instruction of a device"),
    ("reference: tirx.undef", "its values are undefined on purpose (T.undef)"),
    ("reference: tirx.call_extern", "calls a function that only the test's process or another library has"),
    ("no inputs: no PrimFunc", "the module has no function that is called with values"),
    ("no inputs: no function is left", "the pass takes away every function"),
)
"""How a reason begins, and why no interpreter can follow such a pair."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """interpreted: on both sides. missing: reasons. by_nature: reasons of which none is the reference's."""

    interpreted: int
    missing: dict[str, int]
    by_nature: dict[str, int]

    @staticmethod
    def of(counted: Mapping[str, int]) -> Pairs:
        """Sorted from a counter that has INTERPRETED and the reasons."""
        missing: Counter[str] = Counter()
        nature: Counter[str] = Counter()
        for reason, number in counted.items():
            if reason != INTERPRETED:
                (nature if is_by_nature(reason) else missing)[reason] += number
        return Pairs(counted.get(INTERPRETED, 0), dict(missing.most_common()), dict(nature.most_common()))

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

    def to_json(self) -> dict[str, Any]:
        return {
            "pairs": self.whole,
            "interpreted": self.interpreted,
            "by_nature": self.by_nature,
            "missing": self.missing,
        }


def is_by_nature(reason: str) -> bool:
    """Whether no interpreter could do better."""
    return any(reason.startswith(start) for start, _ in BY_NATURE) and " behind a pass" not in reason


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "none"

"""What a replay has found: a row for each case and TVM, a column for each TVM. Plain data, and the words for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from corpus.number_of import number_of

ReplayWord: TypeAlias = Literal["regressed", "error", "changed", "fixed", "unportable", "fails as known", "passes"]
WORDS: tuple[ReplayWord, ...] = get_args(ReplayWord)
"""What matters most first."""
MEANINGS: dict[ReplayWord, str] = {
    "regressed": "fails where it is expected to pass",
    "error": "could not be run",
    "changed": "fails, and not in the way that is recorded",
    "fixed": "passes where it is expected to fail",
    "unportable": "the script asks for what this TVM does not have",
    "fails as known": "fails in the way that is recorded",
    "passes": "passes, and nothing else was expected",
}
QUIET: tuple[ReplayWord, ...] = ("fails as known", "passes")
"""What needs no reader."""


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """One corpus case under one TVM. tvm: the label of its column. expected: "fails", "passes", or "" where nothing is
    known. cause, title: of its cause, as the registry has it; "" where it is not known."""

    case: str
    tvm: str
    outcome: ReplayWord
    message: str = ""
    seconds: float = 0.0
    cause: str = ""
    title: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A TVM. label: names it in rows; version: as `tvm.__version__` says; given: as the user named it; fault: one line
    where it cannot be had, and it has no rows."""

    label: str
    version: str = ""
    given: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows and columns, cases in the order in which they first come."""

    columns: tuple[Column, ...]
    rows: tuple[ReplayRow, ...]
    seconds: float = 0.0
    _cells: dict[tuple[str, str], ReplayRow] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._cells.update({(row.case, row.tvm): row for row in self.rows})

    @property
    def cases(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.case for row in self.rows))

    @property
    def had(self) -> tuple[Column, ...]:
        """The columns whose TVM could be had."""
        return tuple(column for column in self.columns if not column.fault)

    def cell(self, case: str, column: Column) -> ReplayRow | None:
        """What a case does on a TVM; None where it was not run there."""
        return self._cells.get((case, column.label))

    def telling(self) -> tuple[ReplayRow, ...]:
        """The rows that a reader must see, what matters most first."""
        loud = [row for row in self.rows if row.outcome not in QUIET]
        return tuple(sorted(loud, key=lambda row: (WORDS.index(row.outcome), row.case)))

    def counts(self, column: Column) -> str:
        """ "3 regressed, 150 fails as known" of a TVM, or why there is nothing."""
        if column.fault:
            return column.fault
        return counted([row for row in self.rows if row.tvm == column.label])

    def summary(self) -> str:
        """One line for all."""
        regressed = sum(row.outcome == "regressed" for row in self.rows)
        lacking = len(self.columns) - len(self.had)
        parts = [
            f"{number_of(len(self.cases), 'case')} on {number_of(len(self.had), 'TVM')} in {self.seconds:.0f} s",
            counted(self.rows),
            f"{number_of(lacking, 'TVM')} could not be had" if lacking else "",
            "nothing regressed" if self.rows and not regressed else "",
        ]
        return "; ".join(filter(None, parts))


def counted(rows: Sequence[ReplayRow]) -> str:
    """How many rows have each word, what matters most first."""
    counts = Counter(row.outcome for row in rows)
    return ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word])

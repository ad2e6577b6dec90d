"""What a campaign has counted so far: workers send the counts of a case, shards add up. No files, no display."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, TypeAlias, TypeVar, get_args

import msgspec
from msgspec import Meta, Struct

from generators.json_values import JsonObject

PassColumn: TypeAlias = Literal["applied", "changed", "rejected", "failed", "undecided"]
OracleColumn: TypeAlias = Literal["passed", "failed", "skipped", "inconclusive"]
PASS_COLUMNS: tuple[PassColumn, ...] = get_args(PassColumn)
ORACLE_COLUMNS: tuple[OracleColumn, ...] = get_args(OracleColumn)

MET_COLUMNS: tuple[PassColumn, ...] = ("applied", "changed", "failed")
"""The numbers of what a pass has met, in their order."""

MOST_REASONS = 20
OTHER_REASONS = "other reasons"

Count: TypeAlias = Annotated[int, Meta(ge=0, le=1 << 62)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0.0, le=1e15)]

MetCounts: TypeAlias = tuple[Count, Count, Count]
"""How often something was in a module when a pass was applied, when it changed it, and when an oracle failed."""

AnyColumn = TypeVar("AnyColumn", PassColumn, OracleColumn)
AnyNumber = TypeVar("AnyNumber", int, float)


class Tally(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """Mutable counters, of one case or of a campaign; a message between processes.

    cases: judged. generated: drawn, valid or not. undrawn: of which nothing could be drawn. invalid: not well-formed
    before any pass, our fault. seeded: of the judged cases those that start from a module of --corpus. died: processes
    of cases that ended before their time, cases that were given up after two ends from outside, and stopped workers.
    numeric_verdicts: results compared by value.
    skipped: verdicts by reason, and cases. not_applicable: those verdicts among them where there was nothing to judge.
    cpu_s: CPU seconds of all workers. phases: CPU seconds by stage (generate, passes, reference, build, run, ...).
    passes and oracles: a row for each name; a row that was added to a tally has every column. undecided: steps of which
    an oracle could say nothing, usually as bounds were wider than values. met_ops and met_nodes: by pass, the operators
    and the kinds of TIR nodes in the modules that it was given, for a share of the cases. refusals: by pass of the
    user's own, what it said where it rejected a module; at most MOST_REASONS of each, the others together.
    """

    cases: Count = 0
    generated: Count = 0
    undrawn: Count = 0
    invalid: Count = 0
    seeded: Count = 0
    died: Count = 0
    numeric_verdicts: Count = 0
    cpu_s: Seconds = 0.0
    skipped: dict[str, Count] = {}
    not_applicable: dict[str, Count] = {}
    inconclusive: dict[str, Count] = {}
    ops: dict[str, Count] = {}
    phases: dict[str, Seconds] = {}
    passes: dict[str, dict[PassColumn, Count]] = {}
    oracles: dict[str, dict[OracleColumn, Count]] = {}
    met_ops: dict[str, dict[str, MetCounts]] = {}
    met_nodes: dict[str, dict[str, MetCounts]] = {}
    refusals: dict[str, dict[str, Count]] = {}

    def add(self, other: Tally) -> None:
        """Adds the counts of another: a case, a worker, a shard."""
        self.cases += other.cases
        self.generated += other.generated
        self.undrawn += other.undrawn
        self.invalid += other.invalid
        self.seeded += other.seeded
        self.died += other.died
        self.numeric_verdicts += other.numeric_verdicts
        self.cpu_s += other.cpu_s
        _add_counts(self.skipped, other.skipped)
        _add_counts(self.not_applicable, other.not_applicable)
        _add_counts(self.inconclusive, other.inconclusive)
        _add_counts(self.ops, other.ops)
        _add_counts(self.phases, other.phases)
        _add_table(self.passes, other.passes, PASS_COLUMNS)
        _add_table(self.oracles, other.oracles, ORACLE_COLUMNS)
        _add_met(self.met_ops, other.met_ops)
        _add_met(self.met_nodes, other.met_nodes)
        for name, reasons in other.refusals.items():
            for reason, number in reasons.items():
                self.count_refusal(name, reason, number)

    def count_refusal(self, name: str, reason: str, number: int = 1) -> None:
        """Adds to what a pass has said where it rejected modules."""
        reasons = self.refusals.setdefault(name, {})
        if len(reasons) >= MOST_REASONS and reason not in reasons:
            reason = OTHER_REASONS
        bump(reasons, reason, number)

    def count_pass(self, name: str, *columns: PassColumn) -> None:
        """Adds one to columns of a pass."""
        row = _row(self.passes, name, PASS_COLUMNS)
        for column in columns:
            row[column] = row.get(column, 0) + 1

    def count_met(self, name: str, operators: Iterable[str], nodes: Iterable[str], *columns: PassColumn) -> None:
        """Adds one to columns of what a pass has met."""
        one = (int("applied" in columns), int("changed" in columns), int("failed" in columns))
        _add_met(self.met_ops, {name: dict.fromkeys(operators, one)})
        _add_met(self.met_nodes, {name: dict.fromkeys(nodes, one)})

    def count_oracle(self, name: str, column: OracleColumn) -> None:
        """Adds one to a column of an oracle."""
        row = _row(self.oracles, name, ORACLE_COLUMNS)
        row[column] = row.get(column, 0) + 1

    def to_json(self) -> JsonObject:
        """The counters by name, names sorted, times in milliseconds; as `summary.json` holds them."""
        return {field: _plain(getattr(self, field)) for field in FIELDS}

    @property
    def settled(self) -> int:
        """Cases of which it is known what became of them: drawn, or not to be drawn."""
        return self.generated + self.undrawn

    @property
    def invalid_share(self) -> float:
        """Invalid cases over generated ones, 0 before the first."""
        return self.invalid / self.generated if self.generated else 0.0


FIELDS: tuple[str, ...] = Tally.__struct_fields__


def tally_of(data: Mapping[str, object]) -> Tally:
    """A tally from plain JSON values. Absent counters are 0, absent columns too.

    Raises ValueError for a counter or column that there is not, or one of another type.
    """
    tally = Tally()
    for name, value in data.items():
        try:
            tally.add(msgspec.convert({name: value}, Tally))
        except msgspec.ValidationError as error:
            raise ValueError(f"{name}: {error}") from error
    return tally


def bump(counts: dict[str, AnyNumber], name: str, amount: AnyNumber) -> None:
    """Adds to a counter with names."""
    counts[name] = counts.get(name, 0) + amount


def _add_counts(into: dict[str, AnyNumber], counted: Mapping[str, AnyNumber]) -> None:
    for name, number in counted.items():
        into[name] = into.get(name, 0) + number


def _row(table: dict[str, dict[AnyColumn, int]], name: str, columns: tuple[AnyColumn, ...]) -> dict[AnyColumn, int]:
    """The row of a name; one that is new has every column."""
    row = table.get(name)
    if row is None:
        row = table[name] = dict.fromkeys(columns, 0)
    return row


def _add_table(
    into: dict[str, dict[AnyColumn, int]],
    counted: Mapping[str, Mapping[AnyColumn, int]],
    columns: tuple[AnyColumn, ...],
) -> None:
    for name, row in counted.items():
        cells = into.setdefault(name, {})
        for column in columns:
            cells[column] = cells.get(column, 0) + row.get(column, 0)


def _add_met(into: dict[str, dict[str, MetCounts]], counted: Mapping[str, Mapping[str, MetCounts]]) -> None:
    for name, row in counted.items():
        if row:
            cells = into.setdefault(name, {})
            for what, (applied, changed, failed) in row.items():
                old = cells.get(what, (0, 0, 0))
                cells[what] = (old[0] + applied, old[1] + changed, old[2] + failed)


def _plain(value: object) -> object:
    """A copy with sorted names, columns in their order, and times rounded to milliseconds."""
    if isinstance(value, dict):
        return {name: dict(one) if isinstance(one, dict) else _plain(one) for name, one in sorted(value.items())}
    return round(value, 3) if isinstance(value, float) else value

"""What workers are told and what they answer: plain dataclasses, one JSON object per line. No TVM here.

A worker process gets commands on its standard input and answers on its standard output. Answers are
{"kind": "tally"|"failure"|"lost"|"reduced"|"ready"|"done"|"fault", ...}; the dataclasses below are their payloads.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any
from zlib import crc32

from oracles import evidence
from oracles.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Plan:
    """What a campaign's workers must know once: how cases are drawn and which oracles judge them.

    targets: a case is for one of them, see `at`. under_test: pass names, empty for all. oracles: names, empty for all.
    load: the user's file, or None.
    build_share: how often building and running is judged as well. scratch: where reduced cases are left.
    phase: where modules stand before any pass, a `generators.passes.row.Phase` by value; drawn ones are high-level.
    corpus: a folder of case folders whose modules a share of the cases starts from, or None.
    """

    seed: int
    targets: tuple[str, ...] = ("llvm",)
    under_test: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    oracles: tuple[str, ...] = ()
    load: str | None = None
    build_share: float = 0.15
    deadline_s: float = 20.0
    memory_bytes: int = 6 << 30
    scratch: str = ""
    phase: int = 0
    corpus: str | None = None

    @property
    def target(self) -> str:
        """The target of the cases, where there is one."""
        return self.targets[0]

    def at(self, index: int) -> Plan:
        """The plan for case `index`, with the one target of that case."""
        number = crc32(f"{self.seed}:{index}".encode()) % len(self.targets)
        return replace(self, targets=(self.targets[number],))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Plan:
        lists = {k: tuple(data[k]) for k in ("targets", "under_test", "kinds", "oracles")}
        return Plan(**{**data, **lists})


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed verdict of one case. step: position among the passes (None: the case as a whole)."""

    index: int
    oracle: str
    symptom: str
    message: str
    detail: str
    culprit: str
    tier: str
    step: int | None = None
    tail: tuple[str, ...] = ()
    """Passes of an official pipeline that were applied after those of the case, up to the culprit."""
    evidence: Evidence | None = None
    """What kind of wrong it is."""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "evidence": evidence.to_json(self.evidence)}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Failure:
        return Failure(**{**data, "tail": tuple(data["tail"]), "evidence": evidence.from_json(data.get("evidence"))})


@dataclass(slots=True)
class Counts:
    """Counters of one or more cases, in the shape of a `reports.tally` delta."""

    numbers: dict[str, float] = field(default_factory=dict)
    named: dict[str, dict[str, float]] = field(default_factory=dict)
    tables: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)

    def count(self, field_name: str, amount: float = 1) -> None:
        """Adds to a plain counter (cases, generated, invalid, seeded, numeric_verdicts, cpu_s)."""
        self.numbers[field_name] = self.numbers.get(field_name, 0) + amount

    def name(self, field_name: str, name: str, amount: float = 1) -> None:
        """Adds to a counter with names (skipped, inconclusive, ops, phases)."""
        names = self.named.setdefault(field_name, {})
        names[name] = names.get(name, 0) + amount

    def cell(self, table: str, name: str, column: str) -> None:
        """Adds one to a column of a table (passes, oracles)."""
        row = self.tables.setdefault(table, {}).setdefault(name, {})
        row[column] = row.get(column, 0) + 1

    def delta(self) -> dict[str, Any]:
        """The counts as a tally takes them."""
        return {**self.numbers, **self.named, **self.tables}

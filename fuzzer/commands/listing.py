"""`passfuzz list`: the tables as rows of plain values. What the rows mean is said where each table lives."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

from corpus.registry import Registry, cause_id
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.known_causes import read_registry_of, warn_of_lost_cases
from fuzzer.protocol import Plan
from fuzzer.results import Listing
from generators.targets import TARGETS
from oracles.builds.needs import builder_of

CAUSES = "causes"


def read_listing(name: str) -> Listing:
    """The table of that name. Raises UsageError for other names, EnvironmentFault when TVM cannot be imported."""
    if name not in _TABLES:
        raise UsageError(f"list {name}: no such table; choose from {', '.join((*_TABLES, CAUSES))}")
    try:
        return _TABLES[name]()
    except ImportError as error:
        raise EnvironmentFault(f"cannot read the table: {error}; `passfuzz doctor` says more") from error


def list_causes(known: Path | None, today: date, stale: bool) -> Listing:
    """The entries of a registry; with `stale` those that have matched nothing for a month. Warns of cases
    that are not there. Raises UsageError."""
    registry = Registry() if known is None else read_registry_of(known)
    warn_of_lost_cases(registry)
    entries = registry.stale(today) if stale else registry.entries
    rows = (
        (
            cause_id(entry.identity),
            entry.status if entry.status != "fixed-in" else f"fixed-in {entry.fixed_in}",
            entry.tier,
            entry.seen or "never",
            entry.is_stale(today),
            entry.title,
            entry.case,
            entry.line,
            entry.identity,
        )
        for entry in entries
    )
    return Listing(CAUSES, ("id", "status", "tier", "seen", "stale", "title", "case", "line", "cause"), tuple(rows))


def _passes() -> Listing:
    from generators.passes.table import PASSES

    rows = (
        (
            row.name,
            ",".join(phase.name.lower() for phase in sorted(row.place.phases)),
            row.promise.meaning.value,
            row.promise.idempotent,
            row.why,
        )
        for row in PASSES.values()
    )
    return Listing("passes", ("name", "phases", "meaning", "idempotent", "why"), tuple(rows))


def _ops() -> Listing:
    from generators.operators.table import OPERATORS

    rows = ((row.name, row.rounding.value, row.unjudged or "") for row in OPERATORS.values())
    return Listing("ops", ("name", "rounding", "not judged because"), tuple(rows))


def _oracles() -> Listing:
    from oracles.oracle import BuildOracle
    from oracles.table import ORACLES

    built = Plan(seed=0).build_share
    rows = (
        (row.name, round(built * row.share, 5) if isinstance(row, BuildOracle) else row.share, row.promise)
        for row in ORACLES.values()
    )
    return Listing("oracles", ("name", "share", "promise"), tuple(rows))


def _targets() -> Listing:
    rows = tuple((row.name, builder_of(row.name) is not None, row.meaning) for row in TARGETS.values())
    return Listing("targets", ("name", "built", "meaning"), rows)


_TABLES: dict[str, Callable[[], Listing]] = {
    "passes": _passes,
    "ops": _ops,
    "oracles": _oracles,
    "targets": _targets,
}

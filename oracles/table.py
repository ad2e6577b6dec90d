"""The oracles: the rows of all files in `oracles/checks`, and one for each way of building, by rank.

A new oracle is a file there and its script in `oracles/scripts`; nothing is listed by hand. The order matters where an
oracle is asked of a share of the steps, and to a reader of findings: an ill-formed result is reported first by the
check that says what is wrong with it, then by TVM's verifier, which says that something is.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from generators.case import Tier
from generators.targets import TARGETS
from oracles import checks
from oracles.builds.cpu_builds import CPU_BUILDS, SHARE
from oracles.builds.needs import LLVM
from oracles.oracle import BuildOracle, Oracle, StepOracle, TraceOracle
from oracles.scripts import require_script
from oracles.verdict import BUILD as BUILD


def _judging() -> Iterator[Oracle]:
    """The rows of the files in `oracles/checks`."""
    for found in iter_modules(checks.__path__, f"{checks.__name__}."):
        for value in vars(import_module(found.name)).values():
            if isinstance(value, (StepOracle, TraceOracle)):
                yield value


def _building() -> Iterator[Oracle]:
    """The ordinary build, and the others that `oracles.builds.cpu_builds` lists."""
    yield BuildOracle(
        BUILD,
        "the module that a case ends with compiles, runs, and gives the reference's numbers",
        judges_numbers=True,
        builders=frozenset(target.builder for target in TARGETS.values()),
    )
    share = SHARE / len(CPU_BUILDS)
    for row in CPU_BUILDS.values():
        yield BuildOracle(row.name, row.promise, row, share=share, builders=frozenset({LLVM.name}))


ORACLES: dict[str, Oracle] = {row.name: row for row in sorted((*_judging(), *_building()), key=lambda row: row.rank)}
"""By name, in the order in which they are asked. Raises MissingScript where one has no script."""
for _name in ORACLES:
    require_script(_name)


def tier_at(oracle: str, tier: Tier) -> Tier:
    """The tier of a failure of an oracle, or of what is no oracle, at a pass of this tier."""
    row = ORACLES.get(oracle)
    return tier if row is None else row.tier_of(tier)


NEED_NUMBERS = frozenset(row.name for row in ORACLES.values() if row.needs_numbers)
"""The oracles that need the reference's numbers."""

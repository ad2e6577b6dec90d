"""The oracles, cheap first: one row and one file each.

The order matters to a reader of findings only: an ill-formed result is told first by the check that says what is
wrong with it, then by TVM's verifier, which says that something is.
"""

from __future__ import annotations

from generators.targets import TARGETS
from oracles.builds.cpu_builds import CPU_BUILDS, SHARE
from oracles.checks import (
    attributes,
    dead_binding,
    dead_code,
    definedness,
    determinism,
    idempotence,
    input_unchanged,
    legalised,
    normal_form,
    numeric,
    pipelines,
    purity,
    round_trip,
    sequential,
    survives,
    type_soundness,
    well_formed,
)
from oracles.oracle import BuildOracle, Oracle
from oracles.scripts import require_script
from oracles.verdict import BUILD as BUILD

ANY_BUILDER = frozenset(target.builder for target in TARGETS.values())
ORDINARY = BuildOracle(
    BUILD,
    "the module that a case ends with compiles, runs, and gives the reference's numbers",
    judges_numbers=True,
    builders=ANY_BUILDER,
)
OTHER_BUILDS = tuple(
    BuildOracle(row.name, row.promise, row, share=SHARE / len(CPU_BUILDS), builders=frozenset({"llvm"}))
    for row in CPU_BUILDS.values()
)

_ROWS: tuple[Oracle, ...] = (
    survives.ORACLE,
    input_unchanged.ORACLE,
    purity.ORACLE,
    normal_form.ORACLE,
    definedness.ORACLE,
    well_formed.ORACLE,
    type_soundness.ORACLE,
    attributes.ORACLE,
    numeric.ORACLE,
    legalised.ORACLE,
    legalised.EXECUTABLE_ORACLE,
    determinism.ORACLE,
    idempotence.ORACLE,
    sequential.ORACLE,
    dead_code.ORACLE,
    dead_binding.ORACLE,
    round_trip.ORACLE,
    pipelines.ORACLE,
    ORDINARY,
    *OTHER_BUILDS,
)
ORACLES: dict[str, Oracle] = {row.name: row for row in _ROWS}
for name in ORACLES:
    require_script(name)
NEED_NUMBERS = frozenset(row.name for row in ORACLES.values() if row.needs_numbers)
"""The oracles that need the reference's numbers."""

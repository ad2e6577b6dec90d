"""The oracles, cheap first: one row and one file each.

The order matters to a reader of findings only: an ill-formed result is told first by the check that says what is
wrong with it, then by TVM's verifier, which says that something is.
"""

from __future__ import annotations

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
from oracles.oracle import StepOracle, TraceOracle
from oracles.verdict import BUILD as BUILD

ORACLES: dict[str, StepOracle | TraceOracle] = {
    row.name: row
    for row in (
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
    )
}

BUILD_PROMISE = "the module that a case ends with compiles, runs, and gives the reference's numbers"

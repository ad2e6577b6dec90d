"""The Finding: a reduced Case with its failed verdict and signature, and its line in `findings.jsonl`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from corpus.causes.signature import Signature
from corpus.rate import ReproRate
from corpus.scripts.setting import ScriptSetting
from generators.case import Argument, Case, Shape, Tier
from generators.dtypes import Array
from oracles.verdict import Failed

OutputTolerance: TypeAlias = Array | float


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a call must give: the reference's outputs and how far each element may be off.

    call: index into the case's calls. outputs: the result flattened depth first (arrays in their declared
    dtype, shape values as int64 vectors, scalars as rank-0 arrays); for a PrimFunc all its array arguments
    after the call, in order. tolerances: one per output, absolute, a float or an array of the output's shape.
    """

    call: int
    outputs: tuple[Array, ...]
    tolerances: tuple[OutputTolerance, ...]

    def __post_init__(self) -> None:
        if len(self.outputs) != len(self.tolerances):
            raise ValueError(f"{len(self.outputs)} outputs but {len(self.tolerances)} tolerances")


@dataclass(frozen=True, slots=True)
class ReductionStats:
    """How far a finding was reduced and what that cost; statements count TIR statements. seconds: of CPU, or of the
    clock where that was the limit. out_of_time: the search ended before every step had been tried on what is left.
    whole: bodies of functions could not be made smaller, since the module does not fail once it is built anew.
    faulty_steps: steps of the search in which an error of ours was met, and passed over."""

    bindings_before: int
    bindings: int
    statements_before: int
    statements: int
    passes_before: int
    passes: int
    oracle_calls: int
    seconds: float
    out_of_time: bool = False
    whole: bool = False
    faulty_steps: int = 0


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What the last pass of a reduced case gave, for a reader; empty where it raised.

    verified_by: a call of TVM's verifier on `after`, that module, as Python, where it rejects it. complaint: what it
    says. change: the functions before and after the pass as a unified diff. outputs: what the reference gives for the
    entry calls in that module, a line for each tensor.
    """

    verified_by: str = ""
    complaint: str = ""
    change: str = ""
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One unique failure. `at_s` is seconds from the campaign's start to the first sighting, `count` sightings.

    `tvm` is the version that it was seen on; `reduced` is None until a reduction has been run.
    `fault`: whose fault wrong numbers are, in lines for a reader (`fuzzer.trial.whose_fault`).
    `setting`: how its script runs.
    `promise`: what the oracle's row says that must hold.
    `cause`: as `str(corpus.causes.cause.Cause)`, "" where it is not known; `blames`: as that has it. `environment`:
    names and versions of what it was seen on, for an issue. `official`: the call that shows it by an official pipeline,
    as Python text over `Module`; "" where none is known. `own_fault`: what raised in passfuzz while more was asked of
    the finding, which makes its cause a guess; usually "". `rate`: how many of its runs its script showed it in; None
    where each one did. `said`: as `corpus.causes.signature.told_by` gives it, of the run that confirmed it.
    `unreduced`: the same as it was found, to be shown where a script does not show what reduction has left; None where
    that is certain, or nothing was left out.
    `space`: the name space of TVM that the culprit belongs to where it is a pass of TIR of a user's file (as
    `PassRow.space` has it).
    """

    case: Case
    verdict: Failed
    oracle: str
    signature: Signature
    tier: Tier
    at_s: float
    tvm: str
    count: int = 1
    reduced: ReductionStats | None = None
    expectations: tuple[Expectation, ...] = ()
    fault: tuple[str, ...] = ()
    setting: ScriptSetting = ScriptSetting()
    promise: str = ""
    cause: str = ""
    blames: str = ""
    aftermath: Aftermath = Aftermath()
    environment: tuple[tuple[str, str], ...] = ()
    official: str = ""
    own_fault: str = ""
    rate: ReproRate | None = None
    said: str = ""
    unreduced: Finding | None = None
    space: str = ""

    @property
    def folder(self) -> str:
        """Where it is kept, relative to the campaign's OUT, with forward slashes."""
        return f"findings/{self.signature.slug}"

    def seen_again(self, times: int = 1) -> Finding:
        """The same finding, sighted `times` more."""
        return replace(self, count=self.count + times)


def flatten_outputs(output: Argument) -> tuple[Array, ...]:
    """The result of a call as `Expectation.outputs` wants it."""
    if isinstance(output, tuple):
        return tuple(leaf for field in output for leaf in flatten_outputs(field))
    if isinstance(output, Shape):
        return (np.array(output.extents, dtype=np.int64),)
    return (np.asarray(output),)


def stats_row(stats: ReductionStats, passes: int) -> dict[str, float]:
    """What a reduction did, as a finding's line says it; `passes` are left."""
    return {
        "bindings_before": stats.bindings_before,
        "bindings": stats.bindings,
        "statements_before": stats.statements_before,
        "statements": stats.statements,
        "passes_before": stats.passes_before,
        "passes": passes,
        "oracle_calls": stats.oracle_calls,
        "seconds": round(stats.seconds, 3),
    }

"""What `passfuzz check` does in its process: every oracle on one case, in a child whose end is a verdict too."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fuzzer.oneshot.prepare import STAGE_S, Bench, Refused, Say
from fuzzer.processes.fork import in_child
from fuzzer.protocol import Failure
from fuzzer.trial.explain import explain
from fuzzer.trial.judge import Experiment, judge
from fuzzer.trial.whose_fault import whose_fault
from fuzzer.worker.child import court_of, lost_failure, oracle_names
from fuzzer.worker.main import limit_memory
from generators.passes.row import Phase
from generators.passes.table import PIPELINES
from generators.source import SeededSource
from oracles.checks import pipelines, round_trip
from oracles.table import NEED_NUMBERS
from oracles.verdict import Failed, Inconclusive, Passed, Skipped, Verdict, difference_in

OURS = ("reference", "numeric")
"""Oracles and stages in which no code of TVM runs: who does not get through them says nothing of a pass."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Rows as `fuzzer.results.CheckRow` has them, and the failures among them, in order."""

    rows: tuple[dict[str, Any], ...]
    failures: tuple[Failure, ...]


def check(bench: Bench, say: Say) -> None:
    """Says a "row" per oracle and step, the "culprit" where an oracle failed, and "values" where they are asked for."""
    outcome = outcome_of(bench)
    for row in outcome.rows:
        say("row", **row)
    culprit = outcome.failures[0].culprit if outcome.failures else None
    if culprit is not None:
        say("culprit", name=culprit)
    if any(failure.oracle in NEED_NUMBERS for failure in outcome.failures):
        for line in _fault(bench):
            say("fault", line=line)
    if bench.errand.explain:
        explain(bench, culprit, say)


def _fault(bench: Bench) -> list[str]:
    """Whose fault wrong numbers are; [] where the child that looks ends early."""

    def look(say: Callable[[str], None]) -> None:
        for line in whose_fault(bench.start, bench.plan, bench.repertoire):
            say(json.dumps({"line": line}))

    bench.recorder.write(0, "fault")
    lines, _, _ = in_child(look, bench.recorder, STAGE_S)
    return [str(json.loads(line)["line"]) for line in lines]


def outcome_of(bench: Bench, oracle: str | None = None) -> Outcome:
    """What the oracles (or one of them) say of the bench's candidate. Raises Refused for an oracle there is not.

    Where nobody asked for the passes, the module that was given is what must round-trip, not what they make of it:
    TVM's printer and parser do not agree on lowered modules, which says nothing of the module.
    """
    names = oracle_names(bench.plan)
    if oracle is not None:
        if oracle not in names:
            raise Refused(f"--oracle {oracle}: unknown oracle; `passfuzz list oracles` shows them all")
        names = frozenset({oracle, "survives"})
    if bench.note:
        note = [_row("numeric", None, Skipped(bench.note))]
        return _judged(bench, names.difference(NEED_NUMBERS), note)
    return _judged(bench, names, [])


def _judged(bench: Bench, oracles: frozenset[str], rows: list[dict[str, Any]]) -> Outcome:
    bench.recorder.write(0, "start")
    lines, ended, stage = in_child(lambda say: _judge(bench, oracles, say), bench.recorder, STAGE_S, per_stage=True)
    said = [json.loads(line) for line in lines]
    if ended is not None and stage.split(" of ")[0] in OURS:
        note = Inconclusive(f"the reference does not get through: {ended}")
        return _judged(_without_calls(bench), oracles.difference(NEED_NUMBERS), [*rows, _row("numeric", None, note)])
    fault = next((entry["fault"] for entry in said if "fault" in entry), None)
    if fault is not None:
        raise Refused(f"internal error: {fault} in {stage}", usage=False)
    rows = [*rows, *(entry["row"] for entry in said if "row" in entry)]
    failures = [Failure.from_json(entry["failure"]) for entry in said if "failure" in entry]
    if ended is not None:
        lost = _lost(bench, stage, ended)
        failures.append(lost)
        rows.append(_row("survives", _pass_named(bench, lost), Failed(lost.symptom, lost.message)))
    return Outcome(tuple(rows), tuple(failures))


def _without_calls(bench: Bench) -> Bench:
    return replace(bench, start=replace(bench.start, calls=()))


def _judge(bench: Bench, oracles: frozenset[str], say: Callable[[str], None]) -> None:
    """In the child: a line per row, each before the next oracle is asked, and the failures with their culprits."""
    limit_memory(bench.plan.memory_bytes)
    start = bench.start
    court = court_of(bench.plan, bench.repertoire)
    court.force, court.oracles = True, oracles
    if bench.implied:
        court.oracles -= {round_trip.ORACLE.name}
    if court.phase > Phase.LEGAL:
        court.oracles -= {pipelines.ORACLE.name}
    court.enter = lambda stage: bench.recorder.write(0, stage)
    court.listen = lambda oracle, name, verdict: say(json.dumps({"row": _row(oracle, name, verdict)}))
    tiers = _tiers(tuple(call.name for call in start.passes))
    experiment = Experiment(0, start.module, start.calls, start.setup, start.passes, tiers)
    try:
        if bench.implied and round_trip.ORACLE.name in oracles:
            _judge_as_given(bench, say)
        judged = judge(experiment, court, SeededSource(bench.plan.seed, 0))
    except Exception as error:  # noqa: BLE001 - the worker boundary: an error of ours is said in one line
        say(json.dumps({"fault": f"{type(error).__name__}: {error}"}))
        return
    for failure in judged.failures:
        say(json.dumps({"failure": failure.to_json()}))


def _judge_as_given(bench: Bench, say: Callable[[str], None]) -> None:
    """The round trip of the module before any pass."""
    name = round_trip.ORACLE.name
    bench.recorder.write(0, name)
    verdict = round_trip.judge_module(bench.start.module)
    say(json.dumps({"row": _row(name, None, verdict)}))
    if isinstance(verdict, Failed):
        culprit = verdict.culprit or round_trip.PRINTER
        failure = Failure(
            0, name, verdict.symptom, verdict.message, verdict.detail, culprit, "A", 0, (), verdict.evidence
        )
        say(json.dumps({"failure": failure.to_json()}))


def _tiers(names: tuple[str, ...]) -> tuple[str, ...]:
    """A where an official pipeline starts with these passes, else B."""
    official = any(pipeline[: len(names)] == names for pipeline in PIPELINES.values())
    return tuple("A" if official else "B" for _ in names)


def _lost(bench: Bench, stage: str, ended: str) -> Failure:
    """The end of a child as a failure, with its step where it was a pass that was running."""
    failure = lost_failure(bench.plan, bench.repertoire, 0, stage, ended, "")
    names = [call.name for call in bench.start.passes]
    return replace(failure, step=names.index(stage)) if stage in names else failure


def _pass_named(bench: Bench, failure: Failure) -> str | None:
    return failure.culprit if any(call.name == failure.culprit for call in bench.start.passes) else None


def _row(oracle: str, pass_name: str | None, verdict: Verdict) -> dict[str, Any]:
    base = {"oracle": oracle, "pass_name": pass_name}
    match verdict:
        case Passed():
            return {**base, "verdict": "passed"}
        case Skipped(reason):
            return {**base, "verdict": "skipped", "message": reason}
        case Inconclusive(reason):
            return {**base, "verdict": "inconclusive", "message": reason}
        case Failed(symptom, message, detail):
            told = {"symptom": symptom, "message": message, "difference": difference_in(detail)}
            return {**base, "verdict": "failed", **told}
    raise AssertionError(verdict)

"""What happens after the last test: what was found is made small, shown in a fresh process, written, and said.

Outside of the tests' own time. Where OUT was not asked for, the same happens in a folder that goes away.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from corpus.causes.cause import cause_of
from corpus.causes.signature import operators_in, signature_of
from corpus.finding import Finding
from corpus.findings import keep_finding, save_finding, stored_from
from corpus.issue import issue_text
from corpus.readme import readme_text
from corpus.reduce import candidate_of
from corpus.scripts.module_text import live_module
from corpus.store import write_atomically, write_case
from fuzzer.campaign.finding_rows import FindingRows
from fuzzer.known_causes import Known
from fuzzer.parsing import threads_can_parse
from fuzzer.plugin.pairs import PAIRS_FILE, Pairs
from fuzzer.plugin.repro import script_that_runs_the_test
from fuzzer.plugin.suite_watch import Ledger, Sighting
from fuzzer.protocol import Plan
from fuzzer.retold_issues import retell_issues
from fuzzer.settings import available_cpus
from fuzzer.trial.foreign.contracts import row_of_no_table
from fuzzer.trial.foreign.foreign_trial import be_quiet
from fuzzer.trial.foreign.parts import guarded
from fuzzer.trial.foreign.pass_origin import PassOrigin, names_in
from fuzzer.trial.reduction_watch import Paced
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.shrinking.shrink import shrink
from fuzzer.versions import passfuzz_version, tvm_version
from fuzzer.worker.confirm import Tried, confirmed
from generators.case import Case
from generators.passes.table import PASSES
from generators.targets import DEFAULT, TARGETS
from generators.tvm_api import PASS_NAMES
from oracles.checks import definedness
from oracles.forked import ChildRaised, Ended, forked
from oracles.ir.difference import HEAD, difference
from oracles.table import ORACLES
from oracles.trace import Raised
from oracles.verdict import Failed
from oracles.workbench import constructed
from reports.causes import causes_of
from reports.causes import headline as causes_line
from reports.finding_row import FindingRow, row_of
from reports.summary import UNCONFIRMED, Report, RunFacts, write_out
from reports.tally import bump
from reports.words import finding_line, largest_first

FAIL_ON = ("A", "B")
REDUCE_S = 15.0
"""CPU seconds that making one finding small may take, after which it is as small as it has become."""
CEILING_S = 60.0
"""Seconds of the clock that it may take on a busy machine."""
REDUCE_ALL_S = 180.0
"""Seconds after which no further finding is made small."""
_SHOWN_REASONS = 4
_SHOWN_NAMES = 5
_KEEPS = "--passfuzz-out DIR keeps a script that shows it"


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """lines: what the terminal shows. failing: whether there is a new cause of a tier that fails."""

    lines: list[str]
    failing: bool


def end(
    ledger: Ledger,
    out: Path | None,
    scratch: Path,
    folder: str,
    known: Known | None = None,
    same_meaning: Sequence[str] = (),
) -> SessionEnd:
    """Reduces, confirms and writes what the ledger holds. folder: where pytest was called, for repros that call it.
    known: what is no new cause, None for nothing. same_meaning: the entries of `passfuzz_same_meaning`."""
    known = known or Known(tvm_version())
    place = scratch if out is None else out
    place.mkdir(parents=True, exist_ok=True)
    findings, unconfirmed = _findings(ledger, place, scratch, folder)
    for reason, number in ledger.missed.items():
        bump(ledger.tally.skipped, reason, number)
    rows = tuple(known.told(row_of(finding), finding.verdict.detail) for finding in findings)
    facts = RunFacts(
        tvm_version(),
        passfuzz_version(),
        0,
        (DEFAULT,),
        ledger.seconds,
        own_fault=ledger.fault,
        ended="done" if ledger.fault is None else "fault",
        unconfirmed=unconfirmed,
    )
    write_out(place, Report(facts, ledger.tally, rows))
    retell_issues(place, rows)
    pairs = Pairs.of(ledger.pairs)
    write_atomically(place / PAIRS_FILE, json.dumps(pairs.to_json(), indent=1).encode())
    lines = [
        headline(ledger, rows),
        f"  {pairs.line()}",
        *_by_structure_alone(ledger),
        *_of_no_pass(ledger, same_meaning),
    ]
    lines += [
        line
        for row, f in zip(rows, findings, strict=True)
        for line in (f"  {finding_line(row)}", *_more(f), f"    {place / row.repro if out else _KEEPS}")
    ]
    if unconfirmed:
        kept = f", kept in {place / UNCONFIRMED}" if out else ""
        lines.append(f"  {unconfirmed} did not show again in a fresh process: no findings{kept}")
    if out is not None:
        lines.append(f"  results are in {out}")
    return SessionEnd(lines, any(cause.is_failure(FAIL_ON) for cause in causes_of(rows)))


def _more(finding: Finding) -> list[str]:
    """What a finding is about beyond its message, and the test that shows it."""
    named = finding.verdict.detail.splitlines()[:1] if finding.oracle == definedness.ORACLE.name else []
    test = [f"in {finding.case.origin.file}"] if finding.case.origin.file else []
    return [f"    {line}" for line in (*named, *test)]


def _by_structure_alone(ledger: Ledger) -> list[str]:
    """A line on the passes of a user's own whose numbers nothing was asked of."""
    names = sorted(ledger.unpromised)
    if not names:
        return []
    more = [f"{len(names) - _SHOWN_NAMES} more"] if len(names) > _SHOWN_NAMES else []
    shown = ", ".join(names[:_SHOWN_NAMES] + more)
    if len(names) == 1:
        return [f"  your pass {shown} was not compared by numbers: add it to passfuzz_same_meaning if it keeps them"]
    return [f"  your passes {shown} were not compared by numbers: add those that keep them to passfuzz_same_meaning"]


def _of_no_pass(ledger: Ledger, same_meaning: Sequence[str]) -> list[str]:
    """A line on entries of `passfuzz_same_meaning` that name no pass that was judged. They stand on a line each, so two
    names on one line are one name, of no pass."""
    unknown = [name for name in same_meaning if name not in ledger.tally.passes]
    if not unknown or not ledger.tally.passes:
        return []
    shown = ", ".join(map(repr, unknown[:_SHOWN_NAMES]))
    more = f" and {len(unknown) - _SHOWN_NAMES} more" if len(unknown) > _SHOWN_NAMES else ""
    return [f"  passfuzz_same_meaning: no pass was judged with the name {shown}{more} (one name a line)"]


def headline(ledger: Ledger, rows: Sequence[FindingRow]) -> str:
    """The whole session in one line."""
    reasons = [f"{reason} {number}" for reason, number in largest_first(ledger.missed)]
    more = [f"{len(reasons) - _SHOWN_REASONS} more reasons"] if len(reasons) > _SHOWN_REASONS else []
    why = f" ({', '.join(reasons[:_SHOWN_REASONS] + more)})" if reasons else ""
    return (
        f"passfuzz: judged {ledger.judged:,} pass calls, {ledger.tally.numeric_verdicts:,} by numbers, "
        f"skipped {ledger.missed.total():,}{why}, {causes_line(rows)}, "
        f"+{ledger.seconds:.1f} s"
    )


# --- findings -----------------------------------------------------------------------------------------------


def _findings(ledger: Ledger, out: Path, scratch: Path, folder: str) -> tuple[list[Finding], int]:
    """The findings, one per signature, in the order of their first sighting; and how many were not confirmed."""
    found: dict[str, Finding] = {}
    rows = FindingRows(Known(tvm_version()))
    by_script: list[Finding] = []
    unconfirmed = 0
    until = time.monotonic() + REDUCE_ALL_S
    by_test: list[Finding] = []
    for sighting in ledger.sightings.values():
        made = _reduced(sighting, scratch, until, ledger) if sighting.case.passes[0].source else None
        if made is not None:
            by_script.append(rows.apart(made))
        elif not sighting.case.passes[0].source or _of_users_own(sighting.case):
            by_test.append(rows.apart(as_it_is(sighting)))
        else:
            save_finding(out / UNCONFIRMED, as_it_is(sighting))
            unconfirmed += 1
    merged: dict[str, Finding] = {}
    for finding in by_script:
        _add(merged, finding)
    for tried in _confirmed(merged.values(), scratch):
        if tried.shown or not _of_users_own(tried.finding.case):
            keep_finding(out if tried.shown else out / UNCONFIRMED, tried.finding)
        if tried.shown:
            _add(found, tried.finding)
        elif _of_users_own(tried.finding.case):  # Its file may need what pytest sets up.
            by_test.append(tried.finding)
        else:
            unconfirmed += 1
    for finding in by_test:
        _save_with_test(out, finding, folder)
        _add(found, finding)
    return sorted(found.values(), key=lambda finding: finding.at_s), unconfirmed


def _of_users_own(case: Case) -> bool:
    """Whether the pass comes from a file of the user's."""
    return case.load is not None


def _add(found: dict[str, Finding], finding: Finding) -> None:
    slug = finding.signature.slug
    found[slug] = found[slug].seen_again(finding.count) if slug in found else finding


def as_it_is(sighting: Sighting, own_fault: str = "") -> Finding:
    """A finding that was not made small. own_fault: what of ours prevents that, which makes its cause a guess."""
    failure, case = sighting.failure, sighting.case
    failed = Failed(
        failure.symptom, failure.message, failure.detail, failure.culprit, failure.evidence, failure.difference
    )
    signature = signature_of(failure.oracle, failed, failure.culprit, operators_in(case.module.script))
    cause = cause_of(failure.oracle, failed, failure.culprit)
    return Finding(
        case,
        failed,
        failure.oracle,
        signature,
        failure.tier,
        sighting.at_s,
        tvm_version(),
        count=sighting.count,
        promise=ORACLES[failure.oracle].promise,
        cause=str(replace(cause, certain=cause.certain and not own_fault)),
        blames=cause.blames,
        own_fault=own_fault,
    )


def _reduced(sighting: Sighting, scratch: Path, until: float, ledger: Ledger) -> Finding | None:
    """The finding made small, or as it is where a fault of ours prevents that; None where it does not show on the text
    of its module, outside of the test."""
    ceiling_s = max(0.0, min(CEILING_S, until - time.monotonic()))
    budget_s = min(REDUCE_S, ceiling_s)
    what = f"making a failure of {sighting.failure.oracle} small"
    try:
        made = forked(lambda: _shrink(sighting, scratch, budget_s, ceiling_s), int(ceiling_s) + 60, guarded=True)
    except ChildRaised as fault:
        ledger.at_fault(f"{what}: {fault}")
        return as_it_is(sighting, str(fault))
    if isinstance(made, Ended):
        ledger.missed[f"{what}: {'killed from outside' if made.from_outside else made.verb}"] += 1
    if made is None or isinstance(made, Ended):
        return None
    if made.own_fault:
        ledger.at_fault(f"{what}: {made.own_fault}")
    return replace(made, at_s=sighting.at_s, count=sighting.count)


def _shrink(sighting: Sighting, scratch: Path, budget_s: float, ceiling_s: float) -> Finding | None:
    be_quiet()
    case = sighting.case
    name = case.passes[0].name
    kept = frozenset({name} if ORACLES[sighting.failure.oracle].judges_numbers else ())
    rows = PASSES if name in PASSES else {**PASSES, name: row_of_no_table(name, kept)}
    names: Mapping[str, object] = {}
    if case.load is not None:
        try:
            names = names_in(PassOrigin(Path(case.load), case.passes[0].source))
        except BaseException:  # noqa: BLE001 - a user's file may raise anything: then the test itself shows the failure
            return None
    plan = Plan(seed=0, scratch=str(scratch), phase=sighting.phase)
    given = (plan, Repertoire(rows, names), sighting.failure, candidate_of(case), case)
    made = shrink(*given, budget_s, Paced(budget_s, ceiling_s))
    return _with_change(made, names) if isinstance(made, Finding) else None


def _with_change(finding: Finding, names: Mapping[str, object]) -> Finding:
    """The finding with what the pass changes of the small module, where the verdict does not show it."""
    if finding.verdict.difference or len(finding.case.passes) != 1:
        return finding
    source, target = finding.case.passes[0].source, TARGETS[finding.case.target].source

    def change() -> str:
        before = live_module(finding.case.module)
        with constructed(target):
            after = constructed(source, {**PASS_NAMES, **names})(before.clone())
        return difference(before, after)

    shown = guarded(change)
    changed = "" if isinstance(shown, Raised) or shown == HEAD else shown
    return replace(finding, verdict=replace(finding.verdict, difference=changed))


def _confirmed(findings: Iterable[Finding], scratch: Path) -> Iterable[Tried]:
    """Each finding with whether its own script shows it in a fresh process."""
    by_slug = {finding.signature.slug: finding for finding in findings}
    tried = partial(confirmed, room=scratch)
    if not threads_can_parse():  # Each writes a script first, which parses it.
        yield from map(tried, by_slug.values())
        return
    with ThreadPoolExecutor(available_cpus()) as pool:
        yield from pool.map(tried, by_slug.values())


def _save_with_test(out: Path, finding: Finding, folder: str) -> None:
    stored = stored_from(finding)
    repro = script_that_runs_the_test(stored, os.path.abspath(folder))
    readme = readme_text(
        stored,
        repro,
        finding.tvm,
        difference=finding.verdict.difference,
        promise=finding.promise,
        detail=finding.verdict.detail,
    )
    issue = issue_text(finding, stored, script=repro)
    write_case(out / finding.folder, stored, repro, readme, issue, made_here=True)

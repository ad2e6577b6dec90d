"""`passfuzz report OUT`: results read back from the files alone, merged over shards, and shown on a terminal."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from corpus.escapes import one_line
from corpus.regular_files import MEBIBYTE, is_real_folder, read_regular, regular_files
from reports.causes import CauseRow, headline
from reports.finding_row import merge_rows, merge_sighted
from reports.severity import best, is_odd, severity, worst_first
from reports.summary import SUMMARY_FILE, UNKNOWN, Report, RunEnd, RunFacts, read_out, write_out
from reports.tally import Tally
from reports.terminal import Terminal
from reports.words import cut, how_ended, not_shown, one_screen, progress_line, several, title, unreduced_line

FINDINGS = "findings"
SHOWN_SEEDS = 5
SHORTEST_TITLE = 24
"""Characters that are left of what happens on a narrow terminal."""
MOST_FILE = 512 * MEBIBYTE
"""Bytes of a file of a finding that a merge copies."""


class NoMerge(Exception):
    """Folders that cannot be merged as was asked; the text is one line that says why. Nothing has been written."""


def read_outs(outs: Sequence[Path]) -> Report:
    """The results of one run, or of the shards of one as a whole. Raises UnreadableOut, and NoMerge."""
    _refuse_twice(outs)
    return merge_reports([read_out(out) for out in outs])


def merge_reports(reports: Sequence[Report]) -> Report:
    """One report of several: counts add up, findings are deduplicated, wall time is the longest."""
    tally = Tally()
    for report in reports:
        tally.add(report.tally)
    rows = merge_rows(row for report in reports for row in report.findings)
    facts = [report.facts for report in reports]
    notes = (*(note for report in reports for note in report.notes), *_doubts(facts))
    return Report(_merge_facts(facts), tally, rows, notes)


def write_merged(outs: Sequence[Path], into: Path) -> Report:
    """Merges runs into one results folder: files, and the folder of every finding, from the run whose row is shown.

    What an earlier merge has left there is replaced, so that repeating one counts nothing again. Of the folder of a
    finding its regular files are copied; a symbolic link is not followed, and named in the notes.
    Raises UnreadableOut, NoMerge, and OSError for what cannot be written.
    """
    _refuse_twice(outs)
    _refuse_target(outs, into)
    reports = [read_out(out) for out in outs]
    report = merge_reports(reports)
    sighted = merge_sighted((row, out) for out, one in zip(outs, reports, strict=True) for row in one.findings)
    into.mkdir(parents=True, exist_ok=True)
    left_out = _copy_findings([(out, row.signature) for row, out in sighted], into / FINDINGS)
    report = replace(report, facts=replace(report.facts, merged=True), notes=(*report.notes, *left_out))
    write_out(into, report)
    return report


def _refuse_twice(outs: Sequence[Path]) -> None:
    for index, out in enumerate(outs):
        if any(_same(out, other) for other in outs[:index]):
            raise NoMerge(f"{one_line(out)} is given twice; its cases would count twice")


def _refuse_target(outs: Sequence[Path], into: Path) -> None:
    """A merge writes over what is in its folder, which may be another merge and nothing else."""
    for out in outs:
        if _same(out, into):
            raise NoMerge(f"--merge {one_line(into)}: one of the folders that are merged; give a new one")
        above, below = Path(os.path.realpath(out)), Path(os.path.realpath(into))
        if above in below.parents or below / FINDINGS in above.parents:
            raise NoMerge(f"--merge {one_line(into)}: {one_line(out)} and it lie in each other; give a new one")
    if not os.path.lexists(into / SUMMARY_FILE):
        if os.path.lexists(into / FINDINGS):
            raise NoMerge(f"--merge {one_line(into)}: a folder with findings that are no merge; give a new one")
        return
    if not read_out(into).facts.merged:
        raise NoMerge(f"--merge {one_line(into)}: it holds the results of a run; give a new one")


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _copy_findings(chosen: Sequence[tuple[Path, str]], into: Path) -> list[str]:
    """Copies the folders (OUT, signature) of findings, replacing all that is there; lines on what was left out."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{into.name}.", dir=into.parent))
    try:
        left_out = [line for out, slug in chosen for line in _copy_folder(out / FINDINGS / slug, fresh / slug)]
        fresh.chmod(0o755)
        if into.is_symlink():
            into.unlink()
        elif into.exists():
            shutil.rmtree(into)
        if any(fresh.iterdir()):
            fresh.rename(into)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return left_out


def _copy_folder(source: Path, into: Path) -> list[str]:
    """Copies the regular files of a folder; lines for the notes on what is none. OSError where it cannot write."""
    if not (is_real_folder(source.parent) and is_real_folder(source)):
        return [f"{one_line(source)}: no such folder, its finding comes without files"]
    try:
        names = regular_files(source)
        others = sorted(set(os.listdir(source)) - set(names))
    except OSError as error:
        return [f"{one_line(source)}: cannot be listed: {error.strerror}"]
    into.mkdir()
    left_out = [f"{one_line(source / name)}: not a regular file, left out" for name in others]
    for name in names:
        try:
            content = read_regular(source / name, MOST_FILE, follow=False)
        except OSError as error:
            left_out.append(f"{one_line(source / name)}: {error.strerror}, left out")
        else:
            (into / name).write_bytes(content)
    return left_out


def _doubts(facts: Sequence[RunFacts]) -> list[str]:
    """Lines on why counts of these runs together may mislead."""
    shards = [(fact.seed, fact.shard, fact.targets) for fact in facts]
    doubts = []
    if len(set(shards)) < len(shards):
        doubts.append("Runs of the same seed and shard are merged: their cases count twice.")
    seeds = list(dict.fromkeys(fact.seed for fact in facts))
    if len(seeds) > 1:
        shown = ", ".join(map(str, seeds[:SHOWN_SEEDS])) + (", ..." if len(seeds) > SHOWN_SEEDS else "")
        doubts.append(f"Runs of different seeds are merged: {shown}. The first one is shown.")
    return doubts


def show(report: Report, console: Terminal) -> None:
    """What is new, the worst first, and what is known, on one screen; then how the campaign went, and what is not in
    the report."""
    show_run(report, console)
    if line := unreduced_line(report.facts):
        console.say(line, "bold")


def show_run(report: Report, console: Terminal) -> None:
    """The same, but for what is not in the report: `run` says that with what to do about it."""
    facts, causes = report.facts, worst_first(report.causes)
    console.say(headline(report.findings), "bold")
    shown, left = one_screen(causes)
    for cause in shown:
        console.say(_line(cause, console.width))
    if left:
        console.say(not_shown(left))
    odd = [cause for cause in causes if not cause.known and is_odd(cause)]
    known = [cause for cause in causes if cause.known]
    for line in (several(odd, "new only in odd orders of passes (tier C)"), several(known, "known")):
        if line:
            console.say(line, "dim")
    console.say(f"{progress_line(report.tally, facts.wall_s)}, TVM {facts.tvm}, seed {facts.seed}")
    if facts.coverage is not None:
        console.say(facts.coverage.line)
    if line := how_ended(facts):
        console.say(line, "bold")
    if facts.own_fault:
        console.say(one_line(f"not to be trusted: {facts.own_fault}"), "bold red")


def _line(cause: CauseRow, width: int) -> str:
    """Severity, pass, what happens, and the script, which is never cut; the rest is, to the width."""
    row = best(cause)
    returned = "returned: " if cause.standing == "returned" else ""
    before = f"{severity(cause):<19}  {one_line(row.where)}: {returned}"
    room = max(SHORTEST_TITLE, width - len(before) - len(row.script) - 1)
    return f"{before}{cut(title(cause), room)} {row.script}".rstrip()


def _merge_facts(facts: Sequence[RunFacts]) -> RunFacts:
    first = facts[0]
    if len(facts) == 1:
        return first
    faults = [fact.own_fault for fact in facts if fact.own_fault]
    return RunFacts(
        tvm=_one_or_all(fact.tvm for fact in facts),
        passfuzz=_one_or_all(fact.passfuzz for fact in facts),
        seed=first.seed,
        targets=tuple(dict.fromkeys(target for fact in facts for target in fact.targets)),
        wall_s=max(fact.wall_s for fact in facts),
        shard=", ".join(fact.shard for fact in facts),
        interrupted=any(fact.interrupted for fact in facts),
        own_fault="; ".join(faults) or None,
        ended=_worst(fact.ended for fact in facts),
        unreduced=sum(fact.unreduced for fact in facts),
        unreduced_known=sum(fact.unreduced_known for fact in facts),
        notes=tuple(dict.fromkeys(note for fact in facts for note in fact.notes)),
        fail_on=tuple(dict.fromkeys(tier for fact in facts for tier in fact.fail_on)),
    )


def _worst(ends: Iterable[RunEnd | None]) -> RunEnd | None:
    """How runs as a whole ended: as the one that did worst."""
    order: tuple[RunEnd | None, ...] = (None, "fault", "interrupted", UNKNOWN, "done")
    return min(ends, key=order.index)


def _one_or_all(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(values))

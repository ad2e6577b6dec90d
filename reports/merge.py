"""`passfuzz report --merge`: the runs of several shards as one, from the files alone, and its folder."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from corpus.escapes import one_line
from corpus.regular_files import MEBIBYTE, is_real_folder, read_regular, regular_files
from corpus.store import LONGEST_REASON, UNREADABLE, why
from reports.finding_row import merge_rows, merge_sighted
from reports.summary import (
    FINDINGS,
    MOST,
    SUMMARY_FILE,
    UNCONFIRMED,
    UNKNOWN,
    UNREDUCED_FILE,
    UNSHOWN_FILE,
    Report,
    RunEnd,
    RunFacts,
    read_out,
    write_out,
    write_text,
)
from reports.tally import Tally

_NAME = 50
"""Characters of the name of a folder that is copied under a number."""
_FOLDERS = (FINDINGS, UNCONFIRMED)
"""What a merge writes over."""
SHOWN_SEEDS = 5
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
    """Merges runs into one results folder: files, the folder of every finding, from the run whose row is shown, and
    what was seen beside the findings, each with the folder of its run (`out`), in which it can be taken up.

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
    left_out = _copy_findings(
        [(out / FINDINGS / row.signature, row.signature) for row, out in sighted], into / FINDINGS
    )
    left_out += _copy_beside(outs, into)
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
        if above in below.parents or not {below / name for name in _FOLDERS}.isdisjoint(above.parents):
            raise NoMerge(f"--merge {one_line(into)}: {one_line(out)} and it lie in each other; give a new one")
    if not os.path.lexists(into / SUMMARY_FILE):
        if any(os.path.lexists(into / name) for name in (*_FOLDERS, UNREDUCED_FILE)):
            raise NoMerge(f"--merge {one_line(into)}: a folder with findings that are no merge; give a new one")
        return
    if not read_out(into).facts.merged:
        raise NoMerge(f"--merge {one_line(into)}: it holds the results of a run; give a new one")


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _copy_beside(outs: Sequence[Path], into: Path) -> list[str]:
    """Copies what is in no finding: what nobody has reduced, and what has not shown again; lines on what was left
    out. What an earlier merge has left there goes."""
    old = into / UNCONFIRMED
    if old.is_symlink():
        old.unlink()
    shutil.rmtree(old, ignore_errors=True)
    real = [out for out in outs if is_real_folder(out / UNCONFIRMED)]
    kept = [out / UNCONFIRMED / FINDINGS for out in real if is_real_folder(out / UNCONFIRMED / FINDINGS)]
    every = [folder for findings in kept for folder in sorted(findings.glob("*/"))]
    folders = [(folder, f"{number}-{folder.name[:_NAME]}") for number, folder in enumerate(every, 1)]
    if folders:
        (into / UNCONFIRMED).mkdir()
    left_out = _copy_findings(folders, into / UNCONFIRMED / FINDINGS) if folders else []
    for name, of in ((UNREDUCED_FILE, outs), (f"{UNCONFIRMED}/{UNSHOWN_FILE}", real)):
        rows, wrong = _rows_of_runs(of, name)
        left_out += wrong
        (into / name).unlink(missing_ok=True)
        if rows:
            (into / name).parent.mkdir(exist_ok=True)
            write_text(into / name, "".join(rows))
    return left_out


def _rows_of_runs(outs: Sequence[Path], name: str) -> tuple[list[str], list[str]]:
    """The lines of a file with an object in each, of each run, with its folder, which a merge has named already; and
    lines on what is none. A line that was cut off by a kill is at the end, and left out."""
    rows: list[str] = []
    wrong = []
    for out in outs:
        merged = read_out(out).facts.merged
        try:
            *lines, _ = read_regular(out / name, MOST, follow=False).split(b"\n")
        except FileNotFoundError:
            continue
        except OSError as error:
            wrong.append(f"{one_line(out / name)}: {why(error)}, left out")
            continue
        bad = []
        for number, line in enumerate(lines, 1):
            try:
                row = msgspec.json.decode(line, type=dict[str, object])
                told = {"out": str(out), **row} if merged else {**row, "out": str(out)}
                rows.append(f"{json.dumps(told)}\n")
            except UNREADABLE as error:
                bad.append(f"line {number}: {why(error)}")
        if bad:
            more = f"; and {len(bad) - 1} more" if len(bad) > 1 else ""
            wrong.append(f"{one_line(out / name)}, {bad[0][:LONGEST_REASON]}{more}: left out")
    return rows, wrong


def _copy_findings(chosen: Sequence[tuple[Path, str]], into: Path) -> list[str]:
    """Copies these folders under these names, replacing all that is there; lines on what was left out."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{into.name}.", dir=into.parent))
    try:
        left_out = [line for folder, slug in chosen for line in _copy_folder(folder, fresh / slug)]
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
        unconfirmed=sum(fact.unconfirmed for fact in facts),
        notes=tuple(dict.fromkeys(note for fact in facts for note in fact.notes)),
        fail_on=tuple(dict.fromkeys(tier for fact in facts for tier in fact.fail_on)),
    )


def _worst(ends: Iterable[RunEnd | None]) -> RunEnd | None:
    """How runs as a whole ended: as the one that did worst."""
    order: tuple[RunEnd | None, ...] = (None, "fault", "interrupted", UNKNOWN, "done")
    return min(ends, key=order.index)


def _one_or_all(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(values))

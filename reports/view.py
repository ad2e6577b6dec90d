"""`passfuzz report OUT`: results read back from the files alone, merged over shards, and shown on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import copytree

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from reports.finding_row import merge_rows
from reports.live import fire_table
from reports.summary import Report, RunFacts, read_out, write_out
from reports.tally import Tally
from reports.words import largest_first, missed, progress_line

SHOWN_PASSES = 15


def read_outs(outs: Sequence[Path]) -> Report:
    """The results of one run, or of the shards of one as a whole. Raises UnreadableOut."""
    return merge_reports([read_out(out) for out in outs])


def merge_reports(reports: Sequence[Report]) -> Report:
    """One report of several: counts add up, findings are deduplicated, wall time is the longest."""
    tally = Tally()
    for report in reports:
        tally.add(report.tally)
    rows = merge_rows(tuple(row for report in reports for row in report.findings))
    return Report(_merge_facts([report.facts for report in reports]), tally, rows)


def write_merged(outs: Sequence[Path], into: Path) -> Report:
    """Merges shards into one results folder: files, and the folder of every finding."""
    report = read_outs(outs)
    write_out(into, report)
    for out in outs:
        if (out / "findings").is_dir():
            copytree(out / "findings", into / "findings", dirs_exist_ok=True)
    return report


def show(report: Report, console: Console) -> None:
    """Findings first, then whether the campaign was any good."""
    facts, tally = report.facts, report.tally
    console.print(f"[bold]{len(report.new)} new[/], {len(report.known)} known findings", highlight=False)
    if report.findings:
        console.print(_findings(report))
    console.print(f"{progress_line(tally, facts.wall_s)}, TVM {facts.tvm}, seed {facts.seed}", highlight=False)
    for title, counts in (
        ("skipped", missed(tally)),
        ("inconclusive", tally.inconclusive),
        ("nothing to judge", tally.not_applicable),
    ):
        if counts:
            reasons = ", ".join(f"{reason} {number}" for reason, number in largest_first(counts))
            console.print(f"{title}: {reasons}", highlight=False, markup=False)
    if tally.passes:
        console.print(fire_table(tally, SHOWN_PASSES))
    if facts.own_fault:
        console.print(f"[bold red]not to be trusted:[/] {escape(facts.own_fault)}", highlight=False)


def _findings(report: Report) -> Table:
    table = Table("culprit", "symptom", "oracle", "tier", "seen", "repro", box=None, header_style="bold")
    for row in (*report.new, *report.known):
        cells = (row.where, row.symptom, row.oracle, row.tier, str(row.count), row.repro)
        table.add_row(*(escape(cell) for cell in cells), style="dim" if row.known else "")
    table.columns[-1].overflow = "fold"
    return table


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
    )


def _one_or_all(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(values))

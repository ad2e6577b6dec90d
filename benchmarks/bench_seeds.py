"""Known bugs of TVM 0.27 found again: how long a campaign on every pass takes to the first finding of each.

One campaign per seed on one job; at_s is when the failure was first seen. Bugs are recognised by what findings
say (the table BUGS), and nothing in passfuzz knows them. A bug that is not found within --seconds counts as "not
found"; the campaign ends when all are found. --from reads what a campaign has left instead of running one.

    python -m benchmarks.bench_seeds [--seconds 300] [--seeds 1] [--from OUT/findings.jsonl]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.campaigns import JsonRow, first_at, rows_of, run_campaign


@dataclass(frozen=True, slots=True)
class SeededBug:
    """A bug of TVM and how a finding of it looks."""

    name: str
    shows: Callable[[JsonRow], bool]


def _kills_in_dataflow(row: JsonRow) -> bool:
    """An impure memory.kill_tensor inside a dataflow block, at the pass that puts it there or the next that trips."""
    return "kill_tensor" in row["message"] or (row["culprit"] == "KillAfterLastUse" and row["oracle"] == "purity")


def _undefined_after_lifting(row: JsonRow) -> bool:
    """A variable of the lifted part is used where it is not defined."""
    own = row["culprit"] in ("LiftTransformParams", "PartitionTransformParams")
    return own and ("undefined" in row["symptom"] or "not defined" in row["message"])


def _not_legalised(row: JsonRow) -> bool:
    """An operator survives LegalizeOps, silently, and the code generator trips over it (0.27 says "cannot emit")."""
    return row["oracle"] in ("legalised", "executable") or "CodeGenVM cannot" in row["message"]


def _crashes_on_if(row: JsonRow) -> bool:
    """The memory planner uses storage of an If's branch after it: seen as an undefined variable, or as a crash."""
    return row["culprit"] == "StaticPlanBlockMemory" and ("SIGSEGV" in row["message"] or row["symptom"] == "undefined")


BUGS = (
    SeededBug("#17340 KillAfterLastUse: impure kill in a dataflow block", _kills_in_dataflow),
    SeededBug("#17231 LiftTransformParams: undefined variable", _undefined_after_lifting),
    SeededBug("#17175 LegalizeOps: unknown shapes left", _not_legalised),
    SeededBug("StaticPlanBlockMemory: storage of a branch used after an If", _crashes_on_if),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--from", type=Path, dest="file", metavar="FILE")
    options = parser.parse_args()
    if options.file is not None:
        print_times(rows_of(options.file))
        return

    def content(rows: list[JsonRow]) -> bool:
        return all(any(bug.shows(row) for row in rows) for bug in BUGS)

    for seed in options.seeds:
        campaign = run_campaign(["--seed", str(seed)], options.seconds, content)
        cases = campaign.summary.get("cases", 0)
        print(f"seed {seed}: {cases} cases, {len(campaign.findings)} findings, {campaign.cpu_s:.0f} s of CPU")
        print_times(campaign.findings)


def print_times(findings: Sequence[JsonRow]) -> None:
    """One line for each bug: when it was first seen."""
    for bug in BUGS:
        at = first_at(findings, bug.shows)
        print(f"  {bug.name:62} {'not found' if at is None else f'{at:.1f} s'}", flush=True)


if __name__ == "__main__":
    main()

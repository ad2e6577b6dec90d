"""How good the drawn cases are: how many are invalid, get a verdict on their numbers, and make a pass fire.

invalid: not well-formed before any pass, or without a meaning, which is our fault and ends a campaign above 1 %.
numeric: cases in which the result was compared with the reference by value, at one step at least. A pass fires where
its result differs from its input. Campaigns draw passes at random, so --cases must be large to say anything of one pass
(`bench_fire_rate.py` asks one pass at a time).

    python -m benchmarks.bench_validity [--cases 300] [--seed 5] [--least 5] [--reasons 12]
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.batches import JudgedBatch, judge_indices
from fuzzer.protocol import Plan
from generators.passes.table import PASSES

GOAL = 0.2
"""The share of applications in which a pass ought to change the program."""


def shares(judged: JudgedBatch) -> list[str]:
    """Invalid cases and cases with a verdict on their numbers, as lines."""
    tally = judged.tally
    generated, cases = max(1, tally.generated), max(1, tally.cases)
    compared = tally.oracles.get("numeric", {})
    return [
        f"drawn {tally.generated}, judged {tally.cases}, ended by a crash {judged.crashed}, CPU {judged.cpu_s:.1f} s",
        f"invalid {tally.invalid} ({tally.invalid / generated:.2%} of the drawn)",
        f"numeric verdict in {tally.numeric_verdicts} cases ({tally.numeric_verdicts / cases:.1%} of the judged)",
        "steps by the numeric oracle: " + ", ".join(f"{count} {word}" for word, count in compared.items() if count),
    ]


def fire_rates(judged: JudgedBatch, least: int) -> list[str]:
    """How many passes were applied, how many of those reach the goal, and the ones that do not."""
    counts = judged.tally.passes
    measured = {name: row for name, row in counts.items() if row.get("applied", 0) >= least}
    rates = {name: row.get("changed", 0) / row["applied"] for name, row in measured.items()}
    good = sum(rate >= GOAL for rate in rates.values())
    lines = [
        f"{len(counts)} of {len(PASSES)} passes applied; {len(measured)} at least {least} times, "
        f"{good} of those change the program in {GOAL:.0%} of the applications or more; the others:"
    ]
    for name, rate in sorted(rates.items(), key=lambda item: item[1]):
        if rate < GOAL:
            lines.append(f"  {name:34} {rate:6.1%} of {measured[name]['applied']:4}")
    return lines


def reasons(judged: JudgedBatch, most: int) -> list[str]:
    """What cases and verdicts were left without an answer for, most frequent first."""
    both = {**judged.tally.skipped, **{f"inconclusive: {k}": n for k, n in judged.tally.inconclusive.items()}}
    ranked = sorted(both.items(), key=lambda item: -item[1])
    return [f"  {count:6.0f} {reason}" for reason, count in ranked[:most]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--least", type=int, default=5, help="applications that a pass needs to be reported")
    parser.add_argument("--reasons", type=int, default=12)
    options = parser.parse_args()
    judged = judge_indices(Plan(seed=options.seed, build_share=0.0), range(options.cases))
    print(*shares(judged), *fire_rates(judged, options.least), sep="\n")
    print("most frequent reasons for no verdict:", *reasons(judged, options.reasons), sep="\n")


if __name__ == "__main__":
    main()

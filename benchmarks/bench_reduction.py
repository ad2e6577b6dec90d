"""How small findings are and how long the reduction took: from the findings.jsonl that campaigns left.

Prints the median and the worst number of bindings and passes before and after, of oracle calls, and of seconds of wall
clock, over all findings of the files. `bench_reduce.py` measures the reducer alone, on planted predicates
of drawn modules, without a campaign.

    python -m benchmarks.bench_reduction OUT/findings.jsonl [...] [--list]
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.campaigns import JsonRow, rows_of

FIELDS = (
    "bindings_before",
    "bindings",
    "statements_before",
    "statements",
    "passes_before",
    "passes",
    "oracle_calls",
    "seconds",
)


def table(rows: Sequence[JsonRow]) -> list[str]:
    """A line for each field: its median and its worst value over the reduced findings."""
    reduced = [row["reduced"] for row in rows if row.get("reduced")]
    lines = [f"{len(rows)} findings, {len(reduced)} reduced", f"{'':18}{'median':>9}{'worst':>9}"]
    for field in FIELDS if reduced else ():
        values = [float(one[field]) for one in reduced]
        lines.append(f"{field:18}{statistics.median(values):9g}{max(values):9g}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--list", action="store_true", help="one line for each finding as well, largest first")
    options = parser.parse_args()
    missing = [str(path) for path in options.files if not path.is_file()]
    if missing:
        parser.error(f"no such file: {missing[0]}")
    rows = [row for path in options.files for row in rows_of(path)]
    print(*table(rows), sep="\n")
    if options.list:
        for row in sorted((r for r in rows if r.get("reduced")), key=lambda r: -float(r["reduced"]["bindings"])):
            one = row["reduced"]
            print(f"{one['bindings']:4} bindings {one['passes']:2} passes {one['seconds']:7.1f} s  {row['signature']}")


if __name__ == "__main__":
    main()

"""`pytest --passfuzz` over tests of others: outcomes with and without it, CPU time per test, pairs, findings.

FOLDER holds the tests, such as tests/python of a checkout of TVM; PATTERNs name files in it. Each group of files runs
once without and once with the plugin, in processes of their own. Where a process crashes, its other files run again
without the one that crashed. What was recorded before is not run again: --out names where.

    python -m benchmarks.bench_plugin FOLDER 'relax/test_transform*.py' [PATTERN ...] [--group 12] [--out DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.recorded_tests import VARIABLE

ROOT = Path(__file__).resolve().parents[1]
SIDES = ("without", "with")
TIMES, SECONDS = 10, 20
"""What a test may take with the plugin, of its own CPU time without it, and besides."""
LIMIT_S = 7200.0


@dataclass(slots=True)
class Side:
    """What the tests of one side did. outcomes: by test and phase. cpu_s: by test."""

    outcomes: dict[tuple[str, str], list[str | None]] = field(default_factory=dict)
    cpu_s: dict[str, float] = field(default_factory=dict)

    @staticmethod
    def read(files: Sequence[Path]) -> Side:
        side = Side()
        for file in files:
            for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
                if "when" in line:
                    side.outcomes[line["id"], line["when"]] = [_steady(word) for word in line["outcome"]]
                else:
                    side.cpu_s[line["id"]] = line["cpu_s"]
        return side


def _steady(said: str | None) -> str | None:
    """What a test says, without addresses and times."""
    return None if said is None else re.sub(r"0x[0-9a-f]+|\d+\.\d+", "N", said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("patterns", nargs="+", metavar="PATTERN")
    parser.add_argument("--group", type=int, default=12)
    parser.add_argument("--out", type=Path, default=Path("plugin-bench"))
    options = parser.parse_args()
    folder, out = options.folder.absolute(), options.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    files = sorted({str(path.relative_to(folder)) for pattern in options.patterns for path in folder.glob(pattern)})
    for start in range(0, len(files), options.group):
        group = files[start : start + options.group]
        for side in SIDES:
            _run(folder, group, side, out / f"{_name(group)}.{side}")
    print_table(out)


def _name(group: Sequence[str]) -> str:
    return re.sub(r"\W+", "_", f"{group[0]}-{len(group)}")


def _run(folder: Path, files: Sequence[str], side: str, out: Path) -> None:
    """Runs the files, and after a crash those that had not been reached."""
    record, done = Path(f"{out}.jsonl"), Path(f"{out}.done")
    left, turn = list(files), 0
    while left and not done.exists():
        status = _pytest(folder, left, side, record, Path(f"{out}.{turn}"))
        turn += 1
        if status not in (0, 1, 2, 5):
            reached = {line["id"].split("::")[0] for line in _lines(record)}
            crashed = next((name for name in reversed(left) if name in reached), left[0])
            print(f"{crashed}: ends its process with {status} {side} the plugin", file=sys.stderr)
            left = left[left.index(crashed) + 1 :]
        else:
            left = []
    done.touch()


def _lines(record: Path) -> Iterator[dict[str, str]]:
    if record.exists():
        yield from map(json.loads, record.read_text(encoding="utf-8").splitlines())


def _pytest(folder: Path, files: Sequence[str], side: str, record: Path, out: Path) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "benchmarks.recorded_tests", "-p", "no:cacheprovider"]
    command += ["--rootdir", str(folder), "--continue-on-collection-errors", "--tb", "line", *files]
    if side == "with":
        command += ["--passfuzz", "--passfuzz-out", str(out)]
    path = os.pathsep.join((str(ROOT), str(folder)))
    threads = dict.fromkeys(("TVM_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    with Path(f"{out}.log").open("w", encoding="utf-8") as log:
        return subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **threads, "PYTHONPATH": path, VARIABLE: str(record)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            timeout=LIMIT_S,
            check=False,
        ).returncode


def print_table(out: Path) -> None:
    """What both sides of all groups in a folder did. Tests that one side alone has run are counted, not compared."""
    groups = [
        file for file in sorted(out.glob("*.with.jsonl")) if Path(str(file).replace(".with.", ".without.")).exists()
    ]
    judged = Side.read(groups)
    plain = Side.read([Path(str(file).replace(".with.", ".without.")) for file in groups])
    both = judged.outcomes.keys() & plain.outcomes.keys()
    other = sorted(key for key in both if judged.outcomes[key] != plain.outcomes[key])
    tests = judged.cpu_s.keys() & plain.cpu_s.keys()
    slow = sorted(test for test in tests if judged.cpu_s[test] > TIMES * plain.cpu_s[test] + SECONDS)
    alone = len(judged.cpu_s.keys() ^ plain.cpu_s.keys())
    print(f"tests {len(tests):,} (run on one side alone: {alone}), phases with another outcome: {len(other)}")
    for key in other:
        print(f"  {'::'.join(key)}: {plain.outcomes[key]} -> {judged.outcomes[key]}")
    print(f"CPU seconds: {_sum(plain, tests):.0f} without, {_sum(judged, tests):.0f} with; over the limit: {len(slow)}")
    for test in slow:
        print(f"  {test}: {plain.cpu_s[test]:.1f} -> {judged.cpu_s[test]:.1f}")
    _print_pairs(sorted(out.glob("*.with.*/pairs.json")))
    for file in sorted(out.glob("*.with.*/findings.jsonl")):
        for row in _lines(file):
            print(f"finding: {row['culprit']}: {row['symptom']}, tier {row['tier']}, {row['standing']}: {row['case']}")


def _sum(side: Side, tests: set[str]) -> float:
    return sum(side.cpu_s[test] for test in tests)


def _print_pairs(files: Sequence[Path]) -> None:
    read = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    pairs, done = sum(one["pairs"] for one in read), sum(one["interpreted"] for one in read)
    nature = sum(sum(one["by_nature"].values()) for one in read)
    whole, possible = max(pairs, 1), max(pairs - nature, 1)
    print(f"pairs: {done:,} of {pairs:,} ({done / whole:.1%}), of the possible {done / possible:.1%}")
    missing: Counter[str] = Counter()
    for one in read:
        missing.update(one["missing"])
    for reason, number in missing.most_common(12):
        print(f"  missing {number}: {reason}")


if __name__ == "__main__":
    main()

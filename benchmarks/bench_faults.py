"""Seeded faults: how long until a campaign on one wrong pass finds it, and whether the right pass stays quiet.

The file is one for `--load`: PASSES are wrong, CLEAN (if it is there) are the same passes with the fault off, and
CONTRACTS say where they stand. Each pass gets a campaign of its own on one job, which is stopped at the first
finding that names the pass. at_s is when the failure was first seen, in seconds from the start of the campaign;
cpu s are those of all its processes, with the start, the reduction and the confirmation.

A finding that the correct twin shows as well says nothing of the fault: with --twins each twin is run first, for as
long, and the causes that it shows do not count. --ignore leaves out oracles.

    python -m benchmarks.bench_faults FILE.py [--seconds 60] [--phase relax] [--clean] [--only NAME ...] [--seed 1]
        [--twins] [--ignore ORACLE ...]
"""

from __future__ import annotations

import argparse
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.campaigns import Campaign, JsonRow, run_campaign

CLEAN_FILE = """import runpy
loaded = runpy.run_path({path!r})
PASSES, CONTRACTS = loaded["CLEAN"], loaded["CONTRACTS"]
"""


def names_of(loaded: dict[str, Any], phase: str | None, only: list[str] | None) -> list[str]:
    """The passes to measure, in the order of the file. ValueError for names that it does not define."""
    unknown = sorted(set(only or ()) - set(loaded["PASSES"]))
    if unknown:
        raise ValueError(f"not in PASSES: {', '.join(unknown)}")
    contracts = loaded.get("CONTRACTS", {})
    return [
        name
        for name in loaded["PASSES"]
        if (only is None or name in only) and phase in (None, contracts.get(name, {}).get("phase", "relax"))
    ]


@contextmanager
def loadable(path: Path, clean: bool) -> Iterator[Path]:
    """The file to load: the one given, or one whose PASSES are its CLEAN."""
    if not clean:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="bench-clean-") as folder:
        file = Path(folder) / "clean.py"
        file.write_text(CLEAN_FILE.format(path=str(path.resolve())), encoding="utf-8")
        yield file


def measure(
    path: Path, name: str, seconds: float, seed: int, wanted: Callable[[JsonRow], bool] | None, target: str = "llvm"
) -> Campaign:
    """One campaign on one pass, to the first wanted finding; without `wanted` it gets the whole time."""

    def content(rows: list[JsonRow]) -> bool:
        return wanted is not None and any(map(wanted, rows))

    options = ["--load", str(path), "--passes", name, "--seed", str(seed), "--target", target]
    return run_campaign(options, seconds, content)


def line(name: str, campaign: Campaign, mine: Sequence[JsonRow]) -> str:
    """One row of the table; `mine` are the findings that count."""
    first = min(mine, key=lambda row: float(row["at_s"]), default=None)
    said = "" if first is None else f"{first['oracle']}: {first['symptom']}, tier {first['tier']}: {first['message']}"
    counts = campaign.summary.get("passes", {}).get(name, {})
    at = "-" if first is None else f"{first['at_s']:.1f}"
    cells = f"{at:>7} {campaign.cpu_s:7.1f} {campaign.summary.get('cases', 0):7.0f}"
    return f"{name:28} {cells} {counts.get('applied', 0):8} {counts.get('changed', 0):8}  {said[:110]}"


def measured(name: str, file: Path, twins: Path, options: argparse.Namespace) -> tuple[Campaign, Sequence[JsonRow]]:
    """The campaign on a pass, and its findings that count. RuntimeError as `run_campaign` raises it."""
    run = partial(measure, name=name, seconds=options.seconds, seed=options.seed, target=options.target)
    twin = run(twins, wanted=None) if options.twins else None
    theirs = frozenset() if twin is None else frozenset(row["cause"] for row in twin.findings)

    def counts(row: JsonRow) -> bool:
        mine = row["culprit"] == name and row["oracle"] not in options.ignore
        return mine and row["cause"] not in theirs

    campaign = run(file, wanted=None if options.clean else counts)
    return campaign, [row for row in campaign.findings if counts(row)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phase", help="only passes of this phase in CONTRACTS")
    parser.add_argument("--clean", action="store_true", help="measure CLEAN: every finding is a false alarm")
    parser.add_argument("--twins", action="store_true", help="causes that the correct twin shows do not count")
    parser.add_argument("--target", default="llvm")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--ignore", nargs="+", metavar="ORACLE", default=[], help="oracles whose findings do not count")
    options = parser.parse_args()
    names = names_of(runpy.run_path(str(options.file)), options.phase, options.only)
    print(f"{'pass':28} {'at_s':>7} {'cpu s':>7} {'cases':>7} {'applied':>8} {'changed':>8}  first finding")
    found, broken = 0, list[str]()
    with loadable(options.file, options.clean) as file, loadable(options.file, True) as twins:
        for name in names:
            try:
                campaign, mine = measured(name, file, twins, options)
            except RuntimeError as error:
                print(f"{name:28} {error}", flush=True)
                broken.append(name)
                continue
            found += bool(mine)
            print(line(name, campaign, mine), flush=True)
    print(
        f"{found} of {len(names)} have a finding"
        + (" that names the pass, a false alarm unless its contract is wrong" if options.clean else "")
    )
    if broken:
        sys.exit(f"not measured: {', '.join(broken)}")


if __name__ == "__main__":
    main()

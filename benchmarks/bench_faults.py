"""Seeded faults: how long until a campaign on one wrong pass finds it, and whether the right pass stays quiet.

The file is one for `--load`: PASSES are wrong, CLEAN (if it is there) are the same passes with the fault off, and
CONTRACTS say where they stand. Each pass gets a campaign of its own on one job, which is stopped at the first
finding that names the pass. at_s is when the failure was first seen, in seconds from the start of the campaign;
cpu s are those of all its processes, with the start, the reduction and the confirmation.

    python -m benchmarks.bench_faults FILE.py [--seconds 60] [--phase relax] [--clean] [--only NAME ...] [--seed 1]
"""

from __future__ import annotations

import argparse
import runpy
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.campaigns import Campaign, Row, first_at, run_campaign

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


def measure(path: Path, name: str, seconds: float, seed: int, clean: bool) -> Campaign:
    """One campaign on one pass. A clean pass gets the whole time."""

    def content(rows: list[Row]) -> bool:
        return not clean and any(row["culprit"] == name for row in rows)

    return run_campaign(["--load", str(path), "--passes", name, "--seed", str(seed)], seconds, content)


def line(name: str, campaign: Campaign) -> str:
    """One row of the table."""
    at = first_at(campaign.findings, lambda row: row["culprit"] == name)
    mine = [row for row in campaign.findings if row["culprit"] == name]
    first = min(mine, key=lambda row: float(row["at_s"]), default=None)
    said = "" if first is None else f"{first['oracle']}: {first['symptom']}, tier {first['tier']}: {first['message']}"
    counts = campaign.summary.get("passes", {}).get(name, {})
    cells = f"{'-' if at is None else f'{at:.1f}':>7} {campaign.cpu_s:7.1f} {campaign.summary.get('cases', 0):7.0f}"
    return f"{name:28} {cells} {counts.get('applied', 0):8} {counts.get('changed', 0):8}  {said[:110]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phase", help="only passes of this phase in CONTRACTS")
    parser.add_argument("--clean", action="store_true", help="measure CLEAN: every finding is a false alarm")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    options = parser.parse_args()
    names = names_of(runpy.run_path(str(options.file)), options.phase, options.only)
    print(f"{'pass':28} {'at_s':>7} {'cpu s':>7} {'cases':>7} {'applied':>8} {'changed':>8}  first finding")
    found = 0
    with loadable(options.file, options.clean) as file:
        for name in names:
            campaign = measure(file, name, options.seconds, options.seed, options.clean)
            found += first_at(campaign.findings, lambda row, name=name: row["culprit"] == name) is not None  # type: ignore[misc]
            print(line(name, campaign), flush=True)
    print(f"{found} of {len(names)} found" if not options.clean else f"{found} false alarms in {len(names)}")


if __name__ == "__main__":
    main()

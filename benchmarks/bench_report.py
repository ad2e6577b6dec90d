"""What the report of a run with many findings costs: writing it, its size, opening it in headless Chromium.

The findings are made up, with folders whose texts are as long as those of real ones (tests/reports/many_findings.py).
Opening ends when the page has loaded and is laid out; it is left out where there is no Chromium.

    python -m benchmarks.bench_report [--findings 500] [--runs 5]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from reports.formats import FORMATS, format_named
from reports.summary import read_out
from tests.reports.chromium import a_page, executable
from tests.reports.many_findings import write_many

HTML = "html"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--findings", type=int, default=500)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        out = Path(folder) / "out"
        write_many(out, arguments.findings)
        for row in FORMATS:
            print(f"{row.file}, wall seconds: {shown(written(out, row.name, arguments.runs))}")
        page = out / format_named(HTML).file
        print(f"{page.name}: {page.stat().st_size / 1e6:.2f} MB")
        if executable() is None:
            print("opening: no Chromium here")
        else:
            print(f"opening, wall seconds: {shown(opened(page, Path(folder) / 'profile', arguments.runs))}")


def written(out: Path, name: str, runs: int) -> list[float]:
    """Seconds to read the results and write a report, each run."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        format_named(name).write(out, read_out(out))
        seconds.append(time.perf_counter() - start)
    return seconds


def opened(path: Path, profile: Path, runs: int) -> list[float]:
    """Seconds from asking for the page until it is laid out, each run, in a browser that runs already."""
    seconds = []
    with a_page(profile) as page:
        page.look()
        for _ in range(runs):
            page.open("about:blank")
            start = time.perf_counter()
            page.open(path.as_uri())
            page.evaluate("document.body.offsetHeight")
            seconds.append(time.perf_counter() - start)
    return seconds


def shown(seconds: Sequence[float]) -> str:
    """The median with the smallest and the largest."""
    return f"{statistics.median(seconds):.2f} [{min(seconds):.2f}, {max(seconds):.2f}] n={len(seconds)}"


if __name__ == "__main__":
    main()

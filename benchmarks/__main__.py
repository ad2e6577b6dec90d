"""`python -m benchmarks`: the quick measurements, each in a process of its own, about two minutes of CPU together.

Campaigns on seeded faults and known bugs take longer and have commands of their own (`bench_faults`, `bench_seeds`),
as has what needs the results of a campaign (`bench_reduction`).
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

DEADLINE_S = 600.0


@dataclass(frozen=True, slots=True)
class Quick:
    """One measurement: its module and the options that keep it short."""

    module: str
    options: tuple[str, ...]


QUICK = (
    Quick("bench_throughput", ("--cases", "150", "--built", "40", "--modules", "15")),
    Quick("bench_validity", ("--cases", "200")),
    Quick("bench_tir", ()),
)


def measure(quick: Quick) -> tuple[str, float]:
    """What it prints, and the CPU seconds that it took. Raises RuntimeError with its last words where it fails."""
    before = _cpu_s()
    command = (sys.executable, "-m", f"benchmarks.{quick.module}", *quick.options)
    environment = {**os.environ, "TVM_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=DEADLINE_S, check=False)
    if ended.returncode:
        raise RuntimeError(f"{quick.module} ended with status {ended.returncode}: {ended.stderr[-500:]}")
    return ended.stdout.rstrip(), _cpu_s() - before


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs them one after another; 1 where one failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [quick.module for quick in QUICK]
    parser.add_argument("names", nargs="*", help=f"which of {', '.join(names)}; all where none is named")
    chosen = parser.parse_args(arguments).names or names
    unknown = sorted(set(chosen) - set(names))
    if unknown:
        parser.error(f"no such quick benchmark: {', '.join(unknown)}")
    failed = False
    for quick in QUICK:
        if quick.module in chosen:
            try:
                text, spent = measure(quick)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                text, spent, failed = str(error), 0.0, True
            print(f"== {quick.module} {' '.join(quick.options)}  ({spent:.0f} s of CPU)\n{text}\n", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

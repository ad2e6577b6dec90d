"""What engines cost: cases per second and per CPU second with `--jobs`, Dask and Ray on the same seeds; what a task of
each engine takes; and how many answers a second the campaign process can take, which bounds a cluster.

Campaigns run in turn, one with each engine, for each seed, and are to find the same causes. Of each there is a short
one too, and what is shown is their difference: the start of a cluster is no part of it. CPU seconds are those of all
processes: a control group counts them, or, where none can be made, each process those that it waits for; Ray's are not
among these.

    python -m benchmarks.bench_engines [--seeds 3] [--cases 240] [--jobs 2] [--tasks 300] [--answers 20000]
                                       [--engines local,dask,ray] [--only-campaigns]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from math import isnan, nan
from pathlib import Path
from unittest.mock import patch

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.cpu_account import account, joining
from fuzzer.campaign import begin
from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.observer import Observers
from fuzzer.engines.baggage import pack
from fuzzer.engines.cluster import Cluster
from fuzzer.engines.cluster_workforce import ClusterWorkforce
from fuzzer.engines.messages import OPENING, Opening, SeatSaid, versions
from fuzzer.processes.lines import Lines, line_of
from fuzzer.processes.pool import Pool
from fuzzer.protocol import Command, Done, JudgeCases, Judged, Plan, Ready
from fuzzer.settings import Settings, read_settings
from reports.out_writer import OutWriter
from reports.summary import RunFacts

QUIET = "--oracles=numeric,well_formed"
"""Oracles that find little: what is compared is judging, not how often a finding is reduced."""
SHORT = 24
ENGINES = ("local", "dask", "ray")
SEATS = (1, 100, 10_000)
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Cost:
    """What a campaign took: cases judged, seconds from its first worker on, CPU seconds of everything."""

    cases: int
    wall_s: float
    cpu_s: float
    causes: frozenset[str]


def reaped_s() -> float:
    """CPU seconds of all ended processes that have come from this one, those that were left by their parents too."""
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime


def campaign(on: str, seed: int, cases: int, jobs: int) -> Cost:
    """One `passfuzz run` as a user starts it; cpu_s is nan where it is not counted. RuntimeError where it fails."""
    before = reaped_s()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, account() as counted:
        command = [
            sys.executable,
            "-m",
            "fuzzer.cli",
            "run",
            "--on",
            on,
            "--jobs",
            str(jobs),
            "--seed",
            str(seed),
            QUIET,
        ]
        ended = subprocess.run(
            [*command, "--cases", str(cases), "--out", f"{folder}/out"],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=joining(counted),
        )
        if ended.returncode not in (0, 1):
            raise RuntimeError(f"--on {on} ended with status {ended.returncode}: {ended.stderr[-500:]}")
        summary = json.loads(Path(folder, "out", "summary.json").read_text())
        reaped = reaped_s() - before
        cpu_s = counted.used_s if counted is not None else nan if on == "ray" else reaped
    return Cost(summary["cases"], summary["wall_s"], cpu_s, frozenset(row["cause"] for row in summary["findings"]))


def beyond_start(on: str, seed: int, cases: int, jobs: int) -> Cost:
    """What a campaign takes beyond what a short one does."""
    short, long = (campaign(on, seed, number, jobs) for number in (SHORT, cases))
    return Cost(long.cases - short.cases, long.wall_s - short.wall_s, long.cpu_s - short.cpu_s, long.causes)


def compare(engines: Sequence[str], seeds: int, cases: int, jobs: int) -> None:
    """The table of engines, medians with their range over the seeds; the last column is paired by seed."""
    costs: dict[str, list[Cost]] = {on: [] for on in engines}
    for seed in range(1, seeds + 1):
        for on in engines:
            costs[on].append(beyond_start(on, seed, cases, jobs))
    print(f"{'--on':8}{'cases/s':>24}{'cases/CPU s':>24}{'CPU of --jobs':>24}")
    for on in engines:
        wall = [cost.cases / cost.wall_s for cost in costs[on]]
        cpu = [cost.cases / cost.cpu_s for cost in costs[on]]
        beside = [cost.cpu_s / own.cpu_s for cost, own in zip(costs[on], costs["local"], strict=True)]
        counted = ["not counted"] * 2 if isnan(sum(cpu)) else [spread(cpu), spread(beside)]
        print(f"{on:8}{spread(wall):>24}{counted[0]:>24}{counted[1]:>24}", flush=True)
    for on in engines[1:]:
        pairs = list(zip(costs[on], costs["local"], strict=True))
        same = sum(cost.causes == own.causes for cost, own in pairs)
        number = sum(len(own.causes) for _, own in pairs)
        print(f"{on}: the same causes as --jobs for {same} of {len(pairs)} seeds, {number} causes in all", flush=True)
        for cost, own in pairs:
            for cause in sorted(cost.causes ^ own.causes):
                print(f"  {'only there' if cause in cost.causes else 'only with --jobs'}: {cause}")


def spread(values: Sequence[float]) -> str:
    """The median and the range."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


# --- tasks ----------------------------------------------------------------------------------------------


def cluster_of(engine: str, plan: Plan) -> Cluster:
    """A local cluster with one worker."""
    if engine == "dask":
        from fuzzer.engines import dask_cluster

        return dask_cluster.start(1, pack(plan))
    from fuzzer.engines import ray_cluster

    return ray_cluster.start(1, pack(plan))


def time_tasks(engine: str, tasks: int) -> None:
    """What a command without cases takes on one seat: engine, seat and worker process."""
    plan = Plan(1)
    cluster = cluster_of(engine, plan)
    try:
        while not (places := cluster.places()):
            time.sleep(0.1)
        place = next(iter(places))
        cluster.open_seat(place, Opening("bench", "seat", plan, 2))
        _await_end(cluster)
        begun, cpu = time.perf_counter(), time.process_time()
        for task in range(1, tasks + 1):
            cluster.submit(place, "seat", task, line_of(JudgeCases((), 1.0)))
            _await_end(cluster)
        wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
        burst = _burst(cluster, place, tasks) if engine == "dask" else ""
    finally:
        cluster.close("bench", [place])
    print(f"{engine:8}{wall / tasks * 1e3:12.1f} ms a task, {cpu / tasks * 1e3:.1f} ms CPU of this process{burst}")


def _burst(cluster: Cluster, place: str, tasks: int) -> str:
    """What a task takes where many are waiting, with the message that the seat is not there. The scheduler of a local
    cluster is a thread of this process."""
    begun, cpu = time.perf_counter(), time.process_time()
    for number in range(tasks):
        cluster.submit(place, f"none-{number}", 1, b"")
    ended = 0
    while ended < tasks:
        ended += sum(said.ended for said in cluster.heard(1.0))
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    return f"; all at once {wall / tasks * 1e3:.1f} ms, {cpu / tasks * 1e3:.1f} ms CPU of client and scheduler"


def _await_end(cluster: Cluster) -> None:
    while not any(said.ended for said in cluster.heard(1.0)):
        continue


# --- the campaign process -------------------------------------------------------------------------------


def real_answers(cases: int) -> list[Judged]:
    """What a worker says of the first cases of a campaign."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        pool = Pool(Plan(1, scratch=folder), 1, 2)
        judged: list[Judged] = []
        try:
            while True:
                for heard in pool.answers(1.0):
                    if isinstance(heard.answer, Ready):
                        pool.command(pool.slots[0], JudgeCases(tuple(range(cases)), 1e6), 0.0)
                    if isinstance(heard.answer, Judged):
                        judged.append(heard.answer)
                    if isinstance(heard.answer, Done):
                        return judged
        finally:
            pool.close()


@dataclass
class Instant:
    """A cluster whose seats answer at once, with the answers of real cases and without their failures."""

    seats: int
    samples: list[Judged]
    name: str = "instant"
    said: list[SeatSaid] = field(default_factory=list)
    bytes_: int = 0

    def __post_init__(self) -> None:
        self._bodies = cycle([line_of(Judged(0, one.counts)) for one in self.samples])

    def places(self) -> Mapping[str, int]:
        return {"here": self.seats}

    def open_seat(self, place: str, opening: Opening) -> None:
        ready = line_of(Ready("0", "0", "0"))
        self.said.append(SeatSaid(opening.seat, OPENING, 0, ready, ended=True, versions=versions()))

    def submit(self, place: str, seat: str, task: int, command: bytes) -> None:
        (told,) = Lines[Command](Command).take(command)
        assert isinstance(told, JudgeCases)
        lines = [next(self._bodies).replace(b'"index":0', b'"index":%d' % index, 1) for index in told.indices]
        self.said.append(SeatSaid(seat, task, 0, b"".join([*lines, line_of(Done())]), ended=True))

    def heard(self, timeout_s: float) -> list[SeatSaid]:
        heard, self.said = self.said, []
        self.bytes_ += sum(len(one.lines) for one in heard)
        return heard

    def forget(self, place: str, seat: str) -> None: ...

    def close(self, campaign: str, places: Collection[str]) -> None: ...


def time_campaign(seats: int, answers: int, samples: list[Judged]) -> None:
    """How many answers a second one campaign process takes, with all that it does beside."""
    cluster = Instant(seats, samples)

    def workforce(settings: Settings, plan: Plan, hash_seed: int) -> ClusterWorkforce:
        return ClusterWorkforce(cluster, plan, hash_seed, seats, settings.cases)

    with tempfile.TemporaryDirectory(prefix="bench-") as folder, patch.object(begin, "workforce_of", workforce):
        settings = read_settings(seed=1, cases=answers, out=Path(folder, "out"), on="dask")
        writer = OutWriter(settings.out, RunFacts("0", "0", 1, ("llvm",)))
        begun = time.process_time()
        result = run_campaign(settings, Observers((writer,)))
        cpu = time.process_time() - begun
    size = cluster.bytes_ / answers / 1e3
    print(f"{seats:8}{result.tally.cases / cpu:12.0f} answers a second, {size:.1f} kB each; {cpu:.1f} CPU s in all")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cases", type=int, default=240)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--engines", default=",".join(ENGINES), help="local first")
    parser.add_argument("--only-campaigns", action="store_true")
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} CPUs, load average {load:.1f} at the beginning")
    print(f"\ncampaigns of {options.cases} cases, {options.seeds} seeds, --jobs {options.jobs}", flush=True)
    # Before this process has children of its own.
    compare(options.engines.split(","), options.seeds, options.cases, options.jobs)
    if options.only_campaigns:
        return
    print("\nthe campaign process\n   seats", flush=True)
    samples = real_answers(48)
    for seats in SEATS:
        time_campaign(seats, options.answers, samples)
    print("\nan empty task, one after the other", flush=True)
    for engine in ENGINES[1:]:
        time_tasks(engine, options.tasks)


if __name__ == "__main__":
    main()

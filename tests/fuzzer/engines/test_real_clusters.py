"""Campaigns on real clusters of Dask and Ray: the same as on this machine, also where processes are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from distributed import Client

from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.observer import Observer, Observers
from fuzzer.errors import ExitStatus
from fuzzer.results import CampaignResult
from fuzzer.settings import read_settings
from oracles.verdict import DETERMINISM
from reports.summary import SUMMARY_FILE, read_out
from reports.tally import Tally
from tests.fuzzer.engines.clusters import (
    ENVIRONMENT,
    ROOT,
    WORKER,
    RealCluster,
    command_of,
    dask_cluster,
    dask_worker,
    descendants,
    ray_cluster,
    wait_for,
)
from tests.fuzzer.planted import write_passes
from tests.patience import HANGS_S

pytestmark = pytest.mark.deep

COUNTED = ("generated", "cases", "invalid", "ops", "passes", "oracles", "inconclusive")
LOST = "worker process lost"
SECOND = ("not applied again: the process ended",)
ENGINES: dict[str, Callable[[Path], AbstractContextManager[RealCluster]]] = {"dask": dask_cluster, "ray": ray_cluster}


@pytest.fixture
def folder() -> Iterator[Path]:
    """With a short name, for the sockets of Ray."""
    with tempfile.TemporaryDirectory(prefix="pf", ignore_cleanup_errors=True) as name:
        yield Path(name)


def campaign(out: Path, load: Path, on: str = "local", *observers: object, **options: object) -> CampaignResult:
    settings = read_settings(out=out, load=load, on=on, seed=1, cases=40, **options)  # type: ignore[arg-type]
    return run_campaign(settings, Observers(observers))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_passes(tmp_path_factory.mktemp("load"), "Mutates", "Identity")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, load: Path) -> CampaignResult:
    """The same campaign on this machine."""
    return campaign(tmp_path_factory.mktemp("alone"), load, jobs=2)


def without_losses(result: CampaignResult) -> dict[str, int]:
    """Why cases were skipped, but for lost workers and what the second process says: two processes have other
    addresses, which the result of VMShapeLower follows."""
    by_chance = (LOST, *SECOND, "not under test: VMShapeLower")
    return {reason: number for reason, number in result.tally.skipped.items() if reason not in by_chance}


def assert_same(result: CampaignResult, alone: CampaignResult) -> None:
    """All cases judged, none twice, and the same found."""
    for name in COUNTED:
        one, other = getattr(result.tally, name), getattr(alone.tally, name)
        if name == "oracles":  # How many samples the second process takes depends on the machine's load.
            one, other = ({k: v for k, v in counts.items() if k != DETERMINISM} for counts in (one, other))
        assert one == other, name
    assert without_losses(result) == without_losses(alone)
    assert {row.signature for row in result.findings} == {row.signature for row in alone.findings} != set()
    assert result.fault() is None
    assert result.unreduced == 0


@dataclass
class Killer(Observer):
    """Kills one process with each of `chosen` as cases come in. Every kill must find its process."""

    cluster: RealCluster
    chosen: list[Callable[[RealCluster], int | None]]
    every: int = 8
    killed: list[int] = field(default_factory=list)

    def on_begin(self) -> None: ...

    def on_start(self, settings: object) -> None:
        """Nothing has been killed yet."""

    def on_tally(self, tally: Tally, now: float) -> None:
        if len(self.killed) < len(self.chosen) and tally.cases >= self.every * (len(self.killed) + 1):
            pid = self.chosen[len(self.killed)](self.cluster)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                self.killed.append(pid)

    def on_finding(self, row: object) -> None:
        """Findings are looked at in the end."""

    def on_end(self) -> None:
        """So are the killed."""


def our_worker(cluster: RealCluster) -> int | None:
    """A worker process of passfuzz on the cluster."""
    parents = {pid for pid in cluster.pids() if WORKER in command_of(pid)}
    return min((pid for pid in parents if set(descendants(pid))), default=None)


def engine_process(cluster: RealCluster) -> int | None:
    """The process of the engine that a seat lives in: the parent of a worker process of passfuzz."""
    for pid in sorted(cluster.pids()):
        if WORKER not in command_of(pid) and any(WORKER in command_of(child) for child in children_of(pid)):
            return pid
    return None


def children_of(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def assert_nothing_left(cluster: RealCluster) -> None:
    wait_for(lambda: not [pid for pid in cluster.pids() if WORKER in command_of(pid)])


@pytest.mark.parametrize("engine", ENGINES)
def test_killed_processes_of_a_cluster_cost_nothing_but_time(
    engine: str, folder: Path, tmp_path: Path, load: Path, alone: CampaignResult
) -> None:
    with ENGINES[engine](folder) as cluster:
        killer = Killer(cluster, [our_worker, engine_process])
        result = campaign(tmp_path, load, cluster.address, killer)
        assert len(killer.killed) == 2
        assert result.tally.skipped[LOST] >= 1  # A seat that is not ready yet, or idle, is opened anew without a word.
        assert_same(result, alone)
        assert_nothing_left(cluster)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_local_cluster_of_its_own_finds_the_same(
    engine: str, tmp_path: Path, load: Path, alone: CampaignResult
) -> None:
    before = set(descendants(os.getpid()))
    assert_same(campaign(tmp_path, load, engine, jobs=2), alone)
    wait_for(lambda: not [pid for pid in set(descendants(os.getpid())) - before if is_of_a_cluster(pid)])


def is_of_a_cluster(pid: int) -> bool:
    """Python's own helper processes of multiprocessing stay until the tests end."""
    command = command_of(pid)
    return "resource_tracker" not in command and "forkserver" not in command and bool(command)


def test_a_lost_node_is_replaced_by_one_that_comes(
    folder: Path, tmp_path: Path, load: Path, alone: CampaignResult
) -> None:
    """The only nanny is killed with its worker, and another one comes: as on a cluster that is taken away."""

    def the_nanny(cluster: RealCluster) -> int | None:
        dask_worker(cluster, "late", folder)
        for pid in descendants(cluster.processes["worker-0"].pid):
            os.kill(pid, signal.SIGKILL)
        return cluster.processes["worker-0"].pid

    with dask_cluster(folder, workers=1) as cluster:
        result = campaign(tmp_path, load, cluster.address, Killer(cluster, [the_nanny]))
        assert_same(result, alone)


def test_a_node_without_passfuzz_is_left_out(
    folder: Path, tmp_path: Path, load: Path, alone: CampaignResult, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = folder / "bare"
    (bare / "fuzzer").mkdir(parents=True)
    (bare / "fuzzer" / "__init__.py").touch()  # It stands before the installed one.
    with dask_cluster(folder, workers=1) as cluster:
        dask_worker(cluster, "bare", folder, PYTHONPATH=str(bare))
        with Client(cluster.address.removeprefix("dask://"), set_as_default=False) as client:
            wait_for(lambda: len(client.nthreads()) == 2, cluster)
            result = campaign(tmp_path, load, cluster.address)
            assert len(client.nthreads()) == 2, "it lives, for others"
        assert_same(result, alone)
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if "left out" in line and "passfuzz cannot be imported" in line]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_interrupted_campaign_leaves_nothing_on_the_cluster(engine: str, folder: Path, tmp_path: Path) -> None:
    load = write_passes(tmp_path, "Identity")
    with ENGINES[engine](folder) as cluster:
        running = subprocess.Popen(
            [*(sys.executable, "-m", "fuzzer.cli", "run", "--cases", "1000000", "--seed", "1", "--load", str(load))]
            + ["--on", cluster.address, "--out", str(tmp_path / "out")],
            env={**ENVIRONMENT, "TMPDIR": str(folder)},
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            wait_for(lambda: running.poll() is not None or our_worker(cluster))
            running.send_signal(signal.SIGINT)
            _, said = running.communicate(timeout=HANGS_S)
        finally:
            running.kill()
            running.wait()
        judged = read_out(tmp_path / "out").tally.cases  # None, where the worker was not ready yet.
        assert (running.returncode, said) == (0 if judged else ExitStatus.INTERRUPTED, b"")
        assert_nothing_left(cluster)


def test_a_campaign_that_ray_ends_is_no_finding(folder: Path, tmp_path: Path) -> None:
    """Where the raylet of its own cluster is lost, Ray ends the process of a driver with the status of a finding."""
    load, out = write_passes(tmp_path, "Identity"), tmp_path / "out"
    running = subprocess.Popen(
        [*(sys.executable, "-m", "fuzzer.cli", "run", "--cases", "1000000", "--seed", "1", "--load", str(load))]
        + ["--on", "ray", "--jobs", "1", "--out", str(out)],
        env={**ENVIRONMENT, "TMPDIR": str(folder)},
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(lambda: running.poll() is not None or (out / SUMMARY_FILE).exists() and read_out(out).tally.cases)
        (raylet,) = [pid for pid in descendants(running.pid) if "/raylet/raylet " in command_of(pid)]
        started = descendants(running.pid)
        os.kill(raylet, signal.SIGKILL)
        _, said = running.communicate(timeout=HANGS_S)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == ExitStatus.OWN_FAULT
    assert "--on ray: the process of the campaign was ended before its time" in said.splitlines()[-1]
    wait_for(lambda: not [pid for pid in started if is_of_a_cluster(pid)])
    assert read_out(out).facts.ended is None and read_out(out).tally.cases > 0

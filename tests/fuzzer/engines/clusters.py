"""Real clusters of Dask and of Ray on this machine, in processes of their own, and how to find their processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # Its default leaves a token in the user's home.

from ray.util import get_node_ip_address

from tests.patience import HANGS_S

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
WORKER = "fuzzer.worker.main"


@dataclass
class RealCluster:
    """A cluster. address: as `--on` takes it. processes: those that were started here, by what they are."""

    address: str
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def pids(self) -> set[int]:
        """Everything that runs on the cluster, itself included."""
        return {pid for process in self.processes.values() for pid in (process.pid, *descendants(process.pid))}


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(status[1]), []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        ours = children.get(left.pop(), [])
        found += ours
        left += ours
    return found


def command_of(pid: int) -> str:
    """The command line of a process, "" where it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def environment_of(pid: int) -> dict[str, str]:
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    return dict(line.split("=", 1) for line in data.decode(errors="replace").split("\0") if "=" in line)


def wait_for(done: Callable[[], object], cluster: RealCluster | None = None) -> None:
    """Until it is done, or a process of the cluster has ended, which is an error."""
    end = time.monotonic() + HANGS_S
    while not done():
        assert time.monotonic() < end, "it hangs"
        for name, process in cluster.processes.items() if cluster else ():
            assert process.poll() is None, f"{name} has ended"
        time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(cluster: RealCluster, name: str, command: list[str], **environment: str) -> subprocess.Popen[bytes]:
    """Starts one process of a cluster, in a session of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        env={**ENVIRONMENT, **environment},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    cluster.processes[name] = process
    return process


def end(cluster: RealCluster) -> None:
    """Ends all processes of a cluster."""
    for process in cluster.processes.values():
        ours = [process.pid, *descendants(process.pid)]
        for pid in ours:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        process.wait()


def dask_worker(cluster: RealCluster, name: str, folder: Path, **environment: str) -> None:
    """One nanny with one worker process of one thread."""
    command = ["distributed.cli.dask_worker", cluster.address.removeprefix("dask://"), "--nthreads", "1"]
    command += ["--no-dashboard", "--local-directory", str(folder / name)]
    start(cluster, name, command, **environment)


@contextmanager
def dask_cluster(folder: Path, workers: int = 2) -> Iterator[RealCluster]:
    """A scheduler and nannies."""
    port = free_port()
    cluster = RealCluster(f"dask://127.0.0.1:{port}")
    try:
        start(
            cluster,
            "scheduler",
            ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        )
        wait_for(lambda: listens(port), cluster)
        for number in range(workers):
            dask_worker(cluster, f"worker-{number}", folder)
        yield cluster
    finally:
        end(cluster)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def ray_cluster(folder: Path, cpus: int = 2) -> Iterator[RealCluster]:
    """A head node, and a server for clients. Its folder must have a short name: sockets lie there."""
    port, client = free_port(), free_port()
    cluster = RealCluster(f"ray://127.0.0.1:{client}")
    try:
        command = ["ray.scripts.scripts", "start", "--head", "--block", "--port", str(port), "--num-cpus", str(cpus)]
        command += ["--include-dashboard", "false", "--temp-dir", str(folder)]
        start(cluster, "head", [*command, "--object-store-memory", str(100 << 20)])
        wait_for(lambda: listens(port), cluster)
        head = ["--mode", "legacy", "--address", f"{get_node_ip_address()}:{port}"]
        start(cluster, "server", ["ray.util.client.server", "--host", "127.0.0.1", "--port", str(client), *head])
        wait_for(lambda: listens(client), cluster)
        yield cluster
    finally:
        end(cluster)

"""`--on`: which workforce it gives, and one line, with the exit status, where it gives none."""

from __future__ import annotations

import gc
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from fuzzer.engines import choose, dask_cluster, ray_cluster
from fuzzer.engines.cluster_workforce import ClusterWorkforce
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.protocol import Plan
from fuzzer.settings import ALL_SEATS, read_settings
from tests.fuzzer.engines.clusters import free_port
from tests.patience import HANGS_S


@pytest.mark.parametrize("on", ["dask", "ray", "dask://node:8786", "dask://[::1]:8786", "ray://head", "ray://auto"])
def test_what_on_takes(on: str, tmp_path: Path) -> None:
    assert read_settings(on=on, out=tmp_path).on == on


@pytest.mark.parametrize(
    "on",
    [
        *("spark://a", "dask:", "dask://", "ray:// ", "local://a", "dask://a:b", "dask://a b", "dask://a:1:2", ""),
        *("ray://?x", "ray://a?x=1", "ray://a#1", "dask://u:p@a", "dask://u@a", "ray://a%00", "ray://-a", "ray://a/b"),
    ],
)
def test_what_on_refuses(on: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="^--on "):
        read_settings(on=on, out=tmp_path)


def test_a_cluster_is_used_whole_unless_jobs_says_otherwise(tmp_path: Path) -> None:
    assert read_settings(on="dask", out=tmp_path).jobs == 0
    assert read_settings(on="dask", jobs=3, out=tmp_path).jobs == 3
    assert read_settings(out=tmp_path).jobs >= 1


@pytest.mark.parametrize(
    ("on", "module", "called"),
    [
        ("dask://node", dask_cluster, ("connect", "node:8786")),
        ("dask://node:1", dask_cluster, ("connect", "node:1")),
        ("dask://tls://node", dask_cluster, ("connect", "tls://node:8786")),
        ("dask", dask_cluster, ("start", 3)),
        ("ray://head", ray_cluster, ("connect", "head:10001")),
        ("ray://auto", ray_cluster, ("connect", "auto")),
        ("ray", ray_cluster, ("start", 3)),
    ],
)
def test_each_engine_is_asked(
    on: str, module: Any, called: tuple[str, object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[tuple[str, object]] = []
    for name in ("connect", "start"):
        monkeypatch.setattr(module, name, lambda what, baggage, name=name: seen.append((name, what)))
    force = choose.workforce_of(read_settings(on=on, jobs=3, out=tmp_path), Plan(1), 2)
    assert isinstance(force, ClusterWorkforce) and seen == [called]


def test_all_seats_are_more_than_any_cluster_has() -> None:
    assert ALL_SEATS > 100_000


@pytest.mark.parametrize(("engine", "package"), [("dask", "distributed"), ("ray", "grpc")])
def test_a_missing_extra_says_what_to_install(
    engine: str, package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = choose.find_spec
    monkeypatch.setattr(choose, "find_spec", lambda name: None if name == package else there(name))
    with pytest.raises(EnvironmentFault) as raised:
        choose.workforce_of(read_settings(on=engine, out=tmp_path), Plan(1), 2)
    assert str(raised.value) == f"--on {engine}: {package} is not installed; pip install 'passfuzz[{engine}]'"


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_an_extra_that_cannot_be_imported_says_what_to_install(
    engine: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, f"fuzzer.engines.{engine}_cluster", None)
    monkeypatch.delattr(f"fuzzer.engines.{engine}_cluster", raising=False)
    with pytest.raises(EnvironmentFault, match=f"^--on {engine}: what is installed cannot be imported .*passfuzz"):
        choose.workforce_of(read_settings(on=engine, out=tmp_path), Plan(1), 2)


def test_engines_are_imported_only_when_they_are_asked_for() -> None:
    code = "import sys, fuzzer.cli, fuzzer.campaign.loop; print({'dask', 'distributed', 'ray'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=HANGS_S)
    assert said.stdout == "set()\n"


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "CONNECT_S", 0.5)
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(EnvironmentFault, match=f"^--on dask://{address}: no Dask scheduler answers there"):
        dask_cluster.connect(address, b"")


@pytest.mark.parametrize("says", [b"", b"HTTP/1.0 200 OK\r\n\r\nhello\n", bytes(range(256)) * 500])
def test_what_is_no_scheduler_of_dask(
    says: bytes, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Something else has the port, and says nothing, or what Dask reads as the lengths of what follows."""
    monkeypatch.setattr(dask_cluster, "CONNECT_S", 0.5)
    taken: list[socket.socket] = []

    def serve() -> None:
        while True:
            connection, _ = server.accept()
            taken.append(connection)
            connection.sendall(says)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(EnvironmentFault, match=f"^--on dask://{address}: no Dask scheduler answers there"):
            dask_cluster.connect(address, b"")
        gc.collect()
    assert taken and capfd.readouterr().err == ""


@pytest.mark.deep
@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_a_campaign_on_a_cluster_that_does_not_answer(engine: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fuzzer.cli", "run", "--on", f"{engine}://127.0.0.1:{free_port()}"]
    command += ["--out", str(tmp_path / "out")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS_S)
    assert (ended.returncode, ended.stdout) == (3, "")
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"passfuzz: error: --on {engine}://127.0.0.1:")
    assert not (tmp_path / "out").exists()

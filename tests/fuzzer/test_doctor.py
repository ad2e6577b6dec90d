"""Kinds of broken installations are distinguished: no TVM, a broken one, a mismatched ffi."""

from __future__ import annotations

import importlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fuzzer import versions
from fuzzer.processes import sandbox
from fuzzer.processes.sandbox import Walls
from fuzzer.results import Diagnosis
from fuzzer.versions import KNOWN_PAIRS, Probe, judge_pair
from oracles.builds import cuda_cpu, needs
from tests.patience import HANGS_S
from tests.quick import one_in

ROOT = Path(__file__).resolve().parents[2]
FAKES = {
    "raises": ("raise ImportError('libtvm.so: cannot open shared object file')", "cannot open shared object file"),
    "segfaults": ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV"),
    "is empty": ("", "TVM has no tvm.tirx"),
}


def doctor(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """`passfuzz doctor` with a folder before everything else on the path."""
    environment = {**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "fuzzer.cli", "doctor", *options]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=path, check=False, timeout=HANGS_S
    )


@pytest.mark.warm
def test_a_working_installation() -> None:
    ended = doctor(ROOT, "--json")
    probes = {probe["name"]: probe for probe in json.loads(ended.stdout)["probes"]}
    assert (ended.returncode, ended.stderr) == (0, "")
    assert probes["tvm import"]["state"] == "ok"
    assert probes["tvm llvm"]["state"] == "ok"
    assert {"python", "numpy", "tvm cuda-codegen", "tvm cuda-device"} <= probes.keys()
    assert probes["target cuda"]["state"] == "ok"


def test_what_counting_lacks_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CC", "/nowhere/cc")
    probe = importlib.import_module("fuzzer.commands.doctor")._coverage()
    assert probe.state == "absent" and probe.detail
    if (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        assert probe.detail == "no C compiler: $CC is /nowhere/cc, which is not there"


@pytest.mark.parametrize(
    ("walls", "states"),
    [
        (Walls(7, True), ["ok", "ok"]),
        (Walls(0, True), ["absent", "ok"]),
        (Walls(0, False), ["absent", "absent"]),
    ],
)
def test_the_walls_are_told(walls: Walls, states: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from fuzzer.commands import doctor as room

    monkeypatch.setattr(room, "_tried_walls", lambda: walls)
    told = {probe.name: probe.state for probe in room._walls()}
    assert [told["sandbox files"], told["sandbox network"]] == states


def test_the_walls_are_tried() -> None:
    from fuzzer.commands import doctor as room

    assert room._tried_walls() == sandbox.offered()
    assert not Path("/proc/self/status").read_text().count("Seccomp:\t2"), "only the child is kept in"


def test_where_no_key_can_be_kept_own_cases_cannot_be_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fuzzer.commands import doctor as room

    assert {probe.name: probe.state for probe in room._walls()}["own cases"] == "ok"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert {probe.name: probe.state for probe in room._walls()}["own cases"] == "absent"


@pytest.mark.parametrize("what", one_in(3, FAKES))
def test_a_broken_tvm(tmp_path: Path, what: str) -> None:
    source, says = FAKES[what]
    (tmp_path / "tvm").mkdir()
    (tmp_path / "tvm" / "__init__.py").write_text(source)
    ended = doctor(tmp_path)
    assert ended.returncode == 3
    assert ended.stderr.startswith("passfuzz: error: tvm import: ")
    assert says in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert "pip install" in ended.stderr


@pytest.mark.deep
def test_a_mismatched_ffi(tmp_path: Path) -> None:
    for name, version in (("apache-tvm", "0.27.0.post1"), ("apache-tvm-ffi", "0.1.15")):
        folder = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    ended = doctor(tmp_path)
    assert ended.returncode == 3
    assert ended.stderr == (
        "passfuzz: error: tvm + ffi: apache-tvm 0.27.0.post1 segfaults with apache-tvm-ffi 0.1.15; "
        "pip install 'apache-tvm-ffi==0.1.14.post1'\n"
    )


def test_no_tvm(monkeypatch: pytest.MonkeyPatch) -> None:
    from fuzzer.commands import doctor as room

    for where in (room, versions):
        monkeypatch.setattr(where, "tvm_version", lambda: "missing")
        monkeypatch.setattr(where, "has_tvm", lambda: False)
    diagnosis = room.examine()
    assert diagnosis.fault is not None
    tvm, ffi = next(iter(KNOWN_PAIRS.items()))
    assert diagnosis.fault == f"apache-tvm: not installed; pip install 'apache-tvm=={tvm}' 'apache-tvm-ffi=={ffi}'"
    assert not [probe for probe in diagnosis.probes if probe.name.startswith("tvm import")]


@pytest.mark.parametrize(
    ("why", "nvcc", "state", "says"),
    [
        (None, "/bin/nvcc", "ok", "built by /bin/c++; /bin/nvcc checks the sources"),
        (None, None, "ok", "built by /bin/c++; no nvcc"),
        ("no C++ compiler", "/bin/nvcc", "absent", "no C++ compiler; install g++"),
    ],
)
def test_the_target_that_needs_a_compiler(
    monkeypatch: pytest.MonkeyPatch, why: str | None, nvcc: str | None, state: str, says: str
) -> None:
    from fuzzer.commands import doctor as room

    lacking = replace(needs.CUDA_CPU, missing=lambda: why)
    monkeypatch.setitem(needs.ROWS, needs.CUDA_CPU.name, lacking)
    monkeypatch.setattr(cuda_cpu, "compiler_path", lambda: "/bin/c++")
    monkeypatch.setattr(shutil, "which", lambda name: nvcc)
    _, row = room._targets([Probe("tvm cuda-device", "absent", "no CUDA device")])
    assert (row.name, row.state) == ("target cuda-cpu", state)
    assert says in row.detail


@pytest.mark.parametrize(
    ("device", "says"),
    [
        (Probe("tvm cuda-device", "ok", "NVIDIA X"), "built and run on NVIDIA X"),
        (
            Probe("tvm cuda-device", "absent", "the driver says no"),
            "interpreted thread by thread; no device is here (the driver says no)",
        ),
        (None, "interpreted thread by thread; no device is here"),
    ],
)
def test_the_target_that_a_device_helps(device: Probe | None, says: str) -> None:
    from fuzzer.commands import doctor as room

    row = room._targets([] if device is None else [device])[0]
    assert (row.name, row.state, row.detail) == ("target cuda", "ok", says)


@pytest.mark.parametrize(("lacking", "state"), [(None, "ok"), ("no C++ compiler", "absent")])
def test_the_builds_that_need_a_compiler(monkeypatch: pytest.MonkeyPatch, lacking: str | None, state: str) -> None:
    from fuzzer.commands import doctor as room

    monkeypatch.setattr(room, "no_compiler", lambda: lacking)
    row = room._other_builds()
    assert (row.name, row.state) == ("other builds", state)
    assert lacking is None or ("build_c" in row.detail and lacking in row.detail)


@pytest.mark.parametrize(("tvm", "ffi"), KNOWN_PAIRS.items())
def test_known_pairs_are_ok(tvm: str, ffi: str) -> None:
    assert judge_pair(tvm, ffi).state == "ok"


@pytest.mark.parametrize(
    ("tvm", "ffi", "state"),
    [
        ("0.27.0.post1", "0.1.15", "broken"),
        ("0.27.0.post1", "0.1.15.post2", "broken"),
        ("0.27.0.post1", "0.1.14.post0", "absent"),
        ("0.28.0", "0.1.15", "absent"),
        ("missing", "0.1.15", "absent"),
    ],
)
def test_other_pairs(tvm: str, ffi: str, state: str) -> None:
    assert judge_pair(tvm, ffi).state == state


@pytest.mark.parametrize(
    ("states", "fault"), [(("ok", "absent"), None), (("ok", "broken"), "second: why; do this"), ((), None)]
)
def test_only_what_is_broken_is_a_fault(states: tuple[Any, ...], fault: str | None) -> None:
    names = ("first", "second")
    probes = tuple(Probe(names[index], state, "why", "do this") for index, state in enumerate(states))
    assert Diagnosis(probes).fault == fault


def test_the_extra_installs_the_pair_that_doctor_names() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    tvm, ffi = next(iter(KNOWN_PAIRS.items()))
    assert f'tvm = ["apache-tvm=={tvm}", "apache-tvm-ffi=={ffi}"]' in project
    (needed,) = re.findall(r"^dependencies = \[(.*?)\]", project, re.DOTALL | re.MULTILINE)
    assert "apache-tvm" not in needed, "pip install passfuzz must not replace the TVM under test"

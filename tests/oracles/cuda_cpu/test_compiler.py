"""Which C++ compiler is taken, and what is said where there is none; what nvcc says of a source."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from oracles.builds import room
from oracles.builds.cuda_cpu import available, to_ptx
from oracles.builds.cuda_cpu.source import UnknownDeclaration, adapted
from tests.oracles.cuda_cpu.kernels import REVERSED
from tests.patience import HANGS_S

ROOT = Path(__file__).resolve().parents[3]


def test_a_machine_without_a_compiler_has_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no C++ compiler" in str(available())


def test_a_compiler_that_is_asked_for_and_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -m64")
    assert "no-such-compiler" in str(available())


def test_a_compiler_that_does_not_work_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "false")
    assert "does not work" in str(available())


def test_lines_keep_their_numbers() -> None:
    source = adapted(REVERSED)
    assert source.bounds == {"reversed": 96}
    lines, changed = REVERSED.splitlines(), source.text.splitlines()
    barrier = next(number for number, line in enumerate(lines) if "__syncthreads" in line)
    assert changed[barrier] == lines[barrier]


def test_an_unknown_declaration_of_shared_memory_is_refused() -> None:
    with pytest.raises(UnknownDeclaration):
        adapted('extern "C" __global__ void k() { __shared__ int a[3][4]; }')


COMPILER = """#!/bin/sh
echo run >> {notes}
[ $(wc -l < {notes}) -ge {succeeds_at} ] && exit 0
echo "error: whatever a compiler says" >&2
exit 1
"""


@pytest.mark.parametrize(
    ("succeeds_at", "full", "status", "runs"), [(2, False, 0, 2), (9, False, 1, 2), (9, True, None, 1)]
)
def test_a_compiler_that_fails_is_wrong_only_where_there_is_room_and_it_fails_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, succeeds_at: int, full: bool, status: int | None, runs: int
) -> None:
    """What was no error of the source: a disk that is full, or was for a moment."""
    notes, compiler = tmp_path / "notes", tmp_path / "compiler"
    compiler.write_text(COMPILER.format(notes=notes, succeeds_at=succeeds_at))
    compiler.chmod(0o700)
    monkeypatch.setattr(room, "no_room", lambda _folder, _wanted: full)
    if status is None:
        with pytest.raises(TimeoutError, match="has no room"):
            room.compiled([str(compiler)], tmp_path, HANGS_S)
    else:
        assert room.compiled([str(compiler)], tmp_path, HANGS_S).returncode == status
    assert len(notes.read_text().splitlines()) == runs


def test_a_limit_on_files_is_no_room(tmp_path: Path) -> None:
    assert not room.no_room(tmp_path)
    script = (
        "import resource, signal, pathlib, oracles.builds.room as room\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 21, 1 << 21))\n"
        f"assert room.no_room(pathlib.Path({str(tmp_path)!r}), room.COMPILED_BYTES)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=HANGS_S, cwd=ROOT)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize(("cuda", "said"), [(REVERSED, None), ("__global__ void k() { f(); }", "f")])
def test_nvcc_says_whether_a_source_is_cuda(cuda: str, said: str | None) -> None:
    complaint = to_ptx(cuda)
    assert complaint is None if said is None else said in str(complaint)

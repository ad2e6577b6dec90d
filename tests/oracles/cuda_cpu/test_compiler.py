"""Which C++ compiler is taken, and what is said where there is none; what nvcc says of a source."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from oracles.builds.cuda_cpu import available, to_ptx
from oracles.builds.cuda_cpu.source import UnknownDeclaration, adapted
from tests.oracles.cuda_cpu.kernels import REVERSED


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


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize(("cuda", "said"), [(REVERSED, None), ("__global__ void k() { f(); }", "f")])
def test_nvcc_says_whether_a_source_is_cuda(cuda: str, said: str | None) -> None:
    complaint = to_ptx(cuda)
    assert complaint is None if said is None else said in str(complaint)

"""What is made of wrong numbers and crashes on a device, without one."""

from __future__ import annotations

from typing import Any

import pytest

from generators.passes.row import Phase
from oracles.builds import build as llvm
from oracles.builds import builders, cuda_device
from oracles.builds.cuda_device import NO_SECOND_OPINION, NOT_AGAIN, NVCC_ALONE, DeviceFault
from oracles.evidence import HostTouchesDevice
from oracles.forked import Ended
from oracles.ir.host_memory import touched_by_host
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Unsure, Wrong
from oracles.verdict import CRASH, HANG
from tests.oracles.oracle_bench import module_of
from tests.oracles.test_cuda_device import CALLS, bench_of, program

LOOP = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32"), N: T.Buffer((1,), "int32")):
        for i in LOOP:
            A[i] = A[i] + T.float32(1)
"""
LAUNCHED = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4,), "float32")):
        with T.launch_thread("TAG", 4) as i:
            A[i] = A[i] + T.float32(1)
"""
SYMBOLIC = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        return R.concat((x, x), axis=0)
"""
VALUE = Wrong("wrong result", "another number", 0)


@pytest.mark.parametrize(
    ("script", "by_host"),
    [
        (LOOP.replace("LOOP", "T.serial(4)"), True),
        (LOOP.replace("LOOP", 'T.thread_binding(4, "threadIdx.x")'), False),
        (LOOP.replace("LOOP", 'T.thread_binding(4, "vthread.x")'), True),
        (LOOP.replace("LOOP", 'T.thread_binding(N[0], "blockIdx.x")'), True),
        (LAUNCHED.replace("TAG", "threadIdx.x"), False),
        (LAUNCHED.replace("TAG", "vthread.x"), True),
    ],
)
def test_what_no_thread_of_a_kernel_does_the_host_does(script: str, by_host: bool) -> None:
    assert touched_by_host(module_of(script)) == by_host


def test_functions_that_are_meant_for_the_host_touch_its_own_memory() -> None:
    """VMShapeLower adds one that computes extents in the heap of the virtual machine."""
    module, bench = module_of(SYMBOLIC), bench_of(Numbers(program("add"), CALLS), "cuda")
    names = builders.BUILDERS["cuda"].passes(module, Phase.HIGH)
    lowered = llvm.lowered_by(names, module, Phase.HIGH, bench, lambda stage: None)
    assert isinstance(lowered, tuple)
    assert "shape_func" in {name.name_hint for name in lowered[0].get_global_vars()}
    assert not touched_by_host(lowered[0])


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        ([None], None),
        ([Wrong(CRASH, "", 0)], Wrong(CRASH, "", 0)),
        ([VALUE, VALUE], VALUE),
        ([VALUE, None, VALUE], Unsure(NVCC_ALONE)),
        ([VALUE, None, None], Unsure(NOT_AGAIN)),
        ([VALUE, Wrong(HANG, "", 0)], Unsure(NO_SECOND_OPINION)),
        ([VALUE, Unsure("build: slow")], Unsure(NO_SECOND_OPINION)),
        ([VALUE, DeviceFault("no registers")], Unsure(NO_SECOND_OPINION)),
    ],
)
def test_wrong_numbers_count_if_they_are_wrong_without_optimisation(
    monkeypatch: pytest.MonkeyPatch, answers: list[Any], wanted: object
) -> None:
    asked = iter(answers)

    def answer(*_: object) -> Any:
        said = next(asked)
        if isinstance(said, Exception):
            raise said
        return said

    monkeypatch.setattr(cuda_device, "_judged_in_child", answer)
    numbers = Numbers(program("add"), CALLS)
    built = cuda_device.DeviceModule(program("add"), Phase.HIGH, bench_of(numbers))
    assert cuda_device.judge(built, numbers) == wanted
    assert list(asked) == []


@pytest.mark.parametrize(("phase", "evidence"), [(Phase.HIGH, HostTouchesDevice()), (Phase.SYNCED, None)])
def test_the_verifier_is_to_blame_only_where_it_is_still_to_come(phase: Phase, evidence: object) -> None:
    module = module_of(LOOP.replace("LOOP", "T.serial(4)"))
    built = cuda_device.DeviceModule(module, phase, bench_of(Numbers(program("add"), CALLS)))
    verdict = cuda_device._of_the_end(Ended(status=1), built, True, "")
    assert isinstance(verdict, Wrong)
    assert verdict.evidence == evidence

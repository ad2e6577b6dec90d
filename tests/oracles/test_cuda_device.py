"""The builder for a CUDA device: what it says without one, and the whole way with the CPU standing in for it."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

os.environ.setdefault("TVM_NUM_THREADS", "1")

import numpy as np
import pytest
import tvm

from fuzzer.trial.build import BuildTrial
from fuzzer.trial.experiment import Experiment
from fuzzer.trial.options import JudgeOptions
from generators import externs
from generators.case import EntryCall, Shape
from generators.passes.row import Phase
from generators.passes.table import PASSES
from generators.source import SeededSource
from generators.targets import TARGETS
from oracles.builds import agreement, builders, cuda_device, needs
from oracles.builds import build as llvm
from oracles.builds.cuda_device import UNUSABLE, DeviceFault, DeviceModule, NoDevice, judge, needs_host_memory, unusable
from oracles.builds.needs import builder_of
from oracles.builds.tir_build import compiled_from
from oracles.evidence import RefusedByNvcc
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Unsure, Wrong
from oracles.reference.values import Runtime
from oracles.table import ORACLES
from oracles.trace import Position, Raised
from oracles.verdict import Failed, Passed, Skipped
from oracles.workbench import Workbench
from tests.oracles.oracle_bench import module_of
from tests.patience import HANGS_S

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), p: R.Tuple(R.Tensor((4,), "float32"), R.Shape([2, 2]))):
        n = T.int64()
        h = R.multiply(x, p[0])
        r = R.OP(h, x)
        return (r, R.argmax(x, axis=1), R.shape([n, 4]))
"""
CALLED = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.call_pure_packed("passfuzz.negated", x, ty_args=R.Tensor((2,), "float32"))
        return R.add(y, y)
"""
HINTED = """
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm")]})
    @R.function
    def main(x: R.Tensor((2,), "float32", "llvm")):
        return R.add(x, x)
"""
OF_THE_HOST = """
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        T.evaluate(T.call_packed("tvm.contrib.sort.argsort", A[0]))
"""
X = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
PAIR = (np.array([1, 2, 3, 4], np.float32), Shape((2, 2)))
CALLS = tuple(EntryCall("main", (X[:count], PAIR)) for count in (3, 1))


def program(op: str) -> Any:
    return module_of(PROGRAM.replace("OP", op))


def bench_of(numbers: Numbers, target: str = "llvm") -> Workbench:
    return Workbench(SeededSource(0), numbers, target=target)


def lowered(module: Any, numbers: Numbers) -> DeviceModule:
    bench = bench_of(numbers)
    built = builders.BUILDERS["cuda"].build(module, Phase.HIGH, bench, 0, lambda stage: None)
    assert isinstance(built, DeviceModule)
    return built


def verdict(module: Any, numbers: Numbers) -> Any:
    start, options = Position.at(module), JudgeOptions(PASSES, {}, frozenset(), target="cuda")
    trial = BuildTrial(Experiment(0, module, (), (), (), ()), options, bench_of(numbers), (), start)
    with patch.object(needs, "DRIVER_FILES", ("/",)):  # This machine is taken to have a driver.
        return trial.attempt(start).verdict


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Each test asks for the device anew."""
    unusable.cache_clear()
    yield
    unusable.cache_clear()


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU is the device, and modules are lowered for it."""
    place = tvm.target.Target("llvm"), tvm.cpu()
    monkeypatch.setattr(cuda_device, "here", lambda: place)
    monkeypatch.setattr(builders, "_passes_for_threads", lambda module, phase: llvm.passes_to_come(module, phase))
    monkeypatch.setattr(needs, "DRIVER_FILES", ("/",))


# --- no device ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("device", "builder"), [(False, None), (True, "cuda")])
def test_modules_for_cuda_are_built_where_a_device_is(
    monkeypatch: pytest.MonkeyPatch, device: bool, builder: str | None
) -> None:
    monkeypatch.setattr(needs, "DRIVER_FILES", ("/",) if device else ())
    assert builder_of("cuda") == builder
    assert {builder_of(name) for name in TARGETS if name != "cuda"} == {"llvm", "cuda-cpu"}
    assert not ORACLES["pipelines"].has_work_at(builder) and ORACLES["build"].has_work_at(builder) == device


@pytest.mark.parametrize("there", [False, True])
def test_a_driver_is_seen_by_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: bool) -> None:
    file = tmp_path / "nvidiactl"
    if there:
        file.touch()
    monkeypatch.setattr(needs, "DRIVER_FILES", (str(file),))
    assert needs.present() == there


@pytest.mark.parametrize("driver", [False, True])
def test_witnesses_of_a_target_without_a_device_are_the_reference(
    monkeypatch: pytest.MonkeyPatch, driver: bool
) -> None:
    monkeypatch.setattr(needs, "DRIVER_FILES", ("/",) if driver else ())
    monkeypatch.setattr(tvm, "cuda", lambda number: NoSuchDevice())
    module = program("add")
    numbers = Numbers(module, CALLS)
    answers = agreement.engines(Position.at(module), None, numbers, bench_of(numbers, "cuda"), "cuda")
    assert list(map(str, answers)) == ["reference before"]


class NoSuchDevice:
    """What TVM gives where the driver is none or the wrong one."""

    exist = False


class Driver:
    """libcuda.so.1, whose cuInit returns a code."""

    def __init__(self, code: int) -> None:
        self.code = code

    def cuInit(self, flags: int) -> int:
        return self.code

    def cuGetErrorName(self, code: int, name: Any) -> int:
        name._obj.value = b"CUDA_ERROR_NO_DEVICE"
        return 0

    def cuDriverGetVersion(self, version: Any) -> int:
        version._obj.value = 11040
        return 0


@pytest.mark.parametrize(
    ("driver", "says"),
    [
        (None, "the driver cannot be loaded: libcuda.so.1: no such file"),
        (Driver(100), "the driver says CUDA_ERROR_NO_DEVICE (100)"),
        (Driver(0), "the driver is for CUDA 11.4, and TVM sees no device through it"),
    ],
)
def test_a_driver_that_is_none_or_the_wrong_one_is_a_reason(
    monkeypatch: pytest.MonkeyPatch, driver: Driver | None, says: str
) -> None:
    library = ctypes.CDLL

    def load(name: str | None) -> Any:
        if name is None:
            return library(None)  # what this process is linked with
        if driver is None:
            raise OSError(f"{name}: no such file")
        return driver

    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(tvm, "cuda", lambda number: NoSuchDevice())
    monkeypatch.setattr(cuda_device.ctypes, "CDLL", load)
    assert verdict(program("add"), Numbers(program("add"), CALLS)) == Skipped(f"{UNUSABLE}{says}")


def test_without_nvcc_nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert (unusable() or "").startswith("nvcc is missing")


def test_a_device_that_goes_away_ends_no_campaign(monkeypatch: pytest.MonkeyPatch, stand_in: None) -> None:
    numbers = Numbers(program("add"), CALLS)
    built = lowered(program("add"), numbers)

    def gone() -> Any:
        raise NoDevice("it has left")

    monkeypatch.setattr(cuda_device, "here", gone)
    assert judge(built, numbers) == Unsure(f"{UNUSABLE}it has left")


# --- the CPU in place of a device -----------------------------------------------------------------------


def test_a_clean_module_agrees_and_children_alone_touch_the_device(
    stand_in: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, touched = cuda_device.here, []
    monkeypatch.setattr(cuda_device, "here", lambda: touched.append(os.getpid()) or here())
    assert unusable() is None
    assert isinstance(verdict(program("add"), Numbers(program("add"), CALLS)), Passed)
    assert touched == []
    assert cuda_device.forked(lambda: cuda_device.here() and len(touched), 5) == 1


def test_wrong_numbers_are_found(stand_in: None) -> None:
    found = verdict(program("subtract"), Numbers(program("add"), CALLS))
    assert isinstance(found, Failed) and (found.symptom, found.culprit) == ("wrong result", None)


def test_inputs_are_moved_with_all_that_is_in_them(stand_in: None, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[Any] = []
    numbers = Numbers(program("add"), CALLS)
    monkeypatch.setattr(tvm.runtime.Tensor, "copyto", lambda tensor, device: moved.append(tensor.shape) or tensor)
    run = cuda_device.runner(lowered(program("add"), numbers))
    assert numbers.judge_run(run) is None
    assert moved == [(3, 4), (4,), (1, 4), (4,)]


def test_what_an_extern_returns_is_moved(stand_in: None, monkeypatch: pytest.MonkeyPatch) -> None:
    externs.register()
    device = tvm.cpu()
    moved: list[Any] = []
    copyto = tvm.runtime.Tensor.copyto
    monkeypatch.setattr(tvm.runtime.Tensor, "copyto", lambda t, to: moved.append(t.numpy().tolist()) or copyto(t, to))
    cuda_device._prepared()
    try:
        given = tvm.runtime.tensor(np.array([1, -2], np.float32), device=device)
        assert tvm.get_global_func("passfuzz.negated")(given).numpy().tolist() == [-1, 2]
    finally:
        externs.register()
    assert moved == [[-1.0, 2.0]]
    numbers = Numbers(module_of(CALLED), (EntryCall("main", (X[0, :2],)),))
    assert isinstance(verdict(module_of(CALLED), numbers), Passed)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch, stand_in: None) -> Callable[[Callable[[int], None]], None]:
    """Has something done before every call of the module, which gets the number of calls so far."""
    run, count = llvm.Built.run, 0

    def replaced(action: Callable[[int], None]) -> None:
        def faulty(built: Any, function: str, arguments: list[Runtime], *packed: Any) -> Runtime:
            nonlocal count
            action(count)
            count += 1
            return run(built, function, arguments, *packed)

        monkeypatch.setattr(llvm.Built, "run", faulty)

    return replaced


def faults(code: int) -> Callable[[int], None]:
    def dies(_count: int) -> None:
        os.write(2, b"what():  CUDA: an illegal memory access was encountered\n")
        faulthandler.disable()
        os.kill(os.getpid(), code)

    return dies


def raises(text: str) -> Callable[[int], None]:
    def raised(_count: int) -> None:
        raise tvm.error.InternalError(text)

    return raised


def test_an_error_while_running_is_one_of_the_run(running: Callable[[Any], None]) -> None:
    module = program("add")
    numbers = Numbers(module, CALLS)
    built = lowered(module, numbers)
    running(raises("CUDA: an illegal memory access was encountered"))
    with pytest.raises(DeviceFault, match="^InternalError: CUDA: an illegal memory access"):
        judge(built, numbers)


def test_an_error_while_running_fails_the_case(running: Callable[[Any], None]) -> None:
    assert unusable() is None
    running(raises("CUDA: unspecified launch failure"))
    found = verdict(program("add"), Numbers(program("add"), CALLS))
    assert isinstance(found, Failed) and found.symptom == "does not run"
    assert "unspecified launch failure" in found.message


def test_a_device_without_memory_proves_nothing(running: Callable[[Any], None]) -> None:
    assert unusable() is None
    running(raises("CUDA: out of memory"))
    assert verdict(program("add"), Numbers(program("add"), CALLS)) == Skipped("build: no memory is left on the device")


def test_a_child_that_dies_is_a_crash_and_the_parent_lives(running: Callable[[Any], None]) -> None:
    assert unusable() is None
    running(faults(signal.SIGSEGV))
    found = verdict(program("add"), Numbers(program("add"), CALLS))
    assert isinstance(found, Failed) and found.symptom == "crash"
    assert found.message.startswith("SIGSEGV running on the device") and "illegal memory access" in found.message


def test_a_child_without_an_end_hangs(running: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch) -> None:
    assert unusable() is None
    monkeypatch.setattr(cuda_device, "RUN_S", 1)
    running(lambda count: time.sleep(HANGS_S))
    found = verdict(program("add"), Numbers(program("add"), CALLS))
    assert isinstance(found, Failed) and found.symptom == "hang"


def test_a_build_without_an_end_proves_nothing(stand_in: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert unusable() is None
    monkeypatch.setattr(cuda_device, "BUILD_S", 1)
    monkeypatch.setattr(cuda_device, "_compiled", lambda built, target: time.sleep(HANGS_S))
    found = verdict(program("add"), Numbers(program("add"), CALLS))
    assert isinstance(found, Skipped) and "takes too long" in found.reason


def test_what_one_round_leaves_shows_in_the_next(stand_in: None, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = Numbers(program("add"), CALLS)
    built, made, machine = lowered(program("add"), numbers), [], tvm.relax.VirtualMachine
    other = compiled_from(lowered(program("subtract"), numbers).module, tvm.target.Target("llvm"), Phase.SYMBOLED)

    def spoilt(executable: Any, device: Any) -> Any:
        made.append(executable)
        return machine(other if len(made) > 1 else executable, device)

    monkeypatch.setattr(cuda_device.relax, "VirtualMachine", spoilt)
    found = judge(built, numbers)
    assert isinstance(found, Wrong) and found.message.endswith("(in a later round)")


@pytest.mark.parametrize(
    ("text", "message", "evidence"),
    [
        ("int x;\nCompilation error:\nk.cu(3): error: no type\nk.cu(4): error: b", "nvcc: no type", RefusedByNvcc()),
        (
            'int x;\nCompilation error:\nk.cu(3): error: identifier "hnearbyint" is undefined\n  y = hnearbyint(x);\n',
            "nvcc: knows no function hnearbyint",
            RefusedByNvcc("hnearbyint"),
        ),
        ("int x;\nCompilation error:\nptxas fatal : too much data\n", "nvcc: too much data", RefusedByNvcc()),
        ("no code for it", "RuntimeError: no code for it", None),
    ],
)
def test_what_does_not_build_says_why(text: str, message: str, evidence: RefusedByNvcc | None) -> None:
    found = cuda_device._not_compiled(Raised("RuntimeError", text))
    assert isinstance(found, Wrong) and found.symptom == "does not build"
    assert (found.message, found.evidence) == (message, evidence)


def test_what_tvm_raises_in_a_build_keeps_the_place() -> None:
    found = cuda_device._not_compiled(Raised("InternalError", "no code for it", traceback="in codegen_cuda.cc"))
    assert isinstance(found, Wrong) and found.traceback == "in codegen_cuda.cc"


def test_the_witnesses_have_the_device_among_them(stand_in: None) -> None:
    module = program("add")
    numbers = Numbers(module, CALLS)
    answers = agreement.engines(Position.at(module), None, numbers, bench_of(numbers), "cuda")
    (group,) = agreement.groups(answers, numbers)
    names = ("reference before", "build before at -O0", "build before at -O3", "cuda before")
    assert tuple(map(str, group.members)) == names


@pytest.mark.parametrize(("text", "says"), [(HINTED, "the program names"), (OF_THE_HOST, "run-time library")])
def test_what_needs_the_host_is_not_run(text: str, says: str) -> None:
    assert says in (needs_host_memory(module_of(text)) or "")
    assert needs_host_memory(program("add")) is None

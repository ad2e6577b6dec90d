"""Modules built for CUDA and run on the CPU: TVM's virtual machine calls the host functions, they call our kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import tvm
from tvm import relax

from generators import tvm_api
from generators.dtypes import Array
from generators.passes.row import Phase
from generators.tvm_api import Constant, IRModule, RuntimeTensor, VirtualMachine
from oracles.builds import build as llvm
from oracles.builds.cuda_cpu.compiler import CompileError, TooSlow
from oracles.builds.cuda_cpu.lowering import NO_DEVICE, SHARED_BYTES, KernelLaunch, Lowered, lower
from oracles.builds.cuda_cpu.program import DEADLINE_S, ORDERS, Address, CompiledSource, Fault, Order, compile_source
from oracles.evidence import InKernel, OrderOfThreads
from oracles.ir.compare import own_constant, with_own_constants
from oracles.reference.calling import Calling, direct
from oracles.reference.errors import Trap
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Unsure, Wrong
from oracles.reference.values import Callback, Runtime, Tensor, flattened
from oracles.trace import Bench, Raised
from oracles.verdict import CODEGEN

SYMPTOM = "cuda-cpu: "
"""Begins the symptom of a fault; after it comes the kind of the fault, or RACE."""
RACE = "result depends on the order of threads"
EMPTY: Literal["empty launch"] = "empty launch"
"""The kind of a fault in a launch of no threads: the run time launches some nevertheless."""
_AXES = ("x", "y", "z")
_PERTURB = -6
"""M_PERTURB of glibc's mallopt: fresh memory is filled with the complement of this byte."""
_FILLED = (0x7F, 0xCD, 0xFE)
"""The bytes that fresh memory holds in each order: large numbers, of any type."""


@dataclass(frozen=True, slots=True)
class NotCompiled:
    """TVM has made CUDA source that the C++ compiler refuses: the source is no CUDA (`to_ptx` can tell), or it has what
    our header does not know. slow: the compiler was still at it when its time was up."""

    cuda: str
    message: str
    slow: bool = False


@dataclass(slots=True)
class CudaCpuModule:
    """A module ready to run. cuda: the source of its kernels.

    Only one of a process runs at a time, and its constants are restored when another order begins.
    """

    machine: VirtualMachine
    cuda: str
    kernels: Mapping[str, Callable[..., None]]
    launcher: Launcher
    constants: list[tuple[RuntimeTensor, Array]]

    def run(
        self,
        function: str,
        arguments: list[Runtime],
        packed: Mapping[str, Callback] = MappingProxyType({}),
        order: Order = Order.ASCENDING,
    ) -> Runtime:
        """Calls a function on runtime values with the threads in this order. Raises Fault, and what TVM raises."""
        self._begin(order)
        try:
            with _poisoned(order):
                return llvm.Built(self.machine).run(function, arguments, packed)
        except Exception as error:
            if self.launcher.fault is not None:
                raise self.launcher.fault from error
            raise

    def _begin(self, order: Order) -> None:
        if order is not self.launcher.order:
            for constant, content in self.constants:
                constant.copyfrom(content)
        self.launcher.order, self.launcher.fault = order, None
        for name, kernel in self.kernels.items():
            tvm.register_global_func(name, kernel, override=True)
        tvm.register_global_func(NO_DEVICE, _nothing, override=True)


@dataclass(slots=True)
class Launcher:
    """Makes the launches that the host asks for. fault: of the last launch that had one."""

    program: CompiledSource
    deadline_s: float
    order: Order = Order.ASCENDING
    fault: Fault | None = None
    launches: int = 0

    def launch(self, kernel: KernelLaunch, *passed: Any) -> None:
        """A call as the host makes it: arguments, then a number for each tag."""
        count = len(passed) - len(kernel.tags)
        numbers = dict(zip(kernel.tags, passed[count:], strict=True))
        sizes = kernel.sizes(passed[:count])
        arguments = [_argument(value, size) for value, size in zip(passed[:count], sizes, strict=True)]
        self.launches += 1
        try:
            self.program.launch(
                kernel.name,
                arguments,
                [_extent(numbers, f"blockIdx.{axis}") for axis in _AXES],
                [_extent(numbers, f"threadIdx.{axis}") for axis in _AXES],
                shared=int(numbers.get(SHARED_BYTES, 0)),
                order=self.order,
                seed=self.launches,
                deadline_s=self.deadline_s,
            )
        except Fault as fault:
            self.fault = Fault(fault.kernel, EMPTY, fault.detail) if _is_empty(numbers) else fault
            raise self.fault from None


def _extent(numbers: Mapping[str, int], tag: str) -> int:
    """How many there are along an axis; one where the host says none, as the run time for CUDA has it
    (`LaunchParamConfig::Extract`, src/runtime/thread_storage_scope.h)."""
    return int(numbers.get(tag, 1)) or 1


def _is_empty(numbers: Mapping[str, int]) -> bool:
    return any(int(number) == 0 for tag, number in numbers.items() if tag != SHARED_BYTES)


def _argument(value: Any, size: int | None) -> Any:
    """What the host passes, as a launch takes it."""
    if value is None:  # How a null pointer arrives.
        return Address(0, size)
    return Address(int(value.value or 0), size) if isinstance(value, ctypes.c_void_p) else value


def _nothing(*arguments: object) -> int:
    return 0


@contextmanager
def _poisoned(order: Order) -> Iterator[None]:
    """While it lasts, memory that is allocated holds a pattern, another one in each order, where the C library can."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        yield
        return
    mallopt(_PERTURB, _FILLED[order] ^ 0xFF)
    try:
        yield
    finally:
        mallopt(_PERTURB, 0)


def build(
    module: IRModule, phase: Phase, bench: Bench, deadline_s: float = DEADLINE_S
) -> CudaCpuModule | llvm.NotBuilt | NotCompiled:
    """Builds a module whose Relax functions are lowered for CUDA and whose PrimFuncs stand in `phase`.

    deadline_s: CPU seconds that each launch of a kernel may take. What passes raise on the way comes back as NotBuilt.
    """
    constants: list[RuntimeTensor] = []
    module = _with_constants_kept(module, constants)
    lowered = bench.guarded(lambda: lower(module, phase))
    if isinstance(lowered, Raised):
        return llvm.NotBuilt(CODEGEN, lowered, module, phase)
    try:
        program = compile_source(lowered.cuda)
    except CompileError as error:
        return NotCompiled(lowered.cuda, str(error), isinstance(error, TooSlow))
    machine = bench.guarded(lambda: relax.VirtualMachine(lowered.executable, tvm.cpu(), memory_cfg="naive"))
    if isinstance(machine, Raised):
        return llvm.NotBuilt(CODEGEN, machine, module, phase)
    return _assembled(machine, lowered, program, deadline_s, constants)


def _assembled(
    machine: VirtualMachine,
    lowered: Lowered,
    program: CompiledSource,
    deadline_s: float,
    constants: list[RuntimeTensor],
) -> CudaCpuModule:
    launcher = Launcher(program, deadline_s)
    kernels = {kernel.name: partial(launcher.launch, kernel) for kernel in lowered.kernels}
    return CudaCpuModule(machine, lowered.cuda, kernels, launcher, [(held, held.numpy().copy()) for held in constants])


def _with_constants_kept(module: IRModule, constants: list[RuntimeTensor]) -> IRModule:
    """The module with constants of its own, which are added to `constants`."""

    def copied(constant: Constant) -> Constant:
        own = own_constant(constant)
        if isinstance(tvm_api.type_of(own), tvm_api.TensorType):
            constants.append(own.value)
        return own

    return with_own_constants(module, copied)


def judge(built: CudaCpuModule, numbers: Numbers, calling: Calling = direct) -> None | Wrong | Unsure:
    """Every entry call in every order: whether the results are the reference's, and the same in every order.

    None where all is well. Results that float atomics may change with the order are compared with the reference alone.
    """
    if isinstance(numbers.expected, NoMeaning):
        return Unsure(numbers.expected.reason)
    first: list[Runtime] = []
    for order in ORDERS:
        results: list[Runtime] = []
        outcome = numbers.judge_run(_Recording(built, order, results), calling)
        if isinstance(outcome, Wrong):
            return _named(outcome, order)
        if isinstance(outcome, Unsure) and outcome.skipped:
            return outcome
        if order is ORDERS[0]:
            first, unsure = results, outcome
        elif "atomic" not in built.cuda and not all(map(_identical, first, results)):
            return _race(f"{order.name.lower()} differs from {ORDERS[0].name.lower()}", 0, order)
    return unsure


@dataclass(slots=True)
class _Recording:
    """Runs in one order and keeps the results; a fault becomes what the reference raises."""

    built: CudaCpuModule
    order: Order
    results: list[Runtime] = field(default_factory=list)

    def __call__(
        self, function: str, arguments: list[Runtime], packed: Mapping[str, Callback] = MappingProxyType({})
    ) -> Runtime:
        try:
            result = self.built.run(function, arguments, packed, self.order)
        except Fault as fault:
            evidence = InKernel(fault.kind, fault.kernel, fault.detail)
            raise Trap(evidence, f"{fault.detail} (kernel {fault.kernel})") from fault
        self.results.append(result)
        return result


def _named(wrong: Wrong, order: Order) -> Wrong:
    """A fault under its own name; a wrong result that only a later order shows is one of the order."""
    message = f"{wrong.message} (threads {order.name.lower()})"
    if isinstance(wrong.evidence, InKernel):
        return Wrong(f"{SYMPTOM}{wrong.evidence.kind}", message, wrong.call, wrong.evidence)
    return replace(wrong, message=message) if order is ORDERS[0] else _race(message, wrong.call, order)


def _race(message: str, call: int, order: Order) -> Wrong:
    """What only this order of threads shows."""
    return Wrong(f"{SYMPTOM}{RACE}", message, call, OrderOfThreads(order.name.lower()))


def _identical(first: Runtime, second: Runtime) -> bool:
    """Whether two results are the same bit for bit, NaN taken as one value."""
    ours, theirs = flattened(first), flattened(second)
    return len(ours) == len(theirs) and all(map(_same_leaf, ours, theirs))


def _same_leaf(first: Runtime, second: Runtime) -> bool:
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        inexact = first.value.dtype.kind == "f"
        return bool(np.array_equal(first.value, second.value, equal_nan=inexact))
    return isinstance(first, Tensor) == isinstance(second, Tensor) and (isinstance(first, Tensor) or first == second)

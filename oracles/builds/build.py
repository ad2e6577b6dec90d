"""The LLVM build as an oracle: the module that a case ends with compiles, runs, and gives the reference's numbers.

The rest of the official pipeline is applied pass by pass first, so that a failure has a pass to its name;
what fails after the last pass is the code generator's ("codegen"), or a wrong pass's that raised nothing
(`oracles.builds.blame`). A failure that the starting
module shows as well, under no pass at all, is blamed on the build alone and not on the passes under test.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import tvm
import tvm_ffi
from tvm import relax

from generators import tvm_api
from generators.case import Shape
from generators.externs import provided
from generators.passes.official import rest_of_pipeline
from generators.passes.row import Phase, Role
from generators.passes.table import PASSES, default_call, the
from generators.targets import DEFAULT
from generators.tvm_api import Device, IRModule, PrimFunc, RuntimeTensor, Target, Type, VirtualMachine
from oracles.activities import Announce, Building, entering, unannounced
from oracles.builds.tir_build import compiled_from
from oracles.ir.compare import with_own_constants
from oracles.ir.operators import CONSUMED, operator_calls
from oracles.ir.walk import bindings, nodes_of, operands, prim_funcs, relax_functions
from oracles.nested import announcing, innermost
from oracles.reference.errors import Unsupported
from oracles.reference.numbers import Numbers
from oracles.reference.tir.decode.tvm_objects import lanes_of
from oracles.reference.values import UNIT, Callback, Runtime, Tensor, Unit, carried, declared
from oracles.trace import Bench, Position, Raised
from oracles.verdict import BUILD, CODEGEN
from oracles.walk import walk

_HOST = "llvm"
"""TVM's kind of target for the CPU."""


VmValue: TypeAlias = (
    "RuntimeTensor | tvm.runtime.ShapeTuple | tvm_ffi.Function | tuple[VmValue, ...] | float | str | None"
)
"""What the virtual machine takes and gives."""


@dataclass(frozen=True, slots=True)
class Built:
    """A module ready to run. device: where its inputs are to be, None for the CPU."""

    machine: VirtualMachine
    device: Device | None = None

    def run(
        self, function: str, arguments: list[Runtime], packed: Mapping[str, Callback] = MappingProxyType({})
    ) -> Runtime:
        """Calls a function of the built module on runtime values; `packed` says what the hooks of
        `generators.externs` do."""
        with provided({name: _hosted(callback, self.device) for name, callback in packed.items()}):
            result = self.machine[function](*[_to_vm(a, self.device) for a in arguments])
        return _from_vm(result)


@dataclass(frozen=True, slots=True)
class NotBuilt:
    """Where building stopped: `culprit` is the pass or CODEGEN, `before` the module that it was given.

    lowered_by: the passes applied until then, the culprit included where it is one.
    """

    culprit: str
    error: Raised
    before: IRModule
    phase: Phase
    lowered_by: tuple[str, ...] = ()


def excess_precision(module: IRModule) -> str | None:
    """The dtype in whose precision built code computes instead of rounding to it: BF16ComputeLegalize keeps what is
    cast to bfloat16 in float32 until it is stored in an argument (src/tirx/transform/unsupported_dtype_legalize.cc).
    None for modules without it."""
    return "bfloat16" if "bfloat16" in tvm_api.json_of(module) else None


def as_built(numbers: Numbers) -> Numbers:
    """The reference's results with the bounds that built code keeps."""
    floor = excess_precision(numbers.starting.module) if numbers.starting.floor is None else None
    return numbers.held_to(floor)


def passes_to_come(module: IRModule, phase: Phase, target: str = DEFAULT) -> tuple[str, ...]:
    """The Relax passes that building applies to a module in this phase."""
    return (*_lifting(module, phase), *rest_of_pipeline(phase, target))


def build(
    module: IRModule, phase: Phase, bench: Bench, opt_level: int, announce: Announce = unannounced
) -> Built | NotBuilt:
    """Lowers and compiles. `announce` is called with every activity before it starts.

    Constants are copied first: a wrong in-place call writes into them when it runs, and modules share them.
    """
    module = with_own_constants(module)
    names = passes_to_come(module, phase)
    lowered = lowered_by(names, module, phase, bench, announce)
    if isinstance(lowered, NotBuilt):
        return lowered
    module, phase = lowered
    announce(Building(BUILD, CODEGEN))

    def running(names: Sequence[str]) -> None:
        """The passes of TIR are part of code generation; one that ends the process is to blame."""
        announce(Building(BUILD, innermost(names, PASSES) or CODEGEN))

    compiled = bench.guarded(
        lambda: announcing(running, lambda: compiled_from(module, _current_target(opt_level), phase))
    )
    if isinstance(compiled, Raised):
        return NotBuilt(CODEGEN, compiled, module, phase, names)
    machine = bench.guarded(lambda: relax.VirtualMachine(compiled, tvm.cpu()))
    if isinstance(machine, Raised):
        return NotBuilt(CODEGEN, machine, module, phase, names)
    return Built(machine)


def _current_target(opt_level: int) -> Target:
    """The current target at one of LLVM's optimisation levels; plain LLVM where none is set."""
    current = tvm.target.Target.current(allow_none=True)
    attributes = {"kind": _HOST} if current is None else _attributes(current)
    return tvm.target.Target({**attributes, "opt-level": opt_level})


def _attributes(target: Target) -> dict[str, object]:
    """What a target was constructed with."""
    return {name: value for name, value in target.export().items() if name not in ("keys", "tag")}


def lowered_by(
    names: Sequence[str], module: IRModule, phase: Phase, bench: Bench, announce: Announce = unannounced
) -> tuple[IRModule, Phase] | NotBuilt:
    """The module after these passes with its phase, or where they stopped."""
    start = end = Position.at(module, phase)
    calls = [default_call(name) for name in names]
    for step in walk(start, calls, PASSES, bench, around=lambda call: entering(announce, Building(BUILD, call.name))):
        if step.error is not None:
            applied = tuple(names[: step.index + 1])
            return NotBuilt(names[step.index], step.error, step.before, step.phase, applied)
        assert step.end is not None
        end = step.end
    return end.module, end.phase


def not_runnable(module: IRModule) -> str | None:
    """Why a module cannot run here with any lowering; None where it can."""
    if any(call.op.name in CONSUMED for call, _ in operator_calls(module)):
        return "device hints that only RealizeVDevice consumes"
    if other_devices(module):
        return "values on a second device, the inputs are on the first"
    if any(_takes_vectors(function) for _, function in prim_funcs(module)):
        return "a PrimFunc takes tensors of vectors, its caller has tensors of numbers"
    if any(name.startswith(_CUDA_GRAPHS) and not _is_registered(name) for name in _packed_functions(module)):
        return "a CUDA graph, of which this run time has none"
    return None


def _takes_vectors(function: PrimFunc) -> bool:
    """Whether a parameter is a buffer of vectors, as PointerValueTypeRewrite makes of one whose accesses all are: it is
    for kernels, which get addresses."""
    return any(type(p.ty).__name__ == "BufferType" and lanes_of(p.ty) != 1 for p in function.params)


def unregistered(module: IRModule) -> str | None:
    """The reason why a program runs nowhere here: a packed function that it calls and that is not registered, or an
    extern function that no library of this process has."""
    for name in _packed_functions(module):
        if not _is_registered(name):
            return f"packed function {name} is registered nowhere"
    process = ctypes.CDLL(None)
    for _, function in prim_funcs(module):
        for call in nodes_of(function.body, tvm_api.Call):
            kind = tvm_api.op_name(call)
            if kind in _PACKED_CALLS and not _is_registered(str(call.args[0].value)):
                return f"packed function {call.args[0].value} is registered nowhere"
            if kind in _EXTERN_CALLS and not hasattr(process, str(call.args[0].value)):
                return f"extern function {call.args[0].value} is in no library"
    return None


def _packed_functions(module: IRModule) -> list[str]:
    """The names of the packed functions that Relax functions call."""
    return [
        str(part.global_symbol)
        for _, function in relax_functions(module)
        for bound in bindings(function)
        for part in (bound.value, *operands(bound.value))
        if isinstance(part, relax.ExternFunc)
    ]


_CUDA_GRAPHS = "vm.builtin.cuda_graph."
"""What RewriteCUDAGraph calls, for any target: only a TVM with CUDA has it."""
_PACKED_CALLS = ("tirx.tvm_call_packed", "tirx.tvm_call_cpacked")
_EXTERN_CALLS = ("tirx.call_extern", "tirx.call_pure_extern")


def _is_registered(name: str) -> bool:
    return tvm.get_global_func(name, allow_missing=True) is not None


def other_devices(module: IRModule) -> bool:
    """Whether a value of the module lives on another device than the first, where the inputs are not."""
    functions = [f for f in module.functions.values() if isinstance(f, relax.Function)]
    types = [tvm_api.type_of(v) for f in functions for v in (*f.params, *relax.analysis.all_vars(f))]
    return any(_elsewhere(ty) for ty in types)


def _elsewhere(ty: Type) -> bool:
    if isinstance(ty, tvm_api.TupleType):
        return any(_elsewhere(field) for field in ty.fields)
    device = ty.vdevice if isinstance(ty, tvm_api.TensorType) else None
    return device is not None and int(device.vdevice_id) > 0


def _lifting(module: IRModule, phase: Phase) -> tuple[str, ...]:
    """LambdaLift for modules with local functions: no official pipeline has it, and VMShapeLower needs it."""
    if phase is not Phase.HIGH:
        return ()
    local = any(
        isinstance(binding.value, relax.Function)
        for function in module.functions.values()
        if isinstance(function, relax.Function)
        for block in function.body.blocks
        for binding in block.bindings
    )
    return (the(Role.LIFTS_LOCAL_FUNCTIONS).name,) if local else ()


def _to_vm(value: Runtime, device: Device | None = None) -> VmValue:
    if isinstance(value, Tensor):
        tensor = tvm_api.to_tensor(declared(value), value.dtype)
        return tensor if device is None else tensor.copyto(device)
    if isinstance(value, Shape):
        return tvm.runtime.ShapeTuple(list(value.extents))
    if isinstance(value, tuple):
        return tuple(_to_vm(v, device) for v in value)
    if isinstance(value, Callback):
        return tvm_ffi.convert(_hosted(value, device))
    return None if isinstance(value, Unit) else value


def _hosted(callback: Callback, device: Device | None) -> Callable[..., VmValue]:
    """The callback as a Python function over the VM's values."""
    return lambda *arguments: _to_vm(callback.answer(*map(_from_vm, arguments)), device)


def _from_vm(result: VmValue) -> Runtime:
    if isinstance(result, tvm.runtime.Tensor):
        return carried(np.array(tvm_api.to_array(result)), str(result.dtype))
    if isinstance(result, tvm.runtime.ShapeTuple):
        return Shape(tuple(int(n) for n in result))
    if isinstance(result, (bool, int, float, str)):
        return result
    if result is None:
        return UNIT
    if type(result).__name__ in ("Array", "tuple", "list"):
        return tuple(_from_vm(r) for r in result)
    raise Unsupported(f"VM result {type(result).__name__}")

"""Lowered Relax: allocation, views, kills of variables, and PrimFuncs that write into their arguments.

The rules, with their sources in TVM:

- `relax.memory.kill_tensor`, `relax.memory.kill_storage` and `relax.vm.kill_object` are one operator: lowering makes
  the third of the first two (src/relax/backend/vm/lower_runtime_builtin.cc, MakeMemKillObject), and that empties the
  register of a variable (src/relax/backend/vm/codegen_vm.cc, EmitKillObject; "the same as the Python del operator").
  So a kill ends the *variable*. Objects are reference-counted: a tensor lives on in other variables, in tuples,
  closures and views, and a storage in the tensors made in it (memory_manager.cc, StorageAlloc). KillAfterLastUse relies
  on that: it kills a storage after the last alloc_tensor in it, before the first write to that tensor, and a tensor
  while a view of it is still read. Use of a killed variable is "use-after-kill", a second kill is "double-free": the
  latter is harmless in this VM, but no pass may rely on that, since KillAfterLastUse leaves out killed variables.
- `relax.memory.alloc_storage` counts bytes whatever its dtype says: lowering makes it uint8. `relax.vm.alloc_storage`
  counts elements of its dtype (builtin.cc, VMAllocStorage). A tensor must fit (StorageObj::AllocTensor checks it).
- Two tensors may have the same bytes as long as no read meets an element that the other one has overwritten
  (static_plan_block_memory.cc); see `memory.py`. A call may not read bytes that it may write by another tensor:
  legalised PrimFuncs promise `tirx.noalias`, and the planner releases the arguments of a call only after it. One tensor
  may be two arguments, as DataflowUseInplaceCalls makes them (src/relax/transform/dataflow_inplace.cc): PrimFuncs by
  element give what they should all the same, and others other numbers.
- `relax.reshape`, `relax.memory.view`, their run-time functions and `ensure_zero_offset` give the same memory
  (static_plan_block_memory.cc, IsInplaceMemoryOp). A reshape of a tensor that is no allocation is a new value.
- An uninitialised tensor may be passed to a function, bound, put into a tuple, returned from an inner function, and
  asked for its shape. It may not be read. Operators, packed functions and the caller of an entry function read whole
  tensors; PrimFuncs read single elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from tvm import relax

from generators import tvm_api
from generators.case import Shape
from generators.dtypes import Array, numpy_dtype
from generators.tvm_api import Expr, PrimFunc
from oracles.reference.allocations import Storage
from oracles.reference.errors import Trap, TrapSite, Unsupported
from oracles.reference.machine import Activation, Machine
from oracles.reference.memory import before_call, blank, mask_of, without_overlap, written
from oracles.reference.tir import ALONE, Context, run_returning
from oracles.reference.values import UNIT, Runtime, ShapeHeap, Tensor, carried, declared

# --- allocation ------------------------------------------------------------------------------------------------


def bound_variable(frame: Activation) -> str:
    """The variable that is being bound, for messages."""
    bound = "a result" if frame.binding is None else f"variable {frame.binding.name}"
    return f"{bound} of function {frame.function}"


def alloc_storage(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    """alloc_storage(size, ..., dtype): `size` bytes, or elements of `dtype` for relax.vm.alloc_storage."""
    size, dtype = machine.value(call.args[0], frame), machine.value(call.args[2], frame)
    if not isinstance(size, Shape):
        raise Trap("type", f"{bound_variable(frame)} is a storage whose size is {type(size).__name__}")
    width = numpy_dtype(str(dtype)).itemsize if call.op.name == "relax.vm.alloc_storage" else 1
    return Storage(bound_variable(frame), prod(size.extents) * width)


def _dtype(call: Expr) -> str | None:
    """The dtype of a call's result; None where its type leaves it open."""
    ty = tvm_api.type_of(call)
    return tvm_api.dtype_name(ty) if isinstance(ty, tvm_api.TensorType) else None


def tensor_in_storage(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    """alloc_tensor(storage, offset, shape, dtype, ...): an uninitialised tensor, `offset` bytes into the storage."""
    storage, offset = machine.value(call.args[0], frame), machine.value(call.args[1], frame)
    shape, dtype = machine.value(call.args[2], frame), _dtype(call)
    if not isinstance(shape, Shape) or dtype is None:
        raise Unsupported("alloc_tensor of unknown shape or dtype")
    if not isinstance(storage, Storage) or not isinstance(offset, int):
        raise Trap("type", f"{bound_variable(frame)} is made at {offset} of {type(storage).__name__}")
    return blank(shape.extents, dtype, bound_variable(frame), storage, offset)


def alloc_tensor(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    """relax.builtin.alloc_tensor(shape, ...): an uninitialised tensor with memory of its own."""
    shape, dtype = machine.value(call.args[0], frame), _dtype(call)
    if not isinstance(shape, Shape) or dtype is None:
        raise Unsupported("alloc_tensor of unknown shape or dtype")
    return blank(shape.extents, dtype, bound_variable(frame))


def kill(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    """The end of a variable."""
    variable = call.args[0]
    if not isinstance(variable, relax.Var):
        machine.value(variable, frame)
    elif variable in frame.killed:
        raise Trap("double-free", f"variable {variable.name} of function {frame.function} is killed twice")
    elif variable in frame.variables:
        del frame.variables[variable]
        frame.killed.add(variable)
    else:
        raise Trap("undefined-variable", f"variable {variable.name} of function {frame.function} is killed")
    return UNIT


# --- views -----------------------------------------------------------------------------------------------------


def view(tensor: Tensor, shape: tuple[int, ...], offset: int = 0) -> Tensor:
    """The same memory in another shape, `offset` bytes in. Trap("out-of-bounds") where it is too small."""
    width = numpy_dtype(tensor.dtype).itemsize
    count, first = prod(shape), offset // width
    if offset < 0 or offset + count * width > tensor.value.size * width:
        raise Trap("out-of-bounds", f"a view of {count} elements at byte {offset} of a tensor of {tensor.value.size}")
    if offset % width:
        raise Unsupported("a view between elements")
    part = slice(first, first + count)
    error = None if tensor.error is None else tensor.error.reshape(-1)[part].reshape(shape)
    carrier = tensor.value.reshape(-1)[part].reshape(shape)
    return Tensor(carrier, tensor.dtype, error, tensor.memory, tensor.first + first)


def created_view(value: Runtime, shape: Runtime = (), dtype: Runtime = (), offset: Runtime = ()) -> Runtime:
    """relax.memory.view and the functions that it is lowered to; an absent argument leaves its part unchanged."""
    if not isinstance(value, Tensor):
        raise Trap("type", f"a view of {type(value).__name__}")
    if isinstance(dtype, str) and dtype != value.dtype:
        value = _reinterpreted(value, dtype)
    extents = shape.extents if isinstance(shape, Shape) else value.shape
    return view(value, extents, offset if isinstance(offset, int) else 0)


def _reinterpreted(tensor: Tensor, dtype: str) -> Tensor:
    """The bits of a tensor as another dtype of the same width. What is written later shows in neither of the two;
    whether an element is initialised, or lost to another tensor, shows in both."""
    if numpy_dtype(dtype).itemsize != numpy_dtype(tensor.dtype).itemsize:
        raise Unsupported("a view in a dtype of another width")
    if tensor.error is not None and np.any(tensor.error):
        raise Unsupported("a view in another dtype of numbers that are not exact")
    carrier = carried(declared(tensor).view(numpy_dtype(dtype)), dtype).value
    return Tensor(carrier, dtype, None, tensor.memory, tensor.first)


def view_rule(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    """relax.memory.view."""
    return created_view(*[machine.value(a, frame) for a in call.args])


# --- PrimFuncs that write into their arguments -----------------------------------------------------------------


def pass_destinations(
    function: PrimFunc, arguments: list[Runtime], call: Expr, frame: Activation, context: Context = ALONE
) -> Runtime | None:
    """Runs a PrimFunc on the arguments of a call and writes into them; gives the number that it returns, if any."""
    tensors = [a for a in arguments if isinstance(a, Tensor) and not isinstance(a, ShapeHeap)]
    sharing = [t for t in tensors if t.memory is not None and t.memory.shares]
    readable = without_overlap(sharing)
    before = {id(t.memory): before_call(t) for t in sharing}
    masks = {id(t): _readable(t, readable) for t in tensors}
    buffers = _buffers(tensors)
    operands: list[object] = []
    known: list[Array | None] = []
    for argument in arguments:
        if isinstance(argument, ShapeHeap):
            operands.append(argument.value)
            known.append(argument.written)
        elif isinstance(argument, Tensor):
            operands.append(buffers[id(argument)])
            known.append(masks[id(argument)])
        elif isinstance(argument, Shape):
            raise Unsupported("PrimFunc called with a shape")
        else:
            operands.append(argument)
            known.append(None)
    try:
        after, number = run_returning(function, operands, known, context=context)
    except Trap as trap:
        raise explained(trap, function, arguments, (call.op, call.args), frame) from trap
    holds = iter(after)
    for argument in arguments:
        if isinstance(argument, Tensor):
            now = next(holds)
            if not isinstance(argument, ShapeHeap):
                _store(argument, buffers[id(argument)], now, before)
    result: Runtime | None = number
    return result


def _store(tensor: Tensor, buffer: Array, now: Array | None, before: dict[int, Array | None]) -> None:
    if tensor.value.flags.writeable:
        tensor.value[...] = buffer
    if tensor.memory is not None:
        held = mask_of(tensor)
        written(tensor, now if now is None or held is None else now | held, before.get(id(tensor.memory)))


def _readable(tensor: Tensor, readable: dict[int, Array]) -> Array | None:
    less = readable.get(id(tensor.memory))
    if less is None:
        return mask_of(tensor)
    size = tensor.value.size
    return less[tensor.first : tensor.first + size].reshape(tensor.shape)


def _buffers(tensors: list[Tensor]) -> dict[int, Array]:
    """Each tensor's contents in its declared dtype, by the tensor's id; tensors of one memory share an array."""
    if len({id(t.value) for t in tensors}) == len(tensors) and all(t.value.base is None for t in tensors):
        return {id(t): declared(t) for t in tensors}
    found: dict[int, Array] = {}
    for index, tensor in enumerate(tensors):
        if id(tensor) in found:
            continue
        same = next((t for t in tensors[:index] if np.may_share_memory(t.value, tensor.value)), None)
        if same is None or not np.shares_memory(same.value, tensor.value):
            found[id(tensor)] = declared(tensor)
        elif same.value.size == tensor.value.size and same.dtype == tensor.dtype:
            found[id(tensor)] = found[id(same)].reshape(tensor.shape)
        else:
            raise Unsupported("arguments that are parts of one another")
    return found


def explained(
    trap: Trap, function: PrimFunc, arguments: list[Runtime], names: tuple[Expr, Sequence[Expr]], frame: Activation
) -> Trap:
    """A trap of a PrimFunc in terms of its caller: the variable that was not written, or what overwrote it.

    names: the expressions of the callee and of the arguments, or of the one tuple that they are in.
    """
    site = trap.detail
    if trap.kind != "uninitialised" or not isinstance(site, TrapSite):
        return trap
    callee, given = names
    exprs = given if len(given) == len(arguments) else [None] * len(arguments)
    for param, argument, expr in zip(function.params, arguments, exprs, strict=False):
        memory = argument.memory if isinstance(argument, Tensor) else None
        if param.name != site.what or memory is None:
            continue
        variable = f"variable {expr.name}" if isinstance(expr, relax.Var) else memory.name
        by = f"buffer {site.what} of function {callee.name_hint}, block {site.block}"
        where = f"{variable} of function {frame.function} is read as {by}"
        if memory.taken_by:
            return Trap("storage-overlap", f"{where}, but {memory.taken_by} has overwritten it")
        if memory.known is None:
            return Trap("storage-overlap", f"{where}, which may also write into its bytes by another argument")
        return Trap("uninitialised", f"{where}, but is not initialised")
    return trap


def listed(expr: Expr) -> list[Expr]:
    """The expressions of the arguments that a call_tir takes as a tuple, or as one tensor."""
    return list(expr.fields) if isinstance(expr, tvm_api.TupleExpr) else [expr]

"""Rules for calls: rows of the operator table, functions, closures, PrimFuncs, externs and effects.

The operators on memory are in `storage.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax, tirx
from tvm.ir import GlobalVar

from generators import tvm_api
from generators.case import Shape
from generators.dtypes import Array, is_float
from generators.externs import EXTERNS
from generators.operators.row import Operator
from generators.operators.table import OPERATORS
from generators.prim_expr import UnknownPrimExpr, evaluate
from generators.tvm_api import Expr, PrimFunc, Type
from oracles.ir.walk import operands
from oracles.reference.cuda_graph import CUDA_GRAPH
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.machine import Activation, Evaluator, Machine
from oracles.reference.memory import blank, check_read, overwrite
from oracles.reference.operators import operator_result
from oracles.reference.prim_call import PrimCall
from oracles.reference.prims import prim_result, results_in_place
from oracles.reference.storage import (
    alloc_storage,
    alloc_tensor,
    bound_variable,
    created_view,
    explained,
    kill,
    listed,
    pass_destinations,
    tensor_in_storage,
    view_rule,
)
from oracles.reference.values import UNIT, Callback, Closure, Runtime, Tensor, carried, declared
from oracles.reference.vm_builtins import BUILTINS, WITH_CONTEXT


def call_value(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    """The value of any call expression."""
    callee = call.op
    if isinstance(callee, tvm_api.Op):
        return _operator(machine, call, callee.name, frame)
    if isinstance(callee, GlobalVar):
        target = machine.lookup(callee)
        arguments = _arguments(machine, call, frame)
        if isinstance(target, tirx.PrimFunc):
            return _destination_passing(machine, target, arguments, call, frame)
        return machine.activate(target, arguments, callee.name_hint)
    if isinstance(callee, relax.ExternFunc):
        return _extern(machine, str(callee.global_symbol), _arguments(machine, call, frame))
    return _invoke(machine, machine.value(callee, frame), _arguments(machine, call, frame))


def _arguments(machine: Machine, call: Expr, frame: Activation) -> list[Runtime]:
    return [machine.value(a, frame) for a in operands(call)[1:]]


def _operator(machine: Machine, call: Expr, name: str, frame: Activation) -> Runtime:
    row = OPERATORS.get(name)
    if row is not None:
        arguments = _arguments(machine, call, frame)
        if any([isinstance(a, tuple) or isinstance(a, Tensor) and a.memory is not None for a in arguments]):
            if name == "relax.reshape":
                return created_view(*arguments)
            _check_reads(name, arguments)
        return operator_result(row, call, arguments, machine.bounded, machine.floor, machine.sampling)
    rule = SPECIAL.get(name)
    if rule is None:
        raise Unsupported(name)
    return rule(machine, call, frame)


_METADATA = ("relax.shape_of", "relax.size", "vm.builtin.shape_of")
"""Operators that an uninitialised tensor may be given to."""


def _check_reads(name: str, arguments: list[Runtime]) -> None:
    if name not in _METADATA:
        for argument in arguments:
            check_read(argument, name)


def _invoke(machine: Machine, callee: Runtime, arguments: list[Runtime]) -> Runtime:
    if isinstance(callee, Callback):
        _check_reads("a callback", arguments)
        result: Runtime = callee.answer(*arguments)
        return result
    if not isinstance(callee, Closure):
        raise Trap("type", f"call of {type(callee).__name__}")
    return machine.activate(callee.function, [*arguments, *callee.captured], "closure", callee.environment)


# --- PrimFuncs -----------------------------------------------------------------------------------------------


def _call_tir(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    made = _prim_call(machine, call, frame)
    return _results(call, made, frame, lambda: prim_result(made, machine.bounded, machine.sampling))


def _call_tir_inplace(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    """The call's results replace the operands that it writes into, in every variable that holds them."""
    made = _prim_call(machine, call, frame)
    places = [int(i) for i in call.attrs.inplace_indices]

    def results() -> list[Tensor]:
        given = results_in_place(made, places, machine.bounded, machine.sampling)
        for place, result in zip(places, given, strict=True):
            operand = made.inputs[place] if place >= 0 else None
            if isinstance(operand, Tensor):
                machine.overwrite(operand, result)
        return given

    return _results(call, made, frame, results)


def _prim_call(machine: Machine, call: Expr, frame: Activation) -> PrimCall:
    function = machine.lookup(call.args[0])
    inputs = _tensors(machine, call.args[1], frame)
    extra = _scalars(machine, call, frame)
    outputs = _output_specs(machine, call.ty_args[0], frame)
    return PrimCall(function, call.args[0].name_hint, inputs, outputs, extra, machine.context)


def _results(call: Expr, made: PrimCall, frame: Activation, run: Callable[[], list[Tensor]]) -> Runtime:
    """What `run` gives, one result or a tuple. A trap says in which arguments it is."""
    try:
        results = run()
    except Trap as trap:
        raise explained(trap, made.function, made.inputs, (call.args[0], listed(call.args[1])), frame) from trap
    return results[0] if not isinstance(call.ty_args[0], tvm_api.TupleType) else tuple(results)


def _scalars(machine: Machine, call: Expr, frame: Activation) -> list[int]:
    """The scalar arguments of a call_tir: its third operand, a shape."""
    if len(call.args) < 3:
        return []
    shape = machine.value(call.args[2], frame)
    if not isinstance(shape, Shape):
        raise Trap("type", "the scalars of a call_tir are no shape")
    return list(shape.extents)


def _tensors(machine: Machine, expr: Expr, frame: Activation) -> list[Any]:
    value = machine.value(expr, frame)
    return list(value) if isinstance(value, tuple) else [value]


def _output_specs(machine: Machine, ty: Type, frame: Activation) -> list[tuple[tuple[int, ...], str]]:
    """Shape and dtype of each output that a call's type argument asks for."""
    specs = []
    for field in ty.fields if isinstance(ty, tvm_api.TupleType) else [ty]:
        dtype = tvm_api.dtype_name(field) if isinstance(field, tvm_api.TensorType) else None
        if dtype is None or field.shape is None:
            raise Unsupported("call with an output of unknown shape")
        shape = machine.value(field.shape, frame)
        assert isinstance(shape, Shape)
        if min(shape.extents, default=0) < 0:
            raise Trap("type", f"a call in {frame.function} gives a tensor of shape {list(shape.extents)}")
        specs.append((shape.extents, dtype))
    return specs


def _destination_passing(
    machine: Machine, function: PrimFunc, arguments: list[Runtime], call: Expr, frame: Activation
) -> Runtime:
    """A PrimFunc called directly, after CallTIRRewrite: it writes into its last arguments. ComputePrimValue makes
    those that only return an expression of their scalars."""
    if (value := tvm_api.only_returned(function)) is not None:
        return _returned(function, value, arguments)
    number = pass_destinations(function, arguments, call, frame, machine.context)
    return UNIT if number is None else number


def _returned(function: PrimFunc, returns: Expr, arguments: list[Runtime]) -> Runtime:
    try:
        value: Runtime = evaluate(returns, dict(zip(function.params, arguments, strict=True)))
    except UnknownPrimExpr as error:
        raise Unsupported(str(error)) from error
    except ZeroDivisionError as error:
        raise Trap("division-by-zero", "a scalar computed by a PrimFunc") from error
    return value


# --- externs, closures, effects ------------------------------------------------------------------------------


INVOKE = "vm.builtin.invoke_closure"
EFFECTS = ("relax.run.print", "relax.run.assert_op")
"""The functions that print and assert_op are lowered to."""
LOWERED = {
    "vm.builtin.shape_of": "relax.shape_of",
    "vm.builtin.tensor_to_shape": "relax.tensor_to_shape",
    "relax.run.unique": "relax.unique",
    "relax.run.nonzero": "relax.nonzero",
}
"""Functions of the runtime (src/runtime/vm/builtin.cc, python/tvm/relax/op) with the same arguments as an operator."""


def _lowered(row: Operator, first: Tensor, others: list[Runtime]) -> Runtime:
    """The operator's result, exact: lowered modules are run in their declared precision."""
    result = row.meaning(first.value, *[a.extents if isinstance(a, Shape) else a for a in others])
    arrays = result if isinstance(result, tuple) and not all(isinstance(n, int) for n in result) else None
    if arrays is not None:
        return tuple(_as_operand(a, first.dtype) for a in arrays)
    return Shape(result) if isinstance(result, tuple) else _as_operand(result, first.dtype)


def _as_operand(array: Array, dtype: str) -> Tensor:
    """Floats in the dtype of the operand they come from; anything else in its own."""
    return Tensor(array, dtype if is_float(str(array.dtype)) else str(array.dtype))


GIVES: dict[str, Callable[..., Runtime]] = {
    "vm.builtin.reshape": created_view,
    "runtime.TVMTensorCreateView": created_view,
    "vm.builtin.ensure_zero_offset": created_view,
    "vm.builtin.to_device": lambda value, *device: value,
    "vm.builtin.make_closure": lambda function, *captured: _closure(function, captured),
}
"""Functions that return a view, a closure or their argument, and read no element."""


def _extern(machine: Machine, name: str, arguments: list[Runtime]) -> Runtime:
    if name in BUILTINS:
        return BUILTINS[name](*arguments)
    if name in GIVES:
        return GIVES[name](*arguments)
    if name in machine.packed:
        return _invoke(machine, machine.packed[name], arguments)
    extern = EXTERNS.get(name)
    if extern is None and name not in EFFECTS and name not in LOWERED:
        raise Unsupported(f"packed function {name}", outside=True)
    _check_reads(name, arguments[:-1] if extern is not None and extern.writes else arguments)
    if name in EFFECTS:
        return UNIT
    row = OPERATORS.get(LOWERED.get(name, ""))
    if row is not None and isinstance(arguments[0], Tensor):
        return _lowered(row, arguments[0], arguments[1:])
    if extern is None:
        raise Unsupported(f"packed function {name} of no tensor", outside=True)
    tensors = [a for a in arguments if isinstance(a, Tensor)]
    source = tensors[:-1] if extern.writes else tensors
    result = extern.meaning(*[declared(t) for t in source])
    if extern.writes:
        overwrite(tensors[-1], result)
        return UNIT
    return carried(result, source[0].dtype)


def _call_packed(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    """call_pure_packed: the function comes first, its arguments after it."""
    callee, arguments = call.args[0], [machine.value(a, frame) for a in call.args[1:]]
    if not isinstance(callee, relax.ExternFunc):
        raise Unsupported("call_pure_packed of no extern")
    return _spread(_extern(machine, str(callee.global_symbol), arguments), arguments)


def _spread(result: Runtime, arguments: list[Runtime]) -> Runtime:
    """External functions have a meaning in the declared precision; inexact inputs make their result unknown."""
    inexact = any(isinstance(a, Tensor) and a.error is not None for a in arguments)
    if inexact and isinstance(result, Tensor):
        return Tensor(result.value, result.dtype, np.full(result.shape, np.inf))
    return result


def _call_dps_packed(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    callee = call.args[0]
    if not isinstance(callee, relax.ExternFunc):
        raise Unsupported("call_dps_packed of no extern")
    inputs = _tensors(machine, call.args[1], frame)
    outputs = [
        blank(shape, dtype, bound_variable(frame)) for shape, dtype in _output_specs(machine, call.ty_args[0], frame)
    ]
    _extern(machine, str(callee.global_symbol), [*inputs, *outputs])
    results = [_spread(Tensor(o.value, o.dtype), inputs) for o in outputs]
    return results[0] if not isinstance(call.ty_args[0], tvm_api.TupleType) else tuple(results)


def _make_closure(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    return _closure(machine.value(call.args[0], frame), machine.value(call.args[1], frame))


def _closure(function: Runtime, captured: Runtime) -> Closure:
    if not isinstance(function, Closure) or not isinstance(captured, tuple):
        raise Trap("type", "make_closure of no function")
    return Closure(function.function, captured, None)


def _invoke_closure(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    arguments = machine.value(call.args[1], frame)
    if not isinstance(arguments, tuple):
        raise Trap("type", "invoke_closure without a tuple of arguments")
    return _invoke(machine, machine.value(call.args[0], frame), list(arguments))


def _effect(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    _check_reads(call.op.name, _arguments(machine, call, frame))
    return UNIT


def _assert(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    condition = machine.value(call.args[0], frame)
    check_read(condition, f"assert_op of function {frame.function}")
    if isinstance(condition, Tensor) and condition.error is not None:
        raise Unsupported("assert_op on an undecided condition")
    truth = bool(np.all(condition.value)) if isinstance(condition, Tensor) else bool(condition)
    if not truth:
        raise Trap("assertion", f"assert_op in {frame.function}")
    return UNIT


def _builtin(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    """call_builtin_with_ctx: the function, then its arguments as a tuple."""
    arguments = machine.value(call.args[1], frame)
    assert isinstance(arguments, tuple)
    name = str(call.args[0].global_symbol)
    if name == INVOKE:
        return _invoke(machine, arguments[0], list(arguments[1:]))
    if name in CUDA_GRAPH:
        return CUDA_GRAPH[name](machine, list(arguments), frame)
    rule = WITH_CONTEXT.get(name)
    if rule is None:
        raise Unsupported(f"builtin with context {name}")
    return rule(*arguments)


def _identity(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    return machine.value(call.args[0], frame)


def _null(machine: Machine, call: Expr, frame: Activation) -> Runtime:
    return UNIT


SPECIAL: dict[str, Evaluator] = {
    "relax.call_tir": _call_tir,
    "relax.call_tir_with_grad": _call_tir,
    "relax.call_tir_inplace": _call_tir_inplace,
    "relax.call_pure_packed": _call_packed,
    "relax.call_dps_packed": _call_dps_packed,
    "relax.call_builtin_with_ctx": _builtin,
    "relax.make_closure": _make_closure,
    "relax.invoke_closure": _invoke_closure,
    "relax.invoke_pure_closure": _invoke_closure,
    "relax.print": _effect,
    "relax.assert_op": _assert,
    "relax.hint_on_device": _identity,
    "relax.to_vdevice": _identity,
    "relax.grad.no_grad": _identity,
    "relax.grad.start_checkpoint": _identity,
    "relax.grad.end_checkpoint": _identity,
    "relax.builtin.stop_lift_params": _identity,
    "relax.memory.ensure_zero_offset": _identity,
    "relax.memory.view": view_rule,
    "relax.memory.kill_tensor": kill,
    "relax.memory.kill_storage": kill,
    "relax.builtin.alloc_tensor": alloc_tensor,
    "relax.memory.alloc_storage": alloc_storage,
    "relax.vm.alloc_storage": alloc_storage,
    "relax.memory.alloc_tensor": tensor_in_storage,
    "relax.vm.alloc_tensor": tensor_in_storage,
    "relax.vm.kill_object": kill,
    "relax.null_value": _null,
}

"""From a PrimFunc of TVM to a `Function` of `nodes.py`, for one binding of its symbols or arguments.

Shape variables and integer parameters are replaced by their values, block variables by their bindings, loops of extent
one by their only iteration. A construct without a rule raises Unsupported with its name. Rules are found by class name,
so that no file of this package names a class of TVM.
"""

from __future__ import annotations

from typing import Any

from generators import tvm_api
from generators.tvm_api import PrimFunc, Type
from oracles.ir.walk import items
from oracles.reference.errors import Unsupported
from oracles.reference.tir.context import ALONE, Context, chooses_device
from oracles.reference.tir.decode.abi import DL_CPU, DL_CUDA
from oracles.reference.tir.decode.dispatch import statement
from oracles.reference.tir.decode.headers import begin_header
from oracles.reference.tir.decode.pointer_kinds import RESULT, Arguments, Described, PackedArgument, Stack
from oracles.reference.tir.decode.state import DecodeState, hold
from oracles.reference.tir.decode.table import RULES
from oracles.reference.tir.decode.tvm_objects import dtype_of
from oracles.reference.tir.decode.views import element_units
from oracles.reference.tir.nodes import DTYPES, Alloc, Buffer, Const, DType, Function, Seq, Var
from oracles.reference.tir.signature import ArrayParam, PackedSignature, PrimFuncSignature, ScalarParam


def decode_function(
    signature: PrimFuncSignature | PackedSignature, func: PrimFunc, values: tuple[Any, ...], context: Context = ALONE
) -> Function:
    """The function's nodes. values: those that `signature.bind` gives. Raises Unsupported or Trap."""
    if isinstance(signature, PackedSignature):
        return _decode_packed(signature, func, values, context)
    state = DecodeState(signature.name, RULES, dict(zip(signature.symbols, values, strict=True)), (), context)
    params: list[Buffer | Var | None] = []
    for slot, (param, tvm_param) in enumerate(zip(signature.params, tvm_api.parameters_of(func), strict=True)):
        match param:
            case ArrayParam(name, dtype, handle):
                buffer = Buffer(slot, name, dtype, signature.shape(param, state))
                hold(state, tvm_param, buffer)
                _bind_layout(state, tvm_param.ty, buffer.shape)
                params.append(buffer)
            case ScalarParam(name, dtype, handle) if dtype.kind not in "iu":
                var = Var(-1 - slot, name, dtype)
                state.variables.scalars[handle] = var
                params.append(var)
            case _:
                params.append(None)
    return _decoded(state, func, tuple(params))


def _bind_layout(state: DecodeState, ty: Type, shape: tuple[int, ...]) -> None:
    """Gives the variables for a parameter's layout their values: arguments are compact, without an offset."""
    variables = [] if ty.elem_offset is None else [(ty.elem_offset, 0)]
    stride = 1
    for var, extent in zip(reversed(items(ty.strides or [])), reversed(shape), strict=False):
        variables.append((var, stride))
        stride *= extent
    for var, value in variables:
        if type(var).__name__ == "Var":
            state.variables.scalars[var.__chandle__()] = Const(value, dtype_of(var.ty))


def _decode_packed(
    signature: PackedSignature, func: PrimFunc, described: tuple[Described, ...], context: Context
) -> Function:
    """A function after MakePackedAPI, which reads its parameters from an array of arguments."""
    arguments = tuple(_argument(slot, what) for slot, what in enumerate(described))
    device = DL_CUDA if chooses_device(func) else DL_CPU
    state = DecodeState(signature.name, RULES, {}, arguments, context, device)
    _, args, count, result = func.params
    state.variables.pointers[args.__chandle__()] = Arguments()
    state.variables.pointers[result.__chandle__()] = state.exits.returned = Stack(RESULT)
    state.variables.scalars[count.__chandle__()] = Const(len(arguments), DTYPES["int32"])
    begin_header(state, described, func.params[:])
    params = (given.value if isinstance(given.value, Var) else given.buffer for given in arguments)
    return _decoded(state, func, tuple(params))


def _argument(slot: int, what: tuple[tuple[int, ...], str] | int | str) -> PackedArgument:
    """An argument as `PackedSignature` describes it. An integer is known; of another number only the type is, and it is
    a parameter of the generated function. Unsupported for a type that no other node may have either."""
    match what:
        case (shape, dtype):
            return PackedArgument(Buffer(slot, f"argument{slot}", _named(dtype), shape))
        case str():
            return PackedArgument(None, Var(-1 - slot, f"argument{slot}", _named(what)))
        case _:
            return PackedArgument(None, Const(what, DTYPES["int64"]))


def _named(dtype: str) -> DType:
    if dtype not in DTYPES:
        raise Unsupported(f"dtype {dtype}")
    return DTYPES[dtype]


def _decoded(state: DecodeState, func: PrimFunc, params: tuple[Buffer | Var | None, ...]) -> Function:
    state.own.slots = len(params)
    body = statement(state, func.body)
    blanks = (*state.own.blanks.values(), *state.own.undefined.values())
    if blanks:
        body = Seq((*(Alloc(buffer) for buffer in blanks), body))
    return Function(
        state.name,
        params,
        body,
        viewed=frozenset(buffer.memory for buffer in state.own.views.values()),
        unsure=frozenset(state.own.forgotten),
        launches=frozenset(state.inlined.kernels),
        calls=frozenset(state.inlined.prim_funcs),
        units=element_units(state),
        result=state.exits.result,
    )

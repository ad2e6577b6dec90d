"""Calls of the module's other functions: kernels (SplitHostDevice makes them) and PrimFuncs.

The callee is decoded in place of the call. Its pointers are buffers of the caller, and a kernel has as many threads as
its launch asks for.
"""

from __future__ import annotations

from math import prod

from generators import tvm_api
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.constants import is_index
from oracles.reference.tir.decode.dispatch import constant, expression, pointer, statement
from oracles.reference.tir.decode.pointer_kinds import BufferAddress, ElementAddress, Pointer
from oracles.reference.tir.decode.state import EMPTY, DecodeState, Exits, Rules
from oracles.reference.tir.decode.tvm_objects import POINTER_TYPE, dtype_of
from oracles.reference.tir.decode.variables import fresh, new_var
from oracles.reference.tir.decode.views import view_at
from oracles.reference.tir.nodes import Bind, Const, Expr, Seq, Stmt

LAUNCH_PARAMS = "tirx.kernel_launch_params"
"""A kernel's attribute with the thread tags whose extents follow the arguments of a launch."""
SHARED_BYTES = "tirx.use_dyn_shared_memory"
"""The tag of a launch parameter that is no thread extent."""


def passed(state: DecodeState, node: tvm_api.Expr) -> Expr | Pointer:
    """An argument of a call: a number or a pointer."""
    return expression(state, node) if type(node.ty).__name__ == "PrimType" else pointer(state, node)


def launched(state: DecodeState, name: str, args: list[Expr | Pointer]) -> Stmt:
    """A launch of a kernel: its arguments, then the extents of its launch parameters."""
    callee = state.context.kernels.get(name)
    if callee is None:
        raise Trap("undefined-variable", f"{state.name}: no kernel {name}")
    state.inlined.kernels.add(name)
    params, tags = list(callee.params), [str(tag) for tag in callee.attrs.get(LAUNCH_PARAMS, ())]
    if len(args) != len(params) + len(tags):
        raise Trap("type", f"{state.name}: {name} takes {len(params)} arguments and {len(tags)} extents")
    for arg in args:
        if isinstance(arg, BufferAddress | ElementAddress) and arg.buffer.scope == "local":
            given = arg.buffer.name or "memory"
            raise Trap("host-memory", f"{state.name}: a kernel is given {given}, which is on the host's stack")
    before = [_bound(state, name, param, arg) for param, arg in zip(params, args, strict=False)]
    outer, state.here.extents = state.here.extents, {}
    for tag, extent in zip(tags, args[len(params) :], strict=True):
        if tag != SHARED_BYTES:
            if isinstance(extent, Pointer):
                raise Trap("type", f"{state.name}: {name} is launched with a pointer for {tag}")
            state.here.extents[tag] = extent
    body = statement(state, callee.body)
    state.here.extents = outer
    return Seq((*before, body))


def _call_kernel(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    """`call_ffi_kernel(name, ...)`."""
    return launched(state, str(call.args[0].value), [passed(state, arg) for arg in list(call.args)[1:]])


def called(state: DecodeState, call: tvm_api.Expr) -> tuple[Stmt, Expr | None]:
    """A call of a PrimFunc by its GlobalVar: its body, and the number that it returns."""
    name = str(call.op.name_hint)
    callee = state.context.functions.get(name)
    if callee is None:
        raise Trap("undefined-variable", f"{state.name}: no PrimFunc {name}")
    state.inlined.prim_funcs.add(name)
    args, params = list(call.args), list(callee.params)
    if len(args) != len(params):
        raise Trap("type", f"{state.name}: {name} takes {len(params)} arguments and gets {len(args)}")
    given = [passed(state, arg) for arg in args]
    variables, buffers, exits = state.variables, state.buffers, state.exits
    state.variables, state.buffers, state.exits = variables.copy(), buffers.copy(), Exits()
    extents, state.here.extents = state.here.extents, {}
    before = [_bound(state, name, param, arg) for param, arg in zip(params, given, strict=True)]
    body, result = statement(state, callee.body), state.exits.result
    state.variables, state.buffers, state.exits, state.here.extents = variables, buffers, exits, extents
    state.here.ended = False
    return Seq((*before, body)), result


def _bound(state: DecodeState, callee: str, param: tvm_api.Var, arg: Expr | Pointer) -> Stmt:
    """Gives a parameter of a callee its argument."""
    expected = type(param.ty).__name__
    if isinstance(arg, BufferAddress | ElementAddress) != (expected != "PrimType"):
        raise Trap("type", f"{state.name}: {callee} takes {param.name} as another type")
    if isinstance(arg, ElementAddress):
        return _bound_place(state, param, arg)
    if isinstance(arg, BufferAddress):
        if expected != POINTER_TYPE:
            return _bound_buffer(state, param, arg)
        state.variables.pointers[param.__chandle__()] = arg
        return EMPTY
    if isinstance(arg, Pointer):
        raise Unsupported("call with a pointer to no buffer")
    dtype = dtype_of(param.ty, state.here.lane)
    if isinstance(arg, Const):
        state.variables.scalars[param.__chandle__()] = Const(arg.value, dtype)
        return EMPTY
    var = fresh(state, param, dtype)
    return Bind(var, arg)


def _bound_place(state: DecodeState, param: tvm_api.Var, arg: ElementAddress) -> Stmt:
    """A parameter that is the address of an element, which is computed once, before the callee changes anything."""
    if type(param.ty).__name__ != POINTER_TYPE:
        raise Unsupported("a call with the address of an element for a buffer")
    before: Stmt = EMPTY
    position = arg.position
    if not is_index(position):
        var = new_var(f"{param.name}.place", position.dtype)
        before, position = Bind(var, position), var
    state.variables.pointers[param.__chandle__()] = ElementAddress(arg.buffer, position, arg.dtype)
    return before


def _bound_buffer(state: DecodeState, param: tvm_api.Var, arg: BufferAddress) -> Stmt:
    """A parameter that is a buffer: variables among its extents get the extents of the argument."""
    extents = list(param.ty.shape)
    if len(extents) == len(arg.buffer.shape):
        for extent, given in zip(extents, arg.buffer.shape, strict=True):
            if type(extent).__name__ == "Var":
                state.variables.scalars[extent.__chandle__()] = Const(given, dtype_of(extent.ty, state.here.lane))
    shape = tuple(constant(state, extent, "a place on the stack computed at run time") for extent in extents)
    if prod(shape) > prod(arg.buffer.shape):
        raise Trap("out-of-bounds", f"{state.name}: {param.name} is larger than {arg.buffer.name}")
    return view_at(state, param, arg, dtype_of(param.ty, state.here.lane), shape, 0)


RULES = Rules(effects={"call_ffi_kernel": _call_kernel})

"""Host code that touches memory of a device: accesses of what a PrimFunc is given, where no thread of a kernel runs."""

from __future__ import annotations

import tvm_ffi

from generators import tvm_api
from generators.tvm_api import Buffer, Expr, IRModule, Node, PrimFunc, Stmt, tirx
from oracles.ir.threads import launches
from oracles.ir.walk import nodes_of, prim_funcs

_HOST_FUNCTION = "tirx.is_host_func"
_ADDRESS = "tirx.address_of"
_POINTER = "tirx.buffer_data"


def buffer_touched_by_host(function: PrimFunc) -> Buffer | None:
    """The first buffer that host code of the function reads or writes, among those that it is given and others that are
    declared on their memory; None where all is done by threads of kernels. Functions that are meant for the host
    (`tirx.is_host_func`) touch its own memory. To take an address touches nothing."""
    if (function.attrs or {}).get(_HOST_FUNCTION):
        return None
    given = {_memory(one) for one in tvm_api.parameters_of(function) if isinstance(one, Buffer)}
    left = tvm_ffi.structural_map(
        function.body, (((tirx.AttrStmt, tirx.For), _without_kernel), (tvm_api.Call, _without_address))
    )
    touched: list[Buffer] = []
    for node in nodes_of(left, (tirx.DeclBuffer, tvm_api.TensorLoad, tirx.BufferStore)):
        match node:
            case tirx.DeclBuffer():
                if _declared_on(node) in given:
                    given.add(_memory(node.buffer))
            case tirx.BufferStore():
                touched.append(node.buffer)
            case _:
                touched.append(node.source)
    return next((buffer for buffer in touched if _memory(buffer) in given), None)


def touched_by_host(module: IRModule) -> bool:
    """Whether `buffer_touched_by_host` holds of any PrimFunc."""
    return any(buffer_touched_by_host(function) is not None for _, function in prim_funcs(module))


def _without_kernel(node: Stmt) -> Stmt:
    """What the host does for a kernel: it finds out how many threads there are."""
    if not launches(node):
        return node
    return tirx.Evaluate(node.value if isinstance(node, tirx.AttrStmt) else node.extent)


def _without_address(call: Expr) -> Expr:
    if tvm_api.op_name(call) != _ADDRESS:
        return call
    return tirx.reinterpret("handle", tirx.IntImm("int64", 0))


def _memory(buffer: Buffer) -> Node:
    """What stands for the memory of a buffer: itself, or before 0.26 the pointer to it."""
    pointer = tvm_api.pointer_of(buffer)
    return buffer if pointer is None else pointer


def _declared_on(node: Stmt) -> Node | None:
    """What stands for the memory that a buffer is declared on; None where that is no buffer's."""
    if not tvm_api.has_field(tirx.DeclBuffer, "data"):
        return _memory(node.buffer)
    data = node.data
    return data.args[0] if tvm_api.op_name(data) == _POINTER else None

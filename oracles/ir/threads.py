"""Statements of TIR that are bound to the threads of a kernel."""

from __future__ import annotations

from generators.tvm_api import IRModule, PrimFunc, Stmt, tirx
from oracles.ir.walk import nodes_of, prim_funcs

_MARKS = ("thread_extent", "virtual_thread", "device_scope")
"""Attributes that stand for a binding, once loops bound to threads are lowered (include/tvm/tirx/stmt.h)."""
_HARDWARE = ("threadIdx.", "blockIdx.", "clusterCtaIdx.")
"""Threads that a device has; virtual threads are loops of one of them."""


def binds_threads(function: PrimFunc) -> bool:
    """Whether any statement of a function is bound to threads, virtual ones among them."""
    marks = (statement.attr_key in _MARKS for statement in nodes_of(function.body, tirx.AttrStmt))
    return _has_loops_of_threads(function) or any(marks)


def has_loops_of_threads(module: IRModule) -> bool:
    """Whether threads are still loops in a PrimFunc of a module, as they are before LowerOpaqueBlock."""
    return any(_has_loops_of_threads(function) for _, function in prim_funcs(module))


def _has_loops_of_threads(function: PrimFunc) -> bool:
    return any(loop.thread_binding is not None for loop in nodes_of(function.body, tirx.For))


def launches(statement: Stmt) -> bool:
    """Whether what is in a statement is code of a kernel: it is bound to threads that a device has, or marked as a
    region of one, by what SplitHostDevice or LowerTIRx asks for."""
    match statement:
        case tirx.AttrStmt(attr_key="device_scope" | "tirx.device_entry"):
            return True
        case tirx.AttrStmt():
            return statement.attr_key == "thread_extent" and str(statement.node.thread_tag).startswith(_HARDWARE)
        case tirx.For():
            axis = statement.thread_binding
            return axis is not None and str(axis.thread_tag).startswith(_HARDWARE)
        case _:
            return False

"""PrimFuncs that have lost statements: buffers that nothing writes any more, or nothing reads, become parameters.

A buffer of the function whose first store is gone and that is still read is an input from then on; one that is stored
and not read is a result. So whatever statements go, what is left reads no unwritten buffer and computes nothing in
vain. Worker processes only (imports tvm).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import tvm_ffi
from tvm import s_tir, tirx

from corpus.reduce.draft import VAR
from corpus.reduce.prim_func import NOTHING, without_empty
from generators import tvm_api as T
from oracles.ir.walk import nodes_of

GLOBAL = ("", "global")
"""The storage scopes of what can be a parameter as it is."""
ADDRESS_OF = ("tirx.address_of", "tir.address_of")
"""The intrinsic that takes an address; its name before TVM 0.27 too."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a body does with buffers. allocated: those that it makes, in order. first: the store of each that comes
    first. stored, read: which are; a read for a store into the same buffer counts as none. passed: those given to calls
    and seen through others."""

    allocated: tuple[T.Buffer, ...]
    first: dict[T.Buffer, T.Stmt]
    stored: frozenset[T.Buffer]
    read: frozenset[T.Buffer]
    passed: frozenset[T.Buffer]


@dataclass(frozen=True, slots=True)
class Repaired:
    """A body with the buffers that it makes no longer: those that it reads, and those that it leaves as results."""

    body: T.Stmt
    inputs: tuple[T.Buffer, ...]
    results: tuple[T.Buffer, ...]


def traffic_of(body: T.Stmt) -> Traffic:
    """Walks the body once."""
    kinds = (tirx.BufferStore, T.TensorLoad, T.Call, s_tir.SBlock, tirx.AllocBuffer, tirx.DeclBuffer)
    allocated: list[T.Buffer] = []
    first: dict[T.Buffer, T.Stmt] = {}
    loads: dict[T.Buffer, int] = {}
    own: dict[T.Buffer, int] = {}
    passed: set[T.Buffer] = set()
    for node in nodes_of(body, kinds):
        match node:
            case tirx.BufferStore():
                first.setdefault(node.buffer, node)
                within = nodes_of(node.value, T.TensorLoad)
                own[node.buffer] = own.get(node.buffer, 0) + sum(load.source.same_as(node.buffer) for load in within)
            case T.TensorLoad():
                loads[node.source] = loads.get(node.source, 0) + 1
            case s_tir.SBlock():
                allocated += node.alloc_buffers
                passed |= {match.source.source for match in node.match_buffers}
            case tirx.AllocBuffer():
                allocated.append(node.buffer)
            case tirx.DeclBuffer():
                passed |= {node.data} if isinstance(node.data, VAR) else set()
            case _:
                passed |= set(_given(node))
    read = frozenset(buffer for buffer, count in loads.items() if count > own.get(buffer, 0))
    return Traffic(tuple(allocated), first, frozenset(first), read, frozenset(passed))


def _given(call: T.Call) -> Iterable[T.Buffer]:
    """The buffers that a call is given: themselves, or by the address of an element."""
    for argument in call.args:
        if isinstance(argument, VAR):
            yield argument
        elif isinstance(argument, T.TensorLoad) and T.op_name(call) in ADDRESS_OF:
            yield argument.source


def without_statements(body: T.Stmt, gone: Collection[T.Stmt], *, results: bool) -> Repaired:
    """The body without these statements, repaired. results: whether what is stored and not read is to be seen."""
    before = traffic_of(body)
    wanted = set(gone)
    left = tvm_ffi.structural_map(
        body, [(tirx.Stmt, lambda statement: NOTHING if statement in wanted else statement)], order="pre"
    )
    left = tvm_ffi.structural_map(left, [(tirx.SeqStmt, without_empty)])
    after = traffic_of(left)
    can = [buffer for buffer in after.allocated if _can_be_given(buffer) and buffer not in after.passed]
    stores = {store for store in after.first.values()}
    inputs = [b for b in can if b in after.read and before.first.get(b) not in stores and b in before.first]
    ends = [b for b in can if results and b in after.stored and b not in after.read and b not in inputs]
    idle = [b for b in can if b not in after.read and b not in after.stored]
    left = _without_allocations(left, {*inputs, *ends, *idle})
    moved = {buffer: _global(buffer) for buffer in (*inputs, *ends) if T.type_of(buffer).storage_scope not in GLOBAL}
    if moved:
        left = tvm_ffi.structural_map(left, [(VAR, lambda var: moved.get(var, var))])
    return Repaired(left, tuple(moved.get(b, b) for b in inputs), tuple(moved.get(b, b) for b in ends))


def _can_be_given(buffer: T.Buffer) -> bool:
    """Whether a buffer, or one like it, can be a parameter: a compact one whose extents are numbers."""
    ty = T.type_of(buffer)
    return not len(ty.strides) and all(isinstance(dim, tirx.IntImm) for dim in ty.shape)


def _global(buffer: T.Buffer) -> T.Buffer:
    """A buffer like it in global memory."""
    ty = T.type_of(buffer)
    return tirx.decl_buffer(list(ty.shape), T.dtype_text(ty.dtype), str(buffer.name), layout=ty.layout)


def _without_allocations(body: T.Stmt, gone: set[T.Buffer]) -> T.Stmt:
    if not gone:
        return body

    def block(old: s_tir.SBlock) -> s_tir.SBlock:
        kept = [buffer for buffer in old.alloc_buffers if buffer not in gone]
        if len(kept) == len(old.alloc_buffers):
            return old
        return T.with_fields(old, alloc_buffers=kept)

    def allocation(old: tirx.AllocBuffer) -> T.Stmt:
        return NOTHING if old.buffer in gone else old

    left = tvm_ffi.structural_map(body, [(s_tir.SBlock, block), (tirx.AllocBuffer, allocation)])
    return tvm_ffi.structural_map(left, [(tirx.SeqStmt, without_empty)])

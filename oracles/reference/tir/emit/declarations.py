"""The code of what gives a name a meaning: allocations, views and bound variables."""

from __future__ import annotations

from oracles.reference.tir.emit.state import Code, EmitState, EmitStmt
from oracles.reference.tir.nodes import Alloc, Bind, Buffer, DType, View


def alloc(state: EmitState, buffer: Buffer) -> None:
    """A fresh buffer with nothing initialised."""
    shape, slot, parts = buffer.shape, buffer.slot, state.buffers.parts(buffer)
    known = f"zeros({shape}, bool_)" if parts == 1 else f"nothing_in({shape}, {parts})"
    state.line(f"b{slot} = empty({shape}, {_element(buffer.dtype)}); m{slot} = {known}")
    if slot in state.buffers.flying:
        state.line(f"flights.fresh({slot})")
    state.buffers.full.discard(slot)
    if state.indent == 1:
        state.buffers.outside.add(slot)


def view(state: EmitState, node: View) -> None:
    """A view shares the memory and the initialisation mask of its source."""
    buffer, buffers = node.buffer, state.buffers
    source, slot = buffer.source, buffer.slot
    assert source is not None
    unit = buffer.dtype.numpy.itemsize // buffers.parts(buffer)
    arguments = f"{buffer.shape}, {_element(buffer.dtype)}, {buffer.offset}, {unit}, {state.site(buffer.name)}"
    state.line(f"b{slot}, m{slot} = view_of(b{source.slot}, m{source.slot}, {arguments})")
    if source.slot in buffers.full:
        buffers.full.add(slot)
    else:
        buffers.full.discard(slot)
    if state.indent == 1:
        buffers.outside.add(slot)
        buffers.views.setdefault(buffer.memory, []).append(slot)


def bind(state: EmitState, node: Bind) -> None:
    """A variable of the statements that follow."""
    code = state.expr(node.value)
    name = state.names.variable(node.var.key)
    # A view would change with a later store to its buffer.
    state.line(f"{name} = {code.text}.copy()" if code.grid and code.view else f"{name} = {code.text}")
    state.values[node.var.key] = Code(name, code.grid)
    if node.var.dtype.kind == "i":
        low, high, _ = state.bounds.interval(node.value)
        state.bounds.ranges[node.var.key] = (low, high)


def _element(dtype: DType) -> str:
    """The name, in generated code, of the NumPy type of an element."""
    name: str = dtype.numpy.name
    return name.replace("bool", "bool_")


STATEMENTS: dict[type, EmitStmt] = {
    Alloc: lambda state, node: alloc(state, node.buffer),
    View: view,
    Bind: bind,
}

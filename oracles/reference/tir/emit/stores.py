"""The code of stores, and what they say of the initialisation of buffers."""

from __future__ import annotations

from oracles.reference.tir.emit.places import place_of, tuple_of, unit_of
from oracles.reference.tir.emit.slices import proven, slices_of
from oracles.reference.tir.emit.state import Code, EmitState, EmitStmt
from oracles.reference.tir.nodes import Buffer, Expr, Forget, Store


def store(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...], value: Code) -> None:
    """The statements that store `value` and mark the elements as initialised."""
    _store(state, buffer, indices, value)
    if buffer.memory in state.buffers.flying:
        state.line(f"flights.store({unit_of(state, buffer, indices)}, {state.copying})")


def _store(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...], value: Code) -> None:
    if state.actor is not None and buffer.memory in state.buffers.watched:
        place = place_of(state, buffer, indices, state.actor)
        value = value._replace(text=_named(state, value))
        where = f"{place}, {state.mask}, {state.buffers.parts(buffer)}"
        arguments = f"{value.text}, {buffer.memory}, {where}"
        start = buffer.start // buffer.dtype.numpy.itemsize
        state.line(f"races.store({arguments}, (b{buffer.slot}, {state.buffers.mask_of(buffer)}, {start}))")
    if state.scattering:
        _scatter(state, buffer, indices, value)
        return
    slices = slices_of(state, buffer, indices) if proven(state, buffer, indices) else None
    if slices is not None and state.mask is None:
        state.line(f"{slices.target(f'b{buffer.slot}')} = {value.text}")
        _mark(state, buffer, slices.target(f"m{buffer.slot}"), slices.covers)
        return
    if slices is not None:
        view = slices.of(f"b{buffer.slot}")
        state.line(f"copyto({view}, {value.text}, 'unsafe', {state.mask})")
        if buffer.slot not in state.buffers.full:
            known = slices.of(f"m{buffer.slot}")
            state.line(f"if m{buffer.slot} is not None: mark({known}, {state.mask})")
        return
    codes = [state.expr(index) for index in indices]
    if state.mask is not None or any(code.grid for code in codes):
        state.line(f"store_grid(b{buffer.slot}, {_where(state, buffer, codes)}, {value.text})")
        return
    _store_one(state, buffer, indices, codes, value)


def _named(state: EmitState, value: Code) -> str:
    """A name for the value, which is used twice; a copy where it may share memory with the buffer."""
    name = state.names.temporary()
    state.line(f"{name} = {value.text}.copy()" if value.view and value.grid else f"{name} = {value.text}")
    return name


def _scatter(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...], value: Code) -> None:
    """A store of iterations that may store to one element: the last one counts."""
    codes = [state.expr(index) for index in indices]
    extents = {axis.position: axis.extent for axis in state.axes.values()}
    shape = tuple(extents.get(position, 1) for position in range(min(extents), 0))
    state.line(f"scatter(b{buffer.slot}, {_where(state, buffer, codes)}, {value.text}, {shape})")


def _where(state: EmitState, buffer: Buffer, codes: list[Code]) -> str:
    """The arguments that say where a grid is stored."""
    return f"{state.buffers.mask_of(buffer)}, {state.mask}, {state.site(buffer.name)}, {tuple_of(codes)}"


def _store_one(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...], codes: list[Code], value: Code) -> None:
    name = f"b{buffer.slot}"
    if not proven(state, buffer, indices):
        arguments = f"{state.buffers.mask_of(buffer)}, {state.site(buffer.name)}, {tuple_of(codes)}, {value.text}"
        state.line(f"store_one({name}, {arguments})")
        return
    index = ", ".join(code.text for code in codes) or "()"
    state.line(f"{name}[{index}] = {value.text}")
    _mark(state, buffer, f"m{buffer.slot}[{index}]", all(extent == 1 for extent in buffer.shape))


def _mark(state: EmitState, buffer: Buffer, target: str, covers: bool) -> None:
    """Marks what was stored as initialised. target: that part of the mask. covers: it is the whole buffer."""
    buffers = state.buffers
    if buffer.slot in buffers.full:
        return
    if covers and buffer.memory not in buffers.viewed and buffer.slot not in buffers.unsure:
        state.line(f"m{buffer.slot} = None")
    else:
        state.line(f"if m{buffer.slot} is not None: {target} = True")
    if covers and buffer.slot not in buffers.unsure:
        buffers.full.add(buffer.slot)


def settle(state: EmitState, slots: set[int]) -> None:
    """Drops the masks of these memories, and of views of them, that are all true by now."""
    buffers = state.buffers
    views = {view for slot in slots for view in buffers.views.get(slot, ())}
    for slot in sorted((slots | views) - buffers.full):
        if slot in buffers.outside:
            state.line(f"m{slot} = settled(m{slot})")


def forget(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...]) -> None:
    """The statement that makes elements uninitialised."""
    codes = [state.expr(index) for index in indices]
    name = f"m{buffer.slot}"
    state.line(f"{name} = forgotten({name}, {buffer.shape}, {state.mask}, {tuple_of(codes)})")


STATEMENTS: dict[type, EmitStmt] = {
    Store: lambda state, node: store(state, node.buffer, node.indices, state.expr(node.value)),
    Forget: lambda state, node: forget(state, node.buffer, node.indices),
}

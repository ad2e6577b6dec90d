"""The code of loads: slices where every index is proven in bounds and linear in one axis, gathers elsewhere."""

from __future__ import annotations

from oracles.reference.tir.emit.places import place_of, tuple_of, unit_of
from oracles.reference.tir.emit.slices import Slices, proven, slices_of
from oracles.reference.tir.emit.state import Code, EmitExpr, EmitState
from oracles.reference.tir.nodes import Buffer, Expr, Initialised, Load


def load(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...]) -> Code:
    """A uniform element if no index is a grid, else a grid."""
    code = _load(state, buffer, indices)
    if buffer.memory in state.buffers.flying:
        code = code._replace(text=f"flights.load({code.text}, {unit_of(state, buffer, indices)})")
    if state.actor is None or buffer.memory not in state.buffers.watched:
        return code
    place, parts = place_of(state, buffer, indices, state.actor), state.buffers.parts(buffer)
    return code._replace(text=f"races.load({code.text}, {buffer.memory}, {place}, {state.mask}, {parts})")


def _load(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...]) -> Code:
    if proven(state, buffer, indices):
        slices = slices_of(state, buffer, indices)
        if slices is not None:
            return _load_slices(state, buffer, slices)
    codes = [state.expr(index) for index in indices]
    if state.mask is None and not any(code.grid for code in codes):
        return _load_one(state, buffer, indices, codes)
    if proven(state, buffer, indices) and any(code.grid for code in codes):
        return _load_gather(state, buffer, codes)
    known, site = state.buffers.mask_of(buffer), state.site(buffer.name)
    text = f"load_grid(b{buffer.slot}, {known}, {state.mask}, {site}, {tuple_of(codes)})"
    return Code(_widened(text, buffer), True, True)


def known_at(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...]) -> Code:
    """Whether an element, or each of a grid, is initialised."""
    codes = [state.expr(index) for index in indices]
    grid = any(code.grid for code in codes)
    arguments = f"m{buffer.slot}, {buffer.shape}, {state.mask}, {state.site(buffer.name)}, {tuple_of(codes)}"
    return Code(f"known_at({arguments})" if grid else f"bool(known_at({arguments}))", grid)


def _widened(text: str, buffer: Buffer) -> str:
    """Elements as a grid holds them."""
    narrow = buffer.dtype.kind == "i" and buffer.dtype.bits < 64
    return f"{text}.astype(int64)" if narrow else text


def _load_one(state: EmitState, buffer: Buffer, indices: tuple[Expr, ...], codes: list[Code]) -> Code:
    name = f"b{buffer.slot}"
    if proven(state, buffer, indices):
        element = f"{name}[{', '.join(code.text for code in codes)}]" if codes else f"{name}[()]"
        if buffer.slot not in state.buffers.full:
            call = f"load_one({name}, m{buffer.slot}, {state.site(buffer.name)}, {tuple_of(codes)})"
            element = f"({element} if m{buffer.slot} is None else {call})"
    else:
        element = f"load_one({name}, {state.buffers.mask_of(buffer)}, {state.site(buffer.name)}, {tuple_of(codes)})"
    return Code(element if buffer.dtype.kind == "f" else f"{element}.item()", False)


def _load_slices(state: EmitState, buffer: Buffer, slices: Slices) -> Code:
    name = f"b{buffer.slot}"
    text = slices.of(name)
    if buffer.slot not in state.buffers.full:
        known = slices.of(f"m{buffer.slot}")
        checked = f"initialised({text}, {known}, {state.mask}, {state.site(buffer.name)})"
        text = f"({text} if m{buffer.slot} is None else {checked})"
    return Code(_widened(text, buffer), True, True)


def _load_gather(state: EmitState, buffer: Buffer, codes: list[Code]) -> Code:
    index = ", ".join(code.text for code in codes)
    text = f"b{buffer.slot}[{index}]"
    if buffer.slot not in state.buffers.full:
        checked = f"initialised({text}, m{buffer.slot}[{index}], {state.mask}, {state.site(buffer.name)})"
        text = f"({text} if m{buffer.slot} is None else {checked})"
    return Code(_widened(text, buffer), True)


EXPRESSIONS: dict[type, EmitExpr] = {
    Load: lambda state, node: load(state, node.buffer, node.indices),
    Initialised: lambda state, node: known_at(state, node.buffer, node.indices),
}

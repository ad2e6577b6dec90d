"""Fragments of tensor cores as plain matrices: `tvm_load_matrix_sync` and its like become loops over their elements.

The threads of a warp hold a fragment between them (CUDA C++ Programming Guide, "Warp Matrix Functions"). Here each
thread has all of it and does all that the warp does: they store the same. A fragment lies in its buffer as a block of
the last two dimensions, or as so many consecutive elements of a flat one, and in the order of the memory that it was
loaded from; the layout says whether that is by columns. What plain stores fill as the second operand of a product is
held by columns, as LowerAutoCopy loads it (src/s_tir/transform/memhammer_tensorcore_rewrite.cc, RewriteWmmaLoad).
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from generators import tvm_api
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.constants import fold
from oracles.reference.tir.decode.buffers import strides_of
from oracles.reference.tir.decode.dispatch import constant, expression, pointer, statement
from oracles.reference.tir.decode.pointer_kinds import BufferAddress, ElementAddress
from oracles.reference.tir.decode.state import EMPTY, DecodeState, Rules
from oracles.reference.tir.decode.variables import new_var
from oracles.reference.tir.decode.views import part_of
from oracles.reference.tir.nodes import DTYPES, Bin, Buffer, Cast, Const, Expr, For, Load, Seq, Stmt, Store

INT32 = DTYPES["int32"]
Place = tuple[Buffer, tuple[Expr, ...]]
"""A buffer and the indices of one of its elements."""
_A, _B, _C = "wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator"


class _Fragment:
    """One fragment: its buffer, its number among those of the buffer, and the rows and columns of its block."""

    def __init__(self, state: DecodeState, data: tvm_api.Expr, sizes: tuple[int, int, int], number: Expr) -> None:
        where = pointer(state, data)
        if not isinstance(where, BufferAddress):
            raise Unsupported("fragment at an address")
        m, n, k = sizes
        self.buffer, self.number = where.buffer, number
        self.by_columns = state.fragments.transposed.get(self.buffer.slot, self.buffer.scope == _B)
        shape = {_A: (m, k), _B: (k, n), _C: (m, n)}.get(self.buffer.scope)
        if shape is None:
            raise Trap("type", f"{state.name}: {self.buffer.name} is no fragment")
        self.rows, self.columns = (shape[1], shape[0]) if self.by_columns else shape

    def element(self, i: Expr, j: Expr) -> Place:
        """The element of a row and a column of the block."""
        if len(self.buffer.shape) == 1:
            size = _times(self.number, self.rows * self.columns)
            return self.buffer, (_plus(size, _plus(_times(i, self.columns), j)),)
        *lead, rows, columns = self.buffer.shape
        if any(extent != 1 for extent in lead) or rows % self.rows or columns % self.columns:
            raise Unsupported("fragments of a buffer of this shape")
        across = Const(columns // self.columns, INT32)
        block = fold("floordiv", self.number, across, INT32), fold("floormod", self.number, across, INT32)
        place = (_plus(_times(block[0], self.rows), i), _plus(_times(block[1], self.columns), j))
        return self.buffer, (*[Const(0, INT32)] * len(lead), *place)

    def factor(self, row: Expr, column: Expr) -> Expr:
        """The element of the matrix that the block holds, by rows or by columns."""
        return _load(self.element(column, row) if self.by_columns else self.element(row, column))


def _plus(a: Expr, b: Expr) -> Expr:
    return fold("add", a, b, INT32)


def _times(a: Expr, number: int) -> Expr:
    return fold("mul", a, Const(number, INT32), INT32)


def _load(place: Place) -> Expr:
    return Load(*place, place[0].dtype)


def _loops(extents: tuple[int, ...], body: Callable[..., Stmt]) -> Stmt:
    """A loop for each extent around the body for its variables."""
    variables = [new_var("e", INT32) for _ in extents]
    nest = body(*variables)
    for var, extent in reversed(list(zip(variables, extents, strict=True))):
        nest = For(var, Const(extent, INT32), "serial", "", nest)
    return nest


def _sizes(state: DecodeState, call: tvm_api.Expr) -> tuple[int, int, int]:
    m, n, k = (constant(state, call.args[place], "size of a fragment") for place in (1, 2, 3))
    state.fragments.shape = m, n, k
    return m, n, k


def _index(state: DecodeState, node: tvm_api.Expr) -> Expr:
    """The number of a fragment."""
    value = expression(state, node)
    return value if value.dtype is INT32 else Cast(value, INT32)


def _matrix(state: DecodeState, node: tvm_api.Expr) -> tuple[Buffer, Expr, Stmt]:
    """The buffer that an address is in, as elements of the type of the address; the offset; what makes the view."""
    where = pointer(state, node)
    if isinstance(where, BufferAddress):
        return where.buffer, Const(0, INT32), EMPTY
    if not isinstance(where, ElementAddress):
        raise Unsupported("matrix at an address")
    offset = where.position if where.position.dtype is INT32 else Cast(where.position, INT32)
    if where.dtype is where.buffer.dtype:
        return where.buffer, offset, EMPTY
    size = prod(where.buffer.shape) * where.buffer.dtype.numpy.itemsize // where.dtype.numpy.itemsize
    view, made = part_of(state, where.buffer.name, where.buffer, where.dtype, (size,), 0)
    return view, offset, made


def _memory(state: DecodeState, buffer: Buffer, offset: Expr) -> Place:
    """The element so far after the first one of a buffer: its indices follow from the strides."""
    *strides, last = strides_of(state, buffer)
    if last != 1:
        raise Unsupported("matrix with strides")
    indices: list[Expr] = []
    for stride in strides:
        indices.append(fold("floordiv", offset, Const(stride, INT32), INT32))
        offset = fold("floormod", offset, Const(stride, INT32), INT32)
    return buffer, (*indices, offset)


def _noted(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    """An attribute that says of a fragment what code generators declare it with: InferFragment reads it from uses."""
    body = statement(state, node.body)
    found = state.buffers.known.get(node.node.__chandle__())
    if found is None:
        raise Trap("undefined-variable", f"{state.name}: a note of {node.node.name}")
    state.fragments.said[found[0].slot, str(node.attr_key)] = str(node.value.value)
    return body


def _as_said(state: DecodeState, buffer: Buffer, sizes: tuple[int, int, int], layout: str) -> None:
    """Traps where a fragment is used in another way than its attributes say."""
    uses = {"fragment_shape": ", ".join(map(str, sizes))}
    if buffer.scope != _C:
        uses["fragment_layout"] = layout
    for key, used in uses.items():
        if state.fragments.said.get((buffer.slot, key), used) != used:
            raise Trap("type", f"{state.name}: {buffer.name} has another {key} than {used}")


def _between(state: DecodeState, call: tvm_api.Expr) -> tuple[_Fragment, Callable[[Expr, Expr], Place], Stmt]:
    """The fragment of a load or a store, the element in memory of a row and a column of its block, and what must be
    done before."""
    by_columns = str(call.args[7].value) == "col_major"
    held = pointer(state, call.args[0])
    if isinstance(held, BufferAddress):
        state.fragments.transposed[held.buffer.slot] = by_columns
    fragment = _Fragment(state, call.args[0], _sizes(state, call), _index(state, call.args[4]))
    _as_said(state, fragment.buffer, _sizes(state, call), str(call.args[7].value))
    (buffer, offset, made), stride = _matrix(state, call.args[5]), _index(state, call.args[6])
    return fragment, lambda i, j: _memory(state, buffer, _plus(offset, _plus(fold("mul", i, stride, INT32), j))), made


def _load_matrix(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    """`tvm_load_matrix_sync(fragment, m, n, k, number, address, stride, layout)`."""
    fragment, memory, made = _between(state, call)

    def copied(i: Expr, j: Expr) -> Stmt:
        target, at = fragment.element(i, j)
        value = _load(memory(i, j))
        return Store(target, value if value.dtype is target.dtype else Cast(value, target.dtype), at)

    return Seq((made, _loops((fragment.rows, fragment.columns), copied)))


def _store_matrix(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    """`tvm_store_matrix_sync`, with the same arguments."""
    fragment, memory, made = _between(state, call)

    def copied(i: Expr, j: Expr) -> Stmt:
        target, at = memory(i, j)
        value = _load(fragment.element(i, j))
        return Store(target, value if value.dtype is target.dtype else Cast(value, target.dtype), at)

    return Seq((made, _loops((fragment.rows, fragment.columns), copied)))


def _fill(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    """`tvm_fill_fragment(fragment, m, n, k, number, value)`."""
    fragment = _Fragment(state, call.args[0], _sizes(state, call), _index(state, call.args[4]))
    value = expression(state, call.args[5])
    dtype = fragment.buffer.dtype
    value = value if value.dtype is dtype else Cast(value, dtype)

    def filled(i: Expr, j: Expr) -> Stmt:
        target, at = fragment.element(i, j)
        return Store(target, value, at)

    return _loops((fragment.rows, fragment.columns), filled)


def _multiply(state: DecodeState, call: tvm_api.Expr) -> Stmt:
    """`tvm_mma_sync(d, number, a, number, b, number, c, number)`: d = a * b + c."""
    sizes = state.fragments.shape
    if sizes is None:
        raise Unsupported("tirx.tvm_mma_sync before any fragment")
    d, a, b, c = (
        _Fragment(state, call.args[place], sizes, _index(state, call.args[place + 1])) for place in (0, 2, 4, 6)
    )
    m, n, k = sizes
    dtype = d.buffer.dtype

    def begun(i: Expr, j: Expr) -> Stmt:
        target, at = d.element(i, j)
        return Store(target, _load(c.element(i, j)), at)

    def added(step: Expr, i: Expr, j: Expr) -> Stmt:
        target, at = d.element(i, j)
        one, other = (Cast(x, dtype) if x.dtype is not dtype else x for x in (a.factor(i, step), b.factor(step, j)))
        return Store(target, Bin("add", _load((target, at)), Bin("mul", one, other, dtype), dtype), at)

    same = c.buffer is d.buffer and c.number == d.number
    total = _loops((k, m, n), added)
    return total if same else Seq((_loops((m, n), begun), total))


RULES = Rules(
    attributes=dict.fromkeys(("fragment_shape", "fragment_layout"), _noted),
    effects={
        "tvm_load_matrix_sync": _load_matrix,
        "tvm_store_matrix_sync": _store_matrix,
        "tvm_fill_fragment": _fill,
        "tvm_mma_sync": _multiply,
    },
)

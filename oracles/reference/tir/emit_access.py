"""Code of loads and stores: slices where every index is proven in bounds and linear in one axis, gathers
elsewhere.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from oracles.reference.tir.constants import fold
from oracles.reference.tir.emit import ExprEmitter
from oracles.reference.tir.emit_state import Code
from oracles.reference.tir.nodes import INT64, Buffer, Const, Expr, Load, Var, Watched


class _Dim(NamedTuple):
    """One index of a sliced access: a number, or a slice along the axis at `position` (0: a number)."""

    text: str
    position: int
    whole: bool


class _Slices(NamedTuple):
    """A view of a buffer: an optional transposition, a subscript, and whether it covers the whole buffer."""

    order: tuple[int, ...] | None
    subscript: str
    covers: bool

    def of(self, name: str) -> str:
        """The view of the array called `name`."""
        base = name if self.order is None else f"{name}.transpose({', '.join(map(str, self.order))})"
        return base + self.subscript

    def target(self, name: str) -> str:
        """The view as the target of an assignment."""
        return self.of(name) if self.subscript else f"{self.of(name)}[...]"


class AccessEmitter(ExprEmitter):
    """Adds buffer accesses to expressions."""

    def proven(self, buffer: Buffer, indices: tuple[Expr, ...]) -> bool:
        """Whether all indices are in bounds and computed without overflow, whatever the data."""
        for index, extent in zip(indices, buffer.shape, strict=True):
            low, high, safe = self.bounds.interval(index)
            if not safe or low < 0 or high >= extent:
                return False
        return True

    def load(self, buffer: Buffer, indices: tuple[Expr, ...]) -> Code:
        """A uniform element if no index is a grid, else a grid."""
        code = self._load(buffer, indices)
        if self.actor is None or buffer.memory not in self.watched:
            return code
        place, parts = self._place(buffer, indices, self.actor), self.parts(buffer)
        return code._replace(text=f"races.load({code.text}, {buffer.memory}, {place}, {self.mask}, {parts})")

    def _place(self, buffer: Buffer, indices: tuple[Expr, ...], actor: Watched) -> str:
        """Element of the memory, block, thread and statement of an access, as code, and where that is."""
        parts = [self.expr(part) for part in (flat_index(buffer, indices), actor.block, actor.thread)]
        return f"{_tuple(parts)}, {actor.statement}, {self.site(buffer.name)}"

    def _load(self, buffer: Buffer, indices: tuple[Expr, ...]) -> Code:
        if self.proven(buffer, indices):
            slices = self._slices(buffer, indices)
            if slices is not None:
                return self._load_slices(buffer, slices)
        codes = [self.expr(index) for index in indices]
        if self.mask is None and not any(code.grid for code in codes):
            return self._load_one(buffer, indices, codes)
        if self.proven(buffer, indices) and any(code.grid for code in codes):
            return self._load_gather(buffer, codes)
        index = _tuple(codes)
        text = f"load_grid(b{buffer.slot}, {self._known(buffer)}, {self.mask}, {self.site(buffer.name)}, {index})"
        return Code(self._widened(text, buffer), True, True)

    def _known(self, buffer: Buffer) -> str:
        return "None" if buffer.slot in self.full else f"m{buffer.slot}"

    def known_at(self, buffer: Buffer, indices: tuple[Expr, ...]) -> Code:
        """Whether an element, or each of a grid, is initialised."""
        codes = [self.expr(index) for index in indices]
        grid = any(code.grid for code in codes)
        arguments = f"m{buffer.slot}, {buffer.shape}, {self.mask}, {self.site(buffer.name)}, {_tuple(codes)}"
        return Code(f"known_at({arguments})" if grid else f"bool(known_at({arguments}))", grid)

    def forget(self, buffer: Buffer, indices: tuple[Expr, ...]) -> None:
        """The statement that makes elements hold nothing."""
        codes = [self.expr(index) for index in indices]
        name = f"m{buffer.slot}"
        self.line(f"{name} = forgotten({name}, {buffer.shape}, {self.mask}, {_tuple(codes)})")

    def _widened(self, text: str, buffer: Buffer) -> str:
        narrow = buffer.dtype.kind == "i" and buffer.dtype.bits < 64
        return f"{text}.astype(int64)" if narrow else text

    def _load_one(self, buffer: Buffer, indices: tuple[Expr, ...], codes: list[Code]) -> Code:
        name = f"b{buffer.slot}"
        if self.proven(buffer, indices):
            element = f"{name}[{', '.join(code.text for code in codes)}]" if codes else f"{name}[()]"
            if buffer.slot not in self.full:
                call = f"load_one({name}, m{buffer.slot}, {self.site(buffer.name)}, {_tuple(codes)})"
                element = f"({element} if m{buffer.slot} is None else {call})"
        else:
            element = f"load_one({name}, {self._known(buffer)}, {self.site(buffer.name)}, {_tuple(codes)})"
        return Code(element if buffer.dtype.kind == "f" else f"{element}.item()", False)

    def _load_slices(self, buffer: Buffer, slices: _Slices) -> Code:
        name = f"b{buffer.slot}"
        text = slices.of(name)
        if buffer.slot not in self.full:
            known = slices.of(f"m{buffer.slot}")
            checked = f"initialised({text}, {known}, {self.mask}, {self.site(buffer.name)})"
            text = f"({text} if m{buffer.slot} is None else {checked})"
        return Code(self._widened(text, buffer), True, True)

    def _load_gather(self, buffer: Buffer, codes: list[Code]) -> Code:
        index = ", ".join(code.text for code in codes)
        text = f"b{buffer.slot}[{index}]"
        if buffer.slot not in self.full:
            checked = f"initialised({text}, m{buffer.slot}[{index}], {self.mask}, {self.site(buffer.name)})"
            text = f"({text} if m{buffer.slot} is None else {checked})"
        return Code(self._widened(text, buffer), True)

    def _slices(self, buffer: Buffer, indices: tuple[Expr, ...]) -> _Slices | None:
        """The sliced form of a proven access, or None if some index is no number and no multiple of one axis."""
        if not self.axes:
            return None
        dims: list[_Dim] = []
        for index, extent in zip(indices, buffer.shape, strict=True):
            dim = self._dim(index, extent)
            if dim is None:
                return None
            dims.append(dim)
        positions = [dim.position for dim in dims if dim.position]
        if not positions or len(set(positions)) != len(positions):
            return None
        return _arranged(dims, buffer.shape)

    def _dim(self, index: Expr, extent: int) -> _Dim | None:
        form = self.bounds.linear(index)
        scale, axis, rest = 0, None, {}
        for term, factor in form.terms.items():
            found = self.axes.get(term.key) if isinstance(term, Var) else None
            if found is None:
                rest[term] = factor
            elif axis is not None:
                return None
            else:
                scale, axis = factor, found
        if axis is None:
            code = self.expr(index)
            return None if code.grid else _Dim(code.text, 0, False)
        start = self._start(rest, form.const)
        if start is None:
            return None
        if isinstance(start, int):
            return self._constant_slice(start, scale, axis.extent, axis.position, extent)
        if scale != 1:
            return None
        name = self.temporary()
        return _Dim(f"({name} := {start}):{name} + {axis.extent}", axis.position, False)

    def _start(self, rest: dict[Expr, int], const: int) -> int | str | None:
        """The first index along an axis: a number, or the code of a uniform expression; None if it is a grid."""
        if not rest:
            return const
        parts = [str(const)] if const else []
        for term, factor in rest.items():
            code = self.expr(term)
            if code.grid:
                return None
            parts.append(code.text if factor == 1 else f"{factor} * {code.text}")
        return " + ".join(parts)

    def _constant_slice(self, start: int, scale: int, count: int, position: int, extent: int) -> _Dim:
        if start == 0 and scale == 1 and count == extent:
            return _Dim(":", position, True)
        stop = start + scale * (count - 1) + (1 if scale > 0 else -1)
        step = "" if scale == 1 else f":{scale}"
        return _Dim(f"{start}:{stop if stop >= 0 else ''}{step}", position, False)

    def store(self, buffer: Buffer, indices: tuple[Expr, ...], value: Code) -> None:
        """The statements that store `value` and mark the elements as initialised."""
        if self.actor is not None and buffer.memory in self.watched:
            place = self._place(buffer, indices, self.actor)
            value = value._replace(text=self._named(value))
            where = f"{place}, {self.mask}, {self.parts(buffer)}"
            arguments = f"{value.text}, {buffer.memory}, {where}"
            start = buffer.start // buffer.dtype.numpy.itemsize
            self.line(f"races.store({arguments}, (b{buffer.slot}, {self._known(buffer)}, {start}))")
        if self.scattering:
            self._scatter(buffer, indices, value)
            return
        slices = self._slices(buffer, indices) if self.proven(buffer, indices) else None
        if slices is not None and self.mask is None:
            self.line(f"{slices.target(f'b{buffer.slot}')} = {value.text}")
            self._mark(buffer, slices.target(f"m{buffer.slot}"), slices.covers)
            return
        if slices is not None:
            view = slices.of(f"b{buffer.slot}")
            self.line(f"copyto({view}, {value.text}, 'unsafe', {self.mask})")
            if buffer.slot not in self.full:
                known = slices.of(f"m{buffer.slot}")
                self.line(f"if m{buffer.slot} is not None: mark({known}, {self.mask})")
            return
        codes = [self.expr(index) for index in indices]
        if self.mask is not None or any(code.grid for code in codes):
            arguments = f"{self._known(buffer)}, {self.mask}, {self.site(buffer.name)}, {_tuple(codes)}, {value.text}"
            self.line(f"store_grid(b{buffer.slot}, {arguments})")
            return
        self._store_one(buffer, indices, codes, value)

    def _named(self, value: Code) -> str:
        name = self.temporary()
        self.line(f"{name} = {value.text}.copy()" if value.view and value.grid else f"{name} = {value.text}")
        return name

    def _scatter(self, buffer: Buffer, indices: tuple[Expr, ...], value: Code) -> None:
        """Iterations may store to one element: the last one does."""
        codes = [self.expr(index) for index in indices]
        extents = {axis.position: axis.extent for axis in self.axes.values()}
        shape = tuple(extents.get(position, 1) for position in range(min(extents), 0))
        arguments = f"{self._known(buffer)}, {self.mask}, {self.site(buffer.name)}, {_tuple(codes)}, {value.text}"
        self.line(f"scatter(b{buffer.slot}, {arguments}, {shape})")

    def _store_one(self, buffer: Buffer, indices: tuple[Expr, ...], codes: list[Code], value: Code) -> None:
        name = f"b{buffer.slot}"
        if not self.proven(buffer, indices):
            arguments = f"{self._known(buffer)}, {self.site(buffer.name)}, {_tuple(codes)}, {value.text}"
            self.line(f"store_one({name}, {arguments})")
            return
        index = ", ".join(code.text for code in codes) or "()"
        self.line(f"{name}[{index}] = {value.text}")
        self._mark(buffer, f"m{buffer.slot}[{index}]", all(extent == 1 for extent in buffer.shape))

    def _mark(self, buffer: Buffer, target: str, covers: bool) -> None:
        if buffer.slot in self.full:
            return
        if covers and buffer.memory not in self.viewed and buffer.slot not in self.unsure:
            self.line(f"m{buffer.slot} = None")
        else:
            self.line(f"if m{buffer.slot} is not None: {target} = True")
        if covers and buffer.slot not in self.unsure:
            self.full.add(buffer.slot)


def flat_index(buffer: Buffer, indices: tuple[Expr, ...]) -> Expr:
    """The number of an element in the memory of a buffer."""
    total: Expr = Const(buffer.start // buffer.dtype.numpy.itemsize, INT64)
    for extent, index, stride in zip(buffer.shape, indices, _strides(buffer.shape), strict=True):
        if extent > 1:
            total = fold("add", total, fold("mul", index, Const(stride, INT64), INT64), INT64)
    return total


def _strides(shape: tuple[int, ...]) -> list[int]:
    return [prod(shape[number + 1 :]) for number in range(len(shape))]


def loads(expr: Expr, buffer: Buffer, indices: tuple[Expr, ...]) -> bool:
    """Whether `expr` is exactly the load of this element."""
    return isinstance(expr, Load) and expr.buffer is buffer and expr.indices == indices


def _tuple(codes: list[Code]) -> str:
    return "(" + "".join(f"{code.text}, " for code in codes) + ")"


def _arranged(dims: list[_Dim], shape: tuple[int, ...]) -> _Slices:
    """Puts the sliced dimensions in the order of the axes and inserts the missing ones."""
    sliced = sorted((dim.position, number) for number, dim in enumerate(dims) if dim.position)
    fixed = [number for number, dim in enumerate(dims) if not dim.position]
    natural = [number for number, dim in enumerate(dims) if dim.position]
    wanted = [number for _, number in sliced]
    if natural == wanted:
        order, sequence = None, list(range(len(dims)))
    else:
        order = tuple(fixed + wanted)
        sequence = list(order)
    items: list[str] = []
    expected = sliced[0][0]
    for number in sequence:
        dim = dims[number]
        if dim.position:
            items.extend(["None"] * (dim.position - expected))
            expected = dim.position + 1
        items.append(dim.text)
    items.extend(["None"] * -expected)
    covers = all(dim.whole or extent == 1 for dim, extent in zip(dims, shape, strict=True))
    plain = all(dim.whole for dim in dims) and len(items) == len(dims)
    return _Slices(order, "" if plain else f"[{', '.join(items)}]", covers)

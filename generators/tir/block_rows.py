"""Schedule primitives on where blocks are computed, on reductions, and on blocks of blocks."""

from __future__ import annotations

from tvm import tirx

from generators import tvm_api
from generators.tir.schedule_row import Primitive
from generators.tir.schedule_view import NoPlace, ScheduledBlock, ScheduledLoop, ScheduleView, uses
from generators.tir.tensor_intrinsics import WAYS, dot_intrinsic
from generators.tvm_api import Expr

_REDUCE = int(tirx.IterVar.CommReduce)


def _reads(block: ScheduledBlock, other: ScheduledBlock) -> bool:
    """Whether a block reads a buffer that another writes."""
    return any(r.source.same_as(w.source) for r in block.node.reads for w in other.node.writes)


def _neighbours(view: ScheduleView) -> list[tuple[ScheduledBlock, ScheduledBlock]]:
    """(producer, consumer) pairs under one parent."""
    return [
        (one, other)
        for one in view.blocks
        for other in view.blocks
        if one is not other and one.parent == other.parent and _reads(other, one)
    ]


def _placement(view: ScheduleView) -> str:
    flags = f", preserve_unit_loops={view.source.flip()}" if view.source.flip(view.knobs.schedules.unit_loops) else ""
    return flags + (", index=-2" if view.source.flip(view.knobs.schedules.index) else "")


def _loops_of_its_own(one: ScheduledBlock, other: ScheduledBlock) -> list[ScheduledLoop]:
    """Loops of the second block that are not around the first."""
    return [loop for loop in other.loops if not any(loop.node.same_as(mine.node) for mine in one.loops)]


def _compute_at(view: ScheduleView) -> str:
    pairs = [
        (one, other)
        for one, other in _neighbours(view)
        if view.written_local(one) and _loops_of_its_own(one, other) and _only(view, one, consumer=other)
    ]
    one, other = view.pick(pairs)
    loop = view.source.pick(_loops_of_its_own(one, other))
    return f"sch.compute_at({one.text}, {loop.text}{_placement(view)})"


def _reverse_compute_at(view: ScheduleView) -> str:
    pairs = [
        (one, other)
        for one, other in _neighbours(view)
        if _loops_of_its_own(other, one) and _only(view, other, producer=one) and one.innermost and other.innermost
    ]
    one, other = view.pick(pairs)
    loops = [loop for loop in _loops_of_its_own(other, one) if _REDUCE not in one.axes_of(loop)]
    return f"sch.reverse_compute_at({other.text}, {view.pick(loops).text}{_placement(view)})"


def _only(
    view: ScheduleView,
    block: ScheduledBlock,
    *,
    consumer: ScheduledBlock | None = None,
    producer: ScheduledBlock | None = None,
) -> bool:
    """Whether the block has no other consumer, or no other producer."""
    if consumer is not None:
        return all(other is consumer for one, other in _neighbours(view) if one is block)
    return all(one is producer for one, other in _neighbours(view) if other is block)


def _stores(block: ScheduledBlock) -> bool:
    return isinstance(block.node.body, tirx.BufferStore) and block.node.init is None


def _compute_inline(view: ScheduleView) -> str:
    producers = {id(one): one for one, _ in _neighbours(view)}
    options = [b for b in producers.values() if _stores(b) and view.written_local(b) and not b.reduces]
    return f"sch.compute_inline({view.pick(options).text})"


def _reverse_compute_inline(view: ScheduleView) -> str:
    options = [
        other
        for one, other in _neighbours(view)
        if _stores(other) and _stores(one) and view.written_local(one) and not one.reduces
        if _only(view, one, consumer=other) and len(other.node.reads) == 1
    ]
    return f"sch.reverse_compute_inline({view.pick(options).text})"


def _fuse_reduction_epilogue(view: ScheduleView) -> str:
    """Sums with a bias: with a bound or a ReLU the primitive is documented to change the meaning."""
    pairs = [
        (one, other)
        for one, other in _neighbours(view)
        if one.reduces and _sums(one) and _adds(other) and _only(view, one, consumer=other)
    ]
    one, other = view.pick(pairs)
    return f"sch.fuse_reduction_epilogue({one.text}, {other.text})"


def _sums(block: ScheduledBlock) -> bool:
    """Whether the block adds up, with its init."""
    body = block.node.body
    return block.node.init is not None and isinstance(body, tirx.BufferStore) and isinstance(body.value, tirx.Add)


def _adds(block: ScheduledBlock) -> bool:
    """Whether the block stores the sum of two elements."""
    value = block.node.body.value if _stores(block) else None
    return isinstance(value, tirx.Add) and all(isinstance(x, tvm_api.TensorLoad) for x in (value.a, value.b))


def _decompose_reduction(view: ScheduleView) -> str:
    block = view.block(lambda b: b.reduces and b.node.init is not None and bool(b.loops))
    first = next((i for i, loop in enumerate(block.loops) if _REDUCE in block.axes_of(loop)), len(block.loops) - 1)
    return f"sch.decompose_reduction({block.text}, {block.loops[view.source.integer(0, first)].text})"


def _rfactor(view: ScheduleView) -> str:
    block, loop = view.loop(
        lambda b, x: b.reduces and b.node.init is not None and b.axes_of(x) == {_REDUCE} and x.serial
    )
    rank = len(block.node.writes[0].region)
    return f"sch.rfactor({loop.text}, factor_axis={view.source.integer(0, rank)})"


def _blockize(view: ScheduleView) -> str:
    neighbours = _blocks_side_by_side(view)
    if neighbours and view.source.flip(view.knobs.schedules.several):
        made = ", ".join(block.text for block in view.source.pick(neighbours))
        return f"sch.blockize([{made}])"
    return _blockize_one(view)


def _blocks_side_by_side(view: ScheduleView) -> list[tuple[ScheduledBlock, ScheduledBlock]]:
    """Blocks next to each other in the order of the function, under the same parent, each alone in the loops that the
    other is not in. Not those without axes, which end the process in 0.27."""
    own = [b for b in view.blocks if b.innermost and b.spatial and not b.guarded and len(b.node.iter_vars)]
    return [
        (one, other)
        for one, other in zip(own, own[1:], strict=False)
        if one.parent == other.parent and _follows(view, one, other)
        if all(len(view.below(x)) == 1 for x in (*_loops_of_its_own(one, other), *_loops_of_its_own(other, one)))
    ]


def _follows(view: ScheduleView, one: ScheduledBlock, other: ScheduledBlock) -> bool:
    return view.blocks.index(other) == view.blocks.index(one) + 1


def _blockize_one(view: ScheduleView) -> str:
    _, loop = view.loop(
        lambda b, x: b.innermost and not b.guarded and len(view.below(x)) == 1 and all(y.extent for y in b.loops)
    )
    flag = ", preserve_unit_iters=False" if view.source.flip(view.knobs.schedules.flag) else ""
    return f"sch.blockize({loop.text}{flag})"


def _tensorize(view: ScheduleView) -> str:
    """The inner loops of a product by an intrinsic made for just these, which the step registers: the same operations
    in the same order for each element."""
    block = view.block(_is_product)
    loops = block.loops[-3:]
    try:
        name, registered = dot_intrinsic(block.node, [int(x.extent or 1) for x in loops], view.pick(WAYS))
    except ValueError as error:
        raise NoPlace from error
    if block.node.init is None:
        return f'({registered}, sch.tensorize({loops[0].text}, "{name}"))'
    update = f'sch.get_loops(sch.get_sblock("{block.node.name_hint}_update"))'
    return (
        f"({registered}, sch.decompose_reduction({block.text}, {block.loops[0].text}), "
        f'sch.tensorize({update}[{len(block.loops) - 3}], "{name}"))'
    )


def _is_product(block: ScheduledBlock) -> bool:
    """Whether the block is a sum of products in plain inner loops over its axes in order."""
    if not block.reduces or not isinstance(block.node.body, tirx.BufferStore) or len(block.node.iter_vars) != 3:
        return False
    loops = block.loops[-3:]
    if len(loops) < 3 or not all(x.serial and x.extent for x in block.loops) or block.guarded:
        return False
    if [sorted(block.axes_of(loop)) for loop in loops] != [[0], [0], [_REDUCE]]:
        return False
    value = block.node.body.value
    return isinstance(value, tirx.Add) and isinstance(value.b, tirx.Mul)


def _decompose_padding(view: ScheduleView) -> str:
    block = view.block(lambda b: _stores(b) and bool(b.loops) and _pads(b))
    return f"sch.decompose_padding({block.text}, {view.source.pick(block.loops).text})"


def _pads(block: ScheduledBlock) -> bool:
    return isinstance(block.node.body.value, tvm_api.Call)


def _rolling_buffer(view: ScheduleView) -> str:
    pairs = [
        (one, other)
        for one, other in _neighbours(view)
        if view.written_local(one) and _overlaps(other, one) and _only(view, one, consumer=other)
    ]
    one, other = view.pick(pairs)
    rolled = f"sch.rolling_buffer({one.text}, 0)"
    own = [loop for loop in _loops_of_its_own(one, other) if _moves(other, one, loop)]
    return f"(sch.compute_at({one.text}, {view.source.pick(own).text}), {rolled})" if own else rolled


def _overlaps(consumer: ScheduledBlock, producer: ScheduledBlock) -> bool:
    """Whether the consumer reads windows of the producer's buffer."""
    return bool(_windows(consumer, producer))


def _windows(consumer: ScheduledBlock, producer: ScheduledBlock) -> list[Expr]:
    """The indices that are sums at which the consumer reads the producer's buffer."""
    written = [w.source for w in producer.node.writes]
    read = [r for r in consumer.node.reads if any(r.source.same_as(w) for w in written)]
    return [x.min for r in read for x in r.region if isinstance(x.min, tirx.Add)]


def _moves(consumer: ScheduledBlock, producer: ScheduledBlock, loop: ScheduledLoop) -> bool:
    """Whether the loop moves the window along its dim."""
    bound = zip(consumer.node.iter_vars, consumer.bindings, strict=True)
    moved = [v.var for v, value in bound if int(v.iter_type) != _REDUCE and uses(value, loop.node.loop_var)]
    return any(uses(index, var) for index in _windows(consumer, producer) for var in moved)


def _pad_einsum(view: ScheduleView) -> str:
    block = view.block(lambda b: b.innermost and all(x.serial and x.extent for x in b.loops) and _is_einsum(b))
    padding = [view.source.pick((1, 2, 4, 3, 8)) for _ in block.node.iter_vars]
    return f"sch.pad_einsum({block.text}, {padding})"


def _is_einsum(block: ScheduledBlock) -> bool:
    return block.reduces and len(block.loops) == len(block.node.iter_vars)


BLOCK_ROWS = (
    Primitive(
        "compute_at",
        _compute_at,
        "the region that the consumer needs is computed before it",
        6,
        plants=("pointwise", "pointwise", "pointwise"),
    ),
    Primitive(
        "reverse_compute_at",
        _reverse_compute_at,
        "the consumer of a region runs once it is complete",
        5,
        plants=("pointwise", "pointwise"),
    ),
    Primitive(
        "compute_inline",
        _compute_inline,
        "the stored expression stands where it is read",
        3,
        plants=("pointwise", "pointwise"),
    ),
    Primitive(
        "reverse_compute_inline",
        _reverse_compute_inline,
        "the producer stores the consumer's value",
        2,
        plants=("pointwise", "copy"),
    ),
    Primitive(
        "fuse_reduction_epilogue",
        _fuse_reduction_epilogue,
        "sum plus bias only, which then starts from the bias; other epilogues change the meaning, as documented",
        4,
        rounds=True,
        plants=("reduction", "bias"),
    ),
    Primitive(
        "decompose_reduction", _decompose_reduction, "the init runs before all updates", 5, plants=("reduction",)
    ),
    Primitive("rfactor", _rfactor, "partial results are combined: another order", 5, rounds=True, plants=("argmax",)),
    Primitive("blockize", _blockize, "a block around blocks", 3, plants=("pointwise", "pointwise")),
    Primitive(
        "tensorize",
        _tensorize,
        "an intrinsic whose implementation is the loops that it describes",
        6,
        plants=("matmul",),
    ),
    Primitive(
        "decompose_padding", _decompose_padding, "constants first, then the inner elements", 4, plants=("padding",)
    ),
    Primitive(
        "rolling_buffer",
        _rolling_buffer,
        "rows are kept from one iteration to the next, so that order matters after it",
        6,
        last=True,
        plants=("pointwise", "window"),
    ),
    Primitive("pad_einsum", _pad_einsum, "padding is filled with zeros and not copied back", 3, plants=("matmul",)),
)

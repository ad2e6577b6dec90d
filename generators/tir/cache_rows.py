"""Schedule primitives on buffers: caches, layouts, scopes, alignment; and the sampling ones."""

from __future__ import annotations

from tvm import tirx

from generators import tvm_api as T
from generators.tir.schedule_row import Primitive
from generators.tir.schedule_view import NoPlace, ScheduledBlock, ScheduleView
from generators.tvm_api import Expr, Node

_WIDER = {
    "float32": "float64",
    "float16": "float32",
    "bfloat16": "float32",
    "int32": "int64",
    "int8": "int32",
    "int16": "int32",
    "uint8": "int32",
}
_NAMES = "ijklpq"


def _scope(view: ScheduleView) -> str:
    """A storage scope: on a CPU all mean memory of the function's own. Nests that become kernels share global memory
    alone."""
    return "global" if view.threads else view.source.pick(("global", "local"))


def _cache_read(view: ScheduleView) -> str:
    block = view.block(lambda b: len(b.node.reads) > 0 and b.innermost)
    return f'sch.cache_read({block.text}, {_index(view, len(block.node.reads))}, "{_scope(view)}")'


def _index(view: ScheduleView, count: int) -> int:
    return view.source.integer(0, count - 1)


def _cache_write(view: ScheduleView) -> str:
    def sole(block: ScheduledBlock) -> list[int]:
        others = [b for b in view.blocks if b is not block and b.innermost]
        return [i for i, w in enumerate(block.node.writes) if not any(b.touches(w.source)[1] for b in others)]

    block = view.block(lambda b: b.innermost and bool(sole(b)))
    return f'sch.cache_write({block.text}, {view.source.pick(sole(block))}, "{_scope(view)}")'


def _axes(block: ScheduledBlock) -> list[str]:
    return list(_NAMES[: len(block.node.iter_vars)])


def _computes_indices(block: ScheduledBlock) -> bool:
    """Whether a quotient or a remainder is in an index of a load."""
    loads: list[Node] = []
    T.visit(block.node.body, T.TensorLoad, loads.append)
    found: list[Node] = []
    for load in loads:
        for index in load.indices:
            T.visit(index, (tirx.FloorDiv, tirx.FloorMod), found.append)
    return bool(found)


def _plain(block: ScheduledBlock) -> bool:
    """No block inside, no predicate (of which the copies would have to know), axes that can be named."""
    return 0 < len(block.node.iter_vars) <= len(_NAMES) and block.innermost and not block.guarded


def _points(view: ScheduleView, block: ScheduledBlock, *, written: bool) -> list[int]:
    """Which regions are single points made of axes of the block, in a buffer that no other block reads (or writes)."""
    variables = [v.var for v in block.node.iter_vars]
    found = []
    for number, region in enumerate(block.node.writes if written else block.node.reads):
        ones = all(isinstance(r.extent, tirx.IntImm) and int(r.extent.value) == 1 for r in region.region)
        axes = all(any(r.min.same_as(v) for v in variables) for r in region.region)
        if ones and axes and len(region.region) and view.alone(block, region.source, written=written):
            found.append(number)
    return found


def _reindex_map(view: ScheduleView, block: ScheduledBlock, region: Node) -> str:
    """A map from the axes to the indices of the cache: those that the region uses, in some order."""
    names = _axes(block)
    variables = [v.var for v in block.node.iter_vars]
    used = [n for n, v in zip(names, variables, strict=True) if any(r.min.same_as(v) for r in region.region)]
    if view.source.flip():
        used.reverse()
    return f"lambda {', '.join(names)}: ({', '.join(used)},)"


def _reindex_cache_read(view: ScheduleView) -> str:
    block = view.block(lambda b: _plain(b) and bool(_points(view, b, written=False)))
    number = view.source.pick(_points(view, block, written=False))
    made = _reindex_map(view, block, block.node.reads[number])
    return f'sch.reindex_cache_read({block.text}, {number}, "{_scope(view)}", {made})'


def _reindex_cache_write(view: ScheduleView) -> str:
    block = view.block(lambda b: _plain(b) and bool(_points(view, b, written=True)))
    number = view.source.pick(_points(view, block, written=True))
    made = _reindex_map(view, block, block.node.writes[number])
    return f'sch.reindex_cache_write({block.text}, {number}, "{_scope(view)}", {made})'


def _cache_inplace(view: ScheduleView) -> str:
    def overwrites(block: ScheduledBlock) -> list[int]:
        return [i for i, r in enumerate(block.node.reads) if any(r.source.same_as(w.source) for w in block.node.writes)]

    block = view.block(lambda b: bool(overwrites(b)) and b.innermost and not b.guarded and b.spatial)
    return f'sch.cache_inplace({block.text}, {view.source.pick(overwrites(block))}, "{_scope(view)}")'


def _cache_index(view: ScheduleView) -> str:
    block = view.block(lambda b: b.innermost and bool(b.loops) and _computes_indices(b))
    return f'sch.cache_index({block.text}, "{_scope(view)}", {view.source.pick((0, 1, 2))})'


def _reindex(view: ScheduleView) -> str:
    written = view.source.flip()
    block = view.block(lambda b: _plain(b) and bool(_points(view, b, written=written)))
    number = view.source.pick(_points(view, block, written=written))
    return f'sch.reindex({block.text}, ("{"write" if written else "read"}", {number}))'


def _read_at(view: ScheduleView) -> str:
    block, loop = view.loop(lambda b, x: _plain(b) and bool(_points(view, b, written=False)) and bool(x.extent))
    number = view.source.pick(_points(view, block, written=False))
    return f'sch.read_at({loop.text}, {block.text}, {number}, "{_scope(view)}")'


def _write_at(view: ScheduleView) -> str:
    block, loop = view.loop(
        lambda b, x: _plain(b) and b.spatial and bool(_points(view, b, written=True)) and bool(x.extent)
    )
    number = view.source.pick(_points(view, block, written=True))
    return f'sch.write_at({loop.text}, {block.text}, {number}, "{_scope(view)}")'


def _own_write(view: ScheduleView) -> ScheduledBlock:
    """A block that writes a buffer of the function's own."""
    return view.block(lambda b: b.innermost and len(b.node.writes) > 0 and view.written_local(b))


def _storage_align(view: ScheduleView) -> str:
    block = _own_write(view)
    number = _index(view, len(block.node.writes))
    rank = len(block.node.writes[number].region)
    if rank == 0:
        raise NoPlace
    axis = view.source.integer(0, rank - 1)
    factor = view.source.pick((4, 8, 16))
    return f"sch.storage_align({block.text}, {number}, {axis}, {factor}, {view.source.pick((0, 1, 2))})"


def _set_scope(view: ScheduleView) -> str:
    block = _own_write(view)
    return f'sch.set_scope({block.text}, {_index(view, len(block.node.writes))}, "{_scope(view)}")'


def _unsafe_set_dtype(view: ScheduleView) -> str:
    """A wider dtype that holds every value of the buffer: floats of the same kind, integers."""
    block = _own_write(view)
    number = _index(view, len(block.node.writes))
    wider = _WIDER.get(T.dtype_text(block.node.writes[number].source.ty.dtype))
    if wider is None or len(block.node.writes) > 1:
        raise NoPlace
    return f'sch.unsafe_set_dtype({block.text}, {number}, "{wider}")'


def _layout_map(view: ScheduleView, shape: list[int | None]) -> str:
    """A bijection of indices: a permutation, a split of a dim into two, or a flattening."""
    names = list(_NAMES[: len(shape)])
    forms = [", ".join(reversed(names))]
    for number, (name, extent) in enumerate(zip(names, shape, strict=True)):
        for factor in (2, 3, 4):
            if extent and extent % factor == 0:
                parts = [*names[:number], f"{name} // {factor}", f"{name} % {factor}", *names[number + 1 :]]
                forms.append(", ".join(parts))
    if all(shape) and len(shape) > 1:
        flat = names[0]
        for name, extent in zip(names[1:], shape[1:], strict=True):
            flat = f"({flat}) * {extent} + {name}"
        forms.append(flat)
    return f"lambda {', '.join(names)}: ({view.source.pick(forms)},)"


def _lengths(exprs: list[Expr]) -> list[int | None]:
    return [int(e.value) if isinstance(e, tirx.IntImm) else None for e in exprs]


def _transform_layout(view: ScheduleView) -> str:
    block = _own_write(view)
    number = _index(view, len(block.node.writes))
    shape = _lengths(list(block.node.writes[number].source.ty.shape))
    if not 0 < len(shape) <= len(_NAMES):
        raise NoPlace
    made, pad = _layout_map(view, shape), ""
    splits = [(axis, factor) for axis, n in enumerate(shape) for factor in (2, 3, 4) if n and n % factor]
    if splits and view.source.flip(view.knobs.schedules.padded):
        made = _padded_map(len(shape), *view.source.pick(splits))
        dtype = T.dtype_text(block.node.writes[number].source.ty.dtype)
        pad = f", pad_value={view.source.integer(0, 0 if dtype == 'bool' else 1)}"
    return f'sch.transform_layout({block.text}, ("write", {number}), {made}{pad})'


def _padded_map(rank: int, axis: int, factor: int) -> str:
    """A map of indices that splits a dim by what does not divide it."""
    names = list(_NAMES[:rank])
    parts = [*names[:axis], f"{names[axis]} // {factor}", *names[axis + 1 :], f"{names[axis]} % {factor}"]
    return f"lambda {', '.join(names)}: ({', '.join(parts)},)"


def _transform_block_layout(view: ScheduleView) -> str:
    block = view.block(lambda b: _plain(b) and len(b.loops) == len(b.node.iter_vars))
    shape = _lengths([v.dom.extent for v in block.node.iter_vars])
    return f"sch.transform_block_layout({block.text}, {_layout_map(view, shape)})"


def _annotate_buffer_access(view: ScheduleView) -> str:
    """The region that the block has: its axes, one by one."""

    def same(block: ScheduledBlock) -> bool:
        variables = [v.var for v in block.node.iter_vars]
        regions = [r.min for r in block.node.writes[0].region] if len(block.node.writes) else []
        return len(regions) == len(variables) and all(a.same_as(b) for a, b in zip(regions, variables, strict=True))

    block = view.block(lambda b: _plain(b) and not b.reduces and same(b))
    names = ", ".join(_axes(block))
    return f'sch.annotate_buffer_access({block.text}, 0, "write", lambda {names}: ({names},))'


def _sample_perfect_tile(view: ScheduleView) -> str:
    _, loop = view.loop(lambda b, x: x.serial and (x.extent or 0) > 0)
    assert loop.extent is not None
    inner = view.source.pick([f for f in (1, 2, 4, 3, 5, 8) if loop.extent % f == 0])
    tiles = f"sch.sample_perfect_tile({loop.text}, 2, decision=[{loop.extent // inner}, {inner}])"
    return f"sch.split({loop.text}, factors={tiles})"


def _sample_partitioned_tile(view: ScheduleView) -> str:
    _, loop = view.loop(lambda b, x: x.serial and (x.extent or 0) > 0 and (x.extent or 0) % 2 == 0)
    assert loop.extent is not None
    decision = [loop.extent // 2, 2]
    tiles = f"sch.sample_partitioned_tile({loop.text}, 2, 1, 2, decision={decision})"
    return f"sch.split({loop.text}, factors={tiles})"


def _sample_categorical(view: ScheduleView) -> str:
    _, loop = view.loop(lambda b, x: "pragma_auto_unroll_max_step" not in x.node.annotations)
    chosen = f"sch.sample_categorical([0, 4, 16], [0.25, 0.5, 0.25], decision={view.source.integer(0, 2)})"
    return f'sch.annotate({loop.text}, "pragma_auto_unroll_max_step", {chosen})'


def _sample_compute_location(view: ScheduleView) -> str:
    """The root, so that compute_at leaves the block where it is; other locations are the business of compute_at."""
    block = view.block(lambda b: b.innermost and view.written_local(b) and bool(b.loops))
    where = f"sch.sample_compute_location({block.text}, decision={view.source.pick((-1, 0, 1))})"
    return f"sch.compute_at({block.text}, {where})"


CACHE_ROWS = (
    Primitive("cache_read", _cache_read, "a copy that is read instead", 5),
    Primitive("cache_write", _cache_write, "a copy that is written first", 4),
    Primitive("reindex_cache_read", _reindex_cache_read, "a copy under other indices", 2),
    Primitive("reindex_cache_write", _reindex_cache_write, "a copy under other indices", 2),
    Primitive(
        "cache_inplace",
        _cache_inplace,
        "a copy that is overwritten and copied back",
        3,
        plants=("pointwise", "whole_update"),
    ),
    Primitive("cache_index", _cache_index, "indices computed before they are used", 2, plants=("divided",)),
    Primitive("reindex", _reindex, "a copy indexed by the block's axes", 3),
    Primitive("read_at", _read_at, "the region that is read is copied first", 2),
    Primitive("write_at", _write_at, "the region that is written is copied back", 2),
    Primitive(
        "storage_align", _storage_align, "where rows begin, not their contents", 2, plants=("pointwise", "pointwise")
    ),
    Primitive("set_scope", _set_scope, "where a buffer lies", 2, plants=("pointwise", "pointwise")),
    Primitive(
        "unsafe_set_dtype",
        _unsafe_set_dtype,
        "wider dtypes only, which hold every value",
        2,
        rounds=True,
        plants=("pointwise", "pointwise"),
    ),
    Primitive(
        "transform_layout",
        _transform_layout,
        "bijections; padding is written and never read",
        4,
        plants=("pointwise", "pointwise"),
    ),
    Primitive("transform_block_layout", _transform_block_layout, "bijections of the axes", 3),
    Primitive(
        "annotate_buffer_access",
        _annotate_buffer_access,
        "the region that the block has already",
        1,
        plants=("pointwise",),
    ),
    Primitive("sample_perfect_tile", _sample_perfect_tile, "gives split its factors; the decision is drawn", 1),
    Primitive("sample_partitioned_tile", _sample_partitioned_tile, "as sample_perfect_tile", 1),
    Primitive("sample_categorical", _sample_categorical, "gives annotate its value; the decision is drawn", 1),
    Primitive(
        "sample_compute_location",
        _sample_compute_location,
        "gives compute_at its loop; the decision is drawn",
        2,
        plants=("pointwise", "pointwise"),
    ),
)

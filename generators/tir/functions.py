"""Whole PrimFuncs of blocks: inputs, stages, the root block, the module around it, and the arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import tvm
from tvm import s_tir, tirx

from generators import tvm_api
from generators.arrays import draw_array
from generators.dtypes import Array, Scalar, is_float, numpy_dtype
from generators.ranges import Range
from generators.source import Source, favour, weighted
from generators.tir.function_draft import DraftTensor, Extent, FunctionDraft, Layout, Symbol, Unfit, input_range
from generators.tir.knobs import DEFAULT, SCHEDULABLE, SYMBOL_LIMIT, TirKnobs, for_dead
from generators.tir.likewise import draw_likewise
from generators.tir.nested_blocks import draw_halves, draw_row_block, draw_tiles, draw_whole_update
from generators.tir.opaque import draw_statements
from generators.tir.prim_program import PrimParameter, PrimProgram, blank
from generators.tir.reductions import draw_argmax, draw_bias, draw_matmul, draw_reduction, draw_window
from generators.tir.root_block import rooted
from generators.tir.site import sequence
from generators.tir.stages import (
    draw_apart,
    draw_copy,
    draw_divided,
    draw_in_place,
    draw_padding,
    draw_pointwise,
    draw_reshape,
    draw_scan,
    draw_special,
)
from generators.tir.swarm import Unusual
from generators.tvm_api import PrimFunc, Stmt

STAGES: Mapping[str, Callable[[FunctionDraft], None]] = MappingProxyType(
    {
        "pointwise": draw_pointwise,
        "reduction": draw_reduction,
        "matmul": draw_matmul,
        "bias": draw_bias,
        "window": draw_window,
        "padding": draw_padding,
        "copy": draw_copy,
        "reshape": draw_reshape,
        "argmax": draw_argmax,
        "tiles": draw_tiles,
        "row_block": draw_row_block,
        "in_place": draw_in_place,
        "whole_update": draw_whole_update,
        "scan": draw_scan,
        "halves": draw_halves,
        "divided": draw_divided,
        "apart": draw_apart,
        "likewise": draw_likewise,
    }
)
"""Every kind of stage by name."""
_WEIGHTS = (
    ("pointwise", 10),
    ("reduction", 5),
    ("matmul", 4),
    ("bias", 4),
    ("window", 3),
    ("padding", 2),
    ("copy", 2),
    ("reshape", 2),
    ("argmax", 1),
    ("tiles", 1),
    ("row_block", 1),
    ("in_place", 1),
    ("whole_update", 1),
    ("scan", 1),
    ("halves", 1),
    ("likewise", 4),
)
NO_ATTRIBUTES: Mapping[str, object] = MappingProxyType({})
_SPECIALS = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.0, -1.0)


def draw_prim_func(source: Source, knobs: TirKnobs = DEFAULT) -> PrimProgram:
    """A random well-formed PrimFunc with exact arguments: in bounds, terminating, without undefined results."""
    opaque = source.flip(knobs.forms.opaque)
    draft = begun(source, knobs)
    if opaque:
        draw_statements(draft)
        if Unusual.ROOT in draft.unusual and source.flip(knobs.forms.rooted):
            draft.statements = [rooted(draft)]
    else:
        _draw_stages(draft)
    return finished(draft, schedulable=not opaque)


def draw_dead_function(source: Source, knobs: TirKnobs = DEFAULT) -> PrimFunc:
    """A private PrimFunc without callers: of any kind, with few statements."""
    return draw_prim_func(source, for_dead(knobs)).func.without_attr("global_symbol")


def draw_schedulable(source: Source, knobs: TirKnobs = SCHEDULABLE) -> PrimProgram:
    """A random PrimFunc of blocks, as `draw_prim_func` draws most, for schedules."""
    draft = begun(source, knobs)
    _draw_stages(draft)
    return finished(draft, schedulable=True)


def draw_planted(source: Source, stages: Sequence[str], knobs: TirKnobs = SCHEDULABLE) -> PrimProgram:
    """The same with these stages one after another, each of which reads what the one before has written, where it can;
    some other stages before and after. Raises Unfit where they do not fit what was drawn before them."""
    draft = begun(source, knobs)
    for _ in range(source.integer(0, 1)):
        draw_one(draft)
    chained = replace(knobs, blocks=replace(knobs.blocks, newest=1.0, output=0.0))
    if source.flip(knobs.schedules.plain_loops):
        chained = replace(chained, block_loops=replace(knobs.block_loops, shaped=0.0, kind=0.0, annotated=0.0))
    more = source.integer(0, 1)
    draft.knobs = chained
    for number, name in enumerate(stages, 1):
        draft.final = number == len(stages) and not more
        STAGES[name](draft)
    draft.knobs = knobs
    for _ in range(more):
        draft.final = True
        draw_one(draft)
    _finish_stages(draft)
    return finished(draft, schedulable=True)


def begun(source: Source, knobs: TirKnobs) -> FunctionDraft:
    """A function with its inputs."""
    draft = FunctionDraft(source, knobs)
    draft.dtype = weighted(source, knobs.dtypes)
    symbolic = source.flip(knobs.forms.symbolic)
    draft.index_dtype = "int64" if symbolic or source.flip() else "int32"
    if symbolic:
        for name in ("n", "m")[: favour(source, 1, 2)]:
            value = source.pick((4, 5, 7, 8, 1, 3, 0))
            draft.symbols[name] = Symbol(
                tirx.Var(name, "int64"), value, parameter=source.flip(draft.knobs.inputs.symbol_parameter)
            )
        draft.features.add("symbolic")
    _draw_inputs(draft)
    return draft


def _draw_inputs(draft: FunctionDraft) -> None:
    source = draft.source
    dims: list[Extent] = [draft.symbolic(name) for name in draft.symbols]
    rank = weighted(source, draft.knobs.inputs.ranks)
    while len(dims) < rank and _count(dims) <= draft.knobs.max_elements // 4:
        dims.append(draft.draw_extent())
    if source.flip():
        dims.reverse()
    while _count(dims) > draft.knobs.max_elements:
        dims[dims.index(max(dims, key=lambda d: d.high if d.static else 0))] = draft.extent(2)
    _add_input(draft, tuple(dims), draft.dtype)
    for _ in range(source.integer(0, 2)):
        kept = tuple(d for d in dims if source.flip(draft.knobs.inputs.dim_kept))
        _add_input(draft, kept, draft.draw_dtype())
    if source.flip(draft.knobs.inputs.positions):
        _add_input(draft, tuple(dims[:1]), source.pick(("int32", "int64")))
    floats = [d for d in ("float32", "float16", "float64") if source.flip(draft.knobs.inputs.special)]
    for dtype in floats:
        values = Range(-1, 1, True)
        draft.add_tensor("Z", tuple(dims), dtype, values, role="input", special=True)
    draft.features |= {f"extent_{d.text}" for d in dims if d.text in ("0", "1")}


def _count(dims: list[Extent]) -> int:
    count = 1
    for dim in dims:
        count *= max(dim.high, 1)
    return count


def _add_input(draft: FunctionDraft, dims: tuple[Extent, ...], dtype: str) -> None:
    """A parameter; in 5 % of the cases each with an offset and with strides that are the caller's."""
    layout: Layout = {}
    if dims and draft.source.flip(draft.knobs.inputs.offset):
        layout["elem_offset"] = tirx.Var(draft.new_name("off"), draft.index_dtype)
        layout["offset_factor"] = 1
        draft.features.add("elem_offset")
    if dims and draft.source.flip(draft.knobs.inputs.strides):
        layout["strides"] = [tirx.Var(draft.new_name("s"), draft.index_dtype) for _ in dims]
        draft.features.add("symbolic_strides")
    values, fraction = input_range(draft, dtype), 0
    if is_float(dtype) and draft.source.flip(draft.knobs.inputs.fraction):
        fraction = draft.source.integer(1, 2)
        values = Range(values.low, values.high)
        draft.features.add("fractions")
    draft.add_tensor("A", dims, dtype, values, fraction=fraction, role="input", **layout)


def _draw_stages(draft: FunctionDraft) -> None:
    count = draft.source.integer(*draft.knobs.stages)
    for number in range(count):
        draft.final = number == count - 1
        draw_one(draft)
    _finish_stages(draft)


def _finish_stages(draft: FunctionDraft) -> None:
    """The outputs, and what reads special values."""
    if not any(t.role == "output" for t in draft.tensors):
        draw_pointwise(draft)
    if any(t.special for t in draft.tensors):
        draw_special(draft)
    draft.tensors = [_shown(draft, tensor) for tensor in draft.tensors]


def _shown(draft: FunctionDraft, tensor: DraftTensor) -> DraftTensor:
    """The tensor as an output, in most cases where nothing reads it: otherwise a wrong value would not be seen."""
    plain = tensor.role == "local" and not tensor.buffer.strides and str(tensor.buffer.scope()) == "global"
    if not plain or tensor.name in draft.read or not draft.source.flip(draft.knobs.blocks.unread_shown):
        return tensor
    return replace(tensor, role="output")


def draw_one(draft: FunctionDraft) -> None:
    """One stage; an elementwise one where the drawn kinds do not fit."""
    for _ in range(draft.knobs.blocks.tries):
        stage = STAGES[weighted(draft.source, _WEIGHTS)]
        before = draft.state()
        try:
            stage(draft)
        except Unfit:
            draft.go_back(before)
            continue
        return
    draw_pointwise(draft)


def finished(
    draft: FunctionDraft, *, schedulable: bool, attributes: Mapping[str, object] = NO_ATTRIBUTES
) -> PrimProgram:
    """The module with the function, which has these attributes besides, and the arguments."""
    scalars = [s for s in draft.symbols.values() if s.parameter]
    inputs = [t for t in draft.tensors if t.role == "input"]
    outputs = [t for t in draft.tensors if t.role == "output"]
    params = [*(t.buffer for t in inputs), *(s.var for s in scalars), *(t.buffer for t in outputs)]
    func = tvm_api.prim_func(params, _body(draft) if schedulable else sequence(*draft.statements))
    noalias = {"tirx.noalias": True} if draft.source.flip(draft.knobs.inputs.noalias) else {}
    loops_alone = not schedulable and "loops_in_a_block" not in draft.features
    of_tirx = loops_alone and draft.source.flip(draft.knobs.forms.of_tirx)
    dialect = {} if of_tirx else {"s_tir": True}
    draft.features |= {"of_tirx"} if of_tirx else set()
    functions = {"main": func.with_attr({"global_symbol": "main", **dialect, **noalias, **attributes})}
    if draft.source.flip(draft.knobs.forms.dead):
        functions["unused"] = draw_dead_function(draft.source, draft.knobs)
        draft.features.add("dead_function")
    draft.features |= {f"dtype_{t.dtype}" for t in draft.tensors}
    draft.features.add("sblocks" if schedulable else "opaque_function")
    if draft.index_dtype == "int32":
        draft.features.add("int32_index")
    if scalars:
        draft.features.add("scalar_parameter")
    numbers = {name: symbol.value for name, symbol in draft.symbols.items()}
    limit = Range(0, SYMBOL_LIMIT, True)
    parameters = [
        *(_parameter(t) for t in inputs),
        *(PrimParameter(str(s.var.name), "int64", None, "input", limit) for s in scalars),
        *(_parameter(t) for t in outputs),
    ]
    arguments: list[Array | Scalar] = [
        *(_argument(draft.source, t) for t in inputs),
        *(s.value for s in scalars),
        *(_argument(draft.source, t) for t in outputs),
    ]
    return PrimProgram(
        tvm.IRModule(functions),
        "main",
        tuple(parameters),
        tuple(arguments),
        numbers,
        {t.name: t.range for t in draft.tensors},
        draft.exact,
        schedulable,
        frozenset(draft.features),
    )


def _parameter(tensor: DraftTensor) -> PrimParameter:
    return PrimParameter(tensor.name, tensor.dtype, tuple(d.text for d in tensor.dims), tensor.role, tensor.range)


def _body(draft: FunctionDraft) -> Stmt:
    """The statements in the root block, which allocates all tensors that are no parameters."""
    local = [t.buffer for t in draft.tensors if t.role == "local"]
    root = s_tir.SBlock([], [], [], "root", sequence(*draft.statements), None, local)
    return s_tir.SBlockRealize([], True, root)


def _argument(source: Source, tensor: DraftTensor) -> Array:
    """An array for the parameter."""
    if tensor.role == "output":
        return blank(tensor.shape, tensor.dtype)
    seed = source.array_seed()
    if tensor.special and is_float(tensor.dtype):
        values = (*_SPECIALS, float(np.finfo(tensor.dtype).smallest_subnormal), float(np.finfo(tensor.dtype).max))
        drawn = np.random.default_rng(seed).choice(np.array(values, dtype="float64"), tensor.shape)
        return np.asarray(drawn).astype(numpy_dtype(tensor.dtype))
    if not tensor.fraction:
        return draw_array(seed, tensor.shape, tensor.dtype, tensor.range)
    parts = 2**tensor.fraction
    numbers = draw_array(seed, tensor.shape, "int64", Range(tensor.range.low * parts, tensor.range.high * parts, True))
    return np.asarray(numbers / parts).astype(numpy_dtype(tensor.dtype))

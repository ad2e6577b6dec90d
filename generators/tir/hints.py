"""Hints: annotations and attributes that a PrimFunc may carry without computing anything else, with values as TVM's own
code writes them. Drawn PrimFuncs get those that a pass looks for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import tvm_ffi
from tvm import s_tir, tirx

from generators import tvm_api
from generators.program import Program
from generators.source import Source
from generators.tir.knobs import DEFAULT
from generators.tvm_api import Node, PrimFunc

_FRAGMENTS = ("wmma.", "m16n8k8.")
"""Scopes of fragments begin so (runtime/thread_storage_scope.h)."""
HintValue: TypeAlias = Callable[[Source, Node], object]
"""A value for a hint on a node; None where the node takes none."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What may carry it, blocks, loops or the function, and its values there."""

    kind: type
    value: HintValue


def _alignment(source: Source, block: Node) -> object:
    """Strides of a buffer that the block writes, as storage_align says: [number of the write, dim, factor, offset].

    Fragments of tensor cores have no strides: where their elements lie is the hardware's business, and a row that
    CompactBufferAllocation makes longer is no part of a tile."""
    written = [
        (number, len(region.region))
        for number, region in enumerate(block.writes)
        if len(region.region) and not region.source.scope().startswith(_FRAGMENTS)
    ]
    if not written:
        return None
    number, rank = source.pick(written)
    return [[number, source.integer(0, rank - 1), source.pick((2, 4, 8, 16)), source.integer(0, 2)]]


def _weights(source: Source, function: PrimFunc) -> object:
    """Numbers of parameters whose layout is free: of buffers that nothing writes."""
    stored: set[Node] = set()
    tvm_api.visit(function.body, tirx.BufferStore, lambda store: stored.add(store.buffer))
    buffers = [isinstance(one, tvm_api.Buffer) and one not in stored for one in tvm_api.parameters_of(function)]
    read = [number for number, is_read in enumerate(buffers) if is_read]
    return [number for number in read if source.flip()] or read[:1] or None


def _one_of(*values: object) -> HintValue:
    return lambda source, node: source.pick(values)


def _regular(*values: object) -> HintValue:
    """Nothing jumps out of loops that have such a hint (AnnotateIrregularLoop)."""
    return lambda source, loop: None if tvm_api.jumps(loop.body) else source.pick(values)


_EXTENT = _one_of(1, 4, 16, 32, 64)
HINTS: Mapping[str, Hint] = {
    "buffer_dim_align": Hint(s_tir.SBlock, _alignment),
    "meta_schedule.cooperative_fetch": Hint(s_tir.SBlock, _one_of(1, 2, 4)),
    "meta_schedule.inline_rule": Hint(s_tir.SBlock, _one_of("disable")),
    "meta_schedule.parallel": Hint(s_tir.SBlock, _EXTENT),
    "meta_schedule.random_compute_producer": Hint(s_tir.SBlock, _one_of(1)),
    "meta_schedule.thread_extent_high_inclusive": Hint(s_tir.SBlock, _EXTENT),
    "meta_schedule.thread_extent_low_inclusive": Hint(s_tir.SBlock, _EXTENT),
    "meta_schedule.tiling_structure": Hint(s_tir.SBlock, _one_of("SSRSRS", "SSSRRSRS")),
    "meta_schedule.unroll_explicit": Hint(s_tir.SBlock, _EXTENT),
    "meta_schedule.unroll_implicit": Hint(s_tir.SBlock, _EXTENT),
    "meta_schedule.vectorize": Hint(s_tir.SBlock, _EXTENT),
    "pragma_auto_unroll_max_step": Hint(tirx.For, _regular(0, 1, 4, 8, 16, 64)),
    "pragma_unroll_explicit": Hint(tirx.For, _regular(0, 1)),
    "layout_free_buffers": Hint(tirx.PrimFunc, _weights),
}
"""By name (constants of include/tvm/s_tir/stmt.h and include/tvm/tirx/stmt.h)."""


def with_hints(source: Source, program: Program, names: Collection[str]) -> Program:
    """The program with these hints on some of what may carry them in its PrimFuncs. KeyError for an unknown name."""
    hints = {name: HINTS[name] for name in sorted(names)}
    module = program.module
    functions = {
        gvar: _hinted(source, function, hints) if isinstance(function, tirx.PrimFunc) else function
        for gvar, function in module.functions.items()
    }
    return replace(program, module=tvm_api.replace_functions(module, functions))


def _hinted(source: Source, function: PrimFunc, hints: Mapping[str, Hint]) -> PrimFunc:
    def block(node: Node) -> Node:
        return annotated_block(node, _drawn(source, node, hints))

    def loop(node: Node) -> Node:
        notes = {**node.annotations, **_drawn(source, node, hints)}
        return tvm_api.with_fields(node, annotations=notes)

    body = tvm_ffi.structural_map(function.body, [(s_tir.SBlock, block), (tirx.For, loop)])
    return function.with_body(body).with_attrs(_drawn(source, function, hints))


def annotated_block(block: Node, notes: Mapping[str, object]) -> Node:
    """The block with these annotations besides its own."""
    return tvm_api.with_fields(block, annotations={**block.annotations, **notes})


def _drawn(source: Source, node: Node, hints: Mapping[str, Hint]) -> dict[str, object]:
    """Hints of the kinds that this node may carry, some of them."""
    values = {
        name: hint.value(source, node)
        for name, hint in hints.items()
        if isinstance(node, hint.kind) and source.flip(DEFAULT.hints)
    }
    return {name: value for name, value in values.items() if value is not None}

"""Plain loops inside of a block: functions between those of sblocks and those of loops alone."""

from __future__ import annotations

import tvm
from tvm import s_tir, tirx

from generators import tvm_api
from generators.tir.function_draft import DraftTensor, FunctionDraft
from generators.tir.site import sequence
from generators.tvm_api import Node, Stmt


def rooted(draft: FunctionDraft) -> Stmt:
    """The draft's statements, loops without blocks, in the root block, or in a block of their own there, as `te.extern`
    has them."""
    body = sequence(*draft.statements)
    if draft.source.flip(draft.knobs.loops.unit_loop):
        body = tirx.For(tirx.Var(draft.new_name("i"), draft.index_dtype), draft.number(0), draft.number(1), 0, body)
    if draft.source.flip():
        reads = [_whole(t) for t in draft.tensors if t.role in ("input", "output")]
        writes = [_whole(t) for t in draft.tensors if t.role == "output"]
        body = s_tir.SBlockRealize([], True, s_tir.SBlock([], reads, writes, draft.new_name("loops"), body))
    draft.features.add("loops_in_a_block")
    return s_tir.SBlockRealize([], True, s_tir.SBlock([], [], [], "root", body))


def _whole(tensor: DraftTensor) -> Node:
    """All of a buffer, as a region."""
    starts = [tirx.IntImm(tvm_api.dtype_text(d.expr.ty.dtype), 0) for d in tensor.dims]
    ranges = [tvm.ir.Range.from_min_extent(start, d.expr) for start, d in zip(starts, tensor.dims, strict=True)]
    return tirx.BufferRegion(tensor.buffer, ranges)

"""PrimFuncs with nodes replaced: empty statements go, and blocks declare no buffers that they have lost.

What is still ill-formed is TVM's to refuse. Worker processes only (imports tvm).
"""

from __future__ import annotations

from collections.abc import Mapping

import tvm
import tvm_ffi
from tvm import s_tir, tirx

from corpus.reduce.draft import COMPOUND_TIR, VAR
from generators import tvm_api as T
from oracles.ir.walk import nodes_of

OPERATOR_NAME = "operator_name"
_BUFFERS = (VAR, T.TensorLoad)
NOTHING = tirx.Evaluate(tirx.IntImm("int32", 0))
"""The statement that does nothing."""


def rebuilt(function: T.PrimFunc, nodes: Mapping[T.Node, T.Node]) -> T.PrimFunc:
    """The PrimFunc with `nodes` replaced in its body, and itself where it has none. An error of TVM's when the result
    is not well-formed."""
    kinds = (tirx.Stmt, VAR, *COMPOUND_TIR)
    mapped = tvm_ffi.structural_map(function.body, [(kinds, lambda node: nodes.get(node, node))], order="pre")
    body = tvm_ffi.structural_map(mapped, [(tirx.SeqStmt, without_empty)])
    if body.same_as(function.body):
        return function
    pairs = [(old, new) for old, new in nodes.items() if isinstance(old, tirx.For) and isinstance(new, tirx.For)]
    extents = {new.loop_var: new.extent for old, new in pairs if not new.extent.same_as(old.extent)}
    if extents:
        body = tvm_ffi.structural_map(body, [(s_tir.SBlockRealize, lambda realize: _as_long(realize, extents))])
    declared = tvm_ffi.structural_map(body, [(s_tir.SBlock, tidied)])
    return verified(function.with_body(declared))


def verified(function: T.PrimFunc) -> T.PrimFunc:
    """The PrimFunc itself. An error of TVM's when it is not well-formed."""
    has_sblocks = bool(function.attrs and function.attrs.get("s_tir", False))
    (tvm.s_tir if has_sblocks else tirx).analysis.verify_well_formed(function)
    return function


def named_operators(module: T.IRModule) -> frozenset[tuple[str, int]]:
    """The PrimFuncs that say by the attribute `operator_name` what they compute, as the name and a hash of the rest.

    AlterOpImpl replaces them by their name alone, so that one with another body or other buffers is misused.
    """
    named = [f for f in module.functions.values() if isinstance(f, tirx.PrimFunc) and f.attrs]
    named = [function for function in named if OPERATOR_NAME in function.attrs]
    return frozenset(
        (str(f.attrs[OPERATOR_NAME]), hash(T.structural_hash(T.prim_func(T.parameters_of(f), f.body)))) for f in named
    )


def is_empty(statement: T.Stmt) -> bool:
    """Whether a statement does nothing."""
    return isinstance(statement, tirx.Evaluate) and isinstance(statement.value, tirx.IntImm)


def without_empty(sequence: tirx.SeqStmt) -> T.Stmt:
    """The sequence without statements that do nothing; its only one where one is left."""
    kept = [statement for statement in sequence.seq if not is_empty(statement)]
    if len(kept) == len(sequence.seq):
        return sequence
    return tirx.SeqStmt(kept) if len(kept) > 1 else kept[0] if kept else NOTHING


def _as_long(realize: s_tir.SBlockRealize, extents: Mapping[T.Var, T.Expr]) -> s_tir.SBlockRealize:
    """The block with axes as long as the loops that they are bound to, which are of these extents by now."""
    block = realize.block
    axes = [
        tirx.IterVar(tvm.ir.Range.from_min_extent(axis.dom.min, extents[value]), axis.var, axis.iter_type)
        if isinstance(value, VAR) and value in extents
        else axis
        for axis, value in zip(block.iter_vars, realize.iter_values, strict=True)
    ]
    if all(new.same_as(old) for new, old in zip(axes, block.iter_vars, strict=True)):
        return realize
    return s_tir.SBlockRealize(realize.iter_values, realize.predicate, T.with_fields(block, iter_vars=axes))


def tidied(block: s_tir.SBlock) -> s_tir.SBlock:
    """The block without an empty start, and without declared reads and writes of buffers that do not occur in it
    (any more): see `oracles.ir.regions`."""
    if block.init is not None and is_empty(block.init):
        block = T.with_fields(block, init=None)
    inside = [part for part in (block.body, block.init) if part is not None]
    loaded = {load.source for part in inside for load in nodes_of(part, T.TensorLoad)}
    stored = {store.buffer for part in inside for store in nodes_of(part, tirx.BufferStore)}
    inner = [match for part in inside for each in nodes_of(part, s_tir.SBlock) for match in each.match_buffers]
    for match in (*block.match_buffers, *inner):
        (loaded if match.buffer in loaded else set()).add(match.source.source)
        (stored if match.buffer in stored else set()).add(match.source.source)
    # What a call is given, itself or by the address of an element, it may read and write.
    given = [argument for part in inside for call in nodes_of(part, T.Call) for argument in call.args]
    passed = {each.source if isinstance(each, T.TensorLoad) else each for each in given if isinstance(each, _BUFFERS)}
    reads = [region for region in block.reads if region.source in loaded | stored | passed]
    writes = [region for region in block.writes if region.source in stored | passed]
    if len(reads) == len(block.reads) and len(writes) == len(block.writes):
        return block
    return T.with_fields(block, reads=reads, writes=writes)

"""Passes over PrimFuncs that keep what a PrimFunc computes and how it is called. They are in no row of the pass table.

Simplifications and normal forms beside the official pipelines. Left out on purpose: what relies on promises of the user
(UseAssumeToReduceBranches, RemoveWeightLayoutRewriteBlock, RemoveStoreUndef), what adds calls of a runtime
(Instrument*), and what is about one kind of GPU.
"""

from __future__ import annotations

KEEP_MEANING = frozenset(
    {
        *("s_tir.HoistExpression", "tirx.ConvertSSA", "tirx.ForceNarrowIndexToInt32"),
        *("tirx.InlinePrivateFunctions", "tirx.PointerValueTypeRewrite"),
    }
)
"""The names that the passes give themselves."""


def constructor(name: str) -> str:
    """How a pass with this name is constructed without arguments; "" for passes that are not over PrimFuncs."""
    dialect, _, rest = name.partition(".")
    return f"tvm.{dialect}.transform.{rest}()" if dialect in ("s_tir", "tirx") and rest.isidentifier() else ""

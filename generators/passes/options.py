"""What TIR passes read from the PassContext, and the values of it that are drawn."""

from __future__ import annotations

_SIMPLIFY = tuple(
    f"{{'tirx.StmtSimplify': {{'{flag}': True}}}}"
    for flag in (
        "transitively_prove_inequalities",
        "convert_boolean_to_and_of_ors",
        "apply_constraints_to_boolean_branches",
    )
)
OPTIONS: dict[str, tuple[str, ...]] = {
    "s_tir.StmtSimplify": _SIMPLIFY,
    "tirx.StmtSimplify": _SIMPLIFY,
    "s_tir.LoopPartition": (
        "{'s_tir.LoopPartition': {'partition_const_loop': True}}",
        "{'s_tir.LoopPartition': {'partition_const_loop': True, 'no_unroll_loop_with_extent_one': True}}",
        "{'s_tir.LoopPartition': {'partition_const_loop': True, 'unroll_loop_with_partition_hint_no_interval': True}}",
    ),
    "s_tir.HoistIfThenElse": ("{'s_tir.HoistIfThenElse': {'support_block_scope_hoisting': True}}",),
    "s_tir.HoistExpression": (
        "{'s_tir.HoistExpression': {'hoisted_conditionals': 15, 'hoisted_let_bindings': 7}}",
        "{'s_tir.HoistExpression': {'hoisted_conditionals': 0, 'hoisted_let_bindings': 2}}",
        "{'s_tir.HoistExpression': {'hoisted_conditionals': 2, 'hoisted_let_bindings': 0}}",
    ),
    "s_tir.InjectDoubleBuffer": ("{'s_tir.InjectDoubleBuffer': {'split_loop': 2}}",),
    "tirx.UnrollLoop": (
        "{'tirx.UnrollLoop': {'auto_max_step': 64}}",
        "{'tirx.UnrollLoop': {'auto_max_step': 64, 'auto_max_depth': 2, 'explicit_unroll': False}}",
        "{'tirx.UnrollLoop': {'auto_max_extent': 4, 'unroll_local_access': True}}",
    ),
    "tirx.VectorizeLoop": ("{'tirx.enable_buffer_level_predication': True}",),
}
"""By the name of the pass, configurations as Python text."""

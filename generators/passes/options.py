"""What passes read from the PassContext: values of options that are drawn, as dicts in Python text."""

from __future__ import annotations

SIMPLIFY = tuple(
    f"{{'tirx.StmtSimplify': {{'{flag}': True}}}}"
    for flag in (
        "transitively_prove_inequalities",
        "convert_boolean_to_and_of_ors",
        "apply_constraints_to_boolean_branches",
    )
)
PARTITION = (
    "{'s_tir.LoopPartition': {'partition_const_loop': True}}",
    "{'s_tir.LoopPartition': {'partition_const_loop': True, 'no_unroll_loop_with_extent_one': True}}",
    "{'s_tir.LoopPartition': {'partition_const_loop': True, 'unroll_loop_with_partition_hint_no_interval': True}}",
)
HOIST_CONDITIONS = ("{'s_tir.HoistIfThenElse': {'support_block_scope_hoisting': True}}",)
HOIST_EXPRESSIONS = (
    "{'s_tir.HoistExpression': {'hoisted_conditionals': 15, 'hoisted_let_bindings': 7}}",
    "{'s_tir.HoistExpression': {'hoisted_conditionals': 0, 'hoisted_let_bindings': 2}}",
    "{'s_tir.HoistExpression': {'hoisted_conditionals': 2, 'hoisted_let_bindings': 0}}",
)
DOUBLE_BUFFER = tuple(f"{{'s_tir.InjectDoubleBuffer': {{'split_loop': {factor}}}}}" for factor in (2, 4, 0))
MERGE_STATIC = ("{'tirx.merge_static_smem': True}",)
UNROLL = (
    "{'tirx.UnrollLoop': {'auto_max_step': 64}}",
    "{'tirx.UnrollLoop': {'auto_max_step': 64, 'auto_max_depth': 2, 'explicit_unroll': False}}",
    "{'tirx.UnrollLoop': {'auto_max_extent': 4, 'unroll_local_access': True}}",
)
VECTORIZE = ("{'tirx.enable_buffer_level_predication': True}",)

CUDA_GRAPH = ("{'relax.backend.use_cuda_graph': True}",)
FUSE_DEPTH = tuple(f"{{'relax.FuseOps.max_depth': {depth}}}" for depth in (1, 2, 3, 5))
CONSUME_PARAMS = ("{'relax.lift_transform_params.consume_params': True}",)

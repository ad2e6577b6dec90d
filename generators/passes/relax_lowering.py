"""The passes that the official pipelines are made of, from operators to what the VM code generator takes."""

from __future__ import annotations

from generators.passes.phases import CALL_TIR, HIGH, span
from generators.passes.row import Meaning, PassRow, Phase

_SCHEDULED = frozenset({Phase.LEGAL, Phase.ANNOTATED, Phase.FUSED})

DISPATCH_ROWS = (
    PassRow(
        "DispatchSampling",
        ("relax.backend.DispatchSampling()",),
        HIGH,
        "python/tvm/relax/backend/dispatch_sampling.py: multinomial by cumsum and search",
        meaning=Meaning.ROUNDED,
        needs_target=True,
        recipes=("multinomial",),
    ),
    PassRow(
        "DispatchSortScan",
        ("relax.backend.DispatchSortScan()", "relax.backend.DispatchSortScan(index_bits=32)"),
        HIGH,
        "python/tvm/relax/backend/dispatch_sort_scan.py: sort, argsort, topk, cumsum, cumprod, bucketize",
        meaning=Meaning.ROUNDED,
        needs_target=True,
        recipes=("sort_scan",),
    ),
)

CALL_TIR_ROWS = (
    PassRow(
        "LegalizeOps",
        ("relax.transform.LegalizeOps()", "relax.transform.LegalizeOps(customize_legalize_map={}, skip_ops=[])"),
        HIGH,
        "src/relax/transform/legalize_ops.cc: operators become PrimFuncs from TOPI, each by its own algorithm",
        gives=Phase.LEGAL,
        meaning=Meaning.ROUNDED,
        recipes=("symbolic_shapes", "elementwise_chain", "conv2d_chain"),
    ),
    PassRow(
        "AnnotateTIROpPattern",
        ("relax.transform.AnnotateTIROpPattern()",),
        frozenset({Phase.LEGAL}),
        "src/relax/transform/annotate_tir_op_pattern.cc: adds the attribute op_pattern",
        gives=Phase.ANNOTATED,
        recipes=("injective_then_reduce",),
    ),
    PassRow(
        "FoldConstant",
        ("relax.transform.FoldConstant()",),
        frozenset({Phase.LEGAL, Phase.ANNOTATED, Phase.HIGH}),
        "src/relax/transform/fold_constant.cc: evaluates with LLVM at compile time; #20192",
        meaning=Meaning.ROUNDED,
        recipes=("constant_subexpressions", "duplicate_constants"),
        wants=("constants",),
    ),
    PassRow(
        "FuseOps",
        (
            "relax.transform.FuseOps()",
            "relax.transform.FuseOps(fuse_opt_level=0)",
            "relax.transform.FuseOps(fuse_opt_level=1)",
            "relax.transform.FuseOps(fuse_opt_level=2)",
        ),
        frozenset({Phase.ANNOTATED}),
        "src/relax/transform/fuse_ops.cc: groups bindings into private functions with Primitive",
        gives=Phase.GROUPED,
        recipes=("elementwise_chain", "injective_then_reduce", "diamond", "tuple_bound", "match_cast_defines_symbol"),
        idempotent=False,
        notes="drops dead bindings behind the fusion, so that a second application finds less in its way",
    ),
    PassRow(
        "FuseTIR",
        ("relax.transform.FuseTIR()",),
        frozenset({Phase.GROUPED}),
        "src/relax/transform/fuse_tir.cc: one PrimFunc per group, the same arithmetic",
        gives=Phase.FUSED,
        recipes=("elementwise_chain", "injective_then_reduce", "diamond", "tuple_bound", "symbolic_shapes"),
        keeps_functions=False,
        keeps_attributes=False,
        notes="a group becomes a PrimFunc under its name, without Primitive",
        idempotent=False,
    ),
    PassRow(
        "SplitLayoutRewritePreproc",
        ("relax.transform.SplitLayoutRewritePreproc()",),
        _SCHEDULED,
        "src/relax/transform/split_layout_rewrite_preproc.cc: blocks marked meta_schedule.layout_rewrite_preproc",
        recipes=("layout_rewrite_preproc",),
        keeps_functions=False,
        idempotent=False,
    ),
    PassRow(
        "SpecializePrimFuncBasedOnCallSite",
        ("relax.transform.SpecializePrimFuncBasedOnCallSite()",),
        CALL_TIR,
        "src/relax/transform/specialize_primfunc_based_on_callsite.cc: buffer scopes from the callers' vdevices",
        recipes=("hint_on_device",),
        wants=("vdevice",),
    ),
    PassRow(
        "ApplyDefaultSchedule",
        (
            "tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Matmul(), tvm.s_tir.dlight.gpu.GEMV(), "
            "tvm.s_tir.dlight.gpu.Reduction(), tvm.s_tir.dlight.gpu.GeneralReduction(), "
            "tvm.s_tir.dlight.gpu.Fallback())",
        ),
        frozenset({Phase.FUSED, Phase.LEGAL}),
        "python/tvm/s_tir/dlight/base/transform.py, as in relax/backend/cuda/pipeline.py",
        meaning=Meaning.ROUNDED,
        needs_target=True,
        recipes=("injective_then_reduce", "matmul_chain"),
        wants=("gpu_target", "prim_funcs"),
        in_repertoire=False,
        notes="a GPU schedule: only for targets with threads",
    ),
    PassRow(
        "RewriteDataflowReshape",
        ("relax.transform.RewriteDataflowReshape()",),
        _SCHEDULED,
        "src/relax/transform/rewrite_dataflow_reshape.cc: reshape-like call_tir becomes a view",
        of_blocks=True,
        recipes=("reshape_chain", "reshape_of_input"),
    ),
)

MEMORY_ROWS = (
    PassRow(
        "RemovePurityChecking",
        ("relax.transform.RemovePurityChecking()",),
        frozenset({Phase.NONDATAFLOW}),
        "src/relax/transform/remove_purity_checking.cc: after ToNonDataflow",
        gives=Phase.IMPURE,
        recipes=("impure_calls", "pure_packed_calls"),
    ),
    PassRow(
        "CallTIRRewrite",
        ("relax.transform.CallTIRRewrite()",),
        frozenset({Phase.IMPURE}),
        "src/relax/transform/call_tir_rewrite.cc: destination passing; after RemovePurityChecking",
        gives=Phase.LOWERED,
        recipes=("tuple_bound", "symbolic_shapes", "call_tir_inplace", "dps_packed"),
    ),
    PassRow(
        "StaticPlanBlockMemory",
        ("relax.transform.StaticPlanBlockMemory()",),
        frozenset({Phase.LOWERED}),
        "src/relax/transform/static_plan_block_memory.cc: storages are reused after the last use",
        gives=Phase.PLANNED,
        consumes=frozenset({"relax.memory_plan_dynamic_func_output"}),
        recipes=("elementwise_chain", "if_branches", "reshape_chain", "symbolic_upper_bound", "several_outputs"),
    ),
    PassRow(
        "RewriteCUDAGraph",
        ("relax.transform.RewriteCUDAGraph()",),
        frozenset({Phase.PLANNED}),
        "src/relax/transform/rewrite_cuda_graph.cc: acts only where relax.backend.use_cuda_graph is set",
        recipes=("elementwise_chain",),
    ),
    PassRow(
        "LowerAllocTensor",
        ("relax.transform.LowerAllocTensor()",),
        frozenset({Phase.LOWERED, Phase.PLANNED}),
        "src/relax/transform/lower_alloc_tensor.cc: what the planner left",
        gives=Phase.ALLOCATED,
        recipes=("symbolic_shapes",),
    ),
    PassRow(
        "LowerGPUIPCAllocStorage",
        ("relax.transform.LowerGPUIPCAllocStorage()",),
        span(Phase.LOWERED, Phase.ALLOCATED),
        "python/tvm/relax/transform/lower_gpu_ipc_alloc_storage.py: leaves all but the scope ipc_memory alone",
    ),
    PassRow(
        "KillAfterLastUse",
        ("relax.transform.KillAfterLastUse()",),
        frozenset({Phase.ALLOCATED}),
        "src/relax/transform/kill_after_last_use.cc; #17340, #20200 on a second application",
        gives=Phase.KILLED,
        recipes=("elementwise_chain", "if_branches", "reshape_chain", "tuple_bound", "trivial_bindings"),
    ),
)

VM_ROWS = (
    PassRow(
        "LowerRuntimeBuiltin",
        ("relax.transform.LowerRuntimeBuiltin()",),
        span(Phase.ALLOCATED, Phase.KILLED),
        "src/relax/backend/vm/lower_runtime_builtin.cc",
        gives=Phase.BUILTIN,
        recipes=("reshape_chain", "shape_of", "impure_calls"),
    ),
    PassRow(
        "ComputePrimValue",
        ("relax.transform.ComputePrimValue()",),
        frozenset({Phase.BUILTIN}),
        "src/relax/transform/compute_prim_value.cc: expressions over symbolic dims become PrimFunc calls",
        recipes=("prim_values", "symbolic_conditions"),
        wants=("symbolic",),
    ),
    PassRow(
        "VMShapeLower",
        ("relax.transform.VMShapeLower()", "relax.transform.VMShapeLower(emit_err_ctx=False)"),
        frozenset({Phase.BUILTIN}),
        "src/relax/backend/vm/vm_shape_lower.cc: checks of arguments, and a heap for symbolic dims",
        gives=Phase.SHAPELESS,
        idempotent=False,
        recipes=("symbolic_shapes", "match_cast_defines_symbol", "shape_of"),
        notes="a second application adds the argument checks once more; the order of stores in shape_func varies",
    ),
    PassRow(
        "AttachGlobalSymbol",
        ("relax.transform.AttachGlobalSymbol()",),
        frozenset({Phase.SHAPELESS}),
        "src/relax/transform/attach_global_symbol.cc: every PrimFunc gets a global_symbol",
        gives=Phase.SYMBOLED,
    ),
)

ROWS = DISPATCH_ROWS + CALL_TIR_ROWS + MEMORY_ROWS + VM_ROWS

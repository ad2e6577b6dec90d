"""The passes that the official pipelines are made of, from operators to what the VM code generator takes."""

from __future__ import annotations

from collections.abc import Collection

from generators.passes.options import CUDA_GRAPH, FUSE_DEPTH
from generators.passes.phases import CALL_TIR, HIGH, span
from generators.passes.row import (
    LIBRARY,
    Documented,
    Fires,
    Meaning,
    PassRow,
    Phase,
    Place,
    Promise,
    Rate,
    Role,
)
from generators.passes.traits import (
    ActsWith,
    AgainWith,
    AppliesInside,
    Asks,
    Consumes,
    Evaluates,
    ExpectsForced,
    FollowsArguments,
    Lowers,
    NeededByVM,
    PreparedBy,
    Quiet,
    ReadsAllFunctions,
    TakesBlocks,
)
from generators.program_facts import Feature

_STAGES = "relax/backend/cpu_generic/pipeline.py"
_LOWERS = Documented("The default dataflow lowering passes for CPU backend.", _STAGES, ends_rewriting=True)
_FINALIZES = Documented("The default finalization passes for CPU backend.", _STAGES, ends_rewriting=True)
"""TVM calls the last two stages of its pipelines lowering and finalization: what rewrites programs stands before."""
_SCHEDULED = frozenset({Phase.LEGAL, Phase.ANNOTATED, Phase.FUSED})


def legalizing_but(operators: Collection[str]) -> str:
    """The constructor of LegalizeOps that leaves calls of these operators."""
    return f"relax.transform.LegalizeOps(skip_ops={sorted(operators)!r})"


DISPATCH_ROWS = (
    PassRow(
        "DispatchSampling",
        ("relax.backend.DispatchSampling()",),
        "python/tvm/relax/backend/dispatch_sampling.py: multinomial by cumsum and search",
        Place(HIGH, needs_target=True),
        promise=Promise(meaning=Meaning.ROUNDED),
        fires=Fires(recipes=("multinomial",), rate=Rate(24)),
        traits=(Lowers(("relax.multinomial_from_uniform",)),),
    ),
    PassRow(
        "DispatchSortScan",
        ("relax.backend.DispatchSortScan()", "relax.backend.DispatchSortScan(index_bits=32)"),
        "python/tvm/relax/backend/dispatch_sort_scan.py: sort, argsort, topk, cumsum, cumprod, bucketize",
        Place(HIGH, needs_target=True),
        promise=Promise(meaning=Meaning.ROUNDED),
        fires=Fires(recipes=("sort_scan",), rate=Rate(44)),
        traits=(Lowers(tuple(f"relax.{name}" for name in ("sort", "argsort", "topk", "cumsum", "cumprod"))),),
    ),
)

CALL_TIR_ROWS = (
    PassRow(
        "LegalizeOps",
        ("relax.transform.LegalizeOps()", "relax.transform.LegalizeOps(customize_legalize_map={}, skip_ops=[])"),
        "src/relax/transform/legalize_ops.cc: operators become PrimFuncs from TOPI, each by its own algorithm",
        Place(HIGH, gives=Phase.LEGAL),
        promise=Promise(meaning=Meaning.ROUNDED),
        fires=Fires(recipes=("symbolic_shapes", "elementwise_chain", "conv2d_chain"), rate=Rate(82)),
        traits=(FollowsArguments(), Asks("FLegalize"), NeededByVM()),
        role=Role.LEGALIZES,
    ),
    PassRow(
        "AnnotateTIROpPattern",
        ("relax.transform.AnnotateTIROpPattern()",),
        "src/relax/transform/annotate_tir_op_pattern.cc: adds the attribute op_pattern",
        Place(frozenset({Phase.LEGAL}), gives=Phase.ANNOTATED),
        fires=Fires(recipes=("injective_then_reduce",), rate=Rate(63)),
    ),
    PassRow(
        "FoldConstant",
        ("relax.transform.FoldConstant()",),
        "src/relax/transform/fold_constant.cc: evaluates with LLVM at compile time; #20192",
        Place(frozenset({Phase.LEGAL, Phase.ANNOTATED, Phase.HIGH})),
        promise=Promise(meaning=Meaning.ROUNDED),
        fires=Fires(
            recipes=("constant_subexpressions", "duplicate_constants"),
            wants=frozenset({Feature.CONSTANTS}),
            rate=Rate(50),
        ),
        traits=(Evaluates(),),
    ),
    PassRow(
        "FuseOps",
        (
            "relax.transform.FuseOps()",
            "relax.transform.FuseOps(fuse_opt_level=0)",
            "relax.transform.FuseOps(fuse_opt_level=1)",
            "relax.transform.FuseOps(fuse_opt_level=2)",
        ),
        "src/relax/transform/fuse_ops.cc: groups bindings into private functions with Primitive",
        Place(frozenset({Phase.ANNOTATED}), gives=Phase.GROUPED),
        promise=Promise(
            # it drops dead bindings after the fusion, so that a second application can fuse more
            idempotent=False,
        ),
        fires=Fires(
            recipes=(
                "elementwise_chain",
                "injective_then_reduce",
                "diamond",
                "tuple_bound",
                "match_cast_defines_symbol",
            ),
            options=FUSE_DEPTH,
            rate=Rate(27),
        ),
    ),
    PassRow(
        "FuseTIR",
        ("relax.transform.FuseTIR()",),
        "src/relax/transform/fuse_tir.cc: one PrimFunc per group, the same arithmetic",
        Place(frozenset({Phase.GROUPED}), gives=Phase.FUSED),
        promise=Promise(
            # a group becomes a PrimFunc under its name, without Primitive
            idempotent=False,
            keeps_functions=False,
            keeps_attributes=False,
        ),
        fires=Fires(
            recipes=(
                *("elementwise_chain", "injective_then_reduce", "diamond", "tuple_bound", "symbolic_shapes"),
                *("call_tir_scalars", "call_tir_inplace"),
            ),
            rate=Rate(54),
        ),
    ),
    PassRow(
        "SplitLayoutRewritePreproc",
        ("relax.transform.SplitLayoutRewritePreproc()",),
        "src/relax/transform/split_layout_rewrite_preproc.cc: blocks marked meta_schedule.layout_rewrite_preproc",
        Place(
            _SCHEDULED,
            documented=(
                Documented(
                    "Remove weight layout rewrite block before benchmarking during tuning stage.",
                    "s_tir/transform/transform.py",
                    before=("s_tir.RemoveWeightLayoutRewriteBlock",),  # what it leaves is measured, and not built
                ),
            ),
        ),
        promise=Promise(idempotent=False, keeps_functions=False),
        fires=Fires(recipes=("layout_rewrite_preproc",), rate=Rate(6)),
    ),
    PassRow(
        "SpecializePrimFuncBasedOnCallSite",
        ("relax.transform.SpecializePrimFuncBasedOnCallSite()",),
        "src/relax/transform/specialize_primfunc_based_on_callsite.cc: buffer scopes from the callers' vdevices",
        Place(CALL_TIR),
        fires=Fires(recipes=("hint_on_device",), wants=frozenset({Feature.VDEVICE}), rate=Rate(6)),
    ),
    PassRow(
        "ApplyDefaultSchedule",
        (
            "tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.gpu.Matmul(), tvm.s_tir.dlight.gpu.GEMV(), "
            "tvm.s_tir.dlight.gpu.Reduction(), tvm.s_tir.dlight.gpu.GeneralReduction(), "
            "tvm.s_tir.dlight.gpu.Fallback())",
        ),
        "python/tvm/s_tir/dlight/base/transform.py, as in relax/backend/cuda/pipeline.py",
        Place(frozenset({Phase.FUSED, Phase.LEGAL}), needs_target=True),
        promise=Promise(meaning=Meaning.ROUNDED),
        fires=Fires(
            recipes=("injective_then_reduce", "matmul_chain"),
            wants=frozenset({Feature.GPU_TARGET, Feature.PRIM_FUNCS}),
            in_repertoire=False,
            rate=Rate(31),
        ),
        role=Role.BINDS_THREADS,
    ),
    PassRow(
        "RewriteDataflowReshape",
        ("relax.transform.RewriteDataflowReshape()",),
        "src/relax/transform/rewrite_dataflow_reshape.cc: reshape-like call_tir becomes a view",
        Place(_SCHEDULED),
        fires=Fires(recipes=("reshape_chain", "reshape_of_input"), rate=Rate(20)),
        traits=(TakesBlocks(),),
    ),
)

MEMORY_ROWS = (
    PassRow(
        "RemovePurityChecking",
        ("relax.transform.RemovePurityChecking()",),
        "src/relax/transform/remove_purity_checking.cc",
        Place(
            frozenset({Phase.NONDATAFLOW}),
            gives=Phase.IMPURE,
            documented=(
                Documented(
                    "Should be used after ToNonDataflow()", "relax/transform/transform.py", after=("ToNonDataflow",)
                ),
            ),
        ),
        fires=Fires(recipes=("impure_calls", "pure_packed_calls"), rate=Rate(82)),
    ),
    PassRow(
        "CallTIRRewrite",
        ("relax.transform.CallTIRRewrite()",),
        "src/relax/transform/call_tir_rewrite.cc: destination passing; after RemovePurityChecking",
        Place(frozenset({Phase.IMPURE}), gives=Phase.LOWERED, documented=(_LOWERS,)),
        fires=Fires(recipes=("tuple_bound", "symbolic_shapes", "call_tir_inplace", "dps_packed"), rate=Rate(84)),
        traits=(ExpectsForced(), NeededByVM()),
    ),
    PassRow(
        "StaticPlanBlockMemory",
        ("relax.transform.StaticPlanBlockMemory()",),
        "src/relax/transform/static_plan_block_memory.cc: storages are reused after the last use",
        Place(frozenset({Phase.LOWERED}), gives=Phase.PLANNED, documented=(_FINALIZES,)),
        fires=Fires(
            recipes=(
                *("elementwise_chain", "if_branches", "reshape_chain", "symbolic_upper_bound", "several_outputs"),
                *("memory_views", "kernels_of_symbols"),
            ),
            rate=Rate(49),
        ),
        traits=(Consumes(("relax.memory_plan_dynamic_func_output",)),),
    ),
    PassRow(
        "RewriteCUDAGraph",
        ("relax.transform.RewriteCUDAGraph()",),
        "src/relax/transform/rewrite_cuda_graph.cc: acts only where relax.backend.use_cuda_graph is set",
        Place(frozenset({Phase.PLANNED})),
        promise=Promise(idempotent=False),  # what it lifts is a function in which it finds kernels again
        fires=Fires(
            recipes=("kernels_in_a_row", "kernels_of_weights", "kernels_of_symbols"), options=CUDA_GRAPH, rate=Rate(8)
        ),
        traits=(
            ReadsAllFunctions(),  # MergeAllocationPlans: one set of storages for all of them
            ActsWith("relax.backend.use_cuda_graph"),
        ),
    ),
    PassRow(
        "LowerAllocTensor",
        ("relax.transform.LowerAllocTensor()",),
        "src/relax/transform/lower_alloc_tensor.cc: what the planner left",
        Place(frozenset({Phase.LOWERED, Phase.PLANNED}), gives=Phase.ALLOCATED, documented=(_FINALIZES,)),
        fires=Fires(recipes=("symbolic_shapes",), rate=Rate(72)),
        traits=(NeededByVM(),),
    ),
    PassRow(
        "LowerGPUIPCAllocStorage",
        ("relax.transform.LowerGPUIPCAllocStorage()",),
        "python/tvm/relax/transform/lower_gpu_ipc_alloc_storage.py: leaves all but the scope ipc_memory alone",
        Place(span(Phase.LOWERED, Phase.ALLOCATED)),
        traits=(
            Quiet(
                "looks for the scope ipc_memory, which IPCAllReduceRewrite alone asks for; its result calls a "
                "function that only builds with CUDA and NCCL have"
            ),
        ),
    ),
    PassRow(
        "KillAfterLastUse",
        ("relax.transform.KillAfterLastUse()",),
        "src/relax/transform/kill_after_last_use.cc; #17340, #20200 on a second application",
        Place(frozenset({Phase.ALLOCATED}), gives=Phase.KILLED, documented=(_FINALIZES,)),
        fires=Fires(
            recipes=("elementwise_chain", "if_branches", "reshape_chain", "tuple_bound", "trivial_bindings"),
            rate=Rate(66),
        ),
        traits=(AppliesInside(("CanonicalizeBindings",)),),
    ),
)

VM_ROWS = (
    PassRow(
        "LowerRuntimeBuiltin",
        ("relax.transform.LowerRuntimeBuiltin()",),
        "src/relax/backend/vm/lower_runtime_builtin.cc",
        Place(
            span(Phase.ALLOCATED, Phase.KILLED),
            gives=Phase.BUILTIN,
            documented=(
                _FINALIZES,
                Documented("using the 'relax.transform.LowerAllocTensor' pass.", LIBRARY, after=("LowerAllocTensor",)),
            ),
        ),
        fires=Fires(recipes=("reshape_chain", "shape_of", "impure_calls", "memory_views"), rate=Rate(66)),
        traits=(ExpectsForced(), NeededByVM()),
    ),
    PassRow(
        "ComputePrimValue",
        ("relax.transform.ComputePrimValue()",),
        "src/relax/transform/compute_prim_value.cc: expressions over symbolic dims become PrimFunc calls",
        Place(frozenset({Phase.BUILTIN}), documented=(_FINALIZES,)),
        fires=Fires(recipes=("prim_values", "symbolic_conditions"), wants=frozenset({Feature.SYMBOLIC}), rate=Rate(20)),
    ),
    PassRow(
        "VMShapeLower",
        ("relax.transform.VMShapeLower()", "relax.transform.VMShapeLower(emit_err_ctx=False)"),
        "src/relax/backend/vm/vm_shape_lower.cc: checks of arguments, and a heap for symbolic dims",
        Place(
            frozenset({Phase.BUILTIN}),
            gives=Phase.SHAPELESS,
            documented=(
                _FINALIZES,
                Documented(
                    "relax.transform.LowerRuntimeBuiltin(), relax.transform.ComputePrimValue(), "
                    "relax.transform.VMShapeLower(),",
                    _STAGES,
                    after=("LowerRuntimeBuiltin",),
                ),
            ),
        ),
        # a second application repeats the argument checks; the order of stores in shape_func varies
        promise=Promise(idempotent=False),
        fires=Fires(recipes=("symbolic_shapes", "match_cast_defines_symbol", "shape_of"), rate=Rate(68)),
        traits=(
            ExpectsForced(),
            NeededByVM(),
            PreparedBy(("ComputePrimValue",)),  # no pass after it takes expressions over dims as arguments
        ),
    ),
    PassRow(
        "AttachGlobalSymbol",
        ("relax.transform.AttachGlobalSymbol()",),
        "src/relax/transform/attach_global_symbol.cc: every PrimFunc gets a global_symbol",
        Place(frozenset({Phase.SHAPELESS}), gives=Phase.SYMBOLED, documented=(_FINALIZES,)),
        # the prefix goes before the names of PrimFuncs, at each application
        promise=Promise(keeps_functions=False),
        fires=Fires(
            recipes=("kernels_in_a_row", "private_calls", "call_tir_scalars"),
            wants=frozenset({Feature.LIBRARY_PREFIX}),
            rate=Rate(73),
        ),
        traits=(AgainWith(("system_lib_prefix",)),),
    ),
)

ROWS = DISPATCH_ROWS + CALL_TIR_ROWS + MEMORY_ROWS + VM_ROWS

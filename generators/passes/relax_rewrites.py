"""Passes over high-level operators: algebra, layouts, precision, decomposition, pattern fusion.

Passes that only move bindings are in `relax_bindings`, those about functions and their parameters in
`relax_functions`, and the official pipelines' own in `relax_lowering`.
"""

from __future__ import annotations

from generators.passes.phases import GRAPH, HIGH, only_with
from generators.passes.replacements import REPLACED, altered
from generators.passes.row import Documented, Fires, Meaning, PassRow, Phase, Place, Promise, Rate
from generators.passes.traits import (
    Asks,
    FirstOnly,
    FollowsArguments,
    InferenceOnly,
    ObjectNamed,
    Overwrites,
    PreparedBy,
)
from generators.program_facts import Feature

_LEGALISED = frozenset({Phase.HIGH, Phase.LEGAL})

_TWO_WILDCARDS = "(dpl.wildcard(), dpl.wildcard())"
_ADD_RELU = f"('byoc.add_relu', dpl.is_op('relax.nn.relu')(dpl.is_op('relax.add'){_TWO_WILDCARDS}))"
_MATMUL = f"('byoc.matmul', dpl.is_op('relax.matmul'){_TWO_WILDCARDS})"
_MATMUL_BIAS = (
    f"('byoc.matmul_bias', dpl.is_op('relax.add')(dpl.is_op('relax.matmul'){_TWO_WILDCARDS}, dpl.wildcard()))"
)
_CONV = f"('byoc.conv2d', dpl.is_op('relax.nn.conv2d'){_TWO_WILDCARDS})"
_CONV_CONST = "('byoc.conv2d_const', dpl.is_op('relax.nn.conv2d')(dpl.wildcard(), dpl.is_const()))"
_ANY_ADD = f"('byoc.add', dpl.is_op('relax.add'){_TWO_WILDCARDS})"
_MULTIPLY_CONST = "('other.multiply', dpl.is_op('relax.multiply')(dpl.wildcard(), dpl.is_const()))"
_MATMUL_SPLIT = (
    f"('byoc.split', dpl.is_tuple_get_item(dpl.is_op('relax.split')(dpl.is_op('relax.matmul'){_TWO_WILDCARDS})))"
)
_EITHER = f"('byoc.either', dpl.is_op('relax.nn.relu')(dpl.is_op('relax.add'){_TWO_WILDCARDS} | dpl.wildcard()))"
_OPTIONAL = (
    f"('byoc.optional', dpl.is_op('relax.nn.relu')(dpl.is_op('relax.add')(dpl.is_op('relax.matmul'){_TWO_WILDCARDS}, "
    "dpl.wildcard())) | dpl.is_op('relax.add')(dpl.is_op('relax.matmul')(dpl.wildcard(), dpl.wildcard()), "
    "dpl.wildcard()))"
)
_CONCAT = "('byoc.concat', dpl.is_op('relax.concat')(dpl.is_tuple([dpl.wildcard(), dpl.wildcard()])))"
_WITH_ATTRIBUTE = "('byoc.transposed', dpl.is_op('relax.permute_dims')(dpl.wildcard()).has_attr({'axes': [1, 0]}))"
_OF_DTYPE = f"('byoc.float32', dpl.is_op('relax.multiply'){_TWO_WILDCARDS}.has_dtype('float32'))"
_CHECKED = (
    "('byoc.checked', (lambda lhs: dpl.is_op('relax.add')(lhs, dpl.wildcard()))(dpl.wildcard()), {}, "
    "lambda context: context.matched_expr.ty.ndim > 1)"
)


def _fuse(*patterns: str, flags: str = "") -> str:
    return f"relax.transform.FuseOpsByPattern([{', '.join(patterns)}]{flags})"


_ADD16 = (
    "(lambda a, b: tvm.te.create_prim_func([a, b, "
    "tvm.te.compute((4, 4), lambda i, j: a[i, j] + b[i, j], name='add_4x4')]).without_attr('global_symbol'))"
    "(tvm.te.placeholder((4, 4), 'float32', name='a'), tvm.te.placeholder((4, 4), 'float32', name='b'))"
)
_BLOCKED = "lambda i: (i // 4, i % 4)"

MATMUL_ROWS = (
    PassRow(
        "AdjustMatmulOrder",
        ("relax.transform.AdjustMatmulOrder()",),
        "src/relax/transform/adjust_matmul_order.cc: x*(A*B) to (x*A)*B; #20277",
        Place(HIGH),
        promise=Promise(meaning=Meaning.ROUNDED, idempotent=False),
        fires=Fires(
            recipes=("matmul_chain", "matmul_of_permuted_product", "matmul_of_permuted_weights"),
            wants=frozenset({Feature.NUM_INPUT}),
            rate=Rate(12),
        ),
    ),
    PassRow(
        "ExpandMatmulOfSum",
        ("relax.transform.ExpandMatmulOfSum()",),
        "src/relax/transform/expand_matmul_of_sum.cc: x*(A+B) to x*A + x*B",
        Place(HIGH),
        promise=Promise(meaning=Meaning.ROUNDED, idempotent=False),
        fires=Fires(recipes=("matmul_of_sum",), rate=Rate(16)),
    ),
    PassRow(
        "CombineParallelMatmul",
        ("relax.transform.CombineParallelMatmul()", "relax.transform.CombineParallelMatmul(lambda *_: True)"),
        "src/relax/transform/combine_parallel_matmul.cc: one matmul of concatenated weights, then slices",
        Place(HIGH),
        promise=Promise(meaning=Meaning.ROUNDED, idempotent=False),
        fires=Fires(recipes=("parallel_matmuls", "parallel_matmuls_with_bias", "siblings"), rate=Rate(6)),
    ),
    PassRow(
        "ReorderTakeAfterMatmul",
        ("relax.transform.ReorderTakeAfterMatmul()",),
        "src/relax/transform/reorder_take_after_matmul.cc; #20201 on the mode of take",
        Place(HIGH),
        promise=Promise(meaning=Meaning.ROUNDED, idempotent=False),
        fires=Fires(recipes=("matmul_of_take",), rate=Rate(11)),
    ),
    PassRow(
        "ReorderPermuteDimsAfterConcat",
        ("relax.transform.ReorderPermuteDimsAfterConcat()",),
        "src/relax/transform/reorder_permute_dims_after_concat.cc: only data movement",
        Place(HIGH),
        promise=Promise(idempotent=False),
        fires=Fires(recipes=("concat_of_permutes",), rate=Rate(12)),
    ),
    PassRow(
        "FuseTransposeMatmul",
        ("relax.transform.FuseTransposeMatmul()",),
        "python/tvm/relax/transform/fuse_transpose_matmul.py",
        Place(
            HIGH,
            documented=(
                Documented(
                    "Please put the pass before LegalizeOps pass.",
                    "relax/transform/fuse_transpose_matmul.py",
                    before=("LegalizeOps",),
                ),
            ),
        ),
        promise=Promise(meaning=Meaning.ROUNDED, idempotent=False),
        fires=Fires(recipes=("transpose_matmul",), rate=Rate(6)),
    ),
)

LAYOUT_ROWS = (
    PassRow(
        "ConvertLayout",
        (
            "relax.transform.ConvertLayout({'relax.nn.conv2d': ['NHWC', 'OHWI']})",
            "relax.transform.ConvertLayout({'relax.nn.conv2d': ['NHWC', 'HWIO']})",
            "relax.transform.ConvertLayout({'relax.nn.conv2d': ['NHWC', 'OHWI', 'NCHW']})",
            "relax.transform.ConvertLayout({'relax.nn.conv2d': ['NCHW', 'OIHW']})",
            "relax.transform.ConvertLayout({'relax.nn.conv2d': ['NCHW4c', 'OIHW4o']})",
            "relax.transform.ConvertLayout({'relax.nn.conv2d': ['NCHW2c', 'OIHW2o']})",
            "relax.transform.ConvertLayout({}, lambda call: {'relax.nn.conv2d': ['NHWC', 'OHWI']})",
            "relax.transform.ConvertLayout({}, lambda call: {'relax.nn.conv2d': ['NCHW4c', 'OIHW4o']} "
            "if getattr(call.attrs, 'groups', 1) == 1 else {})",
        ),
        "src/relax/transform/convert_layout.cc: the reduction of conv2d runs in another order",
        Place(HIGH),
        promise=Promise(meaning=Meaning.ROUNDED),
        fires=Fires(recipes=("conv2d_chain", "conv2d_between_layout_agnostic", "converted_conv2d"), rate=Rate(5)),
        traits=(Asks("FRelaxInferLayout"),),
    ),
    PassRow(
        "AlterOpImpl",
        (
            f"relax.transform.AlterOpImpl({{'passfuzz.add16': {_ADD16}}}, "
            f"{{'passfuzz.add16': [{_BLOCKED}, {_BLOCKED}, {_BLOCKED}]}})",
            altered(REPLACED),
        ),
        "src/relax/transform/alter_op_impl.cc: the replacement is given as an equal PrimFunc in another layout",
        Place(frozenset({Phase.LEGAL}), gives=Phase.HIGH),
        promise=Promise(
            # it matches its own result; R.layout_transform operators give LegalizeOps work again
            idempotent=False,
        ),
        fires=Fires(recipes=("operator_name_add16", "operator_names"), favoured=("operator_names",), rate=Rate(4)),
        traits=(FollowsArguments(),),
    ),
    PassRow(
        "OptimizeLayoutTransform",
        ("relax.transform.OptimizeLayoutTransform()",),
        "python/tvm/relax/transform/optimize_layout_transform.py: removes pairs that undo each other",
        Place(_LEGALISED),
        promise=Promise(idempotent=False),
        fires=Fires(recipes=("layout_transform_pairs", "operator_name_add16", "operator_names"), rate=Rate(13)),
    ),
    PassRow(
        "RemoveRedundantReshape",
        ("relax.transform.RemoveRedundantReshape()",),
        "python/tvm/relax/transform/remove_redundant_reshape.py",
        Place(HIGH),
        promise=Promise(idempotent=False),
        fires=Fires(recipes=("reshape_chain",), rate=Rate(6)),
    ),
)

OPERATOR_ROWS = (
    PassRow(
        "DecomposeOpsForInference",
        ("relax.transform.DecomposeOpsForInference()", "relax.transform.DecomposeOpsForInference('main')"),
        "src/relax/transform/decompose_ops.cc: batch_norm with moving statistics, tensor_to_shape",
        Place(HIGH),
        promise=Promise(meaning=Meaning.ROUNDED),
        fires=Fires(recipes=("batch_norm", "tensor_to_shape"), rate=Rate(10)),
        traits=(ObjectNamed("DecomposeOps"), InferenceOnly()),
    ),
    PassRow(
        "DecomposeOpsForTraining",
        ("relax.transform.DecomposeOpsForTraining()", "relax.transform.DecomposeOpsForTraining('main')"),
        "src/relax/transform/decompose_ops.cc MutateBatchNormForTraining: takes the batch's statistics",
        Place(HIGH),
        promise=Promise(meaning=Meaning.CHANGED),
        fires=Fires(recipes=("batch_norm", "layer_norm", "tensor_to_shape"), rate=Rate(10)),
        traits=(ObjectNamed("DecomposeOps"),),
    ),
    PassRow(
        "FoldBatchnormToConv2D",
        ("relax.transform.FoldBatchnormToConv2D()",),
        "python/tvm/relax/transform/fold_batch_norm_to_conv2d_for_inference.py: scales the weights instead",
        Place(HIGH),
        promise=Promise(meaning=Meaning.ROUNDED, idempotent=False),
        fires=Fires(recipes=("conv2d_batch_norm",), wants=frozenset({Feature.CONSTANTS}), rate=Rate(13)),
        traits=(InferenceOnly(),),
    ),
    PassRow(
        "ToMixedPrecision",
        (
            "relax.transform.ToMixedPrecision()",
            "relax.transform.ToMixedPrecision('float16')",
        ),
        "src/relax/transform/to_mixed_precision.cc: float32 modules only; casts to float16 around matmul and conv",
        Place(
            HIGH,
            documented=(
                Documented(
                    "Currently the pass assumes the input module to be fp32 only,",
                    "relax/transform/transform.py",
                    floats=frozenset({"float32"}),
                ),
            ),
        ),
        promise=Promise(
            meaning=Meaning.APPROXIMATE,
            # the pass takes float32 modules only, and its result is none
            lowers_to="float16",
            idempotent=False,
        ),
        fires=Fires(
            recipes=("matmul_chain", "conv2d_chain", "tuple_bound"),
            wants=frozenset({Feature.FLOAT32_ONLY}),
            rate=Rate(4),
        ),
        traits=(FollowsArguments(), Asks("FInferMixedPrecision"), FirstOnly()),
    ),
    PassRow(
        "FastMathTransform",
        ("relax.transform.FastMathTransform()",),
        "python/tvm/relax/transform/fast_math.py: exp, erf, tanh and softmax by polynomials",
        Place(HIGH),
        promise=Promise(meaning=Meaning.APPROXIMATE, lowers_to="float16"),
        fires=Fires(recipes=("transcendental_chain",), rate=Rate(6)),
    ),
    PassRow(
        "DataflowUseInplaceCalls",
        ("relax.transform.DataflowUseInplaceCalls()",),
        "src/relax/transform/dataflow_inplace.cc: a dead operand's storage takes the result",
        Place(HIGH),
        promise=Promise(meaning=Meaning.ROUNDED),
        fires=Fires(recipes=("elementwise_chain", "elementwise_on_alias"), rate=Rate(4)),
        traits=(ObjectNamed("DataflowInsertInPlaceCalls"), Overwrites()),
    ),
    PassRow(
        "RealizeVDevice",
        ("relax.transform.RealizeVDevice()",),
        "src/relax/transform/realize_vdevice.cc: hint_on_device becomes annotations and to_vdevice; #17205",
        Place(HIGH),
        fires=Fires(recipes=("hint_on_device",), wants=frozenset({Feature.VDEVICE}), rate=Rate(8)),
    ),
    PassRow(
        "UpdateVDevice",
        (),
        "src/relax/transform/update_vdevice.cc: replaces one of the module's virtual devices",
        Place(
            GRAPH,
            documented=(
                Documented(
                    "The device index indicates the device on which the update will be performed.",
                    "relax/transform/transform.py",
                    infos=frozenset({"vdevice"}),
                ),
            ),
        ),
        promise=Promise(keeps_attributes=False),
        fires=Fires(
            recipes=("hint_on_device",),
            wants=frozenset({Feature.VDEVICE}),
            draw_source=only_with(
                Feature.VDEVICE,  # the pass raises KeyError in a module without virtual devices
                "relax.transform.UpdateVDevice(relax.VDevice('llvm', 0, 'global'), 0)",
                "relax.transform.UpdateVDevice(relax.VDevice('llvm', 1), 0)",
            ),
            rate=Rate(8),
        ),
    ),
)

PATTERN_ROWS = (
    PassRow(
        "FuseOpsByPattern",
        (
            _fuse(_ADD_RELU, _MATMUL_BIAS, _MATMUL, _CONV),
            _fuse(_MATMUL, _ADD_RELU, flags=", bind_constants=False"),
            _fuse(_ANY_ADD, _MULTIPLY_CONST),
            _fuse(_MULTIPLY_CONST, _CONV_CONST, flags=", bind_constants=False"),
            _fuse(_MATMUL_BIAS, _ANY_ADD, flags=", annotate_codegen=True"),
            _fuse(_CONV, _MULTIPLY_CONST, flags=", bind_constants=False, annotate_codegen=True"),
            _fuse(_ADD_RELU, flags=", entry_functions=['main']"),
            _fuse(_MATMUL_SPLIT, _CONCAT, _WITH_ATTRIBUTE),
            _fuse(_OPTIONAL, _EITHER, _OF_DTYPE, flags=", bind_constants=False"),
            _fuse(_CHECKED, _OF_DTYPE, flags=", annotate_codegen=True"),
        ),
        "src/relax/transform/fuse_ops.cc PatternBasedPartitioner: groups matches into private functions",
        Place(HIGH),
        promise=Promise(
            # a second application with annotate_codegen wraps the wrappers
            idempotent=False,
            buildable=False,
        ),
        fires=Fires(
            recipes=(
                *("conv2d_chain", "matmul_bias_relu", "diamond", "constant_operands"),
                *("concat_of_permutes", "literal_operands"),
            ),
            favoured=("matmul_bias_relu",),
            rate=Rate(6),
        ),
    ),
    PassRow(
        "MergeCompositeFunctions",
        ("relax.transform.MergeCompositeFunctions()",),
        "src/relax/transform/merge_composite_functions.cc: neighbouring composites of one backend",
        Place(HIGH),
        promise=Promise(idempotent=False, keeps_functions=False, buildable=False),
        fires=Fires(recipes=("conv2d_chain", "matmul_bias_relu", "diamond"), rate=Rate(4)),
        traits=(PreparedBy(("FuseOpsByPattern",)),),
    ),
    PassRow(
        "RunCodegen",
        ("relax.transform.RunCodegen()", "relax.transform.RunCodegen(entry_functions=['main'])"),
        "src/relax/transform/run_codegen.cc: without Codegen functions only its DeadCodeElimination acts",
        Place(HIGH),
        promise=Promise(keeps_functions=False),
        fires=Fires(recipes=("private_functions_unused",), rate=Rate(12)),
        traits=(FollowsArguments(),),
    ),
    PassRow(
        "AllocateWorkspace",
        ("relax.transform.AllocateWorkspace()",),
        "src/relax/transform/allocate_workspace.cc: external functions with WorkspaceSize get one more argument",
        Place(HIGH),
        promise=Promise(
            keeps_functions=False,
            # it writes the external function under another name, without WorkspaceSize
            keeps_attributes=False,
            buildable=False,
        ),
        fires=Fires(recipes=("external_workspace",), rate=Rate(10)),
    ),
)

ROWS = MATMUL_ROWS + LAYOUT_ROWS + OPERATOR_ROWS + PATTERN_ROWS

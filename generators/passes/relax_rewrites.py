"""Passes over high-level operators: algebra, layouts, precision, decomposition, pattern fusion.

Passes that only move bindings about are in `relax_bindings`, those about functions and their parameters in
`relax_functions`, and the official pipelines' own in `relax_lowering`.
"""

from __future__ import annotations

from generators.passes.phases import GRAPH, HIGH, only_with
from generators.passes.row import Meaning, PassRow, Phase

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
        HIGH,
        "src/relax/transform/adjust_matmul_order.cc: x*(A*B) to (x*A)*B; #20277",
        meaning=Meaning.ROUNDED,
        recipes=("matmul_chain", "matmul_of_permuted_product"),
        wants=("num_input",),
        idempotent=False,
    ),
    PassRow(
        "ExpandMatmulOfSum",
        ("relax.transform.ExpandMatmulOfSum()",),
        HIGH,
        "src/relax/transform/expand_matmul_of_sum.cc: x*(A+B) to x*A + x*B",
        meaning=Meaning.ROUNDED,
        recipes=("matmul_of_sum",),
        idempotent=False,
    ),
    PassRow(
        "CombineParallelMatmul",
        ("relax.transform.CombineParallelMatmul()", "relax.transform.CombineParallelMatmul(lambda *_: True)"),
        HIGH,
        "src/relax/transform/combine_parallel_matmul.cc: one matmul of concatenated weights, then slices",
        meaning=Meaning.ROUNDED,
        recipes=("parallel_matmuls", "parallel_matmuls_with_bias"),
        idempotent=False,
    ),
    PassRow(
        "ReorderTakeAfterMatmul",
        ("relax.transform.ReorderTakeAfterMatmul()",),
        HIGH,
        "src/relax/transform/reorder_take_after_matmul.cc; #20201 on the mode of take",
        meaning=Meaning.ROUNDED,
        recipes=("matmul_of_take",),
        idempotent=False,
    ),
    PassRow(
        "ReorderPermuteDimsAfterConcat",
        ("relax.transform.ReorderPermuteDimsAfterConcat()",),
        HIGH,
        "src/relax/transform/reorder_permute_dims_after_concat.cc: only data movement",
        recipes=("concat_of_permutes",),
        idempotent=False,
    ),
    PassRow(
        "FuseTransposeMatmul",
        ("relax.transform.FuseTransposeMatmul()",),
        HIGH,
        "python/tvm/relax/transform/fuse_transpose_matmul.py: must stand before LegalizeOps",
        meaning=Meaning.ROUNDED,
        recipes=("transpose_matmul",),
        idempotent=False,
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
        ),
        HIGH,
        "src/relax/transform/convert_layout.cc: the reduction of conv2d runs in another order",
        meaning=Meaning.ROUNDED,
        recipes=("conv2d_chain", "conv2d_between_layout_agnostic"),
    ),
    PassRow(
        "AlterOpImpl",
        (
            f"relax.transform.AlterOpImpl({{'passfuzz.add16': {_ADD16}}}, "
            f"{{'passfuzz.add16': [{_BLOCKED}, {_BLOCKED}, {_BLOCKED}]}})",
        ),
        frozenset({Phase.LEGAL}),
        "src/relax/transform/alter_op_impl.cc: the replacement is given as an equal PrimFunc in another layout",
        recipes=("operator_name_add16",),
        gives=Phase.HIGH,
        idempotent=False,
        notes="adds R.layout_transform operators, so LegalizeOps has work again; matches its own result",
    ),
    PassRow(
        "OptimizeLayoutTransform",
        ("relax.transform.OptimizeLayoutTransform()",),
        _LEGALISED,
        "python/tvm/relax/transform/optimize_layout_transform.py: removes pairs that undo each other",
        recipes=("layout_transform_pairs", "operator_name_add16"),
        idempotent=False,
    ),
    PassRow(
        "RemoveRedundantReshape",
        ("relax.transform.RemoveRedundantReshape()",),
        HIGH,
        "python/tvm/relax/transform/remove_redundant_reshape.py",
        recipes=("reshape_chain",),
        idempotent=False,
    ),
)

OPERATOR_ROWS = (
    PassRow(
        "DecomposeOpsForInference",
        ("relax.transform.DecomposeOpsForInference()", "relax.transform.DecomposeOpsForInference('main')"),
        HIGH,
        "src/relax/transform/decompose_ops.cc: batch_norm with moving statistics, tensor_to_shape",
        meaning=Meaning.ROUNDED,
        recipes=("batch_norm", "tensor_to_shape"),
        inference_only=True,
    ),
    PassRow(
        "DecomposeOpsForTraining",
        ("relax.transform.DecomposeOpsForTraining()", "relax.transform.DecomposeOpsForTraining('main')"),
        HIGH,
        "src/relax/transform/decompose_ops.cc MutateBatchNormForTraining: takes the batch's statistics",
        meaning=Meaning.CHANGED,
        recipes=("batch_norm", "layer_norm", "tensor_to_shape"),
    ),
    PassRow(
        "FoldBatchnormToConv2D",
        ("relax.transform.FoldBatchnormToConv2D()",),
        HIGH,
        "python/tvm/relax/transform/fold_batch_norm_to_conv2d_for_inference.py: scales the weights instead",
        meaning=Meaning.ROUNDED,
        recipes=("conv2d_batch_norm",),
        wants=("constants",),
        inference_only=True,
        idempotent=False,
    ),
    PassRow(
        "ToMixedPrecision",
        (
            "relax.transform.ToMixedPrecision()",
            "relax.transform.ToMixedPrecision('float16')",
        ),
        HIGH,
        "src/relax/transform/to_mixed_precision.cc: float32 modules only; casts to float16 around matmul and conv",
        meaning=Meaning.APPROXIMATE,
        lowers_to="float16",
        recipes=("matmul_chain", "conv2d_chain", "tuple_bound"),
        wants=("float32_only",),
        idempotent=False,
        first_only=True,
        notes="the pass takes float32 modules, and its own result is none",
    ),
    PassRow(
        "FastMathTransform",
        ("relax.transform.FastMathTransform()",),
        HIGH,
        "python/tvm/relax/transform/fast_math.py: exp, erf, tanh and softmax by polynomials",
        meaning=Meaning.APPROXIMATE,
        lowers_to="float16",
        recipes=("transcendental_chain",),
    ),
    PassRow(
        "DataflowUseInplaceCalls",
        ("relax.transform.DataflowUseInplaceCalls()",),
        HIGH,
        "src/relax/transform/dataflow_inplace.cc: a dead operand's storage takes the result",
        meaning=Meaning.ROUNDED,
        recipes=("elementwise_chain", "elementwise_on_alias"),
        overwrites=True,
    ),
    PassRow(
        "RealizeVDevice",
        ("relax.transform.RealizeVDevice()",),
        HIGH,
        "src/relax/transform/realize_vdevice.cc: hint_on_device becomes annotations and to_vdevice; #17205",
        recipes=("hint_on_device",),
        wants=("vdevice",),
    ),
    PassRow(
        "UpdateVDevice",
        (),
        GRAPH,
        "src/relax/transform/update_vdevice.cc: replaces one of the module's virtual devices",
        recipes=("hint_on_device",),
        wants=("vdevice",),
        draw_source=only_with(
            "vdevice",
            "relax.transform.UpdateVDevice(relax.VDevice('llvm', 0, 'global'), 0)",
            "relax.transform.UpdateVDevice(relax.VDevice('llvm', 1), 0)",
        ),
        keeps_attributes=False,
        notes="raises KeyError in a module without virtual devices",
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
        ),
        HIGH,
        "src/relax/transform/fuse_ops.cc PatternBasedPartitioner: groups matches into private functions",
        recipes=("conv2d_chain", "matmul_bias_relu", "diamond", "constant_operands"),
        idempotent=False,
        buildable=False,
        notes="a second application with annotate_codegen wraps the wrappers",
    ),
    PassRow(
        "MergeCompositeFunctions",
        ("relax.transform.MergeCompositeFunctions()",),
        HIGH,
        "src/relax/transform/merge_composite_functions.cc: neighbouring composites of one backend",
        recipes=("conv2d_chain", "matmul_bias_relu", "diamond"),
        prepared_by=("FuseOpsByPattern",),
        idempotent=False,
        buildable=False,
        keeps_functions=False,
    ),
    PassRow(
        "RunCodegen",
        ("relax.transform.RunCodegen()", "relax.transform.RunCodegen(entry_functions=['main'])"),
        HIGH,
        "src/relax/transform/run_codegen.cc: without Codegen functions only its DeadCodeElimination acts",
        recipes=("private_functions_unused",),
        keeps_functions=False,
    ),
    PassRow(
        "AllocateWorkspace",
        ("relax.transform.AllocateWorkspace()",),
        HIGH,
        "src/relax/transform/allocate_workspace.cc: external functions with WorkspaceSize get one more argument",
        recipes=("external_workspace",),
        buildable=False,
        keeps_functions=False,
        keeps_attributes=False,
        notes="rewrites the external function under another name, without WorkspaceSize",
    ),
)

ROWS = MATMUL_ROWS + LAYOUT_ROWS + OPERATOR_ROWS + PATTERN_ROWS

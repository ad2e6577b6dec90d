"""Passes about functions, their parameters and how they are called: lifting, inlining, binding, laziness, gradients."""

from __future__ import annotations

import math

from generators.passes.phases import GRAPH, HIGH, UNMEMORIED
from generators.passes.row import Parameter, PassRow, Phase, ProgramFacts
from generators.source import Source

_MAX_BOUND_ELEMENTS = 64
_NATIVE_DTYPES = frozenset(
    {"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"}
)
_FLOATS = frozenset({"float16", "float32", "float64"})


def _number(value: bool | int | float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else ("np.inf" if value > 0 else "-np.inf")
    return repr(value)


def _array_text(parameter: Parameter) -> str:
    """The parameter's value as an expression over `np`; exact, since repr of a Python float is."""
    assert parameter.value is not None
    numbers = ", ".join(_number(value) for value in parameter.value.ravel().tolist())
    return f"np.array([{numbers}], '{parameter.dtype}').reshape({parameter.shape})"


def _bindable(parameter: Parameter) -> bool:
    value = parameter.value
    return (
        parameter.is_tensor
        and value is not None
        and parameter.dtype in _NATIVE_DTYPES
        and value.size <= _MAX_BOUND_ELEMENTS
    )


def draw_bind_params(source: Source, facts: ProgramFacts) -> str | None:
    """Binds some small parameters (weights, where `num_input` says which) to the values of the first entry call."""
    options = [parameter for parameter in facts.parameters[facts.num_input or 0 :] if _bindable(parameter)]
    if not options:
        return None
    chosen = [parameter for parameter in options if source.flip(0.7)] or [source.pick(options)]
    entries = ", ".join(f"'{parameter.name}': {_array_text(parameter)}" for parameter in chosen)
    return f"relax.transform.BindParams('{facts.functions[0]}', {{{entries}}})"


def draw_bind_symbolic_vars(source: Source, facts: ProgramFacts) -> str | None:
    """Binds some of the entry function's symbolic dims to their values in the first entry call."""
    if not facts.symbols:
        return None
    chosen = [symbol for symbol in facts.symbols if source.flip(0.7)] or [source.pick(facts.symbols)]
    entries = ", ".join(f"'{name}': {value}" for name, value in chosen)
    # Without a function's name the pass binds every symbol of that name, those of private functions as well.
    return f"relax.transform.BindSymbolicVars({{{entries}}}, '{facts.functions[0]}')"


def draw_gradient(source: Source, facts: ProgramFacts) -> str | None:
    """The adjoint of the entry function, which must end in a scalar and take float tensors only."""
    floats = facts.parameters and all(p.is_tensor and p.dtype in _FLOATS for p in facts.parameters)
    if "scalar_loss" not in facts.features or not floats:
        return None
    name = facts.functions[0]
    return source.pick((f"relax.transform.Gradient('{name}')", f"relax.transform.Gradient('{name}', target_index=0)"))


def draw_lift_transform_params(source: Source, facts: ProgramFacts) -> str | None:
    """Separate or shared transforms; None without weights, since the shared one asks for `num_input`."""
    if facts.num_input is None:
        return None
    shared = source.pick(("", "shared_transform=False", "shared_transform=True", f"['{facts.functions[0]}']"))
    return f"relax.transform.LiftTransformParams({shared})"


FUNCTION_ROWS = (
    PassRow(
        "LambdaLift",
        ("relax.transform.LambdaLift()",),
        HIGH,
        "src/relax/transform/lambda_lift.cc: local functions become private ones",
        recipes=("local_functions", "local_functions_capturing"),
        wants=("local_functions",),
    ),
    PassRow(
        "InlinePrivateFunctions",
        ("relax.transform.InlinePrivateFunctions()",),
        HIGH,
        "src/relax/transform/inline_functions.cc: recursion is left alone",
        recipes=("private_calls", "private_calls_symbolic"),
        wants=("private_functions",),
        keeps_functions=False,
    ),
    PassRow(
        "ExpandTupleArguments",
        ("relax.transform.ExpandTupleArguments()",),
        HIGH,
        "src/relax/transform/expand_tuple_arguments.cc: of private functions only",
        recipes=("private_tuple_arguments",),
        wants=("private_functions",),
        keeps_functions=False,
        idempotent=False,
        notes="canonicalises, and so needs two applications where CanonicalizeBindings does",
    ),
    PassRow(
        "RemoveUnusedParameters",
        ("relax.transform.RemoveUnusedParameters()",),
        HIGH,
        "src/relax/transform/remove_unused_parameters.cc: of private functions only",
        recipes=("private_unused_parameters", "private_calls_symbolic"),
        wants=("private_functions",),
        keeps_functions=False,
        idempotent=False,
        notes="what a callee no longer takes or gives may be unused in its caller from then on",
    ),
    PassRow(
        "RemoveUnusedOutputs",
        ("relax.transform.RemoveUnusedOutputs()",),
        HIGH,
        "src/relax/transform/remove_unused_outputs.cc: of private functions only",
        recipes=("private_unused_outputs", "nested_results"),
        wants=("private_functions",),
        keeps_functions=False,
        idempotent=False,
        notes="what a callee no longer takes or gives may be unused in its caller from then on",
    ),
    PassRow(
        "NormalizeGlobalVar",
        ("relax.transform.NormalizeGlobalVar()",),
        UNMEMORIED,
        "src/relax/transform/normalize.cc: renames private functions that clash with a global_symbol",
        recipes=("private_calls",),
        keeps_functions=False,
    ),
    PassRow(
        "AttachExternModules",
        ("relax.transform.AttachExternModules([])",),
        HIGH,
        "python/tvm/relax/transform/attach_external_modules.py: only adds to the module attribute external_mods",
    ),
    PassRow(
        "UpdateParamType",
        ("relax.transform.UpdateParamType(lambda v: None)", "relax.transform.UpdateParamType(lambda v: v.ty)"),
        HIGH,
        "src/relax/transform/update_param_type.cc: None or the same type asks for no change",
        recipes=("private_calls",),
    ),
    PassRow(
        "Gradient",
        (),
        HIGH,
        "src/relax/transform/gradient.cc: adds main_adjoint and leaves main as it is",
        recipes=("scalar_loss",),
        wants=("scalar_loss",),
        draw_source=draw_gradient,
        first_only=True,
        notes="needs one dataflow block, a scalar float output and float tensors for parameters",
    ),
)

CALLING_ROWS = (
    PassRow(
        "BindParams",
        (),
        HIGH,
        "src/relax/transform/bind_params.cc: named parameters become constants",
        calling="bind_params",
        idempotent=False,
        recipes=("weight_transform", "constant_operands"),
        draw_source=draw_bind_params,
        notes="a second application raises: the parameter is gone",
    ),
    PassRow(
        "BindSymbolicVars",
        (),
        HIGH,
        "src/relax/transform/bind_symbolic_vars.cc: named dims of the signature become constants",
        calling="bind_symbolic_vars",
        idempotent=False,
        recipes=("symbolic_shapes",),
        wants=("symbolic",),
        draw_source=draw_bind_symbolic_vars,
        notes="a second application raises: the name is gone",
    ),
    PassRow(
        "BundleModelParams",
        ("relax.transform.BundleModelParams()", "relax.transform.BundleModelParams('weights')"),
        HIGH,
        "src/relax/transform/bundle_model_params.cc: parameters after num_input become one tuple",
        calling="bundle_params",
        idempotent=False,
        recipes=("weight_transform",),
        wants=("num_input",),
    ),
    PassRow(
        "LiftTransformParams",
        (),
        HIGH,
        "src/relax/transform/lift_transform_params.cc; #17200 on idempotence, #17231",
        calling="lift_transform_params",
        recipes=("weight_transform", "weight_transform_returned", "weight_transform_shared"),
        wants=("num_input",),
        draw_source=draw_lift_transform_params,
    ),
    PassRow(
        "LazyGetInput",
        ("relax.transform.LazyGetInput()",),
        HIGH,
        "src/relax/transform/lazy_transform_params.cc: parameters after num_input come from a callback",
        calling="lazy_get_input",
        idempotent=False,
        recipes=("weight_transform", "symbolic_shapes"),
        wants=("num_input",),
    ),
    PassRow(
        "LazySetOutput",
        ("relax.transform.LazySetOutput()",),
        HIGH,
        "src/relax/transform/lazy_transform_params.cc: outputs go to a callback as soon as they are there",
        calling="lazy_set_output",
        idempotent=False,
        recipes=("several_outputs", "tuple_nested", "nested_outputs", "bindings_outside_dataflow"),
    ),
    PassRow(
        "LazyTransformParams",
        ("relax.transform.LazyTransformParams()",),
        HIGH,
        "python/tvm/relax/transform/lazy_transform_params.py: after ToNonDataflow and RemovePurityChecking",
        gives=Phase.IMPURE,
        calling="lazy_transform_params",
        idempotent=False,
        recipes=("weight_transform",),
        wants=("num_input",),
        prepared_by=("LiftTransformParams", "ToNonDataflow", "RemovePurityChecking"),
        keeps_attributes=False,
        notes="its callbacks are impure, so force_pure goes",
    ),
    PassRow(
        "AttachAttrLayoutFreeBuffers",
        ("relax.transform.AttachAttrLayoutFreeBuffers()",),
        GRAPH - HIGH,
        "src/relax/transform/attach_attr_layout_free_buffers.cc: marks weights and constants of call_tir",
        recipes=("weight_transform", "constant_operands"),
        wants=("num_input", "constants"),
        keeps_functions=False,
        notes="makes new PrimFuncs and drops the old ones",
        idempotent=False,
    ),
)

ROWS = FUNCTION_ROWS + CALLING_ROWS

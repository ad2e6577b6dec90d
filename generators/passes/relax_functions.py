"""Passes about functions, their parameters and how they are called: lifting, inlining, binding, laziness, gradients."""

from __future__ import annotations

import math
from collections import Counter

from generators.passes.knobs import KNOBS
from generators.passes.options import CONSUME_PARAMS
from generators.passes.phases import GRAPH, HIGH, UNMEMORIED
from generators.passes.row import Documented, Fires, PassRow, Phase, Place, Promise, Rate, Role
from generators.passes.traits import (
    AgainWith,
    AlsoMadeBy,
    AppliesInside,
    Asks,
    FirstOnly,
    FollowsArguments,
    ObjectNamed,
    PreparedBy,
    ReadsAllFunctions,
    Refuses,
    Undoes,
)
from generators.program_facts import Feature, Parameter, ProgramFacts
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
    names = Counter(parameter.name for parameter in facts.parameters)  # It refuses a name that two parameters have.
    weights = facts.parameters[facts.num_input or 0 :]
    options = [parameter for parameter in weights if _bindable(parameter) and names[parameter.name] == 1]
    if not options:
        return None
    chosen = [parameter for parameter in options if source.flip(KNOBS.arguments.bound)] or [source.pick(options)]
    entries = ", ".join(f"'{parameter.name}': {_array_text(parameter)}" for parameter in chosen)
    return f"relax.transform.BindParams('{facts.functions[0]}', {{{entries}}})"


def draw_bind_symbolic_vars(source: Source, facts: ProgramFacts) -> str | None:
    """Binds some of the entry function's symbolic dims to their values in the first entry call."""
    if not facts.symbols:
        return None
    chosen = [symbol for symbol in facts.symbols if source.flip(KNOBS.arguments.bound)] or [source.pick(facts.symbols)]
    alike = [symbol for symbol in chosen if symbol[0] in facts.alike]
    # Without a function's name the pass binds every symbol of that name, those of private functions as well.
    everywhere = bool(alike) and source.flip(KNOBS.arguments.bound_everywhere)
    entries = ", ".join(f"'{name}': {value}" for name, value in (alike if everywhere else chosen))
    function = "" if everywhere else f", '{facts.functions[0]}'"
    return f"relax.transform.BindSymbolicVars({{{entries}}}{function})"


MOST_GRADIENTS = 3


def gradient_of_some(parameter: int, target: str) -> str:
    """The adjoint of main for one of its first parameters, which the constructor takes as a variable of the module."""
    return (
        f"tvm.transform.module_pass(lambda mod, ctx: relax.transform.Gradient('main', "
        f"mod['main'].params[{parameter}]{target})(mod), opt_level=0, name='Gradient')"
    )


_GRADIENTS_OF_SOME = tuple(
    gradient_of_some(parameter, target)
    for parameter in range(MOST_GRADIENTS)
    for target in ("", *(f", target_index={place}" for place in range(3)))
)


def draw_gradient(source: Source, facts: ProgramFacts) -> str | None:
    """The adjoint of the entry function, which must end in a scalar and take float tensors only."""
    floats = facts.parameters and all(p.is_tensor and p.dtype in _FLOATS for p in facts.parameters)
    if Feature.SCALAR_LOSS not in facts.features or not floats:
        return None
    target = f", target_index={facts.loss}" if facts.loss or source.flip() else ""
    if source.flip(KNOBS.arguments.some_gradients) and len(facts.parameters) > 1:
        return gradient_of_some(source.integer(0, min(len(facts.parameters), MOST_GRADIENTS) - 1), target)
    return f"relax.transform.Gradient('{facts.functions[0]}'{target})"


def _after_a_new_symbol(symbol: str) -> str:
    """NormalizeGlobalVar after the first private function, by name, has got a global symbol: no well-formed module has
    one that is not its function's name. symbol: an expression over the sorted `names` of the private functions."""
    private = "sorted(g.name_hint for g, f in mod.functions.items() if not (f.attrs and 'global_symbol' in f.attrs))"
    functions = (
        f"{{g: f.with_attr('global_symbol', {symbol}) if g.name_hint == names[0] else f "
        "for g, f in mod.functions.items()}"
    )
    made = f"tvm.IRModule({functions}, attrs=mod.attrs, global_infos=mod.global_infos)"
    named = (
        f"tvm.transform.module_pass(lambda mod, ctx: (lambda names: {made} if names else mod)({private}), opt_level=0)"
    )
    return f"tvm.transform.Sequential([{named}, relax.transform.NormalizeGlobalVar()])"


_AFTER_A_NEW_SYMBOL = (_after_a_new_symbol("names[-1]"), _after_a_new_symbol("'public_' + names[0]"))
"""The symbol is the name of another private function, which has to give way; or a name of its own."""


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
        "src/relax/transform/lambda_lift.cc: local functions become private ones",
        Place(HIGH),
        fires=Fires(
            recipes=(
                *("local_functions", "local_functions_capturing"),
                *("recursive_local", "local_names_taken", "returned_closures"),
            ),
            wants=frozenset({Feature.LOCAL_FUNCTIONS}),
            rate=Rate(26),
        ),
        role=Role.LIFTS_LOCAL_FUNCTIONS,
    ),
    PassRow(
        "InlinePrivateFunctions",
        ("relax.transform.InlinePrivateFunctions()",),
        "src/relax/transform/inline_functions.cc: recursion is left alone",
        Place(HIGH),
        promise=Promise(keeps_functions=False),
        fires=Fires(
            recipes=(
                *("private_calls", "private_calls_symbolic", "recursive_private"),
                *("impure_private", "private_shared", "polymorphic_private"),
            ),
            wants=frozenset({Feature.PRIVATE_FUNCTIONS}),
            rate=Rate(10),
        ),
        traits=(AppliesInside(("CanonicalizeBindings",)),),
    ),
    PassRow(
        "ExpandTupleArguments",
        ("relax.transform.ExpandTupleArguments()",),
        "src/relax/transform/expand_tuple_arguments.cc: of private functions only",
        Place(HIGH),
        promise=Promise(
            # it canonicalises, so that it needs two applications where CanonicalizeBindings does
            idempotent=False,
            keeps_functions=False,
        ),
        fires=Fires(recipes=("private_tuple_arguments",), wants=frozenset({Feature.PRIVATE_FUNCTIONS}), rate=Rate(12)),
    ),
    PassRow(
        "RemoveUnusedParameters",
        ("relax.transform.RemoveUnusedParameters()",),
        "src/relax/transform/remove_unused_parameters.cc: of private functions only",
        Place(HIGH),
        promise=Promise(
            # what a callee no longer takes or returns may then be unused in its caller
            idempotent=False,
            keeps_functions=False,
        ),
        fires=Fires(
            recipes=("private_unused_parameters", "private_calls_symbolic", "private_shared"),
            wants=frozenset({Feature.PRIVATE_FUNCTIONS}),
            rate=Rate(8),
        ),
    ),
    PassRow(
        "RemoveUnusedOutputs",
        ("relax.transform.RemoveUnusedOutputs()",),
        "src/relax/transform/remove_unused_outputs.cc: of private functions only",
        Place(HIGH),
        promise=Promise(
            # what a callee no longer takes or returns may then be unused in its caller
            idempotent=False,
            keeps_functions=False,
        ),
        fires=Fires(
            recipes=("private_unused_outputs", "nested_results"),
            wants=frozenset({Feature.PRIVATE_FUNCTIONS}),
            rate=Rate(21),
        ),
    ),
    PassRow(
        "NormalizeGlobalVar",
        ("relax.transform.NormalizeGlobalVar()", *_AFTER_A_NEW_SYMBOL),
        "src/relax/transform/normalize.cc: renames private functions that clash with a global_symbol",
        Place(UNMEMORIED),
        promise=Promise(
            # what comes before it gives the next private function a symbol
            idempotent=False,
            keeps_functions=False,
        ),
        fires=Fires(
            recipes=("private_calls", "private_twins", "recursive_private"),
            wants=frozenset({Feature.PRIVATE_FUNCTIONS}),
            rate=Rate(15),
        ),
        # which function gets what symbol follows from the names of all private ones
        traits=(ReadsAllFunctions(),),
    ),
    PassRow(
        "AttachExternModules",
        ("relax.transform.AttachExternModules([])",),
        "python/tvm/relax/transform/attach_external_modules.py: only adds to the module attribute external_mods",
        Place(HIGH),
        fires=Fires(rate=Rate(14)),
        traits=(ObjectNamed("AttachExternalModules"),),
    ),
    PassRow(
        "UpdateParamType",
        ("relax.transform.UpdateParamType(lambda v: None)", "relax.transform.UpdateParamType(lambda v: v.ty)"),
        "src/relax/transform/update_param_type.cc: None or the same type asks for no change",
        Place(HIGH),
        fires=Fires(recipes=("private_calls",), rate=Rate(7)),
        traits=(FollowsArguments(),),
    ),
    PassRow(
        "Gradient",
        (),
        "src/relax/transform/gradient.cc: adds main_adjoint and leaves main as it is",
        Place(HIGH),
        fires=Fires(
            recipes=("scalar_loss", "loss_of_kernels", "loss_of_stages"),
            favoured=("loss_of_kernels",),
            wants=frozenset({Feature.SCALAR_LOSS}),
            draw_source=draw_gradient,
            rate=Rate(9),
        ),
        traits=(AlsoMadeBy(_GRADIENTS_OF_SOME), Asks("FPrimalGradient"), FirstOnly()),
    ),
)

CALLING_ROWS = (
    PassRow(
        "BindParams",
        (),
        "src/relax/transform/bind_params.cc: named parameters become constants",
        Place(HIGH),
        promise=Promise(
            calling="bind_params",
            # a second application raises, since the parameter is gone
            idempotent=False,
        ),
        fires=Fires(
            recipes=("weight_transform", "constant_operands", "symbolic_shapes"),
            draw_source=draw_bind_params,
            rate=Rate(13),
        ),
        traits=(Refuses("Function contains multiple parameters with name"),),
    ),
    PassRow(
        "BindSymbolicVars",
        (),
        "src/relax/transform/bind_symbolic_vars.cc: named dims of the signature become constants",
        Place(HIGH),
        promise=Promise(
            calling="bind_symbolic_vars",
            # a second application raises, since the name is gone
            idempotent=False,
        ),
        fires=Fires(
            recipes=("symbolic_shapes", "symbol_of_functions"),
            wants=frozenset({Feature.SYMBOLIC}),
            draw_source=draw_bind_symbolic_vars,
            rate=Rate(13),
        ),
    ),
    PassRow(
        "BundleModelParams",
        ("relax.transform.BundleModelParams()", "relax.transform.BundleModelParams('weights')"),
        "src/relax/transform/bundle_model_params.cc: parameters after num_input become one tuple",
        Place(HIGH),
        promise=Promise(calling="bundle_params", idempotent=False),
        fires=Fires(
            recipes=("weight_transform", "weights_in_branches"), wants=frozenset({Feature.NUM_INPUT}), rate=Rate(14)
        ),
    ),
    PassRow(
        "LiftTransformParams",
        (),
        "src/relax/transform/lift_transform_params.cc; #17200 on idempotence, #17231",
        Place(HIGH),  # of the function that it makes
        promise=Promise(calling="lift_transform_params"),
        fires=Fires(
            recipes=("weight_transform", "weight_transform_returned", "weight_transform_shared"),
            wants=frozenset({Feature.NUM_INPUT}),
            draw_source=draw_lift_transform_params,
            options=CONSUME_PARAMS,
            rate=Rate(16),
        ),
        traits=(
            AlsoMadeBy(
                (
                    "relax.transform.LiftTransformParams()",
                    "relax.transform.LiftTransformParams(shared_transform=True)",
                )
            ),
            AgainWith(("relax.builtin.stop_lift_params",)),
            Undoes(("RemovePurityChecking", "ToNonDataflow")),
        ),
    ),
    PassRow(
        "LazyGetInput",
        ("relax.transform.LazyGetInput()",),
        "src/relax/transform/lazy_transform_params.cc: parameters after num_input come from a callback",
        Place(HIGH),
        promise=Promise(calling="lazy_get_input", idempotent=False),
        fires=Fires(
            recipes=("weight_transform", "symbolic_shapes"), wants=frozenset({Feature.NUM_INPUT}), rate=Rate(16)
        ),
    ),
    PassRow(
        "LazySetOutput",
        ("relax.transform.LazySetOutput()",),
        "src/relax/transform/lazy_transform_params.cc: outputs go to a callback as soon as they are there",
        Place(HIGH),
        promise=Promise(calling="lazy_set_output", idempotent=False),
        fires=Fires(
            recipes=("several_outputs", "tuple_nested", "nested_outputs", "bindings_outside_dataflow"), rate=Rate(15)
        ),
    ),
    PassRow(
        "LazyTransformParams",
        ("relax.transform.LazyTransformParams()",),
        "python/tvm/relax/transform/lazy_transform_params.py",
        Place(
            HIGH,
            gives=Phase.IMPURE,
            documented=(
                Documented(
                    "ToNonDataflow() and RemovePurityTracking() should be invoked before this pass.",
                    "relax/transform/lazy_transform_params.py",
                    after=("ToNonDataflow", "RemovePurityChecking"),  # which it calls by an older name
                ),
            ),
        ),
        promise=Promise(
            calling="lazy_transform_params",
            # its callbacks are impure, so that it removes force_pure
            idempotent=False,
            keeps_attributes=False,
        ),
        fires=Fires(recipes=("weight_transform",), wants=frozenset({Feature.NUM_INPUT}), rate=Rate(15)),
        traits=(PreparedBy(("LiftTransformParams", "ToNonDataflow", "RemovePurityChecking")),),
    ),
    PassRow(
        "AttachAttrLayoutFreeBuffers",
        ("relax.transform.AttachAttrLayoutFreeBuffers()",),
        "src/relax/transform/attach_attr_layout_free_buffers.cc: marks weights and constants of call_tir",
        Place(GRAPH - HIGH),
        promise=Promise(
            # it makes new PrimFuncs and drops the old ones
            idempotent=False,
            keeps_functions=False,
        ),
        fires=Fires(
            recipes=("weight_transform", "constant_operands"),
            wants=frozenset({Feature.NUM_INPUT, Feature.CONSTANTS}),
            rate=Rate(14),
        ),
    ),
)

ROWS = FUNCTION_ROWS + CALLING_ROWS

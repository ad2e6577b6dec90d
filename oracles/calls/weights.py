"""Calling conventions of passes that move or bundle weights: LiftTransformParams and BundleModelParams.

src/relax/transform/lift_transform_params.cc, src/relax/transform/bundle_model_params.cc.
"""

from __future__ import annotations

from generators import tvm_api
from generators.tvm_api import BaseFunc
from oracles.reference.calling import AppliedPass, Calling, Run, direct
from oracles.reference.values import Runtime


def lifted(applied: AppliedPass, function: str) -> Calling | None:
    """The weights go through the transform function, what it returns follows the inputs."""
    inputs = applied.num_input(function)
    given = applied.arguments()
    if given is None:
        return None
    shared = given[0][0] if given[0] else given[1].get("shared_transform")
    others_only = isinstance(shared, list) and shared and function not in shared
    if inputs is None or function.endswith("transform_params") or others_only:
        return direct
    transform = next((n for n in (f"{function}_transform_params", "transform_params") if n in applied.new), None)
    if transform is None:
        return direct
    return with_lifted_weights(transform, inputs, takes_one_tuple(applied.new[transform]))


def with_lifted_weights(transform: str, inputs: int, takes_tuple: bool) -> Calling:
    """The weights go through the function `transform`; what it returns follows the inputs."""

    def call(run: Run, name: str, arguments: list[Runtime]) -> Runtime:
        weights = arguments[inputs:]
        lifted = run(transform, [tuple(weights)] if takes_tuple else weights)
        assert isinstance(lifted, tuple)
        return run(name, [*arguments[:inputs], *lifted])

    return call


def takes_one_tuple(function: BaseFunc) -> bool:
    """Whether the function has one parameter, which is a tuple."""
    parameters = function.params
    return len(parameters) == 1 and isinstance(tvm_api.type_of(parameters[0]), tvm_api.TupleType)


def bundled(applied: AppliedPass, function: str) -> Calling | None:
    """The parameters after the inputs become one tuple."""
    inputs = applied.num_input(function)
    if inputs is None:
        return direct
    return lambda run, name, arguments: run(name, [*arguments[:inputs], tuple(arguments[inputs:])])

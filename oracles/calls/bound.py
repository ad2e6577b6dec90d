"""Calling conventions of passes that build values in: BindParams and BindSymbolicVars.

src/relax/transform/bind_params.cc, src/relax/transform/bind_symbolic_vars.cc.
"""

from __future__ import annotations

import numpy as np

from generators import tvm_api
from generators.tvm_api import Var
from oracles.reference.annotations import bind_and_check
from oracles.reference.calling import AppliedPass, Calling, LeftOut, Run, direct
from oracles.reference.values import Runtime, Tensor, from_argument


def values(applied: AppliedPass, function: str) -> Calling | None:
    """The parameters that are gone hold the values named in the pass; calls with other values are left out."""
    given = applied.arguments()
    if given is None or len(given[0]) < 2 or not isinstance(given[0][1], dict):
        return None
    target, bound = given[0][0], given[0][1]
    if target != function:
        return direct
    names = [p.name for p in applied.old[function].params]
    left = [p.name for p in applied.new[function].params]
    if len(set(names)) != len(names) or any(name not in names for name in left):
        return None

    def call(run: Run, name: str, arguments: list[Runtime]) -> Runtime:
        for parameter, argument in zip(names, arguments, strict=True):
            if parameter in bound and not _is_value(argument, bound[parameter]):
                raise LeftOut("entry call: has another value than the one bound")
        return run(name, [a for n, a in zip(names, arguments, strict=True) if n in left])

    return call


def _is_value(argument: Runtime, bound: object) -> bool:
    if not isinstance(argument, Tensor) or not isinstance(bound, np.ndarray):
        return False
    value = from_argument(bound)
    assert isinstance(value, Tensor)
    same_type = value.dtype == argument.dtype and value.shape == argument.shape
    return same_type and value.value.tobytes() == argument.value.tobytes()


def symbols(applied: AppliedPass, function: str) -> Calling | None:
    """The parameters stay; calls with other extents than those named in the pass are left out."""
    given = applied.arguments()
    if given is None or not given[0] or not isinstance(given[0][0], dict):
        return None
    target = given[0][1] if len(given[0]) > 1 else given[1].get("func_name")
    if target not in (None, function):
        return direct
    types = [tvm_api.type_of(p) for p in applied.old[function].params]

    def call(run: Run, name: str, arguments: list[Runtime]) -> Runtime:
        extents: dict[Var, int] = {}
        for ty, argument in zip(types, arguments, strict=True):
            bind_and_check(ty, argument, extents, "", False)
        if any(given[0][0].get(symbol.name, extent) != extent for symbol, extent in extents.items()):
            raise LeftOut("entry call: has another extent than the one bound")
        return run(name, arguments)

    return call

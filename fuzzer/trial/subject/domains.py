"""Which parameters of a module's functions reach an operand whose values have a documented domain, and inputs in it.

Followed: parameters and their fields, other names for them, casts, and calls of other functions of the module. A value
that is computed on its way is whatever comes out of the computation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from tvm import relax

from generators.case import Argument, EntryCall
from generators.operators.domain import Domain
from generators.operators.table import OPERATORS
from oracles.ir.walk import CALL, GLOBAL_VAR, OP, TUPLE_GET_ITEM, VAR, bindings, functions_of

Place: TypeAlias = tuple[int, ...]
"""A parameter by its number, then the fields of its tuple."""
_SAME_VALUES = frozenset({"relax.astype", "relax.wrap_param", "relax.stop_lift_params"})
_DEPTH = 8
"""How deep calls of private functions are followed: recursion would not end."""


def domains_of(module: Any, name: str) -> dict[Place, Domain]:
    """The domain of each parameter, or field of one, of a Relax function that has any."""
    functions = functions_of(module)
    return dict(_reached(functions, functions[name], _DEPTH)) if name in functions else {}


def _reached(functions: dict[str, Any], function: Any, depth: int) -> Iterator[tuple[Place, Domain]]:
    if not isinstance(function, relax.Function) or not depth:
        return
    places: dict[Any, Place] = {parameter: (number,) for number, parameter in enumerate(function.params)}
    for bound in bindings(function):
        value = bound.value
        place = _place(value, places)
        if place is not None:
            places[bound.binding.var] = place
        elif type(value) is CALL:
            for number, domain in _asked(functions, value, depth):
                argument = value.args[number[0]] if number[0] < len(value.args) else None
                start = None if argument is None else _place(argument, places)
                if start is not None:
                    yield (*start, *number[1:]), domain


def _asked(functions: dict[str, Any], call: Any, depth: int) -> Iterator[tuple[Place, Domain]]:
    """What a call asks of its arguments."""
    if type(call.op) is GLOBAL_VAR:
        yield from _reached(functions, functions.get(call.op.name_hint), depth - 1)
    elif type(call.op) is OP and call.op.name in OPERATORS:
        yield from (((number,), domain) for number, domain in OPERATORS[call.op.name].domains)


def _place(value: Any, places: dict[Any, Place]) -> Place | None:
    """The parameter, or field of one, that an expression gives as it is; None for what is computed."""
    if isinstance(value, VAR):
        return places.get(value)
    if type(value) is TUPLE_GET_ITEM:
        whole = _place(value.tuple_value, places)
        return None if whole is None else (*whole, int(value.index))
    if type(value) is CALL and type(value.op) is OP and value.op.name in _SAME_VALUES:
        return _place(value.args[0], places)
    return None


def in_domains(module: Any, call: EntryCall, seed: int) -> EntryCall:
    """The call with arguments drawn from the domains of its parameters, where these have one."""
    arguments: list[Argument] = list(call.arguments)
    for place, domain in domains_of(module, call.function).items():
        if place[0] < len(arguments):
            random = np.random.default_rng([seed & 0xFFFFFFFF, *place])
            arguments[place[0]] = _with(arguments[place[0]], place[1:], domain, random)
    return replace(call, arguments=tuple(arguments))


def _with(argument: Argument, fields: Place, domain: Domain, random: np.random.Generator) -> Argument:
    """The argument with new values at a field. Empty arrays stay, and those of whole numbers where floats are meant."""
    if fields and isinstance(argument, tuple) and fields[0] < len(argument):
        inner = _with(argument[fields[0]], fields[1:], domain, random)
        return tuple(inner if number == fields[0] else field for number, field in enumerate(argument))
    if fields or not isinstance(argument, np.ndarray) or not argument.size:
        return argument
    if domain.of_floats and argument.dtype.kind in "iub":
        return argument
    return domain.draw(random, argument.shape).astype(argument.dtype)

"""Which parameters of a module's functions reach an operand whose values have a documented domain, and inputs in it.

A parameter whose elements are moved on the way has no domain: a distribution is one along the last axis only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fuzzer.trial.subject.parameters import ParameterPath, operator_of, uses
from generators.case import Argument, EntryCall
from generators.operators.domain import Domain
from generators.tvm_api import IRModule


def domains_of(module: IRModule, name: str) -> dict[ParameterPath, Domain]:
    """The domain of each parameter, or field of one, of a Relax function that has any."""
    return dict(_reached(module, name))


def _reached(module: IRModule, name: str) -> Iterator[tuple[ParameterPath, Domain]]:
    for use in uses(module, name):
        row = operator_of(use.call)
        for number, domain in () if row is None else row.domains:
            origin = use.origin(use.call.args[number]) if number < len(use.call.args) else None
            if origin is not None and not origin.moved:
                yield origin.path, domain


def in_domains(module: IRModule, call: EntryCall, seed: int) -> EntryCall:
    """The call with arguments drawn from the domains of its parameters, where these have one."""
    arguments: list[Argument] = list(call.arguments)
    for path, domain in domains_of(module, call.function).items():
        if path[0] < len(arguments):
            random = np.random.default_rng([seed & 0xFFFFFFFF, *path])
            arguments[path[0]] = _with(arguments[path[0]], path[1:], domain, random)
    return replace(call, arguments=tuple(arguments))


def _with(argument: Argument, fields: ParameterPath, domain: Domain, random: np.random.Generator) -> Argument:
    """The argument with new values at a field. Empty arrays stay, and those of whole numbers where floats are meant."""
    if fields and isinstance(argument, tuple) and fields[0] < len(argument):
        inner = _with(argument[fields[0]], fields[1:], domain, random)
        return tuple(inner if number == fields[0] else field for number, field in enumerate(argument))
    if fields or not isinstance(argument, np.ndarray) or not argument.size:
        return argument
    if domain.of_floats and argument.dtype.kind in "iub":
        return argument
    return domain.draw(random, argument.shape).astype(argument.dtype)

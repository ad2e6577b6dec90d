"""Whether two modules do the same, each function its bindings in an order of its own: for comparison only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

from tvm import relax

from generators import tvm_api as T
from generators.tvm_api import BaseFunc, IRModule, Node, RelaxFunction, Var
from oracles.ir.walk import FUNCTION, functions_of


def same_in_any_order(one: IRModule, other: IRModule) -> bool:
    """Whether functions of the same names bind the same values, as often, whatever comes first.

    What the order means, where calls have effects, is a question for the oracles of effects and numbers.
    """
    ours, theirs = functions_of(one), functions_of(other)
    return ours.keys() == theirs.keys() and all(_unordered(ours[name]) == _unordered(theirs[name]) for name in ours)


def _unordered(function: BaseFunc) -> Hashable:
    if not isinstance(function, FUNCTION):
        return _hashed(function)
    known: dict[Var, int] = {param: place for place, param in enumerate(function.params)}
    bound: Counter[int] = Counter()
    for block in function.body.blocks:
        for binding in block.bindings:
            value = hash((_meaning(binding.value, known), _hashed(T.type_of(binding.var))))
            known[binding.var] = value
            bound[value] += 1
    return _signature(function), frozenset(bound.items()), _meaning(function.body.body, known)


def _signature(function: RelaxFunction) -> Hashable:
    types = tuple(_hashed(T.type_of(param)) for param in function.params)
    return types, _hashed(T.return_type(function)), _hashed(function.attrs)


def _meaning(value: Node, known: Mapping[Var, int]) -> Hashable:
    """A value by what it is, and by what the variables in it are bound to."""
    return _hashed(value), tuple(known.get(var) for var in relax.analysis.free_vars(value))


def _hashed(node: Node) -> int:
    return int(T.structural_hash(node, map_free_vars=True))

"""Whether two modules bind the same values, each function in an order of its own: for comparison only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import tvm_ffi
from tvm import relax

from generators import tvm_api as T
from generators.tvm_api import BaseFunc, GlobalVar, IRModule, Node, Type, Var
from oracles.ir.walk import FUNCTION, GLOBAL_VAR, functions_of


def same_in_any_order(one: IRModule, other: IRModule, roots: Sequence[str]) -> bool:
    """Whether the functions of these names, and what they call, bind the same values, as often, whatever comes first.

    That says nothing of effects, for which the order counts: modules that are the same in any order may do different
    things, and only modules that are not differ in more than the order.
    """
    ours, theirs = _Unordered(functions_of(one)), _Unordered(functions_of(other))
    return all(ours.key(root) == theirs.key(root) for root in roots)


class _Unordered:
    """The functions of a module by what they bind."""

    def __init__(self, functions: Mapping[str, BaseFunc]) -> None:
        self._functions = functions
        self._keys: dict[str, int] = {}

    def key(self, name: str) -> int:
        """What the function of this name does, in a number: private functions that it calls count by what they do."""
        if name not in self._functions:
            return hash(name)
        if name not in self._keys:
            self._keys[name] = 0  # What it is to itself, where it calls itself.
            self._keys[name] = self._of(self._functions[name])
        return self._keys[name]

    def _of(self, function: BaseFunc) -> int:
        if not isinstance(function, FUNCTION):
            return self._hashed(function.without_attr("global_symbol"))
        known: dict[Var, int] = {param: place for place, param in enumerate(function.params)}
        bound: Counter[int] = Counter()
        for block in function.body.blocks:
            for binding in block.bindings:
                value = hash((self._meaning(binding.value, known), _type_text(T.type_of(binding.var))))
                known[binding.var] = value
                bound[value] += 1
        types = tuple(_type_text(T.type_of(param)) for param in function.params)
        attributes = int(T.structural_hash(function.attrs))
        return hash((types, attributes, frozenset(bound.items()), self._meaning(function.body.body, known)))

    def _meaning(self, value: Node, known: Mapping[Var, int]) -> int:
        """A value by what it is, and by what the variables in it are bound to."""
        return hash((self._hashed(value), tuple(known.get(var) for var in relax.analysis.free_vars(value))))

    def _hashed(self, node: Node) -> int:
        def by_key(callee: GlobalVar) -> GlobalVar:
            return GLOBAL_VAR(str(self.key(callee.name_hint)))

        named = tvm_ffi.structural_map(node, (GLOBAL_VAR, by_key))
        return int(T.structural_hash(named, map_free_vars=True))


def _type_text(type_: Type) -> str:
    """A type with the names of its symbols: a hash takes any symbol for any other."""
    return str(type_)

"""A number that changes when anything in a module changes in place.

Made of TVM's structural hashes of the functions, attributes and global infos: they were checked to see a changed type
or device of a parameter, of a bound variable (dataflow or not) and of a call, changed attributes of functions and of
the module, changed global infos, names of functions and contents of constants. They leave out names of variables and
source locations. A function's is about 5 us for a small one. GlobalVars count by their addresses: equal modules have
one fingerprint where they share these, as before and after most passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zlib import crc32

from generators import tvm_api as T
from generators.tvm_api import BaseFunc, IRModule
from oracles.ir.cache import addresses
from oracles.ir.module_caches import by_module
from oracles.ir.walk import PRIM_FUNC, named_functions, parts_of


def fingerprint(module: IRModule) -> int:
    """What `Position.code` holds of the module, taken when the position is reached."""
    return _composed(module, T.structural_hash)


def _composed(module: IRModule, of_function: Callable[[BaseFunc], int]) -> int:
    functions = [
        (gvar.__chandle__(), crc32(gvar.name_hint.encode()), of_function(function))
        for gvar, function in named_functions(module)
    ]
    return hash((frozenset(functions), T.structural_hash(module.attrs), T.structural_hash(module.global_infos)))


FINGERPRINTS = by_module(fingerprint)


class AtOnce:
    """Fingerprints of several modules at one moment: each function is hashed once, however many of them hold it.

    To be made anew after every application of a pass, since that may change a function in place. The caller keeps the
    modules alive.
    """

    def __init__(self) -> None:
        self._functions: dict[tuple[int, ...], int] = {}

    def fingerprint(self, module: IRModule) -> int:
        """The fingerprint of a module."""
        return _composed(module, self._hash)

    def _hash(self, function: BaseFunc) -> int:
        key = addresses(parts_of(function) if type(function) is PRIM_FUNC else [function])
        code = self._functions.get(key)
        if code is None:
            code = self._functions[key] = int(T.structural_hash(function))
        return code


def same_parts(before: IRModule, after: IRModule) -> bool:
    """Whether two modules are made of the same objects, so that one's fingerprint is the other's: what most passes of
    TIR give for functions in which they find nothing to do."""
    if after.same_as(before):
        return True
    if not same_object(before.attrs, after.attrs) or not same_object(before.global_infos, after.global_infos):
        return False
    old, new = dict(named_functions(before)), dict(named_functions(after))
    return old.keys() == new.keys() and all(same_function(old[gvar], new[gvar]) for gvar in new)


def same_program(before: IRModule, after: IRModule) -> bool:
    """Whether two modules of other fingerprints differ in nothing but which objects their GlobalVars are."""
    kept = {gvar.__chandle__() for gvar in before.functions} == {gvar.__chandle__() for gvar in after.functions}
    return not kept and bool(T.structural_hash(before) == T.structural_hash(after))


def same_object(one: Any, other: Any) -> bool:
    """Whether they are one object, or both None."""
    return other is None if one is None else bool(one.same_as(other))


def same_function(one: Any, other: Any) -> bool:
    """Whether they are one object, or PrimFuncs made of the same."""
    if one.same_as(other):
        return True
    alike = type(one) is PRIM_FUNC and type(other) is PRIM_FUNC and one.body.same_as(other.body)
    return alike and addresses(parts_of(one)) == addresses(parts_of(other))

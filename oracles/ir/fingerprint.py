"""A number that changes when anything in a module changes in place.

Made of TVM's structural hashes of the functions, attributes and global infos: they were checked to see a changed type
or device of a parameter, of a bound variable (dataflow or not) and of a call, changed attributes of functions and of
the module, changed global infos, names of functions and contents of constants. They leave out names of variables and
source locations. A function's is about 5 us for a small one. GlobalVars count by their addresses: equal modules have
one fingerprint where they share these, as before and after most passes. So it is for one process alone; what is the
same in every process is `oracles.ir.compare.digest`.
"""

from __future__ import annotations

from zlib import crc32

from generators import tvm_api as T
from generators.tvm_api import BaseFunc, IRModule, Node
from oracles.ir.cache import addresses
from oracles.ir.module_caches import HASHES, by_module
from oracles.ir.walk import PRIM_FUNC, named_functions, parts_of


def fingerprint(module: IRModule) -> int:
    """What `Position.code` holds of the module, taken when the position is reached."""
    return _composed(module, HASHES.fresh(module))


def _composed(module: IRModule, codes: list[int]) -> int:
    """The fingerprint, from the hashes of the module's functions in their order."""
    functions = [
        (gvar.__chandle__(), crc32(gvar.name_hint.encode()), code)
        for (gvar, _), code in zip(named_functions(module), codes, strict=True)
    ]
    return hash((frozenset(functions), T.structural_hash(module.attrs), T.structural_hash(module.global_infos)))


FINGERPRINTS = by_module(fingerprint)


def fingerprints_after(before: IRModule, after: IRModule | None, hash_input: bool = True) -> tuple[int, int | None]:
    """The fingerprints of the input of a pass and of its result, both right after the pass; the second is None where
    there is no result, or one made of the very objects of the input: what most passes of TIR give for functions in
    which they find nothing to do.

    A function that both modules hold is hashed once. hash_input: False takes it that the pass has left the
    input as it was.
    """
    functions, codes = named_functions(before), HASHES.fresh(before) if hash_input else HASHES.of(before)
    kept = _composed(before, codes)
    if after is None or after.same_as(before):
        return kept, None
    known = {gvar.__chandle__(): (function, code) for (gvar, function), code in zip(functions, codes, strict=True)}
    new: list[int] = []
    same = len(named_functions(after)) == len(functions)
    for gvar, function in named_functions(after):
        held = known.get(gvar.__chandle__())
        if held is not None and same_function(held[0], function):
            new.append(held[1])
        else:
            same = False
            new.append(int(T.structural_hash(function)))
    if same and same_object(before.attrs, after.attrs) and same_object(before.global_infos, after.global_infos):
        return kept, None
    return kept, _composed(after, HASHES.put(after, new))


def same_program(before: IRModule, after: IRModule) -> bool:
    """Whether two modules of other fingerprints differ in nothing but which objects their GlobalVars are."""
    kept = {gvar.__chandle__() for gvar in before.functions} == {gvar.__chandle__() for gvar in after.functions}
    return not kept and bool(T.structural_hash(before) == T.structural_hash(after))


def same_object(one: Node | None, other: Node | None) -> bool:
    """Whether they are one object, or both None."""
    return other is None if one is None else bool(one.same_as(other))


def same_function(one: BaseFunc, other: BaseFunc) -> bool:
    """Whether they are one object, or PrimFuncs made of the same."""
    if one.same_as(other):
        return True
    alike = type(one) is PRIM_FUNC and type(other) is PRIM_FUNC and one.body.same_as(other.body)
    return alike and addresses(parts_of(one)) == addresses(parts_of(other))

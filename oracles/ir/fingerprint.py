"""A number that changes when anything in a module changes in place.

TVM's structural hash of the module: it was checked to see a changed type or device of a parameter, of a bound
variable (dataflow or not) and of a call, changed attributes of functions and of the module, changed global infos,
names of functions and contents of constants. It leaves out names of variables and source locations. It visits shared
PrimFuncs in full, about 5 us for a small function.
"""

from __future__ import annotations

from typing import Any

from generators import tvm_api as T
from oracles.ir.memo import Memo, addresses, parts_of
from oracles.ir.walk import PRIM_FUNC


def fingerprint(module: Any) -> int:
    """What `Step.hash_before` holds of the input, taken before the pass runs."""
    return int(T.structural_hash(module))


FINGERPRINTS = Memo(fingerprint)


def same_parts(before: Any, after: Any) -> bool:
    """Whether two modules are made of the same objects, so that one's fingerprint is the other's: what most passes of
    TIR give for functions in which they find nothing to do."""
    if after.same_as(before):
        return True
    if not _same(before.attrs, after.attrs) or not _same(before.global_infos, after.global_infos):
        return False
    old, new = dict(before.functions.items()), dict(after.functions.items())
    return old.keys() == new.keys() and all(same_function(old[gvar], new[gvar]) for gvar in new)


def _same(one: Any, other: Any) -> bool:
    return other is None if one is None else bool(one.same_as(other))


def same_function(one: Any, other: Any) -> bool:
    """Whether they are one object, or PrimFuncs made of the same."""
    if one.same_as(other):
        return True
    alike = isinstance(one, PRIM_FUNC) and isinstance(other, PRIM_FUNC) and one.body.same_as(other.body)
    return alike and addresses(parts_of(one)) == addresses(parts_of(other))

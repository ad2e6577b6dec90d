"""A number that changes when anything in a module changes in place.

TVM's structural hash of the module: it was checked to see a changed type or device of a parameter, of a bound
variable (dataflow or not) and of a call, changed attributes of functions and of the module, changed global infos,
names of functions and contents of constants. It leaves out names of variables and source locations. It visits shared
PrimFuncs in full, about 5 us for a small function.
"""

from __future__ import annotations

from typing import Any

from generators import tvm_api as T
from oracles.ir.memo import Memo


def fingerprint(module: Any) -> int:
    """What `Step.hash_before` holds of the input, taken before the pass runs."""
    return int(T.structural_hash(module))


FINGERPRINTS = Memo(fingerprint)

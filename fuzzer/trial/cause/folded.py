"""What a pass has folded that computes values with the code of a build: for the cause of a wrong value.

The rewrite is the same for each operator: a call is gone, and a constant stands in its place.
"""

from __future__ import annotations

from corpus.cause import Rewrite
from generators.operators.table import OPERATORS
from generators.tvm_api import IRModule
from oracles.ir.contents import odd_floats
from oracles.ir.operators import operator_calls
from oracles.ir.rewrite import rewritten
from oracles.ir.tir_rewrite import stored_kinds

CALL_TIR = "call_tir"
CONSTANT = "a constant"


def folded(before: IRModule, after: IRModule, start: IRModule) -> Rewrite | None:
    """The operators that are gone, and the dtypes of floats among which they are; of PrimFuncs, the operators of
    `start` that they came from, or else what they store. None where more than calls is gone.

    start: the module of the case, before any pass.
    """
    gone = rewritten(before, after, named=True).removed
    if not gone or any(kind != CALL_TIR and f"relax.{kind}" not in OPERATORS for kind in gone):
        return None
    kinds = [kind for kind in gone if kind != CALL_TIR]
    if CALL_TIR in gone:
        called = {str(call.op.name) for call, _ in operator_calls(start)}
        kinds += sorted(name.removeprefix("relax.") for name in called if name in OPERATORS) or stored_kinds(before)
    floats = odd_floats(before)
    where = f" on {' and '.join(floats)}" if floats else ""
    return Rewrite((f"{', '.join(dict.fromkeys(kinds))}{where}",), (CONSTANT,))

"""What a pass has folded that computes values with the code of a build: for the cause of a wrong value.

The rewrite is the same for each operator: a call is gone, and a constant stands in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from corpus.causes.failure_facts import Rewrite
from fuzzer.trial.cause.seen_at_once import operator_named
from generators.operators.table import OPERATORS
from generators.tvm_api import IRModule
from oracles.ir.contents import odd_floats
from oracles.ir.kinds import CALL_TIR, CONSTANT, IRKind, Piece
from oracles.ir.operators import operator_calls
from oracles.ir.rewrite import rewritten
from oracles.ir.tir_rewrite import stored_kinds


def folded(before: IRModule, after: IRModule, start: IRModule) -> Rewrite | None:
    """The operators that are gone, and the dtypes of floats among which they are; of PrimFuncs, the operators of
    `start` that they came from, or else what they store. None where more than calls is gone.

    start: the module of the case, before any pass.
    """
    gone = rewritten(before, after, named=True).removed
    if not gone or any(kind != CALL_TIR and not operator_named(kind) for kind in gone):
        return None
    kinds = [kind for kind in gone if kind != CALL_TIR]
    if CALL_TIR in gone:
        called = {str(call.op.name) for call, _ in operator_calls(start)}
        names = sorted(name.removeprefix("relax.") for name in called if name in OPERATORS)
        kinds += [IRKind(Piece.OPERATOR, name) for name in names] or stored_kinds(before)
    floats = odd_floats(before)
    where = f" on {' and '.join(floats)}" if floats else ""
    return Rewrite((replace(_together(list(dict.fromkeys(kinds))), aside=where),), (CONSTANT,))


def _together(kinds: Sequence[IRKind]) -> IRKind:
    """Several kinds as one: what is said of them holds of all."""
    return kinds[0] if len(kinds) == 1 else IRKind(Piece.TOGETHER, ", ".join(map(str, kinds)))

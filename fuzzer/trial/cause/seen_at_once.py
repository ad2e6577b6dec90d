"""Facts of a failure for which no pass is applied again: operators by their kinds, and what numbers are held to."""

from __future__ import annotations

from corpus.causes.failure_facts import Rewrite
from corpus.causes.throw_site import called_operator
from generators.operators.table import OPERATORS
from generators.passes.row import PassRow
from generators.passes.traits import Lowers
from generators.tvm_api import IRModule
from oracles.checks.legalised import LEGALIZE
from oracles.ir.contents import inferred_kind, operator_kind
from oracles.ir.kinds import ELEMENTWISE, IRKind, Piece, words_of
from oracles.ir.operators import operator_calls
from oracles.ir.rewrite import rewritten

_LOSSES = frozenset(("sum", "mean"))


def operators_in(module: IRModule) -> tuple[str, ...]:
    """The kinds of the operators of the operator table that a module calls, as causes name them; elementwise ones only
    where there are no others."""
    names = {str(call.op.name) for call, _ in operator_calls(module)}
    kinds = {operator_kind(name) for name in names if name in OPERATORS}
    return words_of(kinds - {ELEMENTWISE} or kinds)


def derived_in(module: IRModule) -> tuple[str, ...]:
    """The operators of a function that is derived, each of which has a gradient of its own: without the sum or the mean
    that makes a number of the others' result, where there are others."""
    names = {str(call.op.name).removeprefix("relax.") for call, _ in operator_calls(module)}
    return tuple(sorted(names - _LOSSES or names))


def operator_named(kind: IRKind) -> str:
    """The operator of the operator table whose calls, as they are, a kind is of; "" where it is of anything else."""
    name = f"relax.{kind.name}"
    return name if kind == IRKind(Piece.OPERATOR, kind.name) and name in OPERATORS else ""


def called_in(traceback: str) -> str:
    """The kind of the operator whose call could not be typed; "" where that is not what failed."""
    called = called_operator(traceback)
    if not called:
        return ""
    return str(inferred_kind(called) if called.startswith("InferType") else operator_kind(called))


def has_code_for_each(row: PassRow) -> bool:
    """Whether the pass lowers operators, each by code of its own: then it matters which one it is."""
    return row.name == LEGALIZE or row.has(Lowers)


def rewrite_of(before: IRModule, after: IRModule, named: bool) -> Rewrite:
    """What a pass did, as causes tell it."""
    kinds = rewritten(before, after, named)
    return Rewrite(kinds.removed, kinds.added, kinds.everywhere)

"""LegalizeOps lowers every operator that it can.

No operator that registers FLegalize remains with operands and result of fully known type, except where the legalisation
itself declines (it returns the call it was given).
"""

from __future__ import annotations

from collections.abc import Iterable

from tvm import relax

from generators import tvm_api as T
from generators.passes.row import Role
from generators.passes.table import the, with_trait
from generators.passes.traits import Lowers
from generators.tvm_api import Call, IRModule, Type
from oracles.ir.operators import operator_calls
from oracles.oracle import Knowledge, Stage, StepOracle
from oracles.trace import Bench, Step
from oracles.verdict import PASSED, Failed, Skipped, Verdict

LEGALIZE = the(Role.LEGALIZES).name


def undispatched(module: IRModule, applied: Iterable[str]) -> bool:
    """Whether a legalised module holds operators whose pass has not been applied, so that it cannot be built."""
    names = set(applied)
    missing = frozenset[str]().union(*(lowered.names for row, lowered in with_trait(Lowers) if row.name not in names))
    return any(call.op.name in missing for call, _ in operator_calls(module))


def is_known(ty: Type) -> bool:
    """Whether a type says everything: dtype and every dimension of every tensor in it."""
    if isinstance(ty, T.TensorType):
        return isinstance(ty.shape, relax.ShapeExpr) and T.dtype_name(ty) is not None
    if isinstance(ty, T.ShapeType):
        return ty.values is not None
    if isinstance(ty, T.TupleType):
        return all(is_known(field) for field in ty.fields)
    return isinstance(ty, T.PrimType)


def unknown_part(call: Call) -> str | None:
    """Which types of a call are not fully known, None when all are."""
    if not all(is_known(T.type_of(argument)) for argument in call.args):
        return "operands of unknown shape or dtype"
    return None if is_known(T.type_of(call)) else "a result of unknown shape or dtype"


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("not legalised") for the first operator that should be gone."""
    if step.call.name != LEGALIZE:
        return Skipped("about LegalizeOps only", applies=False)
    if step.after is None:
        return Skipped("no result")
    if "skip_ops" in step.call.source:
        return Skipped("LegalizeOps is to skip operators", applies=False)
    for call, where in operator_calls(step.after):
        if call.op.get_attr("FLegalize") is not None and unknown_part(call) is None and not _declines(call, step.after):
            return Failed("not legalised", f"{call.op.name} remains though all of its types are known", where)
    return PASSED


def _declines(call: Call, module: IRModule) -> bool:
    """Whether the legalisation gives the call back unchanged, which LegalizeOps documents as its way to decline."""
    lowered = call.op.get_attr("FLegalize")(relax.BlockBuilder(module), call)
    return bool(lowered.same_as(call))


ORACLE = StepOracle(
    "legalised",
    "LegalizeOps lowers every operator whose types are known",
    judge,
    stage=Stage.RESULT,
    rank=50,
    foreign=Knowledge.ROW,
)

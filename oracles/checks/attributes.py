"""What is not a pass's business stays: module attributes, global infos, public functions with all that is theirs.

A row that `keeps_attributes = False` or `keeps_functions = False`, or that has its own calling convention, says
which of it does not hold. Adding is always allowed. Signatures may get vaguer or more precise but not contradictory,
and keep their number of parameters; private functions may go, and may change in every way. No row lets a pass drop a
public Relax function that people call: `keeps_functions = False` is about PrimFuncs and about functions that were
made for fusion or for an external code generator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from generators import tvm_api as T
from generators.passes.traits import Consumes
from generators.tvm_api import BaseFunc, Node
from oracles.evidence import AttributeGone, ChangedSignature
from oracles.ir.fingerprint import same_object
from oracles.ir.types import contradiction
from oracles.ir.walk import FUNCTION, functions_of
from oracles.oracle import Knowledge, Stage, StepOracle
from oracles.trace import Bench, Step
from oracles.verdict import PASSED, Failed, Skipped, Verdict

MADE_FOR_TOOLS = ("Codegen", "Composite", "Primitive")
"""Attributes of functions that passes make for other passes: public only because code generators look them up."""
CONVENTION = frozenset({"num_input"})
"""Function attributes that describe how to call it, and change with that."""


class Holds(Enum):
    """Where an entry with a key stands, and how a message calls it."""

    FUNCTION = "function attribute"
    MODULE = "module attribute"
    GLOBAL_INFO = "global info"


@dataclass(frozen=True, slots=True)
class Loss:
    """What was lost, and where: the name of a function, "" for the module. evidence: None for a value that changed."""

    what: str
    where: str
    evidence: ChangedSignature | AttributeGone | None = None


def losses(step: Step) -> Iterator[Loss]:
    """What was lost between before and after of a step."""
    before, after, row = step.before, step.after, step.row
    assert after is not None, "judge asks only where there is a result"
    if row.promise.keeps_attributes:
        yield from _lost(_entries(before.attrs), _entries(after.attrs), Holds.MODULE, "")
        yield from _lost(dict(before.global_infos), dict(after.global_infos), Holds.GLOBAL_INFO, "")
    yield from _lost_functions(step)


def _lost_functions(step: Step) -> Iterator[Loss]:
    after = functions_of(step.after)
    for name, function in functions_of(step.before).items():
        if not T.is_public(function) or not (step.row.promise.keeps_functions or _is_called_by_people(function)):
            continue
        if name not in after:
            yield Loss("public function is gone", name, ChangedSignature())
            continue
        if function.same_as(after[name]):
            continue
        if isinstance(function, FUNCTION) and isinstance(after[name], FUNCTION):
            yield from _signature(step, function, after[name], name)
        if step.row.promise.keeps_attributes and not same_object(function.attrs, after[name].attrs):
            mine = {
                key: value
                for key, value in _entries(function.attrs).items()
                if (step.row.promise.keeps_signature or key not in CONVENTION) and key not in step.row.named(Consumes)
            }
            yield from _lost(mine, _entries(after[name].attrs), Holds.FUNCTION, name)


def _is_called_by_people(function: BaseFunc) -> bool:
    return isinstance(function, FUNCTION) and not any(key in MADE_FOR_TOOLS for key in _entries(function.attrs))


def _signature(step: Step, before: BaseFunc, after: BaseFunc, name: str) -> Iterator[Loss]:
    if not step.row.promise.keeps_signature:
        return
    if len(before.params) != len(after.params):
        yield Loss("public function has another number of parameters", name, ChangedSignature())
        return
    for old, new in zip(before.params[:], after.params[:], strict=True):
        if why := contradiction(T.type_of(old), T.type_of(new)):
            yield Loss(f"parameter of a public function has another type: {why}", name, ChangedSignature())
    if why := contradiction(T.return_type(before), T.return_type(after)):
        yield Loss(f"public function returns another type: {why}", name, ChangedSignature())


def _entries(attrs: Node | None) -> dict[str, object]:
    return {} if attrs is None else {str(key): attrs[key] for key in attrs.keys()}  # noqa: SIM118


def _lost(before: dict[str, object], after: dict[str, object], what: Holds, where: str) -> Iterator[Loss]:
    for key, value in before.items():
        if key not in after:
            evidence = None if what is Holds.GLOBAL_INFO else AttributeGone(str(key))
            yield Loss(f"{what.value} {key} is gone", where, evidence)
        elif not T.structural_equal(value, after[key]):
            yield Loss(f"{what.value} {key} has another value", where)


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("lost attribute") or Failed("changed signature") with the first loss."""
    if step.after is None:
        return Skipped("no result")
    if step.returned_input:
        return PASSED
    first = next(losses(step), None)
    if first is None:
        return PASSED
    symptom = "changed signature" if isinstance(first.evidence, ChangedSignature) else "lost attribute"
    return Failed(symptom, first.what, first.where, evidence=first.evidence)


ORACLE = StepOracle(
    "attributes",
    "attributes, global infos and public functions stay",
    judge,
    stage=Stage.RESULT,
    rank=30,
    of_result=True,
    foreign=Knowledge.ROW,
)

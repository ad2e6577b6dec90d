"""Annotated types do not contradict what their expressions are (the static part; run-time values are the
interpreter's business).

For every binding: the variable's annotation against the value's, against the types of the value's parts, and, for
calls of operators, against the type inferred anew. For every If: the variable against both branches. For every
function: the return type against the body, and, where it is called by name, the type of its GlobalVar against its
signature. For every call_tir: its tensors against the PrimFunc's buffers. Contradictions only: another dtype, rank,
extent, length or kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from tvm import relax

from generators import tvm_api as T
from generators.tvm_api import (
    BaseFunc,
    Binding,
    BlockBuilder,
    Call,
    Expr,
    IRModule,
    Node,
    PrimFunc,
    RelaxFunction,
    Type,
)
from oracles.evidence import GivenToCallTir
from oracles.ir.cache import Cache, Key, parts
from oracles.ir.module_caches import by_relax_functions
from oracles.ir.types import buffer_type, contradiction, inferred_call, kind_of, said_by_parts
from oracles.ir.walk import CALL, FUNCTION, GLOBAL_VAR, PRIM_FUNC, TUPLE, bindings, operands, relax_functions
from oracles.oracle import Knowledge, Stage, StepOracle
from oracles.reference.tir.signature import is_packed
from oracles.trace import Bench, Step
from oracles.tvm_errors import headline
from oracles.verdict import PASSED, Failed, Skipped, Verdict

_DESTINATION = frozenset({"relax.call_tir", "relax.call_tir_inplace"})


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What contradicts what, and why. where: a function, or a variable in one. evidence: None but for what call_tir is
    given. call: the operator whose call it is about, "relax.matmul"; "" where it is about none."""

    kind: str
    why: str
    where: str = ""
    evidence: GivenToCallTir | None = None
    call: str = ""

    @property
    def what(self) -> str:
        """For a person: both, without names."""
        return f"{self.kind}: {self.why}"


def contradictions(module: IRModule) -> list[Contradiction]:
    """What contradicts what in a whole module."""
    found: list[Contradiction] = []
    builder = relax.BlockBuilder()
    for name, function in relax_functions(module):
        found.extend(_of_returns(function, name.name_hint))
        for bound in bindings(function):
            where = f"{bound.binding.var.name} in {name.name_hint}"
            found.extend(replace(one, where=where) for one in _of_binding(bound.binding, bound.value, module, builder))
            if type(bound.value) is FUNCTION:
                found.extend(_of_returns(bound.value, where))
    return found


def _of_returns(function: RelaxFunction, where: str) -> Iterator[Contradiction]:
    if type(function.body) is relax.SeqExpr:
        body = T.type_of(function.body.body)
        if why := contradiction(T.return_type(function), body):
            yield Contradiction("a return type and the returned value", why, where)


def _of_binding(binding: Binding, value: Expr, module: IRModule, builder: BlockBuilder) -> Iterator[Contradiction]:
    annotated = T.type_of(binding.var)
    if type(binding) is relax.MatchCast:
        if why := contradiction(annotated, binding.ty):
            yield Contradiction("a variable and its match_cast", why)
        return
    if why := contradiction(annotated, T.type_of(value)):
        yield Contradiction(f"a variable and its value ({_word(value)})", why, call=_operator(value))
    if (said := said_by_parts(value)) is not None and (why := contradiction(annotated, said)):
        yield Contradiction(f"a variable and the parts of its value ({_word(value)})", why)
    if type(value) is relax.If:
        yield from _of_branches(annotated, value)
    elif type(value) is CALL:
        yield from _of_call(annotated, value, module, builder)


def _of_branches(annotated: Type, value: Expr) -> Iterator[Contradiction]:
    for branch in (value.true_branch, value.false_branch):
        if type(branch) is relax.SeqExpr and (why := contradiction(annotated, T.type_of(branch.body))):
            yield Contradiction("a variable and a branch of its If", why)


def _of_call(annotated: Type, call: Call, module: IRModule, builder: BlockBuilder) -> Iterator[Contradiction]:
    name = T.op_name(call)
    named = call.op if type(call.op) is GLOBAL_VAR else call.args[0] if name in _DESTINATION else None
    callee = module.functions.get(named) if type(named) is GLOBAL_VAR else None
    yield from _CALLS.of(_TypedCall(annotated, call, callee, builder))


class _TypedCall(NamedTuple):
    """A call, the annotation of its variable, its callee in the module if any, and any relax.BlockBuilder."""

    annotated: Type
    call: Expr
    callee: BaseFunc | None
    builder: BlockBuilder


def _looked_at(asked: _TypedCall) -> Key:
    """All that `_against_call` reads, immutable objects: most calls stand in the next module again."""
    arguments = operands(asked.call)[1:]
    return parts([asked.call, asked.annotated, asked.callee, *[T.type_of(argument) for argument in arguments]])


def _against_call(asked: _TypedCall) -> Iterator[Contradiction]:
    annotated, call, callee, builder = asked
    name = T.op_name(call)
    plain = callee is not None and name is None and not _is_packed(callee)
    if plain and (why := contradiction(T.type_of(call.op), T.type_of(callee))):
        yield Contradiction("the type of a called GlobalVar and its function", why)
    if name is not None and not name.startswith("relax."):
        return
    try:
        inferred = inferred_call(call, builder)
    except (ValueError, TypeError, RuntimeError) as error:
        yield Contradiction(f"a call of {_word(call)} cannot be typed", headline(str(error)), call=_word(call))
        return
    if why := contradiction(annotated, inferred):
        yield Contradiction(f"a variable and the inferred type of {_word(call)}", why, call=_operator(call))
    if name in _DESTINATION:
        yield from _of_buffers(call, callee)


CALLS = 5_000
"""Calls of which the complaints are remembered."""
_CALLS = Cache(lambda asked: list(_against_call(asked)), _looked_at, CALLS)


def _is_packed(callee: BaseFunc) -> bool:
    """Whether a PrimFunc takes its arguments packed, which its type says and the GlobalVar's does not."""
    return type(callee) is PRIM_FUNC and is_packed(callee)


def _of_buffers(call: Call, function: BaseFunc) -> Iterator[Contradiction]:
    """The tensors of a call_tir against the buffers of its PrimFunc, arguments first and results last."""
    if type(function) is not PRIM_FUNC or not isinstance(call.args[1], TUPLE):
        return
    given = [T.type_of(argument) for argument in call.args[1].fields]
    results = call.ty_args[0]
    if T.op_name(call) == "relax.call_tir":
        given += list(results.fields) if type(results) is T.TupleType else [results]
    for ty, param in zip(given, function.params, strict=False):
        buffer = buffer_type(param)
        if buffer is not None and kind_of(ty) == kind_of(buffer) and (why := contradiction(ty, buffer)):
            yield Contradiction("a tensor given to call_tir and the PrimFunc's buffer", why, evidence=GivenToCallTir())


def _operator(value: Expr) -> str:
    return (T.op_name(value) if type(value) is CALL else None) or ""


def _word(value: Expr) -> str:
    name = T.op_name(value) if type(value) is CALL else None
    return name or type(value).__name__


def _read_of(function: PrimFunc) -> list[Node]:
    """What is read of a PrimFunc."""
    parameters: list[Node] = function.params[:]
    return parameters


_MEMO = by_relax_functions(contradictions, _read_of)


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("type") with the first contradiction, when the input had none."""
    if step.after is None:
        return Skipped("no result")
    if _MEMO.of(step.before):
        return Skipped("input types already contradict each other")
    found = _MEMO.fresh(step.after)
    if not step.row.promise.keeps_buffers:
        found = [one for one in found if not isinstance(one.evidence, GivenToCallTir)]
    if not found:
        return PASSED
    detail = "\n".join(f"{one.what}: {one.where}" for one in found)
    return Failed("type", found[0].what, detail, evidence=found[0].evidence)


ORACLE = StepOracle(
    "type_soundness",
    "annotations do not contradict the expressions they annotate",
    judge,
    stage=Stage.STRUCTURE,
    rank=24,
    of_result=True,
    is_flawed=lambda module: bool(contradictions(module)),
    foreign=Knowledge.NAME,
)

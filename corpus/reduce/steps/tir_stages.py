"""Statements of PrimFuncs go, and what they wrote is given from then on; what nothing reads any more is a result.

Parameters and arguments follow (`corpus.reduce.prim_repair`): entry calls get small numbers, a Relax function around
a call_tir gets a parameter. Fewer results are given where the call's results may change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import tvm
import tvm_ffi
from tvm import s_tir, tirx

from corpus.reduce.callees import called_names
from corpus.reduce.draft import TUPLE, DraftBinding, NotApplicable, at_binding, module_binds
from corpus.reduce.plan import Edit, Joint, PlanView, ReductionPlan, add_parameter, draw_argument
from corpus.reduce.prim_func import is_empty, tidied, verified
from corpus.reduce.prim_repair import Repaired, traffic_of, without_statements
from corpus.reduce.realise import TVM_ERRORS
from generators import tvm_api as T
from oracles.ir.walk import nodes_of

NamedStatement: TypeAlias = tuple[str, T.Stmt]
"""A statement of the PrimFunc of a name."""


def statements(view: PlanView) -> Sequence[Edit]:
    """Each statement may go with all that is in it; last first. So may what makes a buffer that nothing uses."""
    idle = _idle(view)
    return [
        Joint(_without, place)
        for place in reversed(_places(view))
        if not _holds_others(place[1]) or getattr(place[1], "buffer", None) in idle
    ]


def cut(view: PlanView) -> Sequence[Edit]:
    """The first k parts of a PrimFunc alone, for each k from 1."""
    edits: list[Edit] = []
    for name, parts in _parts(view):
        edits.extend(_all_of(name, parts[number:]) for number in range(1, len(parts)))
    return edits


def all_but_last(view: PlanView) -> Sequence[Edit]:
    """The last k parts of a PrimFunc alone, for each k from 1."""
    edits: list[Edit] = []
    for name, parts in _parts(view):
        edits.extend(_all_of(name, parts[:-number]) for number in range(1, len(parts)))
    return edits


def other_results(view: PlanView) -> Sequence[Edit]:
    """Each PrimFunc that a call_tir calls gives what it computes and nothing reads, in place of its results."""
    edits: list[Edit] = []
    for name, function in view.draft.functions.items():
        if isinstance(function, tirx.PrimFunc):
            params = set(function.params)
            traffic = traffic_of(function.body)
            stores = [store for store in nodes_of(function.body, tirx.BufferStore) if store.buffer in params]
            if stores and any(b in traffic.stored and b not in traffic.read for b in traffic.allocated):
                edits.append(_all_of(name, stores))
    return edits


def _all_of(name: str, parts: Sequence[T.Stmt]) -> Joint:
    places = [(name, part) for part in parts]
    return Joint(lambda plan, several: _without(plan, [place for one in several for place in one]), places)


def _places(view: PlanView) -> list[NamedStatement]:
    """Every statement of every PrimFunc, outer first."""
    found: list[NamedStatement] = []
    for name, function in view.draft.functions.items():
        if isinstance(function, tirx.PrimFunc):
            visit = lambda statement, name=name: found.append((name, statement))  # noqa: E731
            tvm_ffi.structural_walk(function.body, [(tirx.Stmt, visit)], order="pre")
    return found


def _holds_others(statement: T.Stmt) -> bool:
    """Whether a statement stands for its parts, or for nothing."""
    return isinstance(statement, (tirx.SeqStmt, tirx.AllocBuffer, tirx.DeclBuffer, s_tir.SBlock)) or is_empty(statement)


def _idle(view: PlanView) -> set[T.Buffer]:
    """The buffers that PrimFuncs make, of their own or as views of others, and use nowhere."""
    idle: set[T.Buffer] = set()
    for function in view.draft.functions.values():
        if isinstance(function, tirx.PrimFunc):
            traffic = traffic_of(function.body)
            made = {made.buffer for made in nodes_of(function.body, (tirx.AllocBuffer, tirx.DeclBuffer))}
            idle |= (
                made - {load.source for load in nodes_of(function.body, T.TensorLoad)} - traffic.stored - traffic.passed
            )
    return idle


def _parts(view: PlanView) -> list[tuple[str, list[T.Stmt]]]:
    """The parts of the outermost sequence of each PrimFunc that has one."""
    found = []
    for name, function in view.draft.functions.items():
        if isinstance(function, tirx.PrimFunc):
            parts = [part for part in _outermost(function.body) if not _holds_others(part)]
            if len(parts) > 1:
                found.append((name, parts))
    return found


def _outermost(statement: T.Stmt) -> list[T.Stmt]:
    match statement:
        case tirx.SeqStmt():
            inner = [part for part in statement.seq if not _holds_others(part)]
            return _outermost(inner[0]) if len(inner) == 1 else inner
        case s_tir.SBlockRealize():
            return _outermost(statement.block.body)
        case tirx.AttrStmt() | tirx.For():
            return _outermost(statement.body)
        case _:
            return []


def _without(plan: ReductionPlan, places: Sequence[NamedStatement]) -> ReductionPlan:
    if plan.draft.nodes:
        raise NotApplicable("other edits of statements come first")
    for name in dict.fromkeys(name for name, _ in places):
        function = plan.draft.functions.get(name)
        if not isinstance(function, tirx.PrimFunc):
            raise NotApplicable("gone")
        plan = _repaired(plan, name, function, [statement for owner, statement in places if owner == name])
    return plan


def _repaired(plan: ReductionPlan, name: str, old: T.PrimFunc, gone: Sequence[T.Stmt]) -> ReductionPlan:
    sites = [bind for _, bind in module_binds(plan.draft) if name in called_names(bind.value)]
    left = without_statements(old.body, gone, results=not sites)
    if left.body.same_as(old.body):
        raise NotApplicable("gone")
    stored = traffic_of(left.body).stored
    if sites and not any(param in stored for param in old.params):
        left = without_statements(old.body, gone, results=True)
        return _with_other_results(plan, name, old, left, sites)
    if not sites:
        return _as_entry(plan, name, old, left)
    body, params = left.body, T.parameters_of(old)
    inputs = len(params) - _results_of(sites[0])
    plan = _with_function(plan, name, old, [*params[:inputs], *left.inputs, *params[inputs:]], body)
    for bind in sites:
        plan = _given_more(plan, bind, left.inputs)
    return plan


def _with_function(
    plan: ReductionPlan, name: str, old: T.PrimFunc, params: Sequence[T.Var], body: T.Stmt
) -> ReductionPlan:
    body = tvm_ffi.structural_map(body, [(s_tir.SBlock, tidied)])
    try:
        function = verified(T.prim_func(list(params), body, old.ret_type, old.attrs))
    except TVM_ERRORS as error:
        raise NotApplicable(f"not well-formed: {error}") from error
    return replace(plan, draft=plan.draft.with_function(name, function))


def _as_entry(plan: ReductionPlan, name: str, old: T.PrimFunc, left: Repaired) -> ReductionPlan:
    """A PrimFunc that nothing calls: new buffers come last, and small numbers are given for them."""
    new = [*left.inputs, *left.results]
    drawn = tuple(draw_argument(T.type_of(buffer), {}) for buffer in new)
    calls = tuple(
        replace(call, arguments=(*call.arguments, *drawn)) if call.function == name else call for call in plan.calls
    )
    return _with_function(replace(plan, calls=calls), name, old, [*old.params, *new], left.body)


# --- call_tir -------------------------------------------------------------------------------------------


def _results_of(bind: DraftBinding) -> int:
    """How many results a call_tir gives. NotApplicable for other calls."""
    call = bind.value
    if not isinstance(call, T.Call) or T.op_name(call) != "relax.call_tir" or len(call.args) != 2:
        raise NotApplicable("not a plain call_tir")
    given = call.ty_args[0]
    return len(given.fields) if isinstance(given, T.TupleType) else 1


def _given_more(plan: ReductionPlan, bind: DraftBinding, buffers: Sequence[T.Buffer]) -> ReductionPlan:
    """The plan with further inputs for a call_tir: fresh parameters of the function that it stands in."""
    owner = next(name for name, other in module_binds(plan.draft) if other.var.same_as(bind.var))
    given = [tvm.ir.Var(str(buffer.name), tensor_of(buffer)) for buffer in buffers]
    for param in given:
        plan = add_parameter(plan, owner, param)

    def more(found: DraftBinding) -> tuple[DraftBinding, ...]:
        call: T.Call = found.value
        return (replace(found, value=_call_tir(call, [*call.args[1].fields, *given], call.ty_args[0])),)

    return replace(plan, draft=at_binding(plan.draft, bind.var, more))


def _with_other_results(
    plan: ReductionPlan, name: str, old: T.PrimFunc, left: Repaired, sites: Sequence[DraftBinding]
) -> ReductionPlan:
    """Where nothing is left of what the function gives, it gives what it computes instead."""
    if len(sites) != 1 or not left.results:
        raise NotApplicable("several calls, or nothing to give")
    (bind,) = sites
    inputs = list(old.params)[: len(old.params) - _results_of(bind)]
    plan = _with_function(plan, name, old, [*inputs, *left.inputs, *left.results], left.body)
    plan = _given_more(plan, bind, left.inputs)
    types = [tensor_of(buffer) for buffer in left.results]

    def others(found: DraftBinding) -> tuple[DraftBinding, ...]:
        call: T.Call = found.value
        given = types[0] if len(types) == 1 else T.TupleType(types)
        return (replace(found, value=_call_tir(call, call.args[1].fields, given)),)

    return replace(plan, draft=at_binding(plan.draft, bind.var, others))


def tensor_of(buffer: T.Buffer) -> T.Type:
    """The Relax type of a buffer whose extents are numbers."""
    ty = T.type_of(buffer)
    return T.tensor_type([int(dim) for dim in ty.shape], T.dtype_text(ty.dtype))


def _call_tir(call: T.Call, inputs: Sequence[T.Expr], given: T.Type) -> T.Call:
    return T.Call(call.op, [call.args[0], TUPLE(list(inputs))], call.attrs, [given])

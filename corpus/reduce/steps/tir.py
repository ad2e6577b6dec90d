"""PrimFuncs: statements go, loops and branches become their bodies, values become simpler, loops get shorter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import tvm_ffi
from tvm import tirx

from corpus.reduce.draft import VAR, NotApplicable
from corpus.reduce.plan import Edit, Plan, View, callers
from corpus.reduce.realise import is_empty
from generators import tvm_api as T
from generators.case import EntryCall
from generators.dtypes import is_float

_BINARY = (tirx.Add, tirx.Sub, tirx.Mul, tirx.Div, tirx.FloorDiv, tirx.FloorMod, tirx.Min, tirx.Max)


def _statements(view: View) -> list[Any]:
    """Every statement of every PrimFunc, outer first."""
    found: list[Any] = []
    for function in view.draft.functions.values():
        if isinstance(function, tirx.PrimFunc):
            tvm_ffi.structural_walk(function.body, [(tirx.Stmt, found.append)], order="pre")
    return found


def _replacing(nodes: dict[Any, Any]) -> Edit:
    def edit(plan: Plan) -> Plan:
        return replace(plan, draft=replace(plan.draft, nodes={**plan.draft.nodes, **nodes}))

    return edit


def statements(view: View) -> Sequence[Edit]:
    """Each statement may go with all that is in it; last first. TVM's verifier refuses what is still needed."""
    kept = (tirx.SeqStmt,)
    gone = [s for s in reversed(_statements(view)) if not isinstance(s, kept) and not is_empty(s)]
    return [_replacing({statement: tirx.Evaluate(tirx.IntImm("int32", 0))}) for statement in gone]


def unwrapped(view: View) -> Sequence[Edit]:
    """A loop becomes its first iteration, a branch one of its sides, a scope its body."""
    edits: list[Edit] = []
    for statement in _statements(view):
        if isinstance(statement, tirx.For):
            edits.append(_replacing({statement: statement.body, statement.loop_var: statement.min}))
        elif isinstance(statement, tirx.IfThenElse):
            sides = (statement.then_case, statement.else_case)
            edits.extend(_replacing({statement: side}) for side in sides if side is not None)
        elif isinstance(statement, tirx.AttrStmt):
            edits.append(_replacing({statement: statement.body}))
    return edits


def values(view: View) -> Sequence[Edit]:
    """A stored value becomes one of its operands, or one."""
    edits: list[Edit] = []
    for statement in _statements(view):
        if isinstance(statement, tirx.BufferStore):
            edits.extend(
                _replacing({statement: tirx.BufferStore(statement.buffer, value, list(statement.indices))})
                for value in _simpler(statement.value)
            )
    return edits


def _simpler(value: Any) -> Iterator[Any]:
    dtype = str(T.type_of(value).dtype).removeprefix("T.")
    operands: Sequence[Any] = ()
    if isinstance(value, _BINARY):
        operands = (value.a, value.b)
    elif isinstance(value, tirx.Select):
        operands = (value.true_value, value.false_value)
    elif isinstance(value, T.Call):
        operands = tuple(value.args)
    yield from (operand for operand in operands if T.structural_equal(T.type_of(operand), T.type_of(value)))
    if isinstance(value, (tirx.IntImm, tirx.FloatImm)):
        return
    if is_float(dtype):
        yield tirx.FloatImm(dtype, 1.0)
    elif dtype.startswith(("int", "uint")):
        yield tirx.IntImm(dtype, 1)


def extents(view: View) -> Sequence[Edit]:
    """Each loop runs once, else twice."""
    edits: list[Edit] = []
    for to in (1, 2):
        for statement in _statements(view):
            if isinstance(statement, tirx.For) and _longer(statement.extent, to):
                edits.append(_replacing({statement: _with_extent(statement, to)}))
    return edits


def _longer(extent: Any, than: int) -> bool:
    return not isinstance(extent, tirx.IntImm) or int(extent) > than


def _with_extent(loop: Any, to: int) -> Any:
    extent = tirx.IntImm(str(T.type_of(loop.loop_var).dtype).removeprefix("T."), to)
    return tirx.For(loop.loop_var, loop.min, extent, loop.kind, loop.body, loop.thread_binding, loop.annotations)


def parameters(view: View) -> Sequence[Edit]:
    """Each unused parameter of a PrimFunc that nobody calls may go, with its inputs."""
    edits: list[Edit] = []
    for name, function in view.draft.functions.items():
        if isinstance(function, tirx.PrimFunc) and callers(view.draft, name) == 0:
            edits.extend(_without_parameter(name, param) for param in reversed(list(function.params)))
    return edits


def _without_parameter(name: str, param: Any) -> Edit:
    def edit(plan: Plan) -> Plan:
        function = plan.draft.functions.get(name)
        if function is None or len(function.params) < 2 or _uses(function, param):
            raise NotApplicable("in use")
        index = [p.same_as(param) for p in function.params].index(True)
        params = [p for p in function.params if not p.same_as(param)]
        smaller = tirx.PrimFunc(params, function.body, function.ret_type, function.attrs)
        calls = tuple(_without(call, index) if call.function == name else call for call in plan.calls)
        return replace(plan, draft=plan.draft.with_function(name, smaller), calls=calls)

    return edit


def _without(call: EntryCall, index: int) -> EntryCall:
    return replace(call, arguments=call.arguments[:index] + call.arguments[index + 1 :])


def _uses(function: Any, param: Any) -> bool:
    found: list[Any] = []
    tvm_ffi.structural_walk(function.body, [(VAR, found.append)])
    for other in function.params:
        if not other.same_as(param):
            tvm_ffi.structural_walk(T.type_of(other), [(VAR, found.append)])
    return any(var.same_as(param) for var in found)

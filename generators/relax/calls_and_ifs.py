"""Statements with structure: If, private and local functions, impure and external calls, device hints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tvm
from tvm import relax

from generators import tvm_api
from generators.dtypes import Array
from generators.externs import COPY_DOUBLED, DIFFERENCE, NEGATED
from generators.program_facts import Feature
from generators.ranges import Range
from generators.relax.body import Pattern, Statement, close_block, draw_blocks
from generators.relax.frames import FunctionFrame, ParameterSpec, PrivateFunction
from generators.relax.functions import draw_function
from generators.relax.scope import EVERY, NUMERIC, Drawn, Scope
from generators.relax.statements import SIMPLE
from generators.relax.truths import draw_condition, draw_truths, read_truths
from generators.relax.values import AnyValue, Value
from generators.source import favour
from generators.tvm_api import Expr
from generators.unavailable import Unavailable


def draw_if(s: Scope) -> None:
    """An If on a scalar bool whose branches give tensors of one type."""
    if s.depth < s.knobs.calls.depth and s.source.flip(s.knobs.calls.decided):
        decided_if(s)
        return
    _bound_if(s, s.tensor(("bool",), dims=()), s.tensor(EVERY))


def decided_if(s: Scope) -> AnyValue | None:
    """An If on a condition made of other truths, which both branches read as data."""
    truths = draw_truths(s)
    return _bound_if(s, draw_condition(s, truths), s.tensor(EVERY, nonempty=True), truths)


def _bound_if(s: Scope, condition: Value, target: Value, truths: Sequence[Value] = ()) -> AnyValue | None:
    if s.depth >= s.knobs.calls.depth:
        raise Unavailable("deep enough")
    (then, one), (other, two) = (_draw_branch(s, target, truths) for _ in range(2))
    expr = s.frame.module.builder.normalize(relax.If(condition.expr, then, other))
    return s.bind(expr, one.hull(two))


def _draw_branch(s: Scope, target: Value, truths: Sequence[Value]) -> tuple[Expr, Range]:
    """A branch: a few statements and a result with the dims and dtype of `target` that depends on the truths."""
    inner = Scope(s.source, s.frame, outer=s)
    blocks = draw_blocks(inner, _BRANCH, s.source.integer(0, 3))
    inner.dataflow = bool(truths) and s.source.flip(s.knobs.calls.branch_dataflow)
    result = inner.like(target)
    for _ in range(s.source.integer(0, 2)):
        if result.dtype == "bool":
            result = inner.emit_tensor(Drawn(relax.op.logical_not(result.expr), result.range))
        elif result.range.magnitude < 64 and result.dtype != "uint8":
            other = inner.like(target, low=-8, high=8)
            result = inner.emit_tensor(Drawn(relax.op.subtract(result.expr, other.expr), result.range - other.range))
    result = read_truths(inner, result, truths) if truths else result
    if result.dataflow or not isinstance(result.expr, relax.Var):
        bound = inner.bind(result.expr, result.range, exported=True)
        assert isinstance(bound, Value)
        result = bound
    return relax.SeqExpr(blocks + close_block(inner), result.expr), result.range


def draw_private_call(s: Scope) -> None:
    """A call of a private function: of one that exists (shared callers), or of a new one."""
    module = s.frame.module
    if s.depth >= s.knobs.calls.depth or s.frame.level >= s.knobs.calls.depth:
        raise Unavailable("deep enough")
    effect = not s.dataflow and s.source.flip(s.knobs.calls.effect)
    known = [f for f in module.private if not (effect and f.pure)]
    if not known or s.source.flip(s.knobs.calls.another_callee):
        module.private.append(_draw_private(s, (_Effect(),) if effect else ()))
    callees = [f for f in module.private if not (f.pure if effect else s.dataflow and not f.pure)]
    if not callees:
        raise Unavailable("no function to call here")
    callee = s.source.pick(callees)
    emit_call(s, callee.gvar, callee)


@dataclass(frozen=True, slots=True)
class _Effect:
    """An effect, planted into a plain block."""

    name: str = "effect"
    plain: bool = True

    def __call__(self, s: Scope) -> None:
        draw_impure(s)


def _draw_private(s: Scope, patterns: Sequence[Pattern] = ()) -> PrivateFunction:
    module = s.frame.module
    frame = FunctionFrame(module, symbolic=s.source.flip(), level=s.frame.level + 1, prefix="w")
    function, result = draw_function(s.source, frame, _PRIVATE, s.source.integer(1, 4), patterns)
    gvar = module.add(module.new_name("sub"), function)
    return PrivateFunction(gvar, tuple(frame.parameters), result, not frame.impure)


def draw_local_call(s: Scope) -> None:
    """A function bound inside this one, that captures nothing, and a call or two of it."""
    frame = FunctionFrame(s.frame.module, symbolic=False, level=s.knobs.calls.depth, prefix="u")
    function, result = draw_function(s.source, frame, SIMPLE, s.source.integer(1, 3))
    if frame.impure:
        raise Unavailable("kept pure")
    var = s.frame.new_var(tvm_api.type_of(function), dataflow=s.dataflow, stem="f")
    s.bindings.append(relax.VarBinding(var, function))
    callee = PrivateFunction(var, tuple(frame.parameters), result)
    for _ in range(s.source.integer(1, 2)):
        emit_call(s, var, callee)


def emit_call(s: Scope, target: Expr, callee: PrivateFunction, shape: tuple[int, ...] | None = None) -> AnyValue | None:
    """Binds a call of `target`, whose parameters and result are those of `callee`, on operands of the scope. `shape` is
    the run-time shape of a result of which the type does not tell it."""
    arguments = [_argument(s, spec) for _, spec in callee.parameters]
    if not callee.pure:
        s.frame.impure = True
    return s.emit(Drawn(relax.Call(target, arguments), callee.result, shape))


def _argument(s: Scope, spec: ParameterSpec) -> Expr:
    if spec.fields is not None:
        return relax.Tuple([_argument(s, f) for f in spec.fields])
    if spec.is_shape:
        return relax.ShapeExpr(list(spec.shape))
    near = [v for v in s.values if isinstance(v, Value) and _serves(v, spec)]
    if near and not s.source.flip(s.knobs.calls.fresh_argument):
        return s.source.pick(near).expr
    return s.tensor((spec.dtype,), dims=spec.shape, low=spec.range.low, high=spec.range.high).expr


def _serves(value: Value, spec: ParameterSpec) -> bool:
    same = value.known and value.shape == spec.shape and value.dtype == spec.dtype
    return same and value.range.within(spec.range.low, spec.range.high)


def draw_impure(s: Scope) -> None:
    """A print, an assertion that holds, or a call of an external function that counts as impure and whose result is
    not used."""
    s.frame.impure = True
    kind = favour(s.source, "print", "assert", "call")
    if kind == "print":
        call = relax.op.print(s.tensor(NUMERIC).expr, format="{}")
    elif kind == "assert":
        call = relax.op.assert_op(tvm_api.constant(_true(), "bool"), format="never seen")
    else:
        x = s.tensor(("float32", "int32"), high=1000, low=-1000)
        call = tvm_api.Call(relax.ExternFunc(NEGATED.name), [x.expr], None, [tvm_api.type_of(x.expr)])
    normal = s.frame.module.builder.normalize(call)
    s.bindings.append(relax.VarBinding(s.frame.new_var(tvm_api.type_of(normal), stem="_"), normal))


def _true() -> Array:
    return np.array(True)


def draw_extern(s: Scope) -> None:
    """A call of an external function, destination-passing or not."""
    x = s.tensor(("float32", "int32"), high=1000, low=-1000)
    assert x.dims is not None
    ty = tvm_api.type_of(x.expr)
    kind = s.source.integer(0, 2)
    if kind == 0:
        call = relax.op.call_dps_packed(COPY_DOUBLED.name, relax.Tuple([x.expr]), ty)
        s.emit(Drawn(call, x.range + x.range))
    elif kind == 1:
        y = s.like(x, low=-1000, high=1000)
        call = relax.op.call_dps_packed(DIFFERENCE.name, relax.Tuple([x.expr, y.expr]), ty)
        s.emit(Drawn(call, x.range - y.range))
    else:
        call = relax.op.call_pure_packed(NEGATED.name, x.expr, ty_args=ty)
        s.emit(Drawn(call, -x.range))


def draw_device_hint(s: Scope) -> None:
    """A hint that a value should stand on one of the module's devices."""
    x = s.tensor(EVERY)
    index = s.source.integer(0, len(s.frame.module.vdevices) - 1)
    if s.source.flip(s.knobs.calls.hinted):
        s.emit(Drawn(relax.op.hint_on_device(x.expr, tvm.cpu(index)), x.range))
    else:
        s.emit(Drawn(relax.op.to_vdevice(x.expr, s.frame.module.vdevices[index]), x.range))


_BRANCH = (
    *SIMPLE,
    Statement("if", 1, draw_if, plain=True),
    Statement("impure call", 10, draw_impure, plain=True),
)
_PRIVATE = (
    *SIMPLE,
    Statement("private call", 2, draw_private_call),
    Statement("if", 1, draw_if, plain=True),
    Statement("impure call", 2, draw_impure, plain=True),
)
CONTROL = (
    Statement("if", 3, draw_if, plain=True),
    Statement("private call", 5, draw_private_call),
    Statement("local call", 2, draw_local_call, wants=Feature.LOCAL_FUNCTIONS),
    Statement("impure call", 2, draw_impure, plain=True),
    Statement("extern call", 1, draw_extern),
    Statement("device hint", 8, draw_device_hint, wants=Feature.VDEVICE),
)

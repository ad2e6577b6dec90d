"""Wrong passes of one name, each with another fault, and the programs that show them: no two may have one cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import tvm
import tvm_ffi
from tvm import relax, tirx
from tvm.relax.expr_functor import PyExprMutator, mutator

from generators import tvm_api as T

Fault: TypeAlias = Callable[[Any], Any]
"""What a wrong pass makes of a module."""

NAME = "Planted"


# --- Relax ----------------------------------------------------------------------------------------------


def _rewritten(rule: Callable[[Any], Any]) -> Fault:
    """A mutator that puts what `rule` gives in place of each call of an operator; None leaves it."""

    @mutator
    class Rewriter(PyExprMutator):  # type: ignore[misc]
        def visit_call_(self, call: Any) -> Any:
            call = super().visit_expr_post_order(call)
            made = rule(call) if isinstance(call.op, tvm.ir.Op) else None
            return call if made is None else made

    def fault(module: Any) -> Any:
        rewriter = Rewriter(module)
        for name, function in module.functions.items():
            if isinstance(function, relax.Function):
                rewriter.builder_.update_func(name, rewriter.visit_expr(function))
        return rewriter.builder_.get()

    return fault


def _of(name: str, make: Callable[..., Any]) -> Fault:
    return _rewritten(lambda call: make(call) if call.op.name == name else None)


def _main(module: Any, change: Callable[[Any], Any]) -> Any:
    functions = {
        name: change(function) if isinstance(function, relax.Function) else function
        for name, function in module.functions.items()
    }
    return T.replace_functions(module, functions)


def _with_body(function: Any, blocks: Any, result: Any) -> Any:
    body = relax.SeqExpr(blocks, result)
    T.set_type(body, T.type_of(result))
    return relax.Function(function.params, body, T.return_type(function), function.is_pure, function.attrs)


def _without_last(function: Any) -> Any:
    *blocks, last = function.body.blocks
    kept = relax.BindingBlock(last.bindings[:-1])
    return _with_body(function, [*blocks, kept], function.body.body)


def _without_first_of_two(function: Any) -> Any:
    first, *blocks = function.body.blocks
    kept = first.bindings[1:] if len(first.bindings) > 1 else first.bindings
    return _with_body(function, [relax.BindingBlock(kept), *blocks], function.body.body)


def _returns_first(function: Any) -> Any:
    return _with_body(function, function.body.blocks, function.body.blocks[0].bindings[0].var)


def _raises(module: Any) -> Any:
    return {}["nothing"]


def _untyped(module: Any) -> Any:
    return _of("relax.add", lambda call: relax.op.matmul(call.args[0], relax.op.zeros((7, 5), "float32")))(module)


def _in_place(module: Any) -> Any:
    for name, function in module.functions.items():
        if isinstance(function, relax.Function):
            module.update_func(name, function.with_attr("planted", 1))
            break
    return module


def _loses_attribute(module: Any) -> Any:
    return _main(module, lambda function: function.without_attr("mine"))


RELAX: dict[str, Fault] = {
    "swaps the operands of subtract": _of("relax.subtract", lambda call: relax.op.subtract(call.args[1], call.args[0])),
    "drops the last binding": lambda module: _main(module, _without_last),
    "drops the first of two bindings": lambda module: _main(module, _without_first_of_two),
    "returns another value": lambda module: _main(module, _returns_first),
    "sums over another axis": _of("relax.cumsum", lambda call: relax.op.cumsum(call.args[0], 1)),
    "puts nothing in place of exp": _of("relax.exp", lambda call: call.args[0]),
    "puts zeros in place of exp": _of("relax.exp", lambda call: relax.op.zeros_like(call.args[0])),
    "gives another dtype": _of("relax.negative", lambda call: relax.op.astype(call, "float64")),
    "makes a sum of a transpose": _of("relax.permute_dims", lambda call: relax.op.add(call.args[0], call.args[0])),
    "raises": _raises,
    "builds a call that cannot be typed": _untyped,
    "changes its input": _in_place,
    "loses an attribute": _loses_attribute,
}

RELAX_PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "float32"), y: R.Tensor((2, 2), "float32")) -> R.Tensor((2, 2), "float32"):
        R.func_attr({{"mine": 1}})
        a = R.cumsum(x, axis=0)
        b = R.exp(a)
        {more}
        d = R.subtract({of}, y)
        e = R.permute_dims(d)
        f = R.add(e, a)
        g = R.negative(f)
        return g
"""
RELAX_PROGRAMS = (
    RELAX_PROGRAM.format(more="c = R.add(b, x)", of="c"),
    RELAX_PROGRAM.format(more="c = R.tanh(b)", of="b"),
)


# --- TIR ------------------------------------------------------------------------------------------------


def _tir(*rules: tuple[Any, Callable[[Any], Any]]) -> Fault:
    def fault(module: Any) -> Any:
        functions = {
            name: function.with_body(tvm_ffi.structural_map(function.body, list(rules), order="post"))
            if isinstance(function, tirx.PrimFunc)
            else function
            for name, function in module.functions.items()
        }
        return T.replace_functions(module, functions)

    return fault


def _dropped(store: Any) -> Any:
    return tirx.Evaluate(0) if str(store.buffer.name) == "B" else store


def _constant(store: Any) -> Any:
    rules = [(tirx.FloatImm, lambda number: tirx.FloatImm("float32", float(number.value) + 1))]
    return tirx.BufferStore(store.buffer, tvm_ffi.structural_map(store.value, rules), store.indices)


def _shorter(loop: Any) -> Any:
    return tirx.For(loop.loop_var, loop.min, loop.extent - 1, loop.kind, loop.body)


def _later(loop: Any) -> Any:
    if str(loop.loop_var.name) != "i":
        return loop
    return tirx.For(
        loop.loop_var,
        tirx.IntImm("int64", 1),
        loop.extent - 1,
        loop.kind,
        loop.body,
    )


def _twice(store: Any) -> Any:
    return tirx.SeqStmt([store, tirx.BufferStore(store.buffer, store.value + store.value, store.indices)])


def _not_on_first(store: Any) -> Any:
    return tirx.IfThenElse(store.indices[0] > 0, store, None)


TIR: dict[str, Fault] = {
    "changes a constant": _tir((tirx.BufferStore, _constant)),
    "drops a store": _tir((tirx.BufferStore, _dropped)),
    "swaps a subtraction": _tir((tirx.Sub, lambda e: tirx.Sub(e.b, e.a))),
    "makes the least of the greatest": _tir((tirx.Max, lambda e: tirx.Min(e.a, e.b))),
    "truncates": _tir((tirx.FloorMod, lambda e: tirx.Mod(e.a, e.b))),
    "turns a sign": _tir((tirx.FloorMod, lambda e: tirx.FloorMod(e.a, e.b * -1))),
    "ends a loop early": _tir((tirx.For, _shorter)),
    "begins a loop late": _tir((tirx.For, _later)),
    "compares with equality": _tir((tirx.LT, lambda e: tirx.LE(e.a, e.b))),
    "stores twice": _tir((tirx.BufferStore, _twice)),
    "guards a store": _tir((tirx.BufferStore, _not_on_first)),
    "drops exp": _tir((tvm.ir.Call, lambda e: e.args[0] if T.op_name(e) == "tirx.exp" else e)),
}

TIR_PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def prim(A: T.Buffer((T.int64(6),), "float32"), B: T.Buffer((T.int64(6),), "float32"),
             C: T.Buffer((T.int64(6),), "float32")):
        T.func_attr({{"tirx.noalias": True}})
        for i in range(T.int64(6)):
            B[i] = T.exp(T.max(A[i] - T.float32(0.5), A[(i - T.int64(4)) % T.int64(3)])) {more}
            C[i] = T.Select(i < T.int64(2), A[i], T.float32(3.0)) {less}

    @R.function
    def main(x: R.Tensor((6,), "float32")) -> R.Tuple(R.Tensor((6,), "float32"), R.Tensor((6,), "float32")):
        cls = Module
        y = R.call_tir(cls.prim, (x,), out_ty=[R.Tensor((6,), "float32"), R.Tensor((6,), "float32")])
        return y
"""
TIR_PROGRAMS = (TIR_PROGRAM.format(more="", less=""), TIR_PROGRAM.format(more="+ A[i]", less="* A[i]"))

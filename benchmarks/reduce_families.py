"""30 further modules of 50 to 1,200 bindings, by family: what people build with `relax.frontend.nn` and by hand.

For the benchmark of reduction, beside those of `benchmarks.reduce_models`. Nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tvm
from tvm import relax, te, topi
from tvm.relax import op
from tvm.relax.frontend import nn

from benchmarks.reduce_models import Decoder, Encoder, ResidualPart, _exported
from generators import tvm_api as T

Emit = Callable[[Any], Any]
"""Binds an expression in the block that is being built; gives its variable."""


# --- relax.frontend.nn --------------------------------------------------------------------------------------


class UNet(nn.Module):  # type: ignore[misc]
    """Parts that go down, parts that come up, and what goes across."""

    def __init__(self, depth: int, parts: int) -> None:
        self.stem = nn.Conv2D(2, 4, 3, padding=1)
        self.down = nn.ModuleList(
            [ResidualPart(4, 4, 2 if number % parts == 0 else 1) for number in range(depth * parts)]
        )
        self.up = nn.ModuleList([ResidualPart(4, 4, 1) for _ in range(depth * parts)])
        self.parts = parts

    def forward(self, x: Any) -> Any:
        """(1, 2, 16, 16) -> (1, 4, 16, 16)."""
        x, across = self.stem(x), []
        for number, part in enumerate(self.down):
            if number % self.parts == 0:
                across.append(x)
            x = part(x)
        for number, part in enumerate(self.up):
            if number % self.parts == 0:
                x = nn.op.interpolate(x, scale_factor=2, mode="nearest") + across.pop()
            x = part(x)
        return nn.op.tanh(x)


class Experts(nn.Module):  # type: ignore[misc]
    """Several perceptrons, each weighed by a softmax of the input."""

    def __init__(self, experts: int) -> None:
        self.router = nn.Linear(8, experts, bias=False)
        self.up = nn.ModuleList([nn.Linear(8, 12) for _ in range(experts)])
        self.down = nn.ModuleList([nn.Linear(12, 8, bias=False) for _ in range(experts)])

    def forward(self, x: Any) -> Any:
        """(n, 8) -> the same."""
        weights = nn.op.split(nn.op.softmax(self.router(x), axis=-1), len(self.up), axis=-1)
        total = x
        for weight, up, down in zip(weights, self.up, self.down, strict=True):
            total = total + down(nn.op.silu(up(x))) * weight
        return total


class Mixture(nn.Module):  # type: ignore[misc]
    """Layers of experts on a symbolic batch."""

    def __init__(self, layers: int, experts: int) -> None:
        self.layers = nn.ModuleList([Experts(experts) for _ in range(layers)])

    def forward(self, x: Any) -> Any:
        """(batch, 8) -> the same."""
        for layer in self.layers:
            x = layer(x)
        return x


class Shared(nn.Module):  # type: ignore[misc]
    """One linear layer, used so many times, with a residual each."""

    def __init__(self, times: int) -> None:
        self.layer, self.norm, self.times = nn.Linear(8, 8), nn.LayerNorm(8), times

    def forward(self, x: Any) -> Any:
        """(batch, 8) -> the same."""
        for number in range(self.times):
            y = self.layer(self.norm(x))
            x = x + (nn.op.gelu(y) if number % 2 else nn.op.tanh(y))
        return x


class Recurrent(nn.Module):  # type: ignore[misc]
    """A cell with gates, written out over so many steps."""

    def __init__(self, steps: int) -> None:
        self.x, self.h, self.steps = nn.Linear(6, 24), nn.Linear(6, 24, bias=False), steps

    def forward(self, x: Any, h: Any, c: Any) -> Any:
        """(1, 6) each -> the last two."""
        for _ in range(self.steps):
            one, two, three, four = nn.op.split(self.x(x) + self.h(h), 4, axis=-1)
            c = c * nn.op.sigmoid(one) + nn.op.sigmoid(two) * nn.op.tanh(three)
            h = nn.op.sigmoid(four) * nn.op.tanh(c)
        return h, c


def encoder(depth: int, width: str = "n") -> T.IRModule:
    """Blocks of 36 bindings; `width` "n" is symbolic."""
    tokens: Any = width if width == "n" else int(width)
    return _exported(Encoder(depth), x=nn.spec.Tensor([1, tokens, 8], "float32"))


def decoder(depth: int) -> T.IRModule:
    """With a cache that is given and returned."""
    cache = [nn.spec.Tensor([1, "past", 2, 4], "float32") for _ in range(2 * depth)]
    return _exported(Decoder(depth), x=nn.spec.Tensor([1, 2, 8], "float32"), cache=cache)


def u_net(depth: int, parts: int) -> T.IRModule:
    """Images of 16 x 16."""
    return _exported(UNet(depth, parts), x=nn.spec.Tensor([1, 2, 16, 16], "float32"))


def mixture(layers: int, experts: int) -> T.IRModule:
    """9 bindings to an expert."""
    return _exported(Mixture(layers, experts), x=nn.spec.Tensor(["batch", 8], "float32"))


def shared(times: int) -> T.IRModule:
    """Weights that all layers share."""
    return _exported(Shared(times), x=nn.spec.Tensor(["batch", 8], "float32"))


def recurrent(steps: int) -> T.IRModule:
    """16 bindings to a step."""
    one = nn.spec.Tensor([1, 6], "float32")
    return _exported(Recurrent(steps), x=one, h=one, c=one)


# --- by hand ------------------------------------------------------------------------------------------------


def _main(body: Callable[[relax.BlockBuilder, list[Any]], Any], *shapes: tuple[int, ...]) -> T.IRModule:
    """A module whose main has parameters of these shapes, float32, and this dataflow block."""
    builder = relax.BlockBuilder()
    params = [relax.Var(f"p{number}", T.tensor_type(shape, "float32")) for number, shape in enumerate(shapes)]
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(body(builder, list(params)))
        builder.emit_func_output(result)
    return builder.get()


def quantised(layers: int) -> T.IRModule:
    """Chains of whole numbers of 8 bits: quantise, multiply in 32 bits, scale again."""

    def body(builder: relax.BlockBuilder, params: list[Any]) -> Any:
        emit: Emit = builder.emit
        value = params[0]
        for number in range(layers):
            scaled = emit(op.round(emit(op.multiply(value, T.constant(np.asarray(16.0), "float32")))))
            whole = emit(op.astype(emit(op.clip(scaled, -127.0, 127.0)), "int8"))
            weights = T.constant(np.random.default_rng(number).integers(-3, 4, (8, 8)).astype("int8"), "int8")
            product = emit(op.matmul(whole, weights, out_dtype="int32"))
            back = emit(op.multiply(emit(op.astype(product, "float32")), T.constant(np.asarray(1 / 64), "float32")))
            value = emit(op.nn.relu(back)) if number % 2 else emit(op.tanh(back))
        return value

    return _main(body, (4, 8))


def tuples(rounds: int) -> T.IRModule:
    """Values go through bound tuples, nested ones and splits."""

    def body(builder: relax.BlockBuilder, params: list[Any]) -> Any:
        emit: Emit = builder.emit
        x, y = params
        for number in range(rounds):
            bound = emit(tvm.ir.Tuple([x, tvm.ir.Tuple([y, emit(op.tanh(x))])]))
            inner = emit(tvm.ir.TupleGetItem(bound, 1))
            one, two = emit(tvm.ir.TupleGetItem(inner, 0)), emit(tvm.ir.TupleGetItem(inner, 1))
            halves = emit(op.split(emit(op.add(one, two)), 2, axis=1))
            joined = emit(
                op.concat([emit(tvm.ir.TupleGetItem(halves, 1)), emit(tvm.ir.TupleGetItem(halves, 0))], axis=1)
            )
            x, y = (
                emit(op.nn.softmax(joined, axis=-1)) if number % 3 else emit(op.nn.silu(joined)),
                emit(tvm.ir.TupleGetItem(bound, 0)),
            )
        return emit(op.add(x, y))

    return _main(body, (3, 4), (3, 4))


def branches(rounds: int) -> T.IRModule:
    """Private functions that call one another, with an If in each."""
    builder = relax.BlockBuilder()
    tensor, flag = T.tensor_type((3, 4), "float32"), T.tensor_type((), "bool")
    callee: Any = None
    for number in range(rounds):
        x, c = relax.Var("x", tensor), relax.Var("c", flag)
        ways = []
        for called in (op.tanh, op.nn.silu, op.sigmoid)[number % 2 :][:2]:
            inner = relax.Var("w", tensor)
            v = relax.Var("v", tensor)
            bound = [relax.VarBinding(inner, called(x)), relax.VarBinding(v, op.add(inner, x))]
            ways.append(relax.SeqExpr([relax.BindingBlock(bound)], v))
        with builder.function("main" if number == rounds - 1 else f"part{number}", [x, c], private=number < rounds - 1):
            value = builder.emit(relax.If(c, ways[0], ways[1]))
            value = builder.emit(op.tanh(builder.emit(op.multiply(builder.emit(op.nn.relu(value)), x))))
            value = builder.emit(op.add(value, x)) if callee is None else builder.emit(T.Call(callee, [value, c]))
            builder.emit_func_output(value)
        callee = builder.get().get_global_var(f"part{number}") if number < rounds - 1 else None
    return builder.get()


def closures(rounds: int) -> T.IRModule:
    """Functions inside of main, each called twice."""
    builder = relax.BlockBuilder()
    tensor = T.tensor_type((3, 4), "float32")
    x = relax.Var("x", tensor)
    with builder.function("main", [x]):
        value: Any = x
        for number in range(rounds):
            y = relax.Var("y", tensor)
            one, two, three = (relax.Var(name, tensor) for name in ("one", "two", "three"))
            values = ((op.tanh, op.nn.silu)[number % 2](y), op.add(one, y), op.sigmoid(two))
            bound = [relax.VarBinding(*pair) for pair in zip((one, two, three), values, strict=True)]
            function = relax.Function([y], relax.SeqExpr([relax.BindingBlock(bound)], three), tensor, True)
            inner = builder.emit(function)
            value = builder.emit(op.nn.relu(builder.emit(T.Call(inner, [builder.emit(T.Call(inner, [value]))]))))
        builder.emit_func_output(value)
    return builder.get()


def tir_calls(rounds: int) -> T.IRModule:
    """call_tir of a few PrimFuncs in turn, some in a chain, some with two results of one."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", T.tensor_type((4, 6), "float32"))
    given = te.placeholder((4, 6), "float32", name="a")
    other = te.placeholder((4, 6), "float32", name="b")
    made = {
        "tanh": ([given], topi.tanh(given)),
        "exp": ([given], topi.exp(topi.minimum(given, 1.0))),
        "mean": ([given, other], topi.divide(topi.add(given, other), topi.full_like(given, 2.0))),
        "softmax": ([given], topi.nn.softmax(given)),
    }
    names = {}
    for name, (inputs, output) in made.items():
        names[name] = builder.add_func(te.create_prim_func([*inputs, output]).without_attr("global_symbol"), name)
    with builder.function("main", [x]):
        with builder.dataflow():
            values: list[Any] = [x]
            for number in range(rounds):
                name = list(made)[number % len(made)]
                arguments = [values[-1], x][: len(made[name][0])]
                out = T.tensor_type((4, 6), "float32")
                values.append(builder.emit(op.call_tir(names[name], tvm.ir.Tuple(arguments), out)))
            result = builder.emit_output(values[-1])
        builder.emit_func_output(result)
    return builder.get()


def wide(rounds: int) -> T.IRModule:
    """Many independent chains that are added at the end: all is used, nothing is near."""

    def body(builder: relax.BlockBuilder, params: list[Any]) -> Any:
        emit: Emit = builder.emit
        ends = []
        for number in range(rounds):
            value = emit(op.multiply(params[number % 2], T.constant(np.asarray(0.5 + number % 3), "float32")))
            value = emit((op.tanh, op.nn.relu, op.nn.silu, op.sigmoid)[number % 4](value))
            ends.append(emit(op.sum(value, axis=[0], keepdims=True)))
        total = ends[0]
        for end in ends[1:]:
            total = emit(op.add(total, end))
        return total

    return _main(body, (4, 6), (4, 6))


def symbolic(rounds: int) -> T.IRModule:
    """Symbolic extents through reshapes and match_casts."""
    builder = relax.BlockBuilder()
    n = tvm.tirx.Var("n", "int64")
    x = relax.Var("x", T.tensor_type((n, 4), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            value: Any = x
            for number in range(rounds):
                flat = builder.emit(op.reshape(value, (n * 4,)))
                rows = builder.match_cast(builder.emit(op.tanh(flat)), T.tensor_type((n * 4,), "float32"))
                value = builder.emit(op.nn.softmax(builder.emit(op.reshape(rows, (n, 4))), axis=-1))
                value = builder.emit(op.add(value, x)) if number % 2 else value
            result = builder.emit_output(value)
        builder.emit_func_output(result)
    return builder.get()


def lowered(module: T.IRModule, *names: str) -> T.IRModule:
    """The module after these Relax passes."""
    return tvm.transform.Sequential([getattr(relax.transform, name)() for name in names])(module)


_FUSED = ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps", "FuseTIR")

FAMILIES: dict[str, Callable[[], T.IRModule]] = {
    "encoder 4": lambda: encoder(4),
    "encoder 12 of 5": lambda: encoder(12, "5"),
    "encoder 24": lambda: encoder(24),
    "decoder 3": lambda: decoder(3),
    "decoder 6": lambda: decoder(6),
    "decoder 24": lambda: decoder(24),
    "u-net 2 of 2": lambda: u_net(2, 2),
    "u-net 3 of 3": lambda: u_net(3, 3),
    "mixture 1 of 6": lambda: mixture(1, 6),
    "mixture 6 of 8": lambda: mixture(6, 8),
    "mixture 10 of 12": lambda: mixture(10, 12),
    "shared 20": lambda: shared(20),
    "shared 180": lambda: shared(180),
    "recurrent 5": lambda: recurrent(5),
    "recurrent 50": lambda: recurrent(50),
    "quantised 8": lambda: quantised(8),
    "quantised 60": lambda: quantised(60),
    "tuples 8": lambda: tuples(8),
    "tuples 60": lambda: tuples(60),
    "branches 8": lambda: branches(8),
    "branches 40": lambda: branches(40),
    "closures 12": lambda: closures(12),
    "closures 60": lambda: closures(60),
    "tir calls 50": lambda: tir_calls(50),
    "tir calls 400": lambda: tir_calls(400),
    "wide 16": lambda: wide(16),
    "wide 150": lambda: wide(150),
    "symbolic 12": lambda: symbolic(12),
    "symbolic 80": lambda: symbolic(80),
    "fused encoder 3": lambda: lowered(encoder(3, "5"), *_FUSED),
}
"""By name; the numbers are those of layers, blocks, steps or rounds."""

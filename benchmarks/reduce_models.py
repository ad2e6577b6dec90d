"""Modules of 36 to 1,160 bindings, or PrimFuncs of 50 to 170 statements, for the benchmark of reduction.

Exports of `relax.frontend.nn` and PrimFuncs made by topi. Nothing is drawn; each module comes with its entry calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tvm
from tvm import relax, te, tirx, topi
from tvm.relax.frontend import nn

from corpus.reduce import Candidate
from corpus.reduce.plan import draw_argument
from generators import tvm_api as T
from generators.case import Argument, EntryCall

SYMBOL = 3
"""What every symbolic extent is in the entry calls."""


class Mlp(nn.Module):  # type: ignore[misc]
    """Linear layers with activations in turn, on a symbolic batch."""

    def __init__(self, layers: int) -> None:
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(layers)])

    def forward(self, x: Any) -> Any:
        """(batch, 8) float32 -> the same."""
        kinds = (nn.op.relu, nn.op.silu, nn.op.tanh, lambda v: nn.op.softmax(v, axis=-1))
        for number, layer in enumerate(self.layers):
            x = kinds[number % len(kinds)](layer(x))
        return x


class Attention(nn.Module):  # type: ignore[misc]
    """One head's worth of self-attention, split into `heads` heads."""

    def __init__(self, width: int, heads: int) -> None:
        self.heads, self.width = heads, width
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x: Any, past: tuple[Any, Any] | None = None) -> tuple[Any, Any, Any]:
        """(1, n, width), and keys and values of the past (1, p, heads, width // heads)."""
        shape = (1, x.shape[1], self.heads, self.width // self.heads)
        q, k, v = (nn.op.reshape(each(x), shape) for each in (self.q, self.k, self.v))
        if past is not None:
            k, v = nn.op.concat([past[0], k], 1), nn.op.concat([past[1], v], 1)
        qt, kt, vt = (nn.op.permute_dims(each, [0, 2, 1, 3]) for each in (q, k, v))
        scores = nn.op.matmul(qt, nn.op.permute_dims(kt, [0, 1, 3, 2])) / 2.0
        mixed = nn.op.matmul(nn.op.softmax(scores, axis=-1), vt)
        joined = nn.op.reshape(nn.op.permute_dims(mixed, [0, 2, 1, 3]), (1, x.shape[1], self.width))
        return self.o(joined), k, v


class TransformerBlock(nn.Module):  # type: ignore[misc]
    """A transformer block with a norm before each half."""

    def __init__(self, width: int, gated: bool) -> None:
        self.attention = Attention(width, 2)
        self.before = nn.RMSNorm(width, axes=[-1], bias=False) if gated else nn.LayerNorm(width)
        self.between = nn.RMSNorm(width, axes=[-1], bias=False) if gated else nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.gate = nn.Linear(width, 2 * width, bias=False) if gated else None

    def forward(self, x: Any, past: tuple[Any, Any] | None = None) -> tuple[Any, Any, Any]:
        """See Attention."""
        attended, k, v = self.attention(self.before(x), past)
        x = x + attended
        inner = self.between(x)
        up = nn.op.gelu(self.up(inner)) if self.gate is None else nn.op.silu(self.gate(inner)) * self.up(inner)
        return x + self.down(up), k, v


class Encoder(nn.Module):  # type: ignore[misc]
    """Blocks one after another."""

    def __init__(self, depth: int) -> None:
        self.blocks = nn.ModuleList([TransformerBlock(8, gated=False) for _ in range(depth)])

    def forward(self, x: Any) -> Any:
        """(1, n, 8) float32 -> the same."""
        for block in self.blocks:
            x, _, _ = block(x)
        return x


class Decoder(nn.Module):  # type: ignore[misc]
    """Gated blocks with a cache of keys and values: all of them are given and returned."""

    def __init__(self, depth: int) -> None:
        self.blocks = nn.ModuleList([TransformerBlock(8, gated=True) for _ in range(depth)])
        self.head = nn.Linear(8, 16, bias=False)

    def forward(self, x: Any, cache: list[Any]) -> Any:
        """(1, n, 8) float32 and 2 * depth tensors -> logits and the longer tensors."""
        longer = []
        for number, block in enumerate(self.blocks):
            x, k, v = block(x, (cache[2 * number], cache[2 * number + 1]))
            longer += [k, v]
        return self.head(x), longer


class ResidualPart(nn.Module):  # type: ignore[misc]
    """Two convolutions, and what goes round them."""

    def __init__(self, channels: int, out: int, stride: int) -> None:
        self.one = nn.Conv2D(channels, out, 3, stride=stride, padding=1, bias=False)
        self.two = nn.Conv2D(out, out, 3, padding=1, bias=False)
        self.round = nn.Conv2D(channels, out, 1, stride=stride, bias=False) if stride > 1 else None
        self.scales = nn.ParameterList([nn.Parameter((1, out, 1, 1)) for _ in range(4)])

    def forward(self, x: Any) -> Any:
        """(1, channels, h, w) -> (1, out, h / stride, w / stride)."""
        first = nn.op.relu(self.one(x) * self.scales[0] + self.scales[1])
        second = self.two(first) * self.scales[2] + self.scales[3]
        return nn.op.relu(second + (x if self.round is None else self.round(x)))


class ResNet(nn.Module):  # type: ignore[misc]
    """As ResNet-18 is built: four stages of two residual parts."""

    def __init__(self) -> None:
        self.stem = nn.Conv2D(3, 4, 3, padding=1, bias=False)
        widths = ((4, 4, 1), (4, 4, 1), (4, 8, 2), (8, 8, 1), (8, 8, 2), (8, 8, 1), (8, 12, 2), (12, 12, 1))
        self.parts = nn.ModuleList([ResidualPart(*each) for each in widths])
        self.head = nn.Linear(12, 10)

    def forward(self, x: Any) -> Any:
        """(1, 3, 16, 16) -> (1, 10)."""
        x = nn.op.relu(self.stem(x))
        for part in self.parts:
            x = part(x)
        return nn.op.softmax(self.head(nn.op.reshape(x, (1, 4, 12))), axis=-1)


def _exported(model: Any, method: str = "forward", **inputs: Any) -> T.IRModule:
    module, _ = model.export_tvm({method: inputs})
    return module


def mlp(layers: int) -> T.IRModule:
    """3 bindings to a layer."""
    return _exported(Mlp(layers), x=nn.spec.Tensor(["batch", 8], "float32"))


def encoder(depth: int) -> T.IRModule:
    """36 bindings to a block."""
    return _exported(Encoder(depth), x=nn.spec.Tensor([1, "n", 8], "float32"))


def decoder(depth: int) -> T.IRModule:
    """With a cache of keys and values as parameters and results."""
    cache = [nn.spec.Tensor([1, "past", 2, 4], "float32") for _ in range(2 * depth)]
    return _exported(Decoder(depth), x=nn.spec.Tensor([1, 1, 8], "float32"), cache=cache)


def resnet() -> T.IRModule:
    """Images of 16 x 16."""
    return _exported(ResNet(), x=nn.spec.Tensor([1, 3, 16, 16], "float32"))


def convolutions(depth: int) -> T.IRModule:
    """A CNN whose weights are constants of the module."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", T.tensor_type((1, 4, 8, 8), "float32"))
    weights = np.random.default_rng(5)

    def constant(*shape: int) -> T.Constant:
        return T.constant(weights.standard_normal(shape).astype("float32"), "float32")

    with builder.function("main", [x]):
        with builder.dataflow():
            value: Any = x
            for number in range(depth):
                value = builder.emit(relax.op.nn.conv2d(value, constant(4, 4, 3, 3), padding=1))
                value = builder.emit(relax.op.add(value, constant(1, 4, 1, 1)))
                value = builder.emit(relax.op.nn.relu(value) if number % 2 else relax.op.clip(value, -4.0, 4.0))
                if number % 3 == 2:
                    value = builder.emit(relax.op.nn.max_pool2d(value, (3, 3), padding=(1, 1)))
            result = builder.emit_output(value)
        builder.emit_func_output(result)
    return builder.get()


# --- PrimFuncs ------------------------------------------------------------------------------------------


def _normed(value: Any) -> Any:
    squared = topi.sum(value * value, axis=-1, keepdims=True)
    return topi.divide(value, topi.sqrt(squared + tirx.const(1.0, "float32")))


def _chain(parts: int, with_loops: bool) -> T.IRModule:
    """Products, activations, norms and softmax one after another, in one PrimFunc."""
    x = te.placeholder((4, 6), "float32", name="x")
    weights = [te.placeholder((6, 6), "float32", name=f"w{number}") for number in range(parts)]
    value = x
    for number, weight in enumerate(weights):
        value = topi.nn.relu(topi.matmul(value, weight))
        value = topi.transpose(topi.transpose(value)) if number % 2 else _normed(topi.exp(topi.minimum(value, 2.0)))
        value = topi.tanh(value)
    value = topi.nn.softmax(value)
    function = te.create_prim_func([x, *weights, value])
    module = tvm.IRModule({"main": function.with_attr("global_symbol", "main")})
    return tvm.s_tir.transform.LowerInitBlock()(module) if with_loops else module


def legalised(layers: int) -> T.IRModule:
    """An MLP whose operators have become PrimFuncs."""
    return relax.transform.LegalizeOps()(mlp(layers))


def fused(layers: int) -> T.IRModule:
    """The same with its PrimFuncs fused."""
    passes = ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps", "FuseTIR")
    return tvm.transform.Sequential([getattr(relax.transform, name)() for name in passes])(mlp(layers))


MODELS: dict[str, Callable[[], T.IRModule]] = {
    "mlp 20": lambda: mlp(20),
    "mlp 120": lambda: mlp(120),
    **{f"encoder {depth}": lambda depth=depth: encoder(depth) for depth in (1, 2, 8, 16, 32)},  # type: ignore[misc]
    "decoder 2": lambda: decoder(2),
    "decoder 12": lambda: decoder(12),
    "cnn 16": lambda: convolutions(16),
    "resnet": resnet,
    "legalised mlp 8": lambda: legalised(8),
    "fused mlp 12": lambda: fused(12),
    "chain 1": lambda: _chain(1, with_loops=False),
    "chain 2": lambda: _chain(2, with_loops=False),
    "chain 3": lambda: _chain(3, with_loops=True),
}
"""By name; the number is that of layers, blocks or parts."""


def candidate_of_model(module: T.IRModule) -> Candidate:
    """The module without passes, with a call of its entry."""
    name, function = next((gvar.name_hint, f) for gvar, f in module.functions.items() if T.is_public(f))
    symbols = {}
    if isinstance(function, relax.Function):
        symbols = {var: SYMBOL for var in relax.analysis.all_vars(function) if isinstance(T.type_of(var), T.PrimType)}
        symbols |= dict.fromkeys(relax.analysis.free_symbolic_vars(function.body), SYMBOL)
    types = [T.type_of(param) for param in function.params]
    source = np.random.default_rng(3)
    arguments = tuple(_scaled(draw_argument(ty, symbols), source) for ty in types)
    return Candidate(module, (), (), (EntryCall(name, arguments),))


def _scaled(argument: Argument, source: np.random.Generator) -> Argument:
    """Floats about zero, so small that nothing saturates."""
    if isinstance(argument, tuple):
        return tuple(_scaled(field, source) for field in argument)
    if isinstance(argument, np.ndarray) and argument.dtype == np.float32:
        return np.asarray(source.standard_normal(argument.shape) * 0.4, np.float32)
    return argument

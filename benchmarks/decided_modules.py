"""Modules of a depth at which worst-case bounds are wider than values: exports of `relax.frontend.nn`, written here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op

WIDTH, HEADS, TOKENS = 16, 2, 6


class SmallMlp(nn.Module):
    """Linear layers with GELU, SiLU and ReLU between them."""

    def __init__(self) -> None:
        self.up, self.across, self.down = nn.Linear(12, 24), nn.Linear(24, 24), nn.Linear(24, 8, bias=False)

    def forward(self, x: Any) -> Any:
        return self.down(op.relu(self.across(op.silu(self.up(x)))))


class SmallAttention(nn.Module):
    """Self-attention of HEADS heads."""

    def __init__(self) -> None:
        self.query, self.key = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.value, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Any) -> Any:
        size = WIDTH // HEADS
        q, k, v = (
            op.permute_dims(op.reshape(part(x), (TOKENS, HEADS, size)), [1, 0, 2])
            for part in (self.query, self.key, self.value)
        )
        scores = op.matmul(q, op.permute_dims(k, [0, 2, 1])) / size**0.5
        mixed = op.matmul(op.softmax(scores, axis=-1), v)
        return self.out(op.reshape(op.permute_dims(mixed, [1, 0, 2]), (TOKENS, WIDTH)))


class SmallBlock(nn.Module):
    """A block of an encoder: attention and a perceptron, each with a normalisation before it and a residual."""

    def __init__(self) -> None:
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = SmallAttention()
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.first(x))
        return x + self.down(op.gelu(self.up(self.second(x))))


class SmallEncoder(nn.Module):
    """So many blocks and a last normalisation."""

    def __init__(self, depth: int) -> None:
        self.blocks = nn.ModuleList([SmallBlock() for _ in range(depth)])
        self.last = nn.RMSNorm(WIDTH, -1, bias=False)

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return self.last(x)


class Cnn(nn.Module):
    """Convolutions with ReLU, a residual, and a classifier."""

    def __init__(self, depth: int = 6) -> None:
        self.first = nn.Conv2D(3, 8, 3, padding=1)
        self.others = nn.ModuleList([nn.Conv2D(8, 8, 3, padding=1, bias=i % 2 == 0) for i in range(depth - 1)])
        self.norm = nn.GroupNorm(2, 8)
        self.head = nn.Linear(8 * 36, 5)

    def forward(self, x: Any) -> Any:
        x = op.relu(self.first(x))
        for number, layer in enumerate(self.others):
            y = op.relu(layer(x))
            x = x + y if number == 2 else y
        x = self.norm(x)
        return self.head(op.reshape(x, (1, 8 * 36)))


def _exported(model: Any, *shape: int, dtype: str = "float32") -> Any:
    model.to(dtype)
    spec = {"forward": {"x": nn.spec.Tensor(list(shape), dtype)}}
    module, _ = model.export_tvm(spec=spec)
    return module


MODULES: dict[str, Callable[[], Any]] = {
    "mlp": lambda: _exported(SmallMlp(), 4, 12),
    "encoder 1": lambda: _exported(SmallEncoder(1), TOKENS, WIDTH),
    "encoder 2": lambda: _exported(SmallEncoder(2), TOKENS, WIDTH),
    "encoder 4": lambda: _exported(SmallEncoder(4), TOKENS, WIDTH),
    "encoder 8": lambda: _exported(SmallEncoder(8), TOKENS, WIDTH),
    "cnn 6": lambda: _exported(Cnn(), 1, 3, 6, 6),
    "encoder 2 float16": lambda: _exported(SmallEncoder(2), TOKENS, WIDTH, dtype="float16"),
    "mlp float16": lambda: _exported(SmallMlp(), 4, 12, dtype="float16"),
    "encoder 1 float16": lambda: _exported(SmallEncoder(1), TOKENS, WIDTH, dtype="float16"),
    "encoder 4 float16": lambda: _exported(SmallEncoder(4), TOKENS, WIDTH, dtype="float16"),
    "cnn 6 float16": lambda: _exported(Cnn(), 1, 3, 6, 6, dtype="float16"),
    "mlp bfloat16": lambda: _exported(SmallMlp(), 4, 12, dtype="bfloat16"),
}

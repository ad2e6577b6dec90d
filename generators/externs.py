"""External functions that generated programs call: each with its meaning, and its text for repros.

Workers register them with TVM before anything runs; a repro prints `source` of those that its module names.
The hooks are functions that a pass brings in for its caller to provide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from generators.dtypes import Array


@dataclass(frozen=True, slots=True)
class Extern:
    """A packed function. `meaning` maps NumPy arrays to the result array; `writes` says that it takes its
    destination as last argument (call_dps_packed) instead of returning the result (call_pure_packed).
    `source` is a Python expression over np and tvm for the same function on run-time tensors."""

    name: str
    meaning: Callable[..., Array]
    writes: bool
    source: str


COPY_DOUBLED = Extern(
    "passfuzz.copy_doubled",
    lambda x: x + x,
    True,
    "lambda x, out: out.copyfrom(x.numpy() + x.numpy())",
)
DIFFERENCE = Extern(
    "passfuzz.difference",
    lambda x, y: x - y,
    True,
    "lambda x, y, out: out.copyfrom(x.numpy() - y.numpy())",
)
NEGATED = Extern(
    "passfuzz.negated",
    lambda x: -x,
    False,
    "lambda x: tvm.runtime.tensor(-x.numpy(), x.device)",
)
EXTERNS = {extern.name: extern for extern in (COPY_DOUBLED, DIFFERENCE, NEGATED)}
"""By name: `relax/calls_and_ifs.py` draws calls of them; interpreter, builds and repros provide them."""


HOOKS = ("get_item", "set_item")
"""The packed functions that LazyTransformParams calls for its inputs and outputs."""
_PROVIDED: dict[str, Callable[..., object]] = {}


@contextmanager
def provided(hooks: Mapping[str, Callable[..., object]]) -> Iterator[None]:
    """While it lasts, the packed functions of these names do this, on run-time values of TVM."""
    before = dict(_PROVIDED)
    _PROVIDED.update(hooks)
    try:
        yield
    finally:
        _PROVIDED.clear()
        _PROVIDED.update(before)


def _call_hook(name: str, *arguments: object) -> object:
    return _PROVIDED[name](*arguments)


def register() -> None:
    """Registers every extern and hook with this process's TVM. Must run in workers only."""
    import tvm

    for extern in EXTERNS.values():
        function = eval(extern.source, {"tvm": tvm, "np": np})  # our own text, from the table above
        tvm.register_global_func(extern.name, function, override=True)
    for name in HOOKS:
        tvm.register_global_func(name, partial(_call_hook, name), override=True)

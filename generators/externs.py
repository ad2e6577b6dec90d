"""External functions that generated programs call: each with its meaning, and its text for repros.

Workers register them with TVM before anything runs; a repro prints `source` of those that its module names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Extern:
    """A packed function. `meaning` maps NumPy arrays to the result array; `writes` says that it takes its
    destination as last argument (call_dps_packed) instead of returning the result (call_pure_packed).
    `source` is a Python expression over np and tvm for the same function on run-time tensors."""

    name: str
    meaning: Callable[..., np.ndarray[Any, Any]]
    writes: bool
    source: str


EXTERNS = {
    e.name: e
    for e in (
        Extern(
            "passfuzz.copy_doubled",
            lambda x: x + x,
            True,
            "lambda x, out: out.copyfrom(x.numpy() + x.numpy())",
        ),
        Extern(
            "passfuzz.difference",
            lambda x, y: x - y,
            True,
            "lambda x, y, out: out.copyfrom(x.numpy() - y.numpy())",
        ),
        Extern(
            "passfuzz.negated",
            lambda x: -x,
            False,
            "lambda x: tvm.runtime.tensor(-x.numpy())",
        ),
    )
}


def register() -> None:
    """Registers every extern with this process's TVM. Must run in workers only."""
    import tvm

    for extern in EXTERNS.values():
        function = eval(extern.source, {"tvm": tvm, "np": np})  # our own text, from the table above
        tvm.register_global_func(extern.name, function, override=True)

"""In whose code for a pass it fails, if a pass asks each operator for code of its own; and what a child notes that may
end at any point.

TVM's tracebacks rarely name that code, and a module may call several operators. So they are asked through functions
that note who is asked.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable

import tvm

from generators.passes.row import PassRow
from generators.passes.traits import Asks
from generators.tvm_api import IRModule
from oracles.forked import forked
from oracles.ir.operators import operator_calls

LIMIT_S = 30.0
"""Seconds that a look into a failure may take; what is not found by then is unknown."""


def last_note(run: Callable[[Callable[[str], None]], object]) -> str:
    """The last text that `run` has noted in a child, which may end at any point."""
    shared = mmap.mmap(-1, mmap.PAGESIZE)

    def note(text: str) -> None:
        shared[:] = text.encode()[: mmap.PAGESIZE].ljust(mmap.PAGESIZE, b"\0")

    forked(lambda: run(note), LIMIT_S)
    return shared[:].rstrip(b"\0").decode()


def failing_operator(row: PassRow, module: IRModule, run: Callable[[], object]) -> str:
    """The operator of a module in whose code for a pass `run` fails; "" if it fails elsewhere, and for other passes."""
    asks = row.trait(Asks)
    if asks is None:
        return ""
    key = asks.attribute
    names = {str(call.op.name) for call, _ in operator_calls(module)}

    def noting(note: Callable[[str], None]) -> None:
        for name in names:
            if callable(code := tvm.ir.Op.get(name).get_attr(key)):
                tvm.ir.register_op_attr(name, key, _noted(name, code, note), _LEVEL)
        run()

    return last_note(noting)


_LEVEL = 100
"""Above that of what TVM has registered, which it therefore replaces."""


def _noted(name: str, code: Callable[..., object], note: Callable[[str], None]) -> Callable[..., object]:
    def asked(*arguments: object) -> object:
        note(name)
        made = code(*arguments)
        note("")
        return made

    return asked

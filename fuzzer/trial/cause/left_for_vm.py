"""Why operators are left for the VM: which of them, why LegalizeOps leaves it, and what it logs of that."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tvm import relax

from generators.passes.row import Phase
from generators.tvm_api import IRModule
from oracles.checks import executable
from oracles.checks.legalised import LEGALIZE, unknown_part
from oracles.ir.operators import CONSUMED, operator_calls
from oracles.trace import Step


def left_for_vm(module: IRModule, steps: Iterable[Step]) -> tuple[str, str]:
    """Why LegalizeOps leaves the first operator that a whole lowering leaves, and what it logs of that; "" where none
    is left. steps: those of the lowering of `module`."""
    legal = last = module
    for step in steps:
        if step.after is None or step.phase > Phase.SYMBOLED:
            break
        last = step.after
        if step.call.name == LEGALIZE:
            legal = step.after
    for call, _ in operator_calls(last):
        name = call.op.name
        if name in executable.EXECUTABLE or name in CONSUMED or call.op.get_attr("FCallPacked") is not None:
            continue
        return _why_left(name, legal)
    return "", ""


def _why_left(name: str, legal: IRModule) -> tuple[str, str]:
    """Why an operator is in a module that LegalizeOps has given, and what it logs of that."""
    call = next((call for call, _ in operator_calls(legal) if call.op.name == name), None)
    lower = None if call is None else call.op.get_attr("FLegalize")
    if lower is None:
        return f"{name} has no legalisation", ""
    if why := unknown_part(call):
        return f"leaves an operator with {why}", ""
    with _listening() as said:
        lower(relax.BlockBuilder(legal), call)
    if not said.lines:
        return f"declines {name}, and does not say why", ""
    return "declines an operator", said.lines[0]


class _Said(logging.Handler):
    """Keeps what legalisations log, who say so why they decline."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def _listening() -> Iterator[_Said]:
    """What Python's loggers are given meanwhile."""
    root, said = logging.getLogger(), _Said()
    level = root.level
    root.addHandler(said)
    root.setLevel(logging.INFO)
    try:
        yield said
    finally:
        root.removeHandler(said)
        root.setLevel(level)

"""What `passfuzz check --explain` shows: values flowing through a module, as the reference interpreter has them.

The first entry call, variable by variable in the order of evaluation: in the module as it was given, and behind the
culprit. Worker processes only; what passes do is looked at in a child, whose end is a line like any other.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzzer.oneshot.prepare import STAGE_S, Bench, Say
from fuzzer.processes.fork import in_child
from fuzzer.worker.main import limit_memory
from generators.case import Shape
from generators.source import SeededSource
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.numbers import Numbers
from oracles.reference.values import Runtime, Tensor, declared
from oracles.trace import MeaningState, Raised
from oracles.workbench import Workbench

FIRST = 8
"""Elements of a value that are shown."""


def explain(bench: Bench, culprit: str | None, say: Say) -> None:
    """Says a "value" per variable, of the module as given and behind the culprit where a pass of the errand is it."""

    def look(tell: Callable[[str], None]) -> None:
        limit_memory(bench.plan.memory_bytes)
        for after, module in _modules(bench, culprit):
            for row in values_of(module, bench.start.calls):
                tell(json.dumps({"after": after, **row}))

    bench.recorder.write(0, "explain")
    lines, ended, stage = in_child(look, bench.recorder, STAGE_S, per_stage=True)
    for line in lines:
        say("value", **json.loads(line))
    if ended is not None:
        say("value", **_row("", "", f"stopped: {ended} in {stage}", ""), after="")


def _modules(bench: Bench, culprit: str | None) -> list[tuple[str, Any]]:
    """("", the module as given) and (culprit, the module behind it)."""
    start = bench.start
    workbench = Workbench(SeededSource(0), MeaningState(Numbers(start.module, ())), bench.repertoire.names)
    modules, module = [("", start.module)], start.module
    for call in (*start.setup, *start.passes):
        module = workbench.apply(call, module)
        if isinstance(module, Raised):
            break
        if call.name == culprit:
            modules.append((call.name, module))
            break
    return modules


def values_of(module: Any, calls: Any) -> list[dict[str, str]]:
    """A row per variable that the first entry call binds; the last says why it ended early, where it did."""
    rows: list[dict[str, str]] = []
    if not calls:
        return [_row("", "", "no inputs: nothing to run", "")]

    def watch(function: str, variable: str, value: Runtime) -> None:
        rows.append(_row(function, variable, type_text(value), elements_text(value)))

    try:
        Interpreter(module, watch=watch).run(calls[0])
    except Unsupported as error:
        rows.append(_row("", "", f"not interpreted: {error.node}", ""))
    except Trap as trap:
        rows.append(_row("", "", f"{trap.kind}: {trap.detail}", ""))
    return rows


def _row(function: str, variable: str, kind: str, elements: str) -> dict[str, str]:
    return {"function": function, "variable": variable, "type": kind, "elements": elements}


def type_text(value: Runtime) -> str:
    """A type as "float32[2, 3]"; a tuple by its fields."""
    if isinstance(value, Tensor):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(type_text, value))})"
    return "shape" if isinstance(value, Shape) else type(value).__name__.lower()


def elements_text(value: Runtime) -> str:
    """The first elements in row-major order; those of a tuple's fields behind each other."""
    if isinstance(value, Tensor):
        flat = declared(value).reshape(-1)
        shown = ", ".join(_number(element) for element in flat[:FIRST])
        return f"{shown}, ..." if flat.size > FIRST else shown
    if isinstance(value, tuple):
        return "; ".join(map(elements_text, value))
    if isinstance(value, Shape):
        return ", ".join(map(str, value.extents))
    return str(value) if isinstance(value, (bool, int, float, str)) else ""


def _number(element: Any) -> str:
    whole = np.asarray(element).dtype.kind in "iub"
    return str(element) if whole else f"{float(element):.6g}"

"""What `passfuzz check --explain` shows: values flowing through a module, as the reference interpreter has them.

The first entry call, variable by variable in the order of evaluation: in the module as it was given, and after the
culprit. Passes are applied in a child, whose end is a line like any other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fuzzer.oneshot.messages import VariableValue
from fuzzer.oneshot.prepare import STAGE_S, Subject, own_fault
from fuzzer.processes.lines import Say, in_child
from fuzzer.results import ValueRow
from fuzzer.trial.unjudged import bench_of, steps_of
from generators.case import EntryCall, Shape
from generators.dtypes import Scalar
from generators.tvm_api import IRModule
from oracles.activities import Working, described
from oracles.process_state import limit_memory
from oracles.reference.engine import Interpreter
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.numbers import Numbers
from oracles.reference.values import Runtime, Tensor, declared

FIRST = 8
"""Elements of a value that are shown."""


def explain(subject: Subject, culprit: str | None, say: Say) -> None:
    """Sends each VariableValue: of the module as given, and after the culprit if that is a pass of the request.

    Raises NotCarriedOut for a fault of ours."""

    def look(tell: Say) -> None:
        limit_memory(subject.plan.memory_bytes)
        for after, module in _modules(subject, culprit):
            for row in values_of(module, subject.start.calls, after):
                tell(VariableValue(row))

    subject.recorder.write(0, Working("explain"))
    heard = in_child(look, VariableValue, subject.recorder, STAGE_S, per_activity=True)
    for value in heard.messages:
        say(value)
    if heard.ended is not None and heard.ended.raised:
        raise own_fault(heard.ended, described(heard.activity))
    if heard.ended is not None:
        say(VariableValue(_note("", f"stopped: {heard.ended.how} in {described(heard.activity)}")))


def _modules(subject: Subject, culprit: str | None) -> list[tuple[str, IRModule]]:
    """("", the module as given) and (culprit, the module after it)."""
    start, plan, repertoire = subject.start, subject.plan, subject.repertoire
    modules = [("", start.module)]
    bench = bench_of(Numbers(start.module, ()), repertoire, plan.target)
    for step in steps_of(start, plan, repertoire, bench):
        if step.call.name == culprit and step.after is not None:
            return [*modules, (culprit, step.after)]
    return modules


def values_of(module: IRModule, calls: Sequence[EntryCall], after: str = "") -> list[ValueRow]:
    """A row per variable that the first entry call binds; the last says why it ended early, where it did."""
    rows: list[ValueRow] = []
    if not calls:
        return [_note(after, "no inputs: nothing to run")]

    def watch(function: str, variable: str, value: Runtime) -> None:
        rows.append(ValueRow(after, function, variable, type_text(value), elements_text(value)))

    try:
        Interpreter(module, watch=watch).run(calls[0])
    except Unsupported as error:
        rows.append(_note(after, f"not interpreted: {error.node}"))
    except Trap as trap:
        rows.append(_note(after, f"{trap.kind}: {trap.detail}"))
    return rows


def _note(after: str, text: str) -> ValueRow:
    return ValueRow(after, "", "", text, "")


def type_text(value: Runtime) -> str:
    """A type as "float32[2, 3]"; a tuple by its fields."""
    if isinstance(value, Tensor):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(type_text, value))})"
    return "shape" if isinstance(value, Shape) else type(value).__name__.lower()


def elements_text(value: Runtime) -> str:
    """The first elements in row-major order; those of a tuple's fields one after the other."""
    if isinstance(value, Tensor):
        flat = declared(value).reshape(-1)
        shown = ", ".join(_number(element) for element in flat[:FIRST])
        return f"{shown}, ..." if flat.size > FIRST else shown
    if isinstance(value, tuple):
        return "; ".join(map(elements_text, value))
    if isinstance(value, Shape):
        return ", ".join(map(str, value.extents))
    return str(value) if isinstance(value, (bool, int, float, str)) else ""


def _number(element: Scalar) -> str:
    whole = np.asarray(element).dtype.kind in "iub"
    return str(element) if whole else f"{float(element):.6g}"

"""What is a crash and what is a rejection: errors of every origin, made by passes written here and by TVM's own."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from generators.case import PassCall
from oracles.checks import survives
from oracles.evidence import BuiltUntyped
from oracles.trace import Raised
from oracles.tvm_errors import headline, in_a_line
from oracles.verdict import Failed, Passed, Skipped
from tests.oracles.modules import DATAFLOW
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, row_of, step_of


def raises(kind: type[Exception], text: str) -> Callable[[Any], Any]:
    def run(module: Any) -> Any:
        raise kind(text)

    return run


def ill_typed_call(module: Any) -> Any:
    x = module["main"].params[0]
    return relax.BlockBuilder().normalize(relax.op.matmul(x, x))


def axis_out_of_range(module: Any) -> Any:
    """A helper of type inference refuses it: TVM's traceback does not name the function that infers."""
    x = module["main"].params[0]
    return relax.BlockBuilder().normalize(relax.op.split(x, 2, axis=9))


def ill_typed_call_of_a_function(module: Any) -> Any:
    """A function that takes a shape is given a tensor: no operator stands in the trace."""
    x = module["main"].params[0]
    takes_shape = relax.Var("f", relax.FuncType([relax.ShapeType(ndim=1)], x.ty))
    return relax.BlockBuilder().normalize(relax.Call(takes_shape, [x]))


def asserts(module: Any) -> Any:
    assert len(module.functions) == 0, "an explanation does not make it a diagnostic"
    return module


CRASHES: dict[str, Callable[[Any], Any]] = {
    "TypeError of None": lambda module: None + 1,  # type: ignore[operator]
    "AttributeError": lambda module: module["main"].no_such_field,
    "IndexError of a list": lambda module: list(module["main"].params)[9],
    "IndexError raised by a container": lambda module: module["main"].params[9],
    "KeyError of a map": lambda module: module["main"].attrs["absent"],
    "ZeroDivisionError": lambda module: 1 // 0,
    "IndexError raised by the pass": raises(IndexError, "slot 11 out of 4"),
    "KeyError raised by the pass": raises(KeyError, "no such buffer"),
    "AssertionError raised by the pass": raises(AssertionError, "a use before its definition"),
    "assertion": asserts,
    "exit()": lambda module: exit(),
    "exit(0)": lambda module: exit(0),
    "quit(1)": lambda module: quit(1),
    "sys.exit(0)": lambda module: sys.exit(0),
    "raised by Python's library": lambda module: json.loads(""),
    "raised by NumPy": lambda module: np.linalg.inv(np.zeros((2, 2))),
    "FFI conversion": lambda module: tvm.tirx.IntImm("int64", "a"),
    "no module at all": lambda module: 7,
    "internal error": raises(tvm.error.InternalError, "Check failed: (a == b) is false: "),
    "call that cannot be typed": ill_typed_call,
    "call of a function that cannot be typed": ill_typed_call_of_a_function,
    "axis that an operator does not have": axis_out_of_range,
}
REJECTIONS: dict[str, Callable[[Any], Any]] = {
    "ValueError": raises(ValueError, "this pass wants two functions"),
    "TypeError": raises(TypeError, "this pass takes no tuples"),
    "RuntimeError": raises(RuntimeError, "no such library"),
    "tool that is not there": lambda module: subprocess.run(["no-such-tool"], check=False),
    "tool that fails": lambda module: subprocess.run(["false"], check=True),
    "Python module that is not there": lambda module: importlib.import_module("no_such_module"),
    "stated limit": raises(
        tvm.error.InternalError, "X do not work for local functions, make sure to run it after LambdaLift"
    ),
    "C++ diagnostic": lambda module: relax.transform.DeadCodeElimination(["absent"])(module),
}


def verdict_of(body: Callable[[Any], Any]) -> Any:
    bench = RealBench()
    return survives.judge(step_of(module_pass(body), module_of(DATAFLOW), bench), bench)


@pytest.mark.parametrize("name", CRASHES)
def test_an_error_that_happened_to_a_pass_is_a_crash(name: str) -> None:
    verdict = verdict_of(CRASHES[name])
    assert isinstance(verdict, Failed)
    assert verdict.symptom == "crash"
    assert "\n" not in verdict.message
    assert "Traceback" in verdict.detail


def test_of_a_call_that_cannot_be_typed_the_text_of_tvm_is_kept() -> None:
    verdict = verdict_of(ill_typed_call)
    assert isinstance(verdict, Failed) and isinstance(verdict.evidence, BuiltUntyped)
    assert verdict.message.endswith(f"typed: {verdict.evidence.said}")
    assert verdict.evidence.said.partition(": ")[2] in " ".join(verdict.detail.split())


@pytest.mark.parametrize("name", REJECTIONS)
def test_a_diagnostic_is_a_rejection(name: str) -> None:
    verdict = verdict_of(REJECTIONS[name])
    assert isinstance(verdict, Skipped)
    assert verdict.reason.startswith("rejected: Planted: ")


def test_a_pass_that_ends_passes() -> None:
    assert isinstance(verdict_of(lambda module: module), Passed)


def test_a_row_that_draws_its_arguments_may_ask_for_what_cannot_be_typed() -> None:
    bench = RealBench()
    row = row_of("Planted", draw_source=lambda source, facts: "Planted")
    step = step_of(module_pass(ill_typed_call), module_of(DATAFLOW), bench, row)
    assert isinstance(survives.judge(step, bench), Skipped)


def test_the_headline_leaves_quoted_programs_out() -> None:
    program = "# from tvm.script import relax as R\n\n@R.function\ndef main(x):\n    return x"
    message = f"cannot do this:\n{program}\nsince it is odd"
    assert headline(message) == "cannot do this: since it is odd"


def test_the_headline_keeps_the_sentence_after_a_quoted_function() -> None:
    function = (
        '# from tvm.script import relax as R\n\nn = TypeVar("n")\n@R.function\ndef main(x: R.Any):\n    return (x, x)'
    )
    assert headline(f"Function {function} has true for force_pure") == "Function has true for force_pure"


def test_raised_from_keeps_kind_text_and_frames() -> None:
    raised = RealBench().apply(PassCall("x", "relax.transform.DeadCodeElimination(['absent'])"), module_of(DATAFLOW))
    assert isinstance(raised, Raised)
    assert (raised.kind, raised.explicit) == ("ValueError", True)
    assert 'Cannot find global var "absent"' in raised.message
    assert "GetGlobalVar" in raised.traceback


def ends(module: Any) -> Any:
    raise SystemExit(0)


def is_interrupted(module: Any) -> Any:
    raise KeyboardInterrupt


def exits(module: Any) -> Any:
    sys.exit()


def is_not_written(module: Any) -> Any:
    raise NotImplementedError("no tuples yet")


@pytest.mark.parametrize(
    ("does", "explicit", "said"),
    [
        (ends, False, "SystemExit: 0"),
        (exits, False, "SystemExit: ends the process: sys.exit()"),
        (is_interrupted, False, "KeyboardInterrupt: ends the process: raise KeyboardInterrupt"),
        (is_not_written, True, "NotImplementedError: no tuples yet"),
        (raises(RuntimeError, "no tuples"), True, "RuntimeError: no tuples"),
    ],
)
def test_what_ends_a_process_explains_nothing_and_is_said(
    does: Callable[[Any], Any], explicit: bool, said: str
) -> None:
    """Also of a kind that TVM does not know, and turns into a RuntimeError."""
    raised = RealBench().apply(module_pass(does, "Ends"), module_of(DATAFLOW))
    assert isinstance(raised, Raised) and (raised.explicit, in_a_line(raised)) == (explicit, said)


def test_the_headline_of_a_schedule_error_says_no_places() -> None:
    lines = ("def main(A: T.Buffer((1,))):", "    for i in range(1):", "        with T.sblock():")
    message = (
        "ScheduleError: An error occurred in the schedule primitive 'fuse'.\n\nThe IR with diagnostic is:\n"
        'Access path: <root>.functions[I.GlobalVar("main")].body\n'
        + "\n".join(lines)
        + "\n\nError message: The loop has annotation"
    )
    said = "An error occurred in the schedule primitive 'fuse': The loop has annotation"
    assert headline(message) == said

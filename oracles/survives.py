"""A pass ends without an error, or with a diagnostic that explains what it does not take.

Errors that Python can see only: signals, hangs and memory are seen by the process that watches the worker.
An internal check, or an error that happened to the code of the pass, is a crash on any input. So is a failing type
inference: the input is well-formed, hence all of its calls can be typed, hence the pass itself has built the call
that cannot. Every other explicit ValueError, TypeError or RuntimeError is a rejection.
"""

from __future__ import annotations

import linecache
import re
import traceback
from pathlib import PurePath

from oracles.oracle import StepOracle
from oracles.trace import Bench, Raised, Step
from oracles.verdict import PASSED, Failed, Skipped, Verdict

HAPPENED = frozenset(
    {
        *("InternalError", "IndexError", "KeyError", "AttributeError", "NameError", "UnboundLocalError"),
        *("ZeroDivisionError", "OverflowError", "RecursionError", "StopIteration", "MemoryError", "UnicodeDecodeError"),
    }
)
"""Kinds that C++ code raises by accident: internal checks, and containers asked for what they do not hold."""

_CONVERSION = re.compile(
    r"Cannot (convert from|treat) type `|Mismatched (type|number of) |Back optional access|Bad expected access"
    r"|key is not in Map|Check not null|Check failed: [^\n]*is false: ?$"
)
"""TypeErrors and RuntimeErrors of the FFI's casts and containers: something had another type than the code believed."""

_STATED_LIMIT = re.compile(
    r"make sure\s+to run it (before|after)|\bnow (only supports?|does not support)|not supported \S*\s*yet|[Cc]urrently (does not|only)"
)
"""Internal errors that state an order of passes or a limit which is there for now: known, and not this pass's bug."""

_INFERENCE = re.compile(r"\bInferType\w*\(|::InferType")
_RAISE = re.compile(r"\s*raise\b")


def raised_from(exception: BaseException) -> Raised:
    """The exception as a value.

    `explicit` is true for a diagnostic: raised by a `raise` statement (not one inside an item or attribute look-up),
    or by C++ with a kind and a text that explains. tvm_ffi appends C++ frames to Python's traceback in order of
    calls, so the last frame with a file is where the error came from.
    """
    frames = traceback.extract_tb(exception.__traceback__)
    text = "".join(traceback.format_exception(type(exception), exception, exception.__traceback__))
    message = str(exception)
    kind = type(exception).__name__
    return Raised(kind, message, _is_explicit(kind, message, frames), text)


def _is_explicit(kind: str, message: str, frames: traceback.StackSummary) -> bool:
    if kind == "InternalError" or _CONVERSION.search(headline(message)):
        return False
    last = next((frame for frame in reversed(frames) if frame.filename != "<unknown>"), None)
    if last is None or not last.filename.endswith(".py"):
        return kind not in HAPPENED
    if _is_look_up(last):
        return False
    line = last.line or linecache.getline(last.filename, last.lineno or 0)
    return bool(_RAISE.match(line)) or bool(re.search(r":\s*raise\b", line))


def _is_look_up(frame: traceback.FrameSummary) -> bool:
    """An item or attribute look-up raises on purpose, but its caller did not mean to ask in vain."""
    inside = frame.name.startswith("__") and frame.name not in ("__init__", "__call__")
    return inside or "tvm_ffi" in PurePath(frame.filename).parts


_IR_LINE = re.compile(r"^\s*(#|@[IRT]\.|def \w+\(|class \w+:|with [RT]\.|\w+: [RT]\.|cls = |[TR]\.\w+\(|for \w+.* in |return )|^\s{4,}\S")


def headline(message: str) -> str:
    """The first paragraph of an error in one line, without the programs that it quotes.

    What follows the first paragraph is where TVM thinks that it happened.
    """
    first = message.strip().split("\nError in pass:")[0].split("\n\nLocation (")[0]
    lines = [re.sub(r"# from .*", "", line) for line in first.split("\n") if not _IR_LINE.match(line)]
    return " ".join(" ".join(lines).split())[:400]


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("crash") for an internal error, Skipped("rejected: ...") for an explained one."""
    error = step.error
    if error is None:
        return PASSED
    if error.kind == "InternalError" and _STATED_LIMIT.search(error.message):
        return Skipped(f"rejected: {step.call.name}: stated limit")
    ill_typed = error.explicit and _INFERENCE.search(error.traceback) and step.row.draw_source is None
    if error.explicit and not ill_typed:
        return Skipped(f"rejected: {step.call.name}: {error.kind}")
    what = "built a call that cannot be typed: " if ill_typed else ""
    return Failed("crash", f"{what}{error.kind}: {headline(error.message)}", error.traceback or error.message)


ORACLE = StepOracle("survives", "a pass ends, or explains what it does not take", judge, on_error=True)

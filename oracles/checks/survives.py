"""A pass ends without an error, or with a diagnostic that explains what it does not take.

Errors that Python can see only: signals, hangs and memory are seen by the process that watches the worker.
An internal check, or an error that happened to the code of the pass, is a crash on any well-formed input. So is a
failing type inference: the input is well-formed, hence all of its calls can be typed, hence the pass itself has built
the call that cannot. So is, in the pass's phase, a failing check of a library that the pass has called (schedule
primitives, constructors, arithmetic): its text explains the pass's mistake and not the user's, whatever its kind
(apache/tvm#17245 is a ValueError of s_tir::AddUnitLoop). Every other explicit ValueError, TypeError or RuntimeError
is a rejection.
"""

from __future__ import annotations

import linecache
import re
import traceback
from pathlib import PurePath

from oracles.evidence import OutOfMemory
from oracles.ir.verifier import COMPLAINTS
from oracles.oracle import Stage, StepOracle
from oracles.trace import Bench, Raised, Step
from oracles.verdict import PASSED, Failed, Skipped, Verdict

HAPPENED = frozenset(
    {
        *("InternalError", "IndexError", "KeyError", "AttributeError", "NameError", "UnboundLocalError"),
        *("ZeroDivisionError", "OverflowError", "RecursionError", "StopIteration", "MemoryError", "UnicodeDecodeError"),
    }
)
"""Kinds that C++ code raises by accident: internal checks, and containers asked for what they do not hold."""

# The patterns below read messages of TVM, which has no other way to say these things. None reads a message of ours.
_CONVERSION = re.compile(
    r"Cannot (convert from|treat) type `|Mismatched (type|number of) |Back optional access|Bad expected access"
    r"|key is not in Map|Check not null|Check failed: [^\n]*is false: ?$"
)
"""TypeErrors and RuntimeErrors of the FFI's casts and containers: something had another type than the code believed."""

_STATED_LIMIT = re.compile(
    r"make sure\s+to run it (before|after)|Codegen is not found|\bonly supports?\b|\bnow does not support"
    r"|[Cc]urrently (does not|only)|Data type \S+ (is )?not supported|is not supported (in|by) "
    r"|FPrimalGradient has not been registered|Function does not use symbolic var with name"
)
"""Internal errors that state an order of passes or a limit which is there for now: known, and not this pass's bug."""

_NOT_YET = re.compile(r"not supported \S*\s*yet")

_INFERENCE = re.compile(r"\bInferType\w*\(|::InferType")
_RAISE = re.compile(r"\s*raise\b")

_FRAME = re.compile(r'^ +File "([^"]+\.(?:py|cc|cpp|h))"', re.MULTILINE)
_OWN_CODE = re.compile(r"\.py$|/(transform|backend|analysis|pass|op)/")
"""Where passes and verifiers explain themselves. Operators' code is judged by `_INFERENCE`."""


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


_IR_LINE = re.compile(
    r"^\s*(#|@[IRT]\.|\w+ = TypeVar\(|return |def \w+\(|class \w+:"
    r"|with [RT]\.|\w+: [RT]\.|cls = |[TR]\.\w+\(|for \w+.* in )"
    r"|^\s{4,}\S"
)
_IR_END = re.compile(r"^ +return .*? (?=(?:has|is|was|contains|should|must|does|cannot)\b)")
"""The last line of a printed function with the sentence that goes on behind it."""


_OF_A_PRIMITIVE = re.compile(
    r"^(?:ScheduleError: )?(An error occurred in the schedule primitive '[^']+').*Error message:", re.DOTALL
)
"""Before the message, a ScheduleError quotes the function and says where in it."""


def headline(message: str) -> str:
    """The first paragraph of an error in one line, without the programs that it quotes.

    What follows the first paragraph is where TVM thinks that it happened.
    """
    said = _OF_A_PRIMITIVE.sub(r"\1:", message.strip())
    first = said.split("\nError in pass:")[0].split("\n\nLocation (")[0]
    whole = [_IR_END.sub("", line) for line in first.split("\n")]
    lines = [re.sub(r"# from .*", "", line) for line in whole if not _IR_LINE.match(line)]
    return " ".join(" ".join(lines).split())[:400]


def out_of_memory(error: Raised) -> OutOfMemory | None:
    """The evidence of an error by which Python says that memory has run out; None for any other."""
    return OutOfMemory() if "MemoryError" in (error.kind, *error.message.split(":")[0].split()) else None


def is_library_check(error: Raised) -> bool:
    """Whether an explicit error is a failing check of a library that the pass has called."""
    if error.kind == "ScheduleError":
        return True
    frames = _FRAME.findall(error.traceback)
    return error.message.startswith("Check failed: ") and bool(frames) and not _OWN_CODE.search(frames[-1])


def _states_limit(error: Raised, step: Step) -> bool:
    """Whether an internal error states a limit; an assertion that does is excused outside of official pipelines,
    and in them where it says that something is not supported yet."""
    if error.kind not in ("InternalError", "AssertionError"):
        return False
    if step.row.promise.refuses is not None and re.search(step.row.promise.refuses, error.message):
        return True
    excused = error.kind == "InternalError" or step.tier != "A"
    return bool(_NOT_YET.search(error.message) or (excused and _STATED_LIMIT.search(error.message)))


def happened_to(error: Raised, step: Step) -> str | None:
    """How an error in applying the step's pass to well-formed IR counts as a crash; None for a rejection."""
    if _states_limit(error, step):
        return None
    if not error.explicit:
        return "an error"
    if step.row.fires.draw_source is not None:
        return None
    if _INFERENCE.search(error.traceback):
        return "a call that cannot be typed"
    return "a failing check" if step.tier != "C" and is_library_check(error) else None


def states_limit(error: Raised) -> bool:
    """Whether an internal error states an order of passes or a limit that is there for now."""
    return error.kind == "InternalError" and bool(_STATED_LIMIT.search(error.message))


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("crash") for an error that happened to the pass, Skipped("rejected: ...") for an explained one."""
    error = step.error
    if error is None:
        return PASSED
    what = happened_to(error, step)
    if what is None:
        limit = "stated limit" if not error.explicit else error.kind
        return Skipped(f"rejected: {step.call.name}: {limit}")
    if COMPLAINTS.of(step.before):
        return Skipped(f"raised on ill-formed input: {step.call.name}")
    built = "built a call that cannot be typed: " if what == "a call that cannot be typed" else ""
    return Failed(
        "crash",
        f"{built}{error.kind}: {headline(error.message)}",
        error.traceback or error.message,
        evidence=out_of_memory(error),
    )


ORACLE = StepOracle(
    "survives", "a pass ends, or explains what it does not take", judge, on_error=True, stage=Stage.SURVIVAL, rank=0
)

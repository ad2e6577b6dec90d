"""What TVM raises, as values: whether it explains itself, its headline, and whether it states a limit.

`oracles.checks.survives` decides whether an error is a pass's fault.
"""

from __future__ import annotations

import linecache
import re
import subprocess
import sysconfig
import traceback
from pathlib import Path, PurePath

import numpy as np

from oracles.evidence import OutOfMemory
from oracles.trace import Raised

HAPPENED = frozenset(
    {
        *("InternalError", "IndexError", "KeyError", "AttributeError", "NameError", "UnboundLocalError"),
        *("ZeroDivisionError", "OverflowError", "RecursionError", "StopIteration", "MemoryError", "UnicodeDecodeError"),
        "AssertionError",
    }
)
"""Kinds that no code refuses a module with: checks of its own, and containers asked for what they do not hold."""

# The patterns below read messages of TVM, which has no other way to say these things. None reads a message of ours.
_CONVERSION = re.compile(
    r"Cannot (convert from|treat) type `|Mismatched (type|number of) |Back optional access|Bad expected access"
    r"|key is not in Map|Check not null|Check failed: [^\n]*is false: ?$"
)
"""TypeErrors and RuntimeErrors of the FFI's casts and containers: something had another type than the code believed."""

STATED_LIMIT = re.compile(
    r"make sure\s+to run it (before|after)|Codegen is not found|\bonly supports?\b|\bnow does not support"
    r"|[Cc]urrently (does not|only)|Data type \S+ (is )?not supported|is not supported (in|by) "
    r"|FPrimalGradient has not been registered|Function does not use symbolic var with name"
)
"""Internal errors that state an order of passes or a limit which is there for now: known, and not this pass's bug."""

_ENDS = re.compile(r"raise\s+(SystemExit|KeyboardInterrupt|GeneratorExit)\b")
"""Lines that end a process and explain nothing; tvm_ffi makes a RuntimeError of what they raise."""
_RAISE = re.compile(r"\s*raise\b")
_RAISED_KIND = re.compile(r"(?:^|:)\s*raise\s+(?:\w+\.)*([A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning))\b")
_EXITS = re.compile(r"\bsys\.exit\(|(?<![.\w])exit\(")
_ENDING_KINDS = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit"})
_OF_THE_ENVIRONMENT = (OSError, ImportError, subprocess.SubprocessError)
"""What Python's library says of a tool, file or module that is not there: no fault of a pass that needs it."""
_STARTS_OR_IMPORTS = re.compile(r"^<frozen importlib|[/\\](subprocess|importlib[/\\]\w+)\.py$")
"""The files of Python's library that say so: of these kinds, which tvm_ffi does not know, it makes a RuntimeError."""
_STANDARD = tuple({Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_NUMPY = Path(np.__file__).parent


def raised_from(exception: BaseException) -> Raised:
    """The exception as a value.

    `explicit` is true for a diagnostic: raised by C++ or by a `raise` statement with a kind and a text that explains
    (not inside an item or attribute look-up, and not in Python's library or NumPy, which know nothing of passes, unless
    it is about the environment). tvm_ffi appends C++ frames to Python's traceback in order of calls, so the
    last frame with a file is where the error came from.
    """
    frames = traceback.extract_tb(exception.__traceback__)
    text = "".join(traceback.format_exception(type(exception), exception, exception.__traceback__))
    message = said_by(exception)
    last = next((frame for frame in reversed(frames) if frame.filename != "<unknown>"), None)
    line = "" if last is None else _line_of(last).strip()
    kind = _kind_of(exception, line)
    if not message and kind in _ENDING_KINDS:
        message = f"ends the process: {line}"
    return Raised(kind, message, _is_explicit(exception, message, last), text)


def _kind_of(exception: BaseException, line: str) -> str:
    """The class of the exception, where `line` raised it. tvm_ffi makes a RuntimeError of each kind that it does not
    know; the line says which one it was."""
    if type(exception) is RuntimeError:
        if named := _RAISED_KIND.search(line):
            return named[1]
        if _EXITS.search(line):
            return SystemExit.__name__
    return type(exception).__name__


def said_by(exception: BaseException) -> str:
    """The text of an exception. Python quotes that of a KeyError, as a key; TVM raises one with a message of lines."""
    match exception.args:
        case [str(text)] if isinstance(exception, KeyError) and "\n" in text:
            return text
        case _:
            return str(exception)


def _is_explicit(exception: BaseException, message: str, last: traceback.FrameSummary | None) -> bool:
    """last: the last frame with a file."""
    kind = type(exception).__name__
    if kind in HAPPENED or _CONVERSION.search(headline(message)):
        return False
    if last is not None and _is_of_a_library(last.filename):
        return _is_of_the_environment(exception, last.filename)
    if last is None or not last.filename.endswith(".py"):
        return True
    if _is_look_up(last):
        return False
    line = _line_of(last)
    if _ENDS.search(line):
        return False
    return bool(_RAISE.match(line)) or bool(re.search(r":\s*raise\b", line))


def _line_of(frame: traceback.FrameSummary) -> str:
    return frame.line or linecache.getline(frame.filename, frame.lineno or 0)


def _is_of_a_library(file: str) -> bool:
    """Whether it is a file of Python's library or of NumPy. Other installed packages may be those of the pass."""
    if file.startswith("<frozen"):
        return True
    path = Path(file)
    if path.is_relative_to(_NUMPY):
        return True
    return _INSTALLED.isdisjoint(path.parts) and any(path.is_relative_to(folder) for folder in _STANDARD)


def _is_of_the_environment(exception: BaseException, file: str) -> bool:
    """Whether what a file of Python's library has raised is about the environment."""
    if isinstance(exception, _OF_THE_ENVIRONMENT):
        return True
    return type(exception) is RuntimeError and bool(_STARTS_OR_IMPORTS.search(file))


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
"""The last line of a printed function with the sentence that follows it."""


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


def in_a_line(error: Raised) -> str:
    """What an error says: "ValueError: shapes differ"."""
    return f"{error.kind}: {headline(error.message)}"


def out_of_memory(error: Raised) -> OutOfMemory | None:
    """The evidence of an error by which Python says that memory has run out; None for any other."""
    return OutOfMemory() if "MemoryError" in (error.kind, *error.message.split(":")[0].split()) else None


def states_limit(error: Raised) -> bool:
    """Whether an internal error states an order of passes or a limit that is there for now."""
    return error.kind == "InternalError" and bool(STATED_LIMIT.search(error.message))

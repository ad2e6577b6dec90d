"""What TVM prints when it fails, read: the exception's text, the place that raised it, the function that crashed.

Two forms. An exception's traceback is Python's, to which tvm_ffi adds C++ frames in order of calls, so that the
innermost is the last. A native crash prints a line of its own and a backtrace whose innermost frame is the first
(src/ffi/backtrace.cc of tvm-ffi). These are texts of TVM, which has no other way to say these things. Pure text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path

from corpus.scripts.imported_files import ROOMS
from generators.passes.constructors import PASS_FILE
from oracles.tvm_frames import CRASHED, FRAME, HERE, Frame, crashed, frames

REPOSITORY = "https://github.com/apache/tvm"
_FRAMES_END = re.compile(r'(?:^  File "[^"\n]*", line \d+, in .*\n(?:    .*\n|\s*\n)*)+(?=\S)', re.MULTILINE)
"""The frames of a traceback, and the source lines under them; what was raised follows."""
_BEGIN = "Traceback (most recent call last):\n"
_INSTALLED = re.compile(r'(?<=File ")[^"\n]*/((?:site|dist)-packages/[^"\n]*)')
_ELSEWHERE = re.compile(r'(?<=File ")/(?!project/)(?:[^"\n/]*/)*([^"\n/]+)(?=")')
"""A file of the user's own: its folder says nothing to others."""
_PACKAGE = re.compile(rf"/(?:site|dist)-packages/tvm/|/python/tvm/|{HERE}|^/project/|^<unknown>$|/tvm_ffi/")
_OURS = re.compile(rf"{re.escape(str(Path(__file__).parents[2]))}/(?:{'|'.join(ROOMS)})/|{re.escape(PASS_FILE)}$")
"""Files of passfuzz, which reads what constructs a pass where a script has its steps as statements."""


def link_to(frame: Frame, version: str) -> str:
    """The line on GitHub at the tag of a version; "" where the file is not in TVM's repository."""
    return f"{REPOSITORY}/blob/{tag_of(version)}/{frame.source}#L{frame.line}" if frame.source and frame.line else ""


def tag_of(version: str) -> str:
    """The git tag, or the commit, of a version of TVM.

    Every wheel has a tag of its own, post-releases too (v0.25.0 and v0.25.0.post1 are both there). A build of a
    checkout is called 0.28.dev123+gABCDEF (setuptools_scm); without a commit it is the main branch.
    """
    release, _, local = version.partition("+")
    if commit := re.match(r"g([0-9a-f]{7,40})\b", local):
        return commit[1]
    return "main" if ".dev" in release or not release[:1].isdigit() else f"v{release}"


# --- exceptions -----------------------------------------------------------------------------------------


def raised_text(detail: str) -> str:
    """What the last exception of a traceback says, with its kind, uncut; "" where there is no traceback."""
    if _BEGIN not in detail and not FRAME.search(detail):
        return ""
    ends = [match.end() for match in _FRAMES_END.finditer(detail)]
    return _spelled_out(detail[ends[-1] :].strip()) if ends and not crashed(detail) else ""


def raising_frame(detail: str) -> Frame | None:
    """The place that raised: the innermost frame with a file of TVM's. None for a crash, or where there is none."""
    if crashed(detail):
        return None
    return next((frame for frame in reversed(list(frames(detail))) if frame.source), None)


def traceback_text(detail: str) -> str:
    """The traceback as a reader's own script prints it: without what called TVM, which is passfuzz where a pass takes
    the steps of a schedule, and with paths of the installed packages in place of those of a machine. "" where `detail`
    is none."""
    text = detail[detail.rindex(_BEGIN) :] if _BEGIN in detail else detail
    found = list(FRAME.finditer(text))
    if not found:
        return ""
    head = _BEGIN if not crashed(detail) else text[: found[0].start()]
    shown = text[_called_by_a_script(found, text) :]
    return _spelled_out(_ELSEWHERE.sub(r"\1", _INSTALLED.sub(r"\1", head + shown)).strip("\n"))


def _called_by_a_script(found: Sequence[re.Match[str]], text: str) -> int:
    """Where the first of these frames begins that is of TVM, and of what a script without passfuzz calls too: after
    the last frame of ours. Where none is left, the end of the frames."""
    last = max((number for number, match in enumerate(found) if _OURS.match(match[1])), default=-1)
    left = found[last + 1 :]
    if not left:
        return max((match.end() for match in _FRAMES_END.finditer(text)), default=len(text))
    return next((match for match in left if _PACKAGE.search(match[1])), left[0]).start()


_KEY = re.compile(r"^((?:\w+\.)*KeyError: )('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")$", re.MULTILINE)


def _spelled_out(text: str) -> str:
    """A message of several lines as it is: Python shows that of a KeyError as a literal, which it takes for a key."""
    return _KEY.sub(lambda match: match[1] + _read(match[2]) if "\\n" in match[2] else match[0], text)


def _read(literal: str) -> str:
    """The text that a literal of Python stands for; the literal where it is none."""
    try:
        return str(ast.literal_eval(literal))
    except (SyntaxError, ValueError):
        return literal


# --- native crashes -------------------------------------------------------------------------------------


def backtrace_text(detail: str) -> str:
    """The backtrace of a native crash, without the frames of Python's interpreter; "" where none was printed."""
    start = CRASHED.search(detail)
    if start is None:
        return ""
    native = [match[0] for match in FRAME.finditer(detail, start.end()) if match[1] == "<unknown>" or "tvm" in match[1]]
    known = [line for line in native if not re.search(r" in (?:0x|_start)", line)]
    return "\n".join([start[0], *known])


def crashing_function(detail: str) -> str:
    """The first function of TVM in the backtrace of a native crash, without arguments; "" where none is known."""
    start = CRASHED.search(detail)
    printed = frames(detail[start.end() :]) if start else iter(())
    return next((frame.name for frame in printed if frame.name.startswith("tvm::")), "")


def of_runtime(function: str) -> bool:
    """Whether a function is of what runs a built module, and of no compiler."""
    return function.startswith("tvm::runtime::")

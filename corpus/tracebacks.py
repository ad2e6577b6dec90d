"""What TVM prints when it fails, read: the exception's text, the place that raised it, the function that crashed.

Two forms. An exception's traceback is Python's, to which tvm_ffi adds C++ frames in order of calls, so that the
innermost is the last. A native crash prints a line of its own and a backtrace whose innermost frame is the first
(src/ffi/backtrace.cc of tvm-ffi). These are texts of TVM, which has no other way to say these things. Pure text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

REPOSITORY = "https://github.com/apache/tvm"
_FRAME = re.compile(r'^  File "([^"\n]*)", line (\d+), in (.*)$', re.MULTILINE)
_FRAMES_END = re.compile(r'(?:^  File "[^"\n]*", line \d+, in .*\n(?:    .*\n|\s*\n)*)+(?=\S)', re.MULTILINE)
"""The frames of a traceback, and the source lines under them; what was raised follows."""
_BEGIN = "Traceback (most recent call last):\n"
_CRASHED = re.compile(r"^!+ .*\b(?:encountered|Segfault)\b.* !+$", re.MULTILINE)
_INSTALLED = re.compile(r'(?<=File ")[^"\n]*/((?:site|dist)-packages/[^"\n]*)')
_ELSEWHERE = re.compile(r'(?<=File ")/(?!project/)(?:[^"\n/]*/)*([^"\n/]+)(?=")')
"""A file of the user's own: its folder says nothing to others."""
_BUILT = re.compile(r"(?:^|/)project/((?:src|include|python)/.*)")
"""Wheels are built in /project."""
_WHEEL = re.compile(r"(?:^|/)(?:site|dist)-packages/(tvm/.*\.py)$")
_CHECKOUT = re.compile(r"(?:^|/)(python/tvm/.*\.py)$")
_LAMBDA = re.compile(r"::\{lambda.*")
_ARGUMENTS = re.compile(r"\(.*")
_PACKAGE = re.compile(r"/(?:site|dist)-packages/tvm/|/python/tvm/|^/project/|^<unknown>$|/tvm_ffi/")


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback. file: as it was printed. line: 0 where it is not known."""

    file: str
    line: int
    function: str

    @property
    def source(self) -> str:
        """The file in TVM's repository, "" where it is none of that."""
        if built := _BUILT.search(self.file):
            return built[1]
        if wheel := _WHEEL.search(self.file):
            return f"python/{wheel[1]}"
        checkout = _CHECKOUT.search(self.file)
        return checkout[1] if checkout else ""

    @property
    def name(self) -> str:
        """The function without template parameters, return type and arguments."""
        bare = _without_templates(self.function.replace("(anonymous namespace)::", "")).replace(
            "operator()", "operator"
        )
        return _ARGUMENTS.sub("", bare).split(" ")[-1].strip()

    def link(self, version: str) -> str:
        """The line on GitHub at the tag of a version; "" where the file is not in TVM's repository."""
        return f"{REPOSITORY}/blob/{tag_of(version)}/{self.source}#L{self.line}" if self.source and self.line else ""


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
    if _BEGIN not in detail and not _FRAME.search(detail):
        return ""
    ends = [match.end() for match in _FRAMES_END.finditer(detail)]
    return detail[ends[-1] :].strip() if ends and not crashed(detail) else ""


def raising_frame(detail: str) -> Frame | None:
    """The place that raised: the innermost frame with a file of TVM's. None for a crash, or where there is none."""
    if crashed(detail):
        return None
    return next((frame for frame in reversed(list(_frames(detail))) if frame.source), None)


def traceback_text(detail: str) -> str:
    """The traceback as a reader's own script prints it: without what called TVM, and with paths of the installed
    packages in place of those of a machine. "" where `detail` is none."""
    text = detail[detail.rindex(_BEGIN) :] if _BEGIN in detail else detail
    frames = list(_FRAME.finditer(text))
    if not frames:
        return ""
    first = next((match for match in frames if _PACKAGE.search(match[1])), frames[0])
    head = _BEGIN if not crashed(detail) else text[: frames[0].start()]
    return _ELSEWHERE.sub(r"\1", _INSTALLED.sub(r"\1", head + text[first.start() :])).strip("\n")


# --- native crashes -------------------------------------------------------------------------------------


def crashed(detail: str) -> bool:
    """Whether TVM has printed that a signal ended it."""
    return _CRASHED.search(detail) is not None


def backtrace_text(detail: str) -> str:
    """The backtrace of a native crash, without the frames of Python's interpreter; "" where none was printed."""
    start = _CRASHED.search(detail)
    if start is None:
        return ""
    native = [
        match[0] for match in _FRAME.finditer(detail, start.end()) if match[1] == "<unknown>" or "tvm" in match[1]
    ]
    known = [line for line in native if not re.search(r" in (?:0x|_start)", line)]
    return "\n".join([start[0], *known])


def crashing_function(detail: str) -> str:
    """The first function of TVM in the backtrace of a native crash, without arguments; "" where none is known."""
    start = _CRASHED.search(detail)
    frames = _frames(detail[start.end() :]) if start else iter(())
    return next((frame.name for frame in frames if frame.name.startswith("tvm::")), "")


def of_runtime(function: str) -> bool:
    """Whether a function is of what runs a built module, and of no compiler."""
    return function.startswith("tvm::runtime::")


# --- parts ----------------------------------------------------------------------------------------------


def _frames(detail: str) -> Iterator[Frame]:
    for match in _FRAME.finditer(detail):
        yield Frame(match[1], int(match[2]), match[3])


def _without_templates(name: str) -> str:
    """C++ without what stands between `<` and `>`; an operator's own sign stays."""
    kept: list[str] = []
    depth = 0
    for index, character in enumerate(name):
        if character == "<" and not name[:index].endswith("operator"):
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(character)
    return "".join(kept)

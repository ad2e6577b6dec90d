"""Frames in what TVM prints when it fails: Python's lines, to which tvm_ffi adds those of C++. Pure text; no TVM here.

An exception's traceback has its innermost frame last, a native crash its innermost first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

FRAME = re.compile(r'^ *File "([^"\n]*)", line (\d+), in (.*)$', re.MULTILINE)
"""File, line and function."""
CRASHED = re.compile(r"^!+ .*\b(?:encountered|Segfault)\b.* !+$", re.MULTILINE)
"""What TVM's signal handler prints above its backtrace (src/ffi/backtrace.cc of tvm-ffi)."""
_LAST_WORDS = (
    re.compile(r"^terminate called after throwing [^\n]*\n\s*what\(\):[ \t]*([^\n]*\S)", re.MULTILINE),
    re.compile(r"^LLVM ERROR: ([^\n]*\S)", re.MULTILINE),
    re.compile(r"^[^\n]*: Assertion `([^\n]*)' failed\.$", re.MULTILINE),
)
"""What the C++ library, LLVM and `assert` print when they abort a process."""
_OF_MEMORY = re.compile(r"bad_alloc|out of memory", re.IGNORECASE)
"""Where there is none left, anything may fail."""
FFI = "3rdparty/tvm-ffi/"


def _package() -> str:
    """A pattern for the folder, of any name, with the package that `import tvm` would load; nothing where none is
    found. It is not loaded."""
    spec = find_spec("tvm")
    folder = next(iter(spec.submodule_search_locations or ()), "") if spec is not None else ""
    return rf"{re.escape(folder)}/" if folder else "(?!)"


HERE = _package()
_OF_TVM = (
    (re.compile(r"(?:.*/)?(?:site|dist)-packages/tvm/(.+\.py)"), "python/tvm/"),
    (re.compile(r"(?:.*/)?python/tvm/(.+\.py)"), "python/tvm/"),
    (re.compile(rf"{HERE}(.+\.py)"), "python/tvm/"),
    (re.compile(r"(?:.*/)?3rdparty/tvm-ffi/(.+)"), FFI),
    (re.compile(r"(?:.*/)?include/tvm/(.+\.h)"), "include/tvm/"),
    (re.compile(r"/project/src/(.+)|(?:.*/)?tvm[^/]*/src/(.+)"), "src/"),
)
"""How paths of TVM's files are written in tracebacks, and what they begin with in its repository: wheels are built in
/project, an editable install lies in a folder whose name begins with "tvm"."""


def last_words(printed: str) -> str:
    """Why a process has aborted itself, as the first that says so has printed it; "" where nothing does, or where no
    memory was left."""
    said = next((found[1].rstrip(" :") for pattern in _LAST_WORDS if (found := pattern.search(printed))), "")
    return "" if _OF_MEMORY.search(said) else said


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback. file: as it was printed. line: 0 where it is not known."""

    file: str
    line: int
    function: str

    @property
    def path(self) -> str:
        """The file in TVM's repository, that of its FFI too; "" where it is none of that."""
        for pattern, start in _OF_TVM:
            if match := pattern.fullmatch(self.file):
                return start + next(part for part in match.groups() if part is not None)
        return ""

    @property
    def source(self) -> str:
        """The same without the FFI, which has a repository of its own."""
        return "" if self.path.startswith(FFI) else self.path

    @property
    def name(self) -> str:
        """The function without template arguments, result type, arguments and lambdas."""
        return _bare(self.function).lstrip("*&").replace("operator_call", "operator()")


def crashed(text: str) -> bool:
    """Whether TVM has printed that a signal ended it."""
    return CRASHED.search(text) is not None


def frames(text: str) -> Iterator[Frame]:
    """Every frame of a text, in its order."""
    return (Frame(match[1], int(match[2]), match[3]) for match in FRAME.finditer(text))


def function_name(text: str) -> str:
    """The name in a C++ signature or a Python frame: as `Frame.name`, without the namespace `tvm`, and an operator in
    words, as causes are written."""
    return _bare(text).removeprefix("tvm::").lstrip("*&")


def _bare(text: str) -> str:
    name = (
        text.split(" [with ")[0]
        .split("::<lambda")[0]
        .replace("{anonymous}::", "")
        .replace("(anonymous namespace)::", "")
    )
    name = name.replace("operator()", "operator_call").replace("operator->", "operator_arrow")
    return _without_brackets(name).split("(")[0].strip().split(" ")[-1]


def _without_brackets(name: str) -> str:
    """Without what stands in angle brackets, which nest."""
    kept, depth = [], 0
    for character in name:
        depth += (character == "<") - (character == ">")
        if depth == 0 and character != ">":
            kept.append(character)
    return "".join(kept)

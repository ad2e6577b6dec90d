"""Where in TVM something was thrown, or crashed: read from tracebacks, which only TVM and Python write. No TVM here.

Lines do not count, so that an upgrade changes no place. Paths are those of TVM's repository on every machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import normpath

from oracles.tvm_frames import CRASHED, FRAME, crashed, frames, function_name


@dataclass(frozen=True, slots=True)
class ThrowSite:
    """A function of TVM, without namespace `tvm`, arguments and templates. file: "" where a backtrace has none."""

    file: str
    function: str

    @property
    def is_python(self) -> bool:
        return self.file.endswith(".py")

    def __str__(self) -> str:
        return f"{self.file}: {self.function}" if self.file else self.function


def sites(traceback: str) -> tuple[ThrowSite, ...]:
    """TVM's functions with a file in a traceback, outermost first. Those of its FFI are left out. A header is one file,
    from whichever folder it was included."""
    return tuple(ThrowSite(normpath(file), _named(one.function)) for one in frames(traceback) if (file := one.source))


_OF_DIFFERENCES = re.compile(r"\bTryConstFold\(.*\[with Op = [\w:]*::Sub\b")
FOLDS_DIFFERENCES = "TryConstFold<Sub>"
"""Constant folding of a difference: it refuses one of unsigned constants below zero, which many analyses form. Of a
division by zero, which the same template refuses, the caller has the zero."""


def _named(function: str) -> str:
    return f"{function_name(function)}{'<Sub>' if _OF_DIFFERENCES.search(function) else ''}"


def is_of_others(traceback: str) -> bool:
    """Whether the innermost frame is Python code that is neither TVM's nor its FFI's: of a pass under development."""
    last = next(reversed(list(frames(traceback))), None)
    if last is None or not last.file.endswith(".py"):
        return False
    return not last.path and "tvm_ffi" not in PurePosixPath(last.file).parts


def raised_in_python(traceback: str) -> bool:
    """Whether the innermost frame is Python code of TVM's: it has raised itself, and called nothing that did."""
    last = next(reversed(list(frames(traceback))), None)
    return last is not None and last.source.endswith(".py")


def last_called(traceback: str) -> str:
    """The innermost function of TVM in a traceback, whose file is not known; "" where only the FFI, mutators and
    visitors are named."""
    named = [
        function_name(one.function) for one in frames(traceback) if one.file == "<unknown>" and "tvm::" in one.function
    ]
    last = [name for name in named if not _GOES_ROUND.search(name)]
    return last[-1] if last else ""


_GOES_ROUND = re.compile(r"^ffi::|(?:Mutator|Visitor|Functor)(?:$|::)|^TVMFFI|^runtime::")


def crashed_in(backtrace: str) -> ThrowSite | None:
    """The innermost function of TVM in what its signal handler has printed; None where no frame is TVM's."""
    start = max((match.end() for match in CRASHED.finditer(backtrace)), default=0)
    for one in frames(backtrace[start:]):
        function = function_name(one.function)
        if "tvm::" in one.function and not function.startswith(("ffi::", "runtime::Backtrace")):
            return ThrowSite(one.path, function)
    return None


def thrown_at(detail: str) -> ThrowSite | None:
    """TVM's function that raised, or in which the process died; None where that is not known."""
    return crashed_in(detail) if crashed(detail) else next(iter(sites(detail)[-1:]), None)


# --- what a place says ----------------------------------------------------------------------------------

_SHARED = re.compile(r"src/(?:.*/)?(?:transform|backend|pass|schedule|training)/")
"""Folders of passes, and of what several of them use."""
_TELLING = re.compile(
    r"python/tvm/(?:topi/|relax/(?:transform|backend|training)/|s_tir/dlight/(?!base/)|(?:s_tir|tirx)/transform/)"
    r"|src/(?:target/|(?:.*/)?analysis/|topi/|s_tir/meta_schedule/(?:schedule_rule|postproc|mutator)/)"
    r"|include/tvm/topi/"
)
"""Code for one thing: an operator's lowering, an analysis, a code generator, a pass in Python, one of MetaSchedule's
rules. A check that fails there tells the bug, whichever pass has called it."""
_UTILITIES = re.compile(r"(?:^|/)(?:\w*utils?|\w*_common|\w*functor|common|base|pattern_utils)\.\w+$")
"""Files of functions for others."""
_INFERS = re.compile(r"(?:^|::)(InferType\w*|CallRetTypeDeriver::Derive)$")
"""Type inference of an operator, or of a call of a function: what it refuses was built by another."""
_TYPES_CALLS = re.compile(r"src/relax/op/")
_OF_ONE_OPERATOR = re.compile(r"(?:^|::)Infer(?:Layout|MixedPrecision)\w*$")
"""What an operator says to a pass that asks. All else in src/relax/op/ makes and types calls that others have built."""


_DEFINES = re.compile(r"src/(?:sym|arith)/")


def defines_variables(site: ThrowSite) -> bool:
    """Whether it is where an analyzer is told what a variable is: it refuses one that it knows to be something else."""
    return bool(_DEFINES.match(site.file)) and site.function.rpartition("::")[2] in ("Bind", "Update")


def is_telling(site: ThrowSite) -> bool:
    """Whether the place tells the bug by itself."""
    if _INFERS.search(site.function) or _UTILITIES.search(site.file):
        return False
    if site.function.endswith(FOLDS_DIFFERENCES):
        return True
    if site.file.startswith("src/relax/op/"):
        return bool(_OF_ONE_OPERATOR.search(site.function))
    return bool(_TELLING.match(site.file))


def is_own(site: ThrowSite, culprit: str) -> bool:
    """Whether the place lies in the source file of this pass: TVM names such files after their passes."""
    return bool(_SHARED.match(site.file)) and PurePosixPath(site.file).stem == file_stem(culprit)


def is_shared(site: ThrowSite) -> bool:
    """Whether it lies in code of passes that more than one may use. Headers are libraries."""
    return bool(_SHARED.match(site.file)) and site.file.endswith(".cc") and not _UTILITIES.search(site.file)


_OPERATOR = re.compile(r"\bir\.Op\(.*?\bname=\"([\w.]+)\"")
"""An operator as TVM prints it, up to its name; the rest of it may hold brackets."""


def operators_printed(text: str) -> tuple[str, ...]:
    """The names of the operators that a message prints as nodes, in their order."""
    return tuple(match[1] for match in _OPERATOR.finditer(text))


def without_operators(text: str, instead: str) -> str:
    """The text with something else in place of each operator that it prints as a node."""
    done, at = [], 0
    for match in _OPERATOR.finditer(text):
        if match.start() >= at:
            done += [text[at : match.start()], instead]
            at = _end_of_call(text, match.start())
    return "".join((*done, text[at:]))


def _end_of_call(text: str, start: int) -> int:
    """Where the call that begins at `start` ends; brackets in quoted texts do not count."""
    depth, quoted = 0, False
    for index in range(start, len(text)):
        character = text[index]
        quoted ^= character == '"'
        depth += 0 if quoted else (character == "(") - (character == ")")
        if depth == 0 and character == ")" and not quoted:
            return index + 1
    return len(text)


def called_operator(traceback: str) -> str:
    """The operator whose call could not be typed: as a message names it ("relax.matmul"), else the function that
    inferred ("InferTypeMatmul"). "" where no code of an operator has raised."""
    passed = sites(traceback)
    if not passed or not _TYPES_CALLS.match(passed[-1].file) or is_telling(passed[-1]):
        return ""
    inferred = [_INFERS.search(one.function) for one in passed]
    named = next((match[1] for match in reversed(inferred) if match), "")
    end = max((match.end() for match in FRAME.finditer(traceback)), default=0)
    printed = operators_printed(traceback[end:])
    return printed[0] if printed else named


def file_stem(culprit: str) -> str:
    """The name of a pass as TVM names its source file: "tirx.LowerIntrin" is "lower_intrin", "FuseTIR" "fuse_tir"."""
    name = culprit.rpartition(".")[2]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()

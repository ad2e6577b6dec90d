"""Titles and severities of findings, with the tags of TVM's tracker. Pure text and typed evidence; no TVM is imported.

A title names the part of TVM, the pass, and what it does: `[Relax] FuseTIR raises InternalError: ...`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from corpus.causes.severity import severity_of
from corpus.causes.signature import operators_in
from corpus.causes.tracebacks import crashing_function, of_runtime, raised_text, raising_frame
from corpus.escapes import one_line
from corpus.scripts.repro import script_of
from corpus.scripts.syntax import syntax_of
from corpus.store import StoredCase
from generators.case import ModuleText
from generators.passes.table import TIR_PASSES
from generators.targets import TARGETS
from oracles.builds.cpu_builds import CPU_BUILDS
from oracles.evidence import Evidence, Hung, OutOfMemory, ReferenceTrap, SpoiltProcess, TrapKind
from oracles.tvm_frames import crashed
from oracles.verdict import BUILD, CODEGEN, CRASH, DOES_NOT_BUILD, DOES_NOT_RUN, REJECTS, WRONG_RESULT

LONGEST_TITLE = 120
TAGS = ("Relax", "TIRx", "S-TIR", "DLight", "MetaSchedule", "Arith", "LLVM", "Codegen", "TOPI", "TVMScript")
"""The tags that titles of issues begin with, as most commits and issues of apache/tvm write them in 2026. Others are
the kinds of targets, in capitals."""
_SPACES = {
    "s_tir.dlight": "DLight",
    "s_tir.meta_schedule": "MetaSchedule",
    "s_tir": "S-TIR",
    "tirx": "TIRx",
    "sym": "Arith",
    "TVMScript": "TVMScript",
}
"""TVM's name spaces, and their tags in its tracker; the longest that fits counts."""
_SOURCES = {
    **dict.fromkeys(("src/arith/", "src/sym/"), "Arith"),
    **dict.fromkeys(("src/target/llvm/", "src/backend/llvm/"), "LLVM"),
    **dict.fromkeys(("src/target/source/", "src/backend/source/"), "Codegen"),
    **dict.fromkeys(("python/tvm/topi/", "include/tvm/topi/", "src/topi/"), "TOPI"),
}
"""Folders of TVM, and the tags for what is raised there."""
_TRAPS: dict[TrapKind, str] = {
    "uninitialised": "gives a module that reads uninitialized memory",
    "out-of-bounds": "gives a module that reads or writes out of bounds",
    "use-after-kill": "gives a module that uses a value after its kill",
    "double-free": "gives a module that kills a value twice",
    "storage-overlap": "gives overlapping storage to values that are alive at once",
    "data-race": "gives a module with a data race",
}
"""Undefined behaviour, as a verb whose subject is the pass, that says enough for a title."""
_OTHER_TRAPS: dict[TrapKind, str] = {
    "integer-overflow": "gives a module in which a signed integer overflows",
    "division-by-zero": "gives a module that divides by zero",
    "type": "gives an ill-typed module",
    "match-cast": "gives a module whose match_cast fails",
    "operand": "gives a module that calls an operator with operands which it does not take",
    "domain": "gives a module that calls an operator outside of its domain",
    "undefined-variable": "gives a module that uses an undefined variable",
    "assertion": "gives a module whose assertion fails",
    "divergent-barrier": "gives a module with a barrier that not all threads reach",
    "host-memory": "gives a module whose kernel touches memory of the host",
    "float8-range": "gives a module that converts what is out of the range of float8",
    "fuel": "gives a module that does not end",
}
"""The same of what a title says with the message of the reference."""
_TIERS: dict[str, str] = {
    "A": "An official pipeline shows it",
    "B": "The pass does it in the phase that it is for",
    "C": "It takes an order of passes that no pipeline of TVM has",
}


@dataclass(frozen=True, slots=True)
class Title:
    """A title in its parts. tag: the part of TVM. says: the pass and what it does. message: what TVM says, or what is
    wrong, "" where `says` is all. GitHub shows titles as text, without Markdown."""

    tag: str
    says: str
    message: str = ""

    def __str__(self) -> str:
        return f"[{self.tag}] {self.says} {self.message}".rstrip()


def title_of_failure(stored: StoredCase, detail: str = "", space: str = "") -> Title:
    """The title of an issue, one line of about LONGEST_TITLE characters.

    stored: the case, whose own title does not count. detail: TVM's traceback or what a crashed process has printed.
    space: the name space that the culprit belongs to, where it is no part of its name (`Finding.space`).
    """
    tag, subject = one_line(_tag(stored, detail, space)), one_line(subject_of(stored))
    does, message = _what(stored, detail, space)
    says = f"{subject} {does}"
    return Title(tag, says, _cut(message, max(LONGEST_TITLE - len(tag) - len(says) - 4, 20)))


SEVERITY = "Severity: "
"""Begins the line of an issue that is written anew where its cause was seen in a better tier."""


def severity_line(symptom: str, evidence: Evidence | None, tier: str) -> str:
    """How bad it is, in a line: the severity, and where passes must stand for it."""
    return f"{SEVERITY}{severity_of(symptom, evidence, tier)}. {_TIERS.get(tier, _TIERS['B'])}."


def is_native(stored: StoredCase, detail: str) -> bool:
    """Whether a signal ended the process, and no exception."""
    return stored.symptom == CRASH and (crashed(detail) or not raised_text(detail))


def _tag(stored: StoredCase, detail: str, space: str) -> str:
    frame = raising_frame(detail)
    if frame is not None:
        found = [tag for folder, tag in _SOURCES.items() if frame.source.startswith(folder)]
        if found:
            return found[0]
    if stored.culprit == CODEGEN:
        return TARGETS[stored.case.target].kind.upper()
    return _SPACES.get(_space_of(stored.culprit, space), "Relax")


def _space_of(culprit: str, space: str = "") -> str:
    """The longest name space of TVM that a culprit is in by its name, else `space`."""
    spaces = [known for known in _SPACES if culprit == known or culprit.startswith(f"{known}.")]
    return max(spaces, key=len, default=space)


def subject_of(stored: StoredCase) -> str:
    """What a title says the culprit is: the pass in its name space, or the call that compiles."""
    if stored.culprit == CODEGEN:
        return f"relax.build ({stored.oracle})" if stored.oracle in CPU_BUILDS else "tvm.compile"
    return stored.culprit.removeprefix(f"{_space_of(stored.culprit)}.")


def undefined(kind: TrapKind) -> str:
    """Undefined behaviour, as a verb whose subject is the pass."""
    return {**_TRAPS, **_OTHER_TRAPS}[kind]


def _what(stored: StoredCase, detail: str, space: str) -> tuple[str, str]:
    """What the culprit does, as a verb, and a message."""
    match stored.evidence:
        case Hung():
            return "does not end", ""
        case OutOfMemory():
            return "takes memory without bound", ""
        case SpoiltProcess(what):
            return f"leaves its process with {one_line(what)}", ""
        case ReferenceTrap(kind) if kind in _TRAPS:
            return _TRAPS[kind], ""
        case _:
            pass
    if is_native(stored, detail):
        return _how_it_crashed(stored, detail), ""
    if stored.symptom in (CRASH, DOES_NOT_BUILD, DOES_NOT_RUN, REJECTS):
        return "raises", _error(stored, detail)
    if stored.symptom != WRONG_RESULT:
        return f"{script_of(stored).says}:", one_line(stored.message)
    operator = "" if _space_of(stored.culprit, space) else _only_operator(stored.case.module)
    return (f"{_WRONG} for", operator) if operator else (_WRONG, "")


_WRONG = "gives wrong numbers"
_CALL, _OF_TIR = "call_tir", "tir."
_INFIX = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare)


def _only_operator(module: ModuleText) -> str:
    """The one operator of a module, or the one intrinsic of its PrimFuncs; "" where there are several, of which none
    is known to be wrong. A pass of TIR is about none of them: they are those of the program around it."""
    names = operators_in(module.script)
    left = [name for name in names if name != _CALL]
    if len(left) != 1 or (_CALL in names and not left[0].startswith(_OF_TIR)):
        return ""
    return left[0] if not left[0].startswith(_OF_TIR) or _without_infix(module) else ""


def _without_infix(module: ModuleText) -> bool:
    """Whether nothing is computed by an operator of Python's, as far as the script says: what is kept as JSON may be no
    Python."""
    return module.json is None and not any(isinstance(node, _INFIX) for node in ast.walk(syntax_of(module.script)))


def _how_it_crashed(stored: StoredCase, detail: str) -> str:
    """A native crash as a verb: in which function of TVM, and whether that runs what was built."""
    function = crashing_function(detail)
    short = "::".join(function.split("::")[-2:])
    if of_runtime(function):
        return f"makes a module that crashes in {short} when it runs"
    if function:
        return f"crashes in {short}"
    if stored.culprit in TIR_PASSES and stored.symptom == CRASH and stored.oracle == BUILD:
        return f"crashes ({one_line(stored.message)})"
    if not script_of(stored).applies_the_pass:  # In a build or in a run of it: no backtrace says which.
        return "crashes, or makes a module that does"
    return f"crashes ({one_line(stored.message)})"


def _error(stored: StoredCase, detail: str) -> str:
    """The first line of an error: its kind and what it says, without what follows the condition of each check."""
    kind = raised_text(detail).partition(":")[0].rpartition(".")[2]
    start = max(stored.message.find(f"{kind}:"), 0) if kind else 0
    return one_line(stored.message[start:]).removesuffix(":").removesuffix(" is false")


def _cut(text: str, limit: int) -> str:
    line = one_line(text)
    return line if len(line) <= limit else f"{line[: limit - 3].rsplit(' ', 1)[0]}..."

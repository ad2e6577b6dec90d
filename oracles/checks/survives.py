"""A pass ends without an error, or with a diagnostic that explains what it does not take.

Errors that Python can see only: signals, hangs and memory are seen by the process that watches the worker.
An internal check, or an error that happened to the code of the pass, is a crash on any well-formed input. So is a
failing type inference: the input is well-formed, hence all of its calls can be typed, hence the pass itself has built
the call that cannot. So is, in the pass's phase, a failing check of a library that the pass has called (schedule
primitives, constructors, arithmetic): its text explains the pass's mistake and not the user's, of any kind
(apache/tvm#17245 is a ValueError of s_tir::AddUnitLoop). Every other explicit ValueError, TypeError or RuntimeError
is a rejection.
"""

from __future__ import annotations

import re
from dataclasses import replace
from enum import Enum, auto

from generators.passes.traits import Refuses
from oracles.evidence import BuiltUntyped
from oracles.ir.verifier import COMPLAINTS
from oracles.oracle import Stage, StepOracle
from oracles.trace import Bench, Raised, Step
from oracles.tvm_errors import STATED_LIMIT, in_a_line, out_of_memory
from oracles.tvm_frames import frames
from oracles.verdict import CRASH, PASSED, REJECTS, Failed, Skipped, Verdict

# The patterns below read messages of TVM, which has no other way to say these things. None reads a message of ours.
_NOT_YET = re.compile(r"not supported \S*\s*yet")

_INFERENCE = re.compile(r"\bInferType\w*\(|::InferType|\bDeriveCallRetType\(|::CallRetTypeDeriver::")
"""Of calls of operators, and of calls of functions."""
_OF_OPERATORS = "src/relax/op/"
"""TVM's files that make and type calls of operators. The frames above their helpers are often not named."""
_ASKED_BY_PASSES = re.compile(r"Infer(?:Layout|MixedPrecision)")
"""Functions there that are parts of a pass, which may refuse."""
_SOURCE = (".py", ".cc", ".cpp", ".h")
_OWN_CODE = re.compile(r"\.py$|/(transform|backend|analysis|pass|op)/")
"""Where passes and verifiers explain themselves. Operators' code is judged by `_is_typing`."""


def is_library_check(error: Raised) -> bool:
    """Whether an explicit error is a failing check of a library that the pass has called."""
    if error.kind == "ScheduleError":
        return True
    files = [frame.file for frame in frames(error.traceback) if frame.file.endswith(_SOURCE)]
    return error.message.startswith("Check failed: ") and bool(files) and not _OWN_CODE.search(files[-1])


def _states_limit(error: Raised, step: Step) -> bool:
    """Whether an internal error states a limit; an assertion that does is excused outside of official pipelines,
    and in them where it says that something is not supported yet."""
    if error.kind not in ("InternalError", "AssertionError"):
        return False
    refuses = step.row.trait(Refuses)
    if refuses is not None and re.search(refuses.message, error.message):
        return True
    excused = error.kind == "InternalError" or step.tier != "A"
    return bool(_NOT_YET.search(error.message) or (excused and STATED_LIMIT.search(error.message)))


def _is_typing(error: Raised) -> bool:
    """Whether it was raised where a call of an operator is made or typed."""
    if _INFERENCE.search(error.traceback):
        return True
    ours = [frame for frame in frames(error.traceback) if frame.source]
    return bool(ours) and ours[-1].source.startswith(_OF_OPERATORS) and not _ASKED_BY_PASSES.search(ours[-1].name)


class Crash(Enum):
    """What makes an error in applying a pass a crash."""

    ERROR = auto()
    """It happened to the code of the pass."""
    UNTYPED = auto()
    """The pass has built a call that cannot be typed."""
    CHECK = auto()
    """A check of a library that the pass has called fails."""


def happened_to(error: Raised, step: Step) -> Crash | None:
    """How an error in applying the step's pass to well-formed IR counts as a crash; None for a rejection."""
    if _states_limit(error, step):
        return None
    if not error.explicit:
        return Crash.ERROR
    if step.row.fires.draw_source is not None:
        return None
    if _is_typing(error):
        return Crash.UNTYPED
    return Crash.CHECK if step.tier != "C" and is_library_check(error) else None


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
    if what is not Crash.UNTYPED:
        return crashed(error)
    said = in_a_line(error)
    return replace(crashed(error), message=f"built a call that cannot be typed: {said}", evidence=BuiltUntyped(said))


def crashed(error: Raised) -> Failed:
    """The verdict on a pass to which this error has happened."""
    return Failed(CRASH, in_a_line(error), error.traceback or error.message, evidence=out_of_memory(error))


def rejected(error: Raised) -> Failed:
    """The diagnostic of a pass that refuses a module as a verdict, for callers that want it kept."""
    return Failed(REJECTS, in_a_line(error), error.traceback or error.message)


ORACLE = StepOracle(
    "survives",
    "a pass ends, or explains what it does not take",
    judge,
    on_error=True,
    rejection=rejected,
    stage=Stage.SURVIVAL,
    rank=0,
)

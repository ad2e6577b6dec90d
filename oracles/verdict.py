"""What an oracle says of one thing it looked at. Four words, kept apart on purpose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from oracles.evidence import Evidence, Stop


@dataclass(frozen=True, slots=True)
class Passed:
    """Looked at, and right."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Not looked at: outside what the oracle can say anything about. No numbers in `reason`.

    applies: False where there was nothing to look at, as the oracle is about something else: another pass, a longer
    sequence. Such a verdict is no gap. stop: what the reference stopped at, where that is why.
    """

    reason: str
    applies: bool = True
    stop: Stop | None = None

    @property
    def key(self) -> str:
        """Under which it is counted, and what a person reads."""
        return self.reason if self.applies else f"does not apply: {self.reason}"


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """Looked at, but the honest answer is that nothing can be said (near-ties, bounds wider than values).

    No numbers in `reason`, under which it is counted; `detail` has them for a person.
    """

    reason: str
    detail: str = ""

    @property
    def told(self) -> str:
        """What a person reads."""
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


@dataclass(frozen=True, slots=True)
class Failed:
    """Wrong. `symptom` says what went wrong in words that the oracle fixes ("crash", "ill-formed", "wrong result"),
    without names and numbers of the case. `message` is one line whose numbers and names the signature strips, `detail`
    has everything a reader needs, `culprit` is the pass (None: the pass of the step that was judged). `evidence`: what
    kind of wrong it is, for what decides something. `difference`: the functions before and after the pass as a unified
    diff, where numbers went wrong, or why TVM does not print them."""

    symptom: str
    message: str
    detail: str = ""
    culprit: str | None = None
    evidence: Evidence | None = None
    difference: str = ""


CRASH = "crash"
HANG = "hang"
WRONG_RESULT = "wrong result"
WRONG_GRADIENT = "wrong gradient"
INPUT_CHANGED = "input changed"
REJECTS = "rejects the module"
"""The symptom of what is no failure: a pass refuses on purpose. `passfuzz reduce` keeps it where it is asked to."""
DOES_NOT_BUILD = "does not build"
DOES_NOT_RUN = "does not run"
ACROSS_PROCESSES = "not deterministic across processes"
"""The symptoms that more than one file knows; the last one is of a result that follows addresses or hash seeds."""

BUILD = "build"
"""The name of the ordinary build among the oracles: `fuzzer.trial.build` judges it, which knows what is left of the
pipeline."""
DETERMINISM = "determinism"
"""The name of the oracle for which the campaign's process, which loads no TVM, speaks too."""

Verdict: TypeAlias = Passed | Skipped | Inconclusive | Failed
PASSED = Passed()

CODEGEN = "codegen"
"""The culprit where every pass went well and building or running did not."""
DEFINED_TWICE = "defines a variable of TIR in two places"
"""What a pass has done of which TVM's verifier says so, and its analyzers die: each knows a variable once."""

LOWERING = "the lowering of operators"
"""Who gives the result of an operator another type than its type inference: several passes lower one operator by one
function of topi, so that which of them did it says nothing."""


def wrong_call(operator: str) -> str:
    """What a pass has done of which TVM says either, by what the operands are. operator: its kind, "" for unknown."""
    return f"builds a call{f' of {operator}' if operator else ''} that cannot be typed, or of another type"

"""What a row of the oracle table says. Each oracle is one file with one function; `oracles.table` lists them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from oracles.trace import Bench, Step, Trace
from oracles.verdict import Verdict


@dataclass(frozen=True, slots=True)
class StepOracle:
    """Judges one step. `share` of the steps are judged; `on_error` says whether steps that raised are too."""

    name: str
    promise: str
    judge: Callable[[Step, Bench], Verdict]
    share: float = 1.0
    on_error: bool = False


@dataclass(frozen=True, slots=True)
class TraceOracle:
    """Judges a whole case after its last step. `share` of the cases are judged.

    of_passes: False where it judges the starting module alone, which says nothing of passes under test.
    """

    name: str
    promise: str
    judge: Callable[[Trace, Bench], Verdict]
    share: float = 1.0
    of_passes: bool = True

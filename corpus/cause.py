"""When two findings have one cause: what people count, what the registry of known causes holds, what makes a job red.

A signature is exact and names a folder; a cause is one root cause in TVM, as far as it can be told from outside. It is
coarser where one bug shows in many ways, and finer where a signature is blunt. The oracle, the tier and the pipeline
around it do not count. Pure text and typed evidence; no TVM is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass

from corpus.signature import normalise
from oracles.verdict import WRONG_RESULT, Failed

UNCERTAIN = "perhaps "
"""How a cause begins that may be one with others, or several in one."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What a pass did where the result is wrong: kinds of what it removed and of what it put there, sorted, with
    operators abstracted. Empty where the module is the same."""

    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{', '.join(self.removed) or 'nothing'} -> {', '.join(self.added) or 'nothing'}"


@dataclass(frozen=True, slots=True)
class Cause:
    """The identity of a root cause. Two findings are counted as one iff their causes are equal.

    where: the place in TVM: the file and function of the check that fails, the function that crashes, or the pass.
    what: the message without names, or the shape of the rewrite. certain: False where it is a guess.
    """

    where: str
    what: str
    certain: bool = True

    def __str__(self) -> str:
        return f"{'' if self.certain else UNCERTAIN}{self.where}: {self.what}"


def cause_of(oracle: str, failed: Failed, culprit: str, rewrite: Rewrite | None = None) -> Cause:
    """The cause of a failed verdict of a reduced case.

    `failed.detail` is TVM's traceback, or what a process that crashed has printed. culprit: the pass that is blamed.
    rewrite: what the culprit did to the reduced module, None where it is not known.
    """
    if failed.symptom == WRONG_RESULT:
        return Cause(culprit, str(rewrite or Rewrite()), certain=rewrite is not None)
    return Cause(culprit, normalise(failed.message))

"""Which findings of tier C count: of a pass in a phase for which TVM neither documents nor forbids it.

What a process says of itself counts in any order: wrong results, modules that are ill-formed, signals, hangs. (A pass
that is given well-formed IR should give well-formed IR whatever came before it, says a maintainer in apache/tvm#17340.)
An exception is a refusal, however it is worded: a check holds for the input that the pass is for. And rows of oracles
say what is promised for a pass in its place alone. Worker processes only.
"""

from __future__ import annotations

from dataclasses import dataclass

from corpus.finding import Finding
from oracles.evidence import AcrossProcesses, Died, Hung, OutOfMemory
from oracles.table import ORACLES
from oracles.verdict import CRASH, DOES_NOT_BUILD, DOES_NOT_RUN

RAISES = (CRASH, DOES_NOT_BUILD, DOES_NOT_RUN)


@dataclass(frozen=True, slots=True)
class NotCounted:
    """What a failure reduces to is no finding. reason: under which it is counted."""

    reason: str


WITHOUT_THEM = NotCounted("a build fails without the passes under test too")
"""The reason where the failure needs none of the passes that are tested."""


def counted(finding: Finding) -> Finding | NotCounted:
    """The finding, or why it does not count."""
    failed = finding.verdict
    if finding.tier != "C" or isinstance(failed.evidence, Died | Hung | OutOfMemory | AcrossProcesses):
        return finding
    if failed.symptom in RAISES:
        return NotCounted("odd order: an exception")
    row = ORACLES.get(finding.oracle)
    if row is not None and row.documented_phases_only:
        return NotCounted(f"odd order: {row.promise}")
    return finding

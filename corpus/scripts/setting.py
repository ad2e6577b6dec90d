"""How a repro script runs what it shows: with what in memory, and by which build. No TVM is imported here."""

from __future__ import annotations

from dataclasses import dataclass

from corpus.scripts.poison_fill import Fill


@dataclass(frozen=True, slots=True)
class ScriptSetting:
    """Besides the first of these, a finding is tried with others where that does not show it.

    fill: what uninitialised memory holds. unoptimised: LLVM does not optimise what is built, which hides the bug.
    goes_on: the script builds by the passes of the pipeline that are still to come, as `tvm.compile` would begin at its
    front, which hides the bug. by_reference: TVM does not build or run what the passes give, so that the reference
    alone shows it.
    """

    fill: Fill = Fill()
    unoptimised: bool = False
    goes_on: bool = False
    by_reference: bool = False

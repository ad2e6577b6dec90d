"""A pass leaves the module that it was given as it was (apache/tvm#17205).

`oracles.walk` compares fingerprints of the input taken before and after the pass. A pass that raises must not have
changed its input either.
"""

from __future__ import annotations

from oracles.oracle import Knowledge, Stage, StepOracle
from oracles.trace import Bench, Step
from oracles.verdict import INPUT_CHANGED, PASSED, Failed, Verdict


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("input changed") when the input is not what it was."""
    if step.input_kept:
        return PASSED
    how = "and gave it back as its result" if step.returned_input else "and gave back another module"
    return Failed(INPUT_CHANGED, f"the pass changed the module it was given, {how}", str(step.before))


ORACLE = StepOracle(
    "input_unchanged",
    "a pass leaves the module it was given as it was",
    judge,
    on_error=True,
    stage=Stage.INPUT,
    rank=10,
    foreign=Knowledge.NOTHING,
)

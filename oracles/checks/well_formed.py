"""TVM's own verifiers accept what a pass gives back, and agree with ours.

`relax.analysis.well_formed` on the module; on each PrimFunc the verifier of its dialect. "Well-formed in, ill-formed
out" is a bug in any order of passes (apache/tvm#17340). Where TVM accepts what our purity, definedness or
normal-form check rejects, or the other way round in the classes that both decide, the verifier or our check is wrong:
that is a finding of its own, with TVM's verifier as the culprit.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from generators.tvm_api import IRModule
from oracles.checks import definedness, normal_form, purity
from oracles.ir.verifier import COMPLAINTS
from oracles.ir.verifier import complaint as complaint
from oracles.oracle import Knowledge, Stage, StepOracle
from oracles.trace import Bench, Step
from oracles.tvm_errors import headline
from oracles.verdict import PASSED, Failed, Skipped, Verdict

VERIFIER = "relax.analysis.well_formed"


_CLASSES: tuple[tuple[str, str, Callable[[IRModule], bool]], ...] = (
    ("impure", r"impure|If nodes are not allowed", lambda m: bool(purity.VIOLATIONS.of(m))),
    ("undefined", r"is not defined|used outside Dataflow|more than once", lambda m: bool(definedness.MISUSES.of(m))),
    ("not normal", r"ANF|leaf expression|SeqExpr only", lambda m: bool(normal_form.VIOLATIONS.of(m))),
)
"""Classes of complaints that both sides decide: name, TVM's words, our check."""


def _disagreement(module: IRModule, said: str) -> Verdict | None:
    for name, words, ours in _CLASSES:
        if said and re.search(words, said.split("\n\n")[0]):
            return None if ours(module) else _differ(f"TVM calls it {name}, our check does not", said)
    if said:
        return None
    for name, _, ours in _CLASSES:
        if ours(module):
            return _differ(f"our check calls it {name}, TVM accepts it", "")
    return None


def _differ(message: str, said: str) -> Failed:
    return Failed("checker disagreement", message, said, VERIFIER)


def judge(step: Step, bench: Bench) -> Verdict:
    """Failed("ill-formed") with TVM's complaint, or Failed("checker disagreement")."""
    if step.after is None:
        return Skipped("no result")
    if not step.row.promise.well_formed:
        return Skipped("what the pass leaves is for a later one to mend", applies=False)
    if COMPLAINTS.of(step.before):
        return Skipped("input already ill-formed")
    said = COMPLAINTS.fresh(step.after)
    if purity.is_known_order(step) and re.search(_CLASSES[0][1], said.split("\n\n")[0]):
        return Skipped("stands before RemovePurityChecking")
    differ = _disagreement(step.after, said)
    if differ is not None:
        return differ
    return Failed("ill-formed", headline(said), said) if said else PASSED


ORACLE = StepOracle(
    "well_formed",
    "TVM's verifiers accept what a pass gives back",
    judge,
    stage=Stage.STRUCTURE,
    rank=23,
    of_result=True,
    is_flawed=lambda module: bool(COMPLAINTS.of(module)),
    foreign=Knowledge.NOTHING,
)

"""Whether a module is one that a pass may be held to: well-formed, well-typed, in the form that its phase asks for.

Modules in tests are written by hand. What is wrong with the module that a pass is given says nothing of the pass.
Worker processes only.
"""

from __future__ import annotations

from generators import tvm_api as T
from generators.passes.row import Phase
from generators.tvm_api import IRModule, RelaxFunction
from oracles.checks import definedness, normal_form, purity
from oracles.checks.type_soundness import contradictions
from oracles.ir.verifier import COMPLAINTS
from oracles.ir.walk import relax_functions


def flaw_of(module: IRModule, phase: Phase) -> str | None:
    """What is wrong with a module before a pass, in words for a counter; None where nothing is."""
    if COMPLAINTS.of(module):
        return "ill-formed before the pass"
    if purity.VIOLATIONS.of(module) or definedness.MISUSES.of(module) or normal_form.VIOLATIONS.of(module):
        return "ill-formed before the pass"
    if contradictions(module):
        return "annotated types contradict each other before the pass"
    if phase >= Phase.IMPURE and not all(_may_have_effects(function) for _, function in relax_functions(module)):
        return "lowered without RemovePurityChecking"
    return None


def _may_have_effects(function: RelaxFunction) -> bool:
    return not function.is_pure or T.is_force_pure(function)

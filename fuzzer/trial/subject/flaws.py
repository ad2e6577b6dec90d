"""Whether a module is one that a pass may be held to: well-formed, well-typed, in the form that its phase asks for.

Modules in tests are written by hand. What is wrong with the module that a pass is given says nothing of the pass.
Worker processes only.
"""

from __future__ import annotations

from generators import tvm_api as T
from generators.passes.row import Phase
from generators.tvm_api import IRModule, RelaxFunction
from oracles.ir.walk import relax_functions
from oracles.oracle import StepOracle
from oracles.table import ORACLES

_FLAWED = {
    row.name: row.is_flawed for row in ORACLES.values() if isinstance(row, StepOracle) and row.is_flawed is not None
}


def flaw_of(module: IRModule, phase: Phase) -> str | None:
    """What is wrong with a module before a pass, in words for a counter; None where nothing is."""
    flawed = next((name for name, is_flawed in _FLAWED.items() if is_flawed(module)), None)
    if flawed is not None:
        return f"wrong before the pass, says {flawed}"
    if phase >= Phase.IMPURE and not all(_may_have_effects(function) for _, function in relax_functions(module)):
        return "lowered without RemovePurityChecking"
    return None


def _may_have_effects(function: RelaxFunction) -> bool:
    return not function.is_pure or T.is_force_pure(function)

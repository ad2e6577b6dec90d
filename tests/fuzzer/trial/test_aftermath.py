"""What a reduced finding's last pass gave, as its issue shows it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import tvm
from tvm import relax

from corpus.finding import Aftermath
from corpus.reduce import Candidate
from corpus.scripts.module_text import live_module
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import Repertoire
from fuzzer.trial.shrinking.aftermath import aftermath_of, environment
from generators.case import EntryCall, ModuleText, PassCall
from tests.oracles.oracle_bench import PASSES_UNDER_TEST, row_of
from tests.oracles.test_blame import SUM, replaced

SUBTRACTS = replaced("relax.add", relax.op.subtract)


def undefined(module: Any, _context: Any) -> Any:
    """The function returns a variable that nothing binds."""
    result = module.clone()
    for name, function in module.functions.items():
        body = relax.BlockBuilder().normalize(relax.SeqExpr([], relax.Var("ghost", function.ret_ty)))
        result.update_func(name, relax.Function(function.params, body, function.ret_ty, True, function.attrs))
    return result


def growing(module: Any, _context: Any) -> Any:
    attrs = module.attrs
    return module.with_attr("times", (int(attrs["times"]) if attrs and "times" in attrs else 0) + 1)


def dying(module: Any, _context: Any) -> Any:
    os.abort()


def raising(module: Any, _context: Any) -> Any:
    raise ValueError("no")


def wrong(module: Any, _context: Any) -> Any:
    return PASSES_UNDER_TEST[SUBTRACTS.source]()(module)


MADE = {"wrong": wrong, "undefined": undefined, "growing": growing, "dying": dying, "raising": raising}


def after(name: str, oracle: str) -> Aftermath:
    call = PassCall(name, f"{name}()")
    names = {
        key: lambda made=made, key=key: tvm.transform.module_pass(made, opt_level=0, name=key)
        for key, made in MADE.items()
    }
    calls = (EntryCall("main", (np.array([1.0, 2.0, 3.0], np.float32),)),)
    case = Candidate(live_module(ModuleText(SUM)), (), (call,), calls)
    return aftermath_of(case, Plan(0), Repertoire({call.name: row_of(call.name)}, names), oracle)


def test_what_the_verifier_says_is_kept() -> None:
    seen = after("undefined", "definedness")
    assert seen.verified_by == "relax.analysis.well_formed(after)"
    assert "ghost" in seen.complaint
    assert "+    return ghost" in seen.change


def test_what_comes_instead_is_kept() -> None:
    right, wrong = after("growing", "numeric"), after("wrong", "numeric")
    assert (right.verified_by, right.complaint, right.change) == ("", "", "")
    assert len(right.outputs) == len(wrong.outputs) == 1
    assert wrong.outputs[0].startswith("main: array([")
    assert wrong.outputs != right.outputs
    assert "subtract" in wrong.change


def test_where_the_pass_does_not_come_through_there_is_nothing() -> None:
    assert after("raising", "survives") == after("dying", "survives") == Aftermath()


def test_an_oracle_that_applies_it_again_sees_that() -> None:
    once, again = after("wrong", "numeric"), after("wrong", "idempotence")
    assert "subtract" in once.change
    assert again.change == ""


def test_the_environment_is_that_of_the_process() -> None:
    rows = dict(environment())
    assert rows["TVM"] == tvm.__version__
    assert set(rows) >= {"TVM", "tvm-ffi", "LLVM", "Python", "OS"}
    assert rows["LLVM"].isdecimal()

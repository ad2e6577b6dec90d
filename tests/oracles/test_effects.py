"""What a public function prints is not lost; what moves to another function is not lost either."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from tvm import relax

from generators import tvm_api as T
from oracles.checks.effects import ORACLE, Effects, effects_at_most, effects_surely
from oracles.verdict import PASSED, Failed
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, step_of

HEAD = "@I.ir_module\nclass Module:\n"
V = 'R.Tensor((2,), "float32")'
TWICE = module_of(f"""{HEAD}
    @R.function(pure=False)
    def main(x: {V}) -> {V}:
        _ = R.print(x, format="{{}}")
        y = R.add(x, x)
        _1 = R.print(x, format="{{}}")
        return y
""")
INSIDE_TEXT = f"""{HEAD}
    @R.function(private=True, pure=False)
    def says(x: {V}) -> {V}:
        _ = R.print(x, format="{{}}")
        return x

    @R.function(pure=False)
    def main(x: {V}) -> {V}:
        cls = Module
        a: {V} = cls.says(x)
        b: {V} = cls.says(a)
        return b
"""
INSIDE = module_of(INSIDE_TEXT)
QUIET = module_of(f"""{HEAD}
    @R.function
    def main(x: {V}) -> {V}:
        y = R.add(x, x)
        return y
""")


def without(number: int) -> Callable[[Any], Any]:
    """A pass that removes the first so many prints of main."""

    def run(module: Any) -> Any:
        function, left = module["main"], number
        kept = []
        for binding in function.body.blocks[0].bindings:
            if left and T.op_name(binding.value) == "relax.print":
                left -= 1
            else:
                kept.append(binding)
        body = relax.SeqExpr([relax.BindingBlock(kept)], function.body.body)
        changed = module.clone()
        changed.update_func(
            module.get_global_var("main"),
            relax.Function(function.params, body, function.ret_ty, function.is_pure, function.attrs),
        )
        return changed

    return run


@pytest.mark.parametrize("number", [1, 2])
def test_a_lost_print_is_found(number: int) -> None:
    step = step_of(module_pass(without(number), "Drops"), TWICE, RealBench())
    verdict = ORACLE.judge(step, RealBench())
    assert isinstance(verdict, Failed)
    assert verdict.detail == f"main: 2 times, now {2 - number}"


@pytest.mark.parametrize("number", [0, 1])
def test_a_pass_that_loses_none_is_left_alone(number: int) -> None:
    step = step_of(module_pass(without(number), "Keeps"), QUIET if number else TWICE, RealBench())
    assert ORACLE.judge(step, RealBench()) == PASSED


def test_what_moves_to_another_function_is_not_lost() -> None:
    assert effects_surely(TWICE, "main") == effects_surely(INSIDE, "main") == Effects(prints=2)
    assert effects_at_most(INSIDE, "main") == Effects(prints=2)
    outlined = step_of(module_pass(lambda _: INSIDE.clone(), "Outlines"), TWICE, RealBench())
    assert ORACLE.judge(outlined, RealBench()) == PASSED


def test_what_a_function_prints_that_is_called_is_not_lost_either() -> None:
    calls_it_no_more = step_of(module_pass(lambda _: QUIET.clone(), "CallsNothing"), INSIDE, RealBench())
    verdict = ORACLE.judge(calls_it_no_more, RealBench())
    assert isinstance(verdict, Failed)
    assert verdict.detail == "main: 2 times, now 0"


def test_functions_that_call_each_other_in_a_circle_may_print_for_ever() -> None:
    circle = module_of(
        INSIDE_TEXT.replace("return x", "z: R.Tensor((2,), 'float32') = Module.says(x)\n        return z")
    )
    assert math.isinf(effects_at_most(circle, "main").prints)
    assert effects_surely(circle, "main") == Effects(prints=2)


def test_what_print_is_lowered_to_prints() -> None:
    lowered = step_of(module_pass(lambda m: relax.transform.LegalizeOps()(m), "Lowers"), TWICE, RealBench())
    assert "relax.run.print" in lowered.after.script()
    assert effects_at_most(lowered.after, "main") == Effects(prints=2)
    assert ORACLE.judge(lowered, RealBench()) == PASSED


def test_what_is_taken_for_pure_may_go() -> None:
    forced = TWICE.clone()
    forced.update_func(forced.get_global_var("main"), TWICE["main"].with_attr("relax.force_pure", True))
    assert ORACLE.judge(step_of(module_pass(without(2), "Drops"), forced, RealBench()), RealBench()) == PASSED


BRANCHES = f"""{HEAD}
    @R.function(private=True, pure=False)
    def says(x: {V}, c: R.Tensor((), "bool")) -> {V}:
        if c:
            _ = R.print(x, format="{{}}")
            y: {V} = R.add(x, x)
            r: {V} = y
        else:
            z: {V} = R.negative(x)
            r: {V} = z
        return r

    @R.function(pure=False)
    def main(x: {V}, c: R.Tensor((), "bool")) -> {V}:
        cls = Module
        a: {V} = cls.says(x, c)
        return a
"""
PRINT_IN_BRANCH = '            _ = R.print(x, format="{}")\n'
FOLDED = f"""{HEAD}
    @R.function
    def main(x: {V}, c: R.Tensor((), "bool")) -> {V}:
        z: {V} = R.negative(x)
        return z
"""


@pytest.mark.parametrize(
    ("after", "lost"), [(BRANCHES, False), (BRANCHES.replace(PRINT_IN_BRANCH, ""), True), (FOLDED, False)]
)
def test_a_print_of_a_branch_may_go_with_the_branch_alone(after: str, lost: bool) -> None:
    """Where an If is gone, its condition may be known."""
    assert PRINT_IN_BRANCH in BRANCHES
    before = module_of(BRANCHES)
    assert effects_surely(before, "main") == Effects()
    assert effects_surely(before, "main", branches=True) == Effects(prints=1)
    assert effects_at_most(before, "main") == Effects(prints=1, ifs=1)
    step = step_of(module_pass(lambda _: module_of(after), "Cleans"), before, RealBench())
    verdict = ORACLE.judge(step, RealBench())
    assert isinstance(verdict, Failed) is lost
    assert not lost or verdict.detail == "main: 1 times, now 0"


CALLS = f"""{HEAD}
    @R.function(pure=False)
    def main(x: {V}) -> {V}:
        _ = R.call_packed("passfuzz.negated", x, ty_args=({V},))
        y: {V} = R.call_packed("vm.builtin.copy", x, ty_args=({V},))
        return x
"""


@pytest.mark.parametrize(("gone", "lost"), [("passfuzz.negated", True), ("vm.builtin.copy", False)])
def test_a_lost_call_of_an_external_function_is_found(gone: str, lost: bool) -> None:
    """Those of TVM's run time are for passes to replace."""
    before = module_of(CALLS)
    assert effects_surely(before, "main") == Effects(calls=1)
    after = module_of("\n".join(line for line in CALLS.splitlines() if gone not in line))
    verdict = ORACLE.judge(step_of(module_pass(lambda _: after, "Drops"), before, RealBench()), RealBench())
    assert isinstance(verdict, Failed) is lost
    assert not lost or verdict.message == "a public function calls an impure external function less"


BOTH = BRANCHES.replace("            z:", PRINT_IN_BRANCH + "            z:")
HOISTED = BRANCHES.replace(PRINT_IN_BRANCH, "").replace("        if c:", PRINT_IN_BRANCH[4:] + "        if c:")
LOCAL_AND_KNOWN = f"""{HEAD}
    @R.function(pure=False)
    def main(x: {V}) -> {V}:
        @R.function
        def inner(y: {V}, c: R.Tensor((), "bool")) -> {V}:
            if c:
                r: {V} = R.add(y, y)
            else:
                r: {V} = R.negative(y)
            return r
        c: R.Tensor((), "bool") = R.const(True, "bool")
        if c:
            s: {V} = R.add(x, x)
        else:
            _ = R.print(x, format="{{}}")
            s: {V} = R.negative(x)
        t: {V} = inner(s, c)
        return t
"""


def test_a_print_of_both_branches_may_move_before_the_if() -> None:
    before, after = module_of(BOTH), module_of(HOISTED)
    assert effects_at_most(before, "main").prints == 2
    assert ORACLE.judge(step_of(module_pass(lambda _: after, "Hoists"), before, RealBench()), RealBench()) == PASSED


def test_a_branch_that_is_known_not_to_run_may_go_beside_a_local_function_with_an_if() -> None:
    before = module_of(LOCAL_AND_KNOWN)
    text = LOCAL_AND_KNOWN[: LOCAL_AND_KNOWN.index("        if c:\n            s:")]
    after = module_of(text + f"        s: {V} = R.add(x, x)\n        t: {V} = inner(s, c)\n        return t\n")
    assert ORACLE.judge(step_of(module_pass(lambda _: after, "Folds"), before, RealBench()), RealBench()) == PASSED

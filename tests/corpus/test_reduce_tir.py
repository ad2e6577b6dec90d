"""PrimFuncs in the reducer: expressions, loops and blocks become what a wrong pass still fails on."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Any

import pytest
import tvm
import tvm_ffi
from tvm import tirx

from corpus.reduce import Candidate, reduce
from corpus.reduce.plan import plan_of, view_of
from corpus.reduce.table import STEPS
from generators import tvm_api as T
from generators.source import SeededSource
from generators.tir.recipes.table import PRIM_RECIPES, draw_recipe
from generators.tir.relax_caller import draw_prim_program, wrapped
from oracles.ir.walk import nodes_of, prim_funcs
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import NoMeaning, Wrong
from tests.quick import one_in

PROGRAMS = 6


def floormod_to_truncmod(module: Any) -> Any:
    """Wrong for negative numbers."""
    functions = dict(module.functions.items())
    for gvar, function in functions.items():
        if isinstance(function, tirx.PrimFunc):
            body = tvm_ffi.structural_map(function.body, [(tirx.FloorMod, lambda node: tirx.Mod(node.a, node.b))])
            functions[gvar] = function.with_body(body)
    return tvm.IRModule(functions, attrs=module.attrs)


def goes_wrong(candidate: Candidate) -> bool:
    numbers = Numbers(candidate.module, candidate.calls)
    if isinstance(numbers.expected, NoMeaning):
        return False
    return isinstance(numbers.judge_module(floormod_to_truncmod(candidate.module)), Wrong)


@cache
def programs() -> list[Candidate]:
    """The first that the wrong pass is wrong for."""
    drawn = (draw_prim_program(SeededSource(77, seed)) for seed in range(60))
    candidates = (Candidate(program.module, (), (), program.calls) for program in drawn)
    return list(islice(filter(goes_wrong, candidates), PROGRAMS))


@pytest.mark.parametrize("number", one_in(2, range(PROGRAMS)))
def test_drawn_functions_become_a_few_statements_with_what_is_wrong_in_them(number: int) -> None:
    whole = programs()[number]
    reduction = reduce(whole, goes_wrong)
    small = reduction.candidate
    assert goes_wrong(small)
    assert reduction.finished and reduction.oracle_calls < 200
    (live,) = [function for _, function in prim_funcs(small.module)]
    assert len(nodes_of(live.body, tirx.BufferStore)) <= 2
    assert len(nodes_of(live.body, tirx.FloorMod)) == 1, "the expression that is wrong, and no other of its kind"
    assert len(nodes_of(live.body, T.Call)) <= 2 and len(live.params) <= 3


def planted(name: str) -> Candidate:
    """A module with the first draw of a recipe."""
    drawn = (draw_recipe(SeededSource(5, seed), PRIM_RECIPES[name]) for seed in range(20))
    program = wrapped(next(each for each in drawn if each is not None))
    return Candidate(program.module, (), (), program.calls)


@pytest.mark.parametrize("name", PRIM_RECIPES)
def test_every_step_has_edits_for_the_forms_of_every_recipe_or_none(name: str) -> None:
    """A step that raises at a node that it does not know loses the finding."""
    whole = planted(name)
    view = view_of(plan_of(whole), whole.module)
    of_prim_funcs = [step for step in STEPS if step.edits.__module__.startswith("corpus.reduce.steps.tir")]
    assert len(of_prim_funcs) >= 5
    assert any(list(step.edits(view)) for step in of_prim_funcs)
    assert all(callable(edit) for step in STEPS for edit in step.edits(view))


@pytest.mark.deep
@pytest.mark.parametrize("name", PRIM_RECIPES)
def test_every_edit_of_every_recipe_can_be_tried(name: str) -> None:
    whole = planted(name)
    reduction = reduce(whole, lambda candidate: False)
    assert reduction.oracle_calls > 0 and reduction.finished
    assert tvm_ffi.structural_equal(reduction.candidate.module, whole.module)


ANNOTATED = """@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
        for i in T.parallel(8, annotations={"pragma_auto_unroll_max_step": 4}):
            B[i] = T.min(A[i] + 3, A[7 - i]) * T.if_then_else(A[i] > 2, 5, A[0])
"""


def test_loops_lose_their_kind_and_expressions_all_but_what_is_asked_for() -> None:
    whole = Candidate(T.module_from_script(ANNOTATED), (), (), ())

    def loads_an_element_in_a_loop(candidate: Candidate) -> bool:
        stores = nodes_of(candidate.module["main"].body, tirx.BufferStore)
        loops = nodes_of(candidate.module["main"].body, tirx.For)
        return bool(loops) and any(nodes_of(store.value, T.TensorLoad) for store in stores)

    small = reduce(whole, loads_an_element_in_a_loop).candidate
    (loop,) = nodes_of(small.module["main"].body, tirx.For)
    assert loop.kind == tirx.ForKind.SERIAL and not len(loop.annotations)
    (store,) = nodes_of(loop, tirx.BufferStore)
    assert isinstance(store.value, T.TensorLoad)


STEPPED = ANNOTATED.replace('T.parallel(8, annotations={"pragma_auto_unroll_max_step": 4})', "T.serial(0, 8, step=3)")


def test_a_shorter_loop_keeps_its_step() -> None:
    """Without it, fewer iterations would stand at other places than before."""
    whole = Candidate(T.module_from_script(STEPPED), (), (), ())
    tried: list[Any] = []

    def only_looks(candidate: Candidate) -> bool:
        tried.extend(nodes_of(candidate.module["main"].body, tirx.For))
        return False

    reduce(whole, only_looks)
    assert {int(loop.extent) for loop in tried} >= {1, 2, 8} and {int(loop.step or 1) for loop in tried} == {3}


IDLE = """@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
        own = T.alloc_buffer((8,), "int32")
        flat = T.decl_buffer((4, 2), "int32", data=own.data)
        view = T.decl_buffer((2, 4), "int32", data=A.data)
        for i in range(8):
            B[i] = A[i]
"""


def test_buffers_that_nothing_uses_go_with_views_of_them() -> None:
    whole = Candidate(T.module_from_script(IDLE), (), (), ())

    def stores_in_a_loop(candidate: Candidate) -> bool:
        return bool(nodes_of(candidate.module["main"].body, tirx.For))

    made = (tirx.AllocBuffer, tirx.DeclBuffer)
    assert len(nodes_of(whole.module["main"].body, made)) == 3
    assert not nodes_of(reduce(whole, stores_in_a_loop).candidate.module["main"].body, made)


def test_a_view_that_is_used_stays() -> None:
    used = IDLE.replace("B[i] = A[i]", "B[i] = view[0, 0]")
    whole = Candidate(T.module_from_script(used), (), (), ())

    def reads_the_view(candidate: Candidate) -> bool:
        loads = nodes_of(candidate.module["main"].body, T.TensorLoad)
        return any(len(load.indices) == 2 for load in loads)

    (left,) = nodes_of(reduce(whole, reads_the_view).candidate.module["main"].body, tirx.DeclBuffer)
    assert str(left.buffer.name) == "view"

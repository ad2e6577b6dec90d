"""Buffers of PrimFuncs and arguments of schedules: what does not matter of them goes, what does stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from corpus.reduce import Candidate, reduce
from corpus.reduce.plan import applied, plan_of, view_of
from corpus.reduce.realise import realise
from corpus.reduce.steps.schedule_arguments import without_last
from corpus.reduce.steps.tir_buffers import plain
from corpus.scripts.module_text import live_module, text_of
from corpus.scripts.schedule import schedule_steps
from generators import tvm_api as T
from generators.case import EntryCall, ModuleText, PassCall
from generators.passes.row import Role
from generators.passes.table import the
from oracles.ir.walk import nodes_of, prim_funcs
from oracles.reference.engine import Interpreter
from tests.oracles.oracle_bench import module_of

ODD = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def f(x: T.Buffer((4, 4), "float32", strides=(4, 1)), y: T.Buffer((4, 4), "float32")):
        z = T.sblock_alloc_buffer((4, 4), strides=(8, 1), scope="shared")
        for i, j in T.grid(4, 4):
            with T.sblock("first"):
                v, w = T.axis.remap("SS", [i, j])
                z[v, w] = x[v, w] + T.float32(1)
        for i, j in T.grid(4, 4):
            with T.sblock("second"):
                v, w = T.axis.remap("SS", [i, j])
                y[v, w] = T.floor(z[v, w])

    @R.function
    def main(x: R.Tensor((4, 4), "float32")):
        cls = Module
        y = R.call_tir(cls.f, (x,), out_ty=R.Tensor((4, 4), "float32"))
        return y
"""
CALL = EntryCall("main", (np.arange(16, dtype=np.float32).reshape(4, 4) / 3,))


def types(module: Any) -> list[Any]:
    ((_, function),) = prim_funcs(module)
    loads = nodes_of(function.body, T.TensorLoad)
    return [T.type_of(buffer) for buffer in {*function.params, *(load.source for load in loads)}]


def test_all_buffers_become_plain_and_the_numbers_stay() -> None:
    start = Candidate(module_of(ODD), (), (), (CALL,))
    plan = plan_of(start)
    edits = plain(view_of(plan, start.module))
    assert len(edits) == 3, "two with strides, one in other memory"
    module = realise(applied(plan, edits).draft).module
    assert all(not len(ty.strides) and str(ty.storage_scope) in ("", "global") for ty in types(module))
    assert not plain(view_of(plan_of(Candidate(module, (), (), ())), module))
    before, after = (Interpreter(each).run(CALL) for each in (start.module, module))
    assert np.array_equal(before.value, after.value)  # type: ignore[union-attr]


LAID_OUT = f"""{ODD.replace(", strides=(4, 1)", "")}
Module["f"] = laid_out(Module["f"], "x", "z")
"""


def _layouts(module: Any) -> int:
    return sum(ty.layout is not None for ty in types(module))


def test_no_buffer_gets_a_layout_that_a_script_does_not_say() -> None:
    start = Candidate(module_of(ODD), (), (), (CALL,))
    plan = plan_of(start)
    assert not _layouts(start.module)
    assert not _layouts(realise(applied(plan, plain(view_of(plan, start.module))).draft).module)


@pytest.mark.parametrize("needed", [0, 1])
def test_a_layout_goes_that_the_failure_does_not_need_and_with_it_its_helper(needed: int) -> None:
    start = Candidate(live_module(ModuleText(LAID_OUT)), (), (), (CALL,))
    assert _layouts(start.module) == 2 and "laid_out" in text_of(start.module).script

    def interesting(candidate: Candidate) -> bool:
        loads = [node for _, f in prim_funcs(candidate.module) for node in nodes_of(f.body, T.TensorLoad)]
        return bool(loads) and _layouts(candidate.module) >= needed

    small = reduce(start, interesting).candidate.module
    assert _layouts(small) == needed
    assert ("laid_out" in text_of(small).script) == bool(needed)


def _has_scope(module: Any) -> bool:
    return any(str(ty.storage_scope) == "shared" for ty in types(module))


def _has_strides(module: Any) -> bool:
    return any([int(stride) for stride in ty.strides] == [8, 1] for ty in types(module))


@pytest.mark.parametrize("needs, others", [(_has_scope, _has_strides), (_has_strides, _has_scope)])
def test_what_the_failure_needs_of_a_buffer_stays(needs: Callable[[Any], bool], others: Callable[[Any], bool]) -> None:
    def interesting(candidate: Candidate) -> bool:
        functions = prim_funcs(candidate.module)
        floors = [node for _, f in functions for node in nodes_of(f.body, T.Call) if T.op_name(node) == "tirx.floor"]
        return bool(floors) and len(functions) == 1 and needs(candidate.module)

    start = Candidate(module_of(ODD), (), (), (CALL,))
    assert interesting(start) and others(start.module)
    small = reduce(start, interesting).candidate.module
    assert needs(small) and not others(small)


STEP = "sch.split(l, [2, None], preserve_unit_iters=True)"


def test_a_primitive_loses_its_last_arguments_one_by_one() -> None:
    assert list(without_last(STEP)) == ["sch.split(l, [2, None])"]
    assert list(without_last("sch.split(l, [2, None])")) == ["sch.split(l)"]
    assert list(without_last("sch.split(l)")) == list(without_last("b := sch.work_on('main')")) == []
    assert list(without_last("other.split(l, 2)")) == []
    assert list(without_last("sch.annotate(b, 'k', (1 + 2))")) == [], "the bracket would stay"
    assert list(without_last("sch.sample_categorical([0, 4], [0.5, 0.5], decision=1)")) == [], "it would be drawn"
    assert list(without_last("sch.bind(sch.fuse(a, b), 'x')")) == [
        "sch.bind(sch.fuse(a, b))",
        "sch.bind(sch.fuse(a), 'x')",
    ]


def test_arguments_of_a_schedule_go_that_the_failure_does_not_need() -> None:
    name = the(Role.SCHEDULES).name
    steps = f"sch.work_on('f'), l := sch.get_loops('first')[0], {STEP}"
    source = f"(lambda m: (sch := tvm.s_tir.Schedule(m), {steps}, sch.mod)[-1])"
    source = f"tvm.transform.module_pass({source}, opt_level=0)"
    start = Candidate(module_of(ODD), (), (PassCall(name, source),), ())
    assert schedule_steps(source)[-1] == STEP

    def interesting(candidate: Candidate) -> bool:
        return any("[2, None]" in call.source and "sch.split" in call.source for call in candidate.passes)

    (call,) = reduce(start, interesting).candidate.passes
    assert "preserve_unit_iters" not in call.source and "sch.split(l, [2, None])" in call.source

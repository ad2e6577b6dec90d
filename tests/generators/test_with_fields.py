"""A block or loop with some fields changed keeps all others."""

from __future__ import annotations

import pytest
import tvm_ffi
from tvm.script import tirx as T

from generators import tvm_api
from generators.source import SeededSource
from generators.tir.relax_caller import draw_prim_program
from generators.tvm_api import s_tir, tirx
from oracles.ir.walk import nodes_of, prim_funcs

PROGRAMS = 40


@pytest.mark.parametrize("kind", [s_tir.SBlock, tirx.For])
def test_a_copy_with_no_field_changed_is_equal(kind: type[tvm_api.Node]) -> None:
    programs = [draw_prim_program(SeededSource(3, seed)) for seed in range(PROGRAMS)]
    functions = [function for program in programs for _, function in prim_funcs(program.module)]
    nodes = [node for function in functions for node in nodes_of(function.body, kind)]
    assert len(nodes) > PROGRAMS
    for node in nodes:
        copy = tvm_api.with_fields(node)
        assert not copy.same_as(node)
        assert tvm_ffi.structural_equal(copy, node, map_free_vars=True)


def test_only_the_field_that_is_named_is_another() -> None:
    @T.prim_func(private=True, s_tir=True)
    def stepped(a: T.Buffer((8,), "float32")):
        for i in T.serial(1, 8, step=3, annotations={"note": 1}):
            a[i] = T.float32(0)

    (loop,) = nodes_of(stepped.body, tirx.For)
    shorter = tvm_api.with_fields(loop, extent=tirx.IntImm("int32", 4))
    assert (int(shorter.min), int(shorter.extent), int(shorter.step)) == (1, 4, 3)
    assert dict(shorter.annotations) == {"note": 1}


def test_nodes_of_other_kinds_are_refused() -> None:
    with pytest.raises(KeyError):
        tvm_api.with_fields(tirx.IntImm("int32", 1), value=2)

"""What an older TVM is given, and what is left out for it (generators/compat)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from generators import tvm_api
from generators.compat import before_0_27, structural, supplied, texts
from generators.compat.names import Computed, Either, Field, Name, joined, supply, there
from generators.operators import table
from generators.passes.table import ABSENT, PASSES
from tests.needs import needs
from tests.source_trees import ROOT

OF_OBJECTS = (Computed, Field)
"""Rows about objects of a class, which need not be there."""


@needs("tvm.ir.GenericConst")
def test_the_newest_release_needs_no_row() -> None:
    """Nothing is added to it, and no row of the pass table is left out."""
    assert ABSENT == {}
    assert not [row for row in supplied.ROWS if not isinstance(row, OF_OBJECTS) and not there(row.new)]
    assert set() == tvm_api.SUPPLIED


def test_each_row_gives_what_the_older_release_has() -> None:
    for row in supplied.ROWS:
        assert isinstance(row, OF_OBJECTS) or there(row.new)


def test_a_row_adds_a_name_that_is_missing_and_replaces_none(monkeypatch: pytest.MonkeyPatch) -> None:
    import tvm

    monkeypatch.setattr(tvm_api.tvm.ir, "Renamed", None, raising=False)
    monkeypatch.delattr(tvm_api.tvm.ir, "Renamed")
    supply([Name("tvm.ir.Renamed", "tvm.ir.Op"), Name("tvm.ir.Call", "tvm.ir.Op")])
    try:
        assert tvm.ir.Renamed is tvm.ir.Op
        assert tvm.ir.Call is not tvm.ir.Op
        assert "tvm.ir.Renamed" in tvm_api.SUPPLIED
    finally:
        tvm_api.SUPPLIED.discard("tvm.ir.Renamed")
        del tvm.ir.Renamed


def test_one_class_stands_for_several_and_fields_are_computed() -> None:
    joining = joined("Both", ("tvm.ir.Op", "tvm.ir.GlobalVar"))
    assert isinstance(tvm_api.GlobalVar("f"), joining)
    assert issubclass(tvm_api.GlobalVar, joining)
    assert issubclass(joining, joining)
    assert not isinstance(tvm_api.symbol("n"), joining)
    first = joined("Both", ("tvm.ir.GlobalVar", "tvm.ir.Op"))("g")
    assert isinstance(first, tvm_api.GlobalVar)
    supply([Either("tvm.ir.Both", ("tvm.ir.Op", "tvm.ir.GlobalVar")), Computed("tvm.ir.Both", "twice", lambda one: 2)])
    try:
        assert isinstance(first, tvm_api.tvm.ir.Both)
        assert tvm_api.tvm.ir.Both.twice.fget(first) == 2
        assert "tvm.ir.Both" in tvm_api.SUPPLIED
    finally:
        tvm_api.SUPPLIED.discard("tvm.ir.Both")
        del tvm_api.tvm.ir.Both


def test_prim_funcs_are_made_and_read_with_buffers_as_parameters() -> None:
    n, a = tvm_api.tirx.Var("n", "int32"), tvm_api.tirx.decl_buffer((4,), "float32", "a")
    function = tvm_api.prim_func([a, n], tvm_api.tirx.BufferStore(a, tvm_api.tirx.FloatImm("float32", 1.0), [n]))
    first, second = tvm_api.parameters_of(function)
    assert (str(first.name), type(first.ty).__name__, str(second.name)) == ("a", "BufferType", "n")
    assert tvm_api.only_returned(function) is None


def test_an_operator_that_a_tvm_lacks_is_in_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    there_are = table._joined()
    monkeypatch.setattr(table.tvm_api, "has_operator", lambda name: name != "relax.add")
    assert set(there_are) - set(table._joined()) == {"relax.add"}


def test_expressions_without_types_take_no_constructor_that_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert texts.lacking("relax.transform.Normalize(lambda v: v.ty)") is None
    monkeypatch.setattr(texts, "_mentions", lambda package, file, word: word == "class StructInfo")
    monkeypatch.setattr(texts, "_definitions", lambda place: {})
    assert texts.lacking("relax.transform.Normalize(lambda v: v.ty)") == "expressions of this TVM have no ty"


def test_a_text_is_put_into_the_names_of_this_tvm(monkeypatch: pytest.MonkeyPatch) -> None:
    defined = {"tirx.transform": {"StmtSimplify": "class StmtSimplify: def __init__(self, fast)"}}
    monkeypatch.setattr(texts, "_definitions", lambda place: defined.get(place, {"Other": ""}))
    assert texts.native("s_tir.transform.StmtSimplify()") == "tirx.transform.StmtSimplify()"
    assert texts.lacking("tirx.transform.StmtSimplify(fast=True)") is None
    assert texts.lacking("tirx.transform.StmtSimplify(slow=True)") == (
        "tirx.transform.StmtSimplify of this TVM takes no slow"
    )
    assert texts.lacking("s_tir.transform.ConvertSSA()") == "this TVM has no s_tir.transform.ConvertSSA"


def test_every_pass_that_is_left_in_can_be_constructed() -> None:
    without_target = {n: r for n, r in PASSES.items() if not any("Target.current()" in s for s in r.sources)}
    for row in without_target.values():
        for source in row.sources:
            assert eval(source, dict(tvm_api.PASS_NAMES)) is not None, row.name


@needs("tvm_ffi.structural_map")
@pytest.mark.parametrize("order", ["pre", "post"])
def test_the_stand_in_visits_what_tvm_visits(order: str) -> None:
    """`structural_map` by reflection against TVM's own: the statements and accesses that it meets, in order."""
    import tvm_ffi

    for function in tvm_api.module_from_script(PROGRAM).functions.values():
        ours, theirs = (met(one, function, order) for one in (structural.structural_map, tvm_ffi.structural_map))
        assert ours == theirs != []


def test_the_stand_in_refuses_a_node_where_it_cannot_stand() -> None:
    from tvm import s_tir, tirx

    (function,) = (f for f in tvm_api.module_from_script(PROGRAM).functions.values() if isinstance(f, tirx.PrimFunc))
    nothing = (s_tir.SBlock, lambda block: tirx.Evaluate(tirx.IntImm("int32", 0)))
    with pytest.raises(TypeError):
        structural.structural_map(function, nothing)


def met(structural_map: Callable[..., Any], function: tvm_api.BaseFunc, order: str) -> list[int]:
    """The addresses of the nodes that a map calls back for."""
    from tvm import relax, tirx

    found: list[int] = []
    kinds = (tirx.BufferStore, tvm_api.Call, tvm_api.TensorLoad, tirx.For, relax.VarBinding)
    assert structural_map(function, (kinds, lambda n: (found.append(n.__chandle__()), n)[1]), order=order) is not None
    return found


@needs("tvm_ffi.structural_map")
def test_the_stand_in_replaces_as_tvm_does() -> None:
    import tvm_ffi
    from tvm import tirx

    doubled = (tirx.BufferStore, lambda s: tirx.BufferStore(s.buffer, s.value + s.value, list(s.indices)))
    wider = (tirx.IntImm, lambda n: tirx.IntImm("int64", 5) if n.value == 3 and str(n.ty) == "T.int64" else n)
    for function in tvm_api.module_from_script(PROGRAM).functions.values():
        for change in (doubled, wider):
            ours, theirs = (one(function, change) for one in (structural.structural_map, tvm_ffi.structural_map))
            assert tvm_ffi.structural_equal(ours, theirs)


PROGRAM = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def twice(a: T.Buffer((2, 3), "float32"), b: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(2, 3):
            with T.sblock("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                b[vi, vj] = a[vi, vj] * T.float32(2) + T.exp(a[vi, 2 - vj])

    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        cls = Module
        y = R.call_tir(cls.twice, (x,), out_ty=R.Tensor((2, 3), "float32"))
        return R.add(y, x)
"""


def test_the_page_of_the_next_release_names_files_that_exist() -> None:
    page = (ROOT / "docs" / "new-tvm.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:generators|oracles|fuzzer|tests|docs)/[\w/]+\.(?:py|md))`", page)
    assert len(named) > 4
    assert [name for name in named if not (ROOT / name).is_file()] == []
    assert before_0_27.ROWS

"""Scripts and JSON of modules that come back, and what is said of those that do not."""

from __future__ import annotations

from typing import Any

import pytest
import tvm
from tvm import relax, tirx

from oracles.checks import round_trip
from oracles.evidence import NotReadBack
from oracles.verdict import Failed
from tests.oracles.modules import CLEAN, DATAFLOW, PRIM_FUNC
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, step_of


@pytest.mark.parametrize("name", ["dataflow", "local function", "prim_func"])
def test_scripts_and_json_of_ordinary_modules_come_back(name: str) -> None:
    module = module_of(CLEAN[name])
    assert round_trip.script_loss(module) is None
    assert round_trip.json_loss(module) is None


@pytest.mark.parametrize("noted", [False, True])
def test_functions_that_share_what_they_are_made_of_come_back(noted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    function = module_of(PRIM_FUNC)["inc"].without_attr("global_symbol")
    twin = function.with_attr("kind", "twin") if noted else function
    module = tvm.IRModule({"one": function, "two": twin})
    assert round_trip.script_loss(module) is None
    other = twin.with_body(tirx.SeqStmt([tirx.Evaluate(tirx.const(7, "int32")), twin.body]))
    monkeypatch.setattr(round_trip.T, "module_from_script", lambda _: tvm.IRModule({"one": function, "two": other}))
    assert round_trip.script_loss(module) is not None


def test_a_module_whose_script_does_not_parse_is_the_printers_fault() -> None:
    bench = RealBench()

    def odd_name(module: Any) -> Any:
        main = module["main"].with_attr("global_symbol", "not a name")
        functions = {relax.GlobalVar("not a name"): main}
        return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)

    verdict = round_trip.judge(step_of(module_pass(odd_name), module_of(DATAFLOW), bench), bench)
    assert isinstance(verdict, Failed)
    assert (verdict.culprit, verdict.evidence) == (round_trip.PRINTER, NotReadBack("script", ""))


def test_a_script_that_is_another_module_is_told_by_what_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(one: Any, other: Any) -> str:
        def module(value: Any) -> Any:
            return tvm.IRModule({"main": tirx.PrimFunc([], tirx.Evaluate(value))})

        monkeypatch.setattr(round_trip.T, "module_from_script", lambda _text: module(other))
        loss = round_trip.script_loss(module(one))
        assert loss is not None and loss.evidence is None
        return loss.message.removeprefix("script parses to another module: ")

    x, y = tirx.const(7, "int64"), tirx.const(2, "int64")
    assert said(tirx.Mod(x, y), tirx.const(1, "int64")) == said(tirx.Max(x, y), x)
    assert said(tirx.Mod(x, y), tirx.FloorMod(x, y)) == "Mod comes back as FloorMod"
    a, b = (tirx.Var(name, "int64") for name in "ab")
    assert said(tirx.Add(a, y), a) == said(tirx.Max(x, y), x) != said(tirx.Add(a, y), b)
    assert said(tirx.Mod(x, y), tirx.Mod(y, y)) == "IntImm in Mod comes back with another value"


def test_a_parser_that_gives_no_reason_is_told_by_the_statement_it_stops_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(line: str) -> str:
        text = f"error: \n --> <str>:6:9\n   |  \n 6 |          {line}\n   |          ^^^^\n"

        def raises(_text: str) -> Any:
            raise tvm.error.DiagnosticError(text)

        monkeypatch.setattr(round_trip.T, "module_from_script", raises)
        loss = round_trip.script_loss(module_of(DATAFLOW))
        assert loss is not None and loss.evidence is not None and loss.evidence.form == "script"
        statement = loss.evidence.statement
        quoted = f" at `{statement}`" if statement else ""
        assert loss.message == f"script does not parse: no reason is given{quoted}"
        return statement or ""

    assert stops("a: R.Tuple = b") == "_: R.Tuple = b"
    assert stops("lv1: R.Tuple") == stops("a: R.Tuple") == "_: R.Tuple"
    assert stops("with R.dataflow():") == ""

"""What a repro script is made of: its imports, and how short it is."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax

from corpus.scripts.repro import repro_text
from corpus.scripts.repro_imports import needs_late_annotations
from generators import tvm_api
from generators.case import ModuleText
from oracles.checks.effects import effects_at_most, effects_surely
from tests.corpus.test_repro import ADD, stored
from tests.oracles.oracle_bench import module_of

ROOT = Path(__file__).resolve().parents[2]


def test_only_tvm_and_numpy_are_imported() -> None:
    text = repro_text(stored("numeric", "ToNonDataflow", None))
    lines = [line for line in text.splitlines() if line.strip().startswith(("import ", "from "))]
    imports = [line.split()[1].split(".")[0].rstrip(",") for line in lines]
    assert set(imports) <= {"mmap", "os", "signal", "sys", "typing", "numpy", "tvm", "__future__"}


SHORT = {"purity": 27, "definedness": 31, "well_formed": 27, "survives": 38, "input_unchanged": 22, "numeric": 43}
"""Lines of a script besides its module (what is found comes back small)."""


@pytest.mark.parametrize("oracle", list(SHORT))
def test_the_frame_is_short(oracle: str) -> None:
    text = repro_text(stored(oracle, "ToNonDataflow", None))
    assert len(text.splitlines()) - len(ADD.strip().splitlines()) <= SHORT[oracle]
    assert max(len(line) for line in text.splitlines()) <= 120


INSIDE = """
@I.ir_module
class Module:
    @R.function(private=True, pure=False)
    def says(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        _ = R.print(x, format="{}")
        return x

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        a: R.Tensor((2,), "float32") = cls.says(x)
        b: R.Tensor((2,), "float32") = cls.says(a)
        return b
"""
ONE_CALL = INSIDE.replace("cls.says(a)", "R.add(a, a)")
INLINED = ONE_CALL.replace("        cls = Module", "        cls = Module\n        _1 = R.print(x, format='{}')")


@pytest.mark.parametrize("after, lost", [(INSIDE, False), (ONE_CALL, True), (INLINED, False)])
def test_the_script_of_effects_counts_as_the_oracle_does(after: str, lost: bool) -> None:
    """Prints of a call, not calls of print in the module: of two calls that print, one may go."""
    text = (ROOT / "oracles" / "scripts" / "effects.py.j2").read_text(encoding="utf-8")
    modules = module_of(INSIDE), module_of(after)
    assert (effects_surely(modules[0], "main").prints > effects_at_most(modules[1], "main").prints) is lost
    known = {"before": modules[0], "after": modules[1], "np": np, "relax": relax, "tvm": tvm}
    with pytest.raises(AssertionError, match="main prints 2 times, now 1") if lost else nullcontext():
        exec(text[text.index("def effects") :], known)


LOCAL = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        @R.function(pure=False)
        def inner(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            _ = R.print(y, format="{}")
            z: R.Tensor((2,), "float32") = R.add(y, y)
            return z

        a: R.Tensor((2,), "float32") = R.multiply(x, x)
        b: R.Tensor((2,), "float32") = R.add(a, a)
        return b
"""


@pytest.mark.parametrize("broken", [False, True])
def test_the_script_of_definedness_is_not_stopped_by_impure_local_functions(broken: bool) -> None:
    """TVM's verifier stops at the first thing that is wrong."""
    base = stored("definedness", "ToNonDataflow", None)
    script = repro_text(replace(base, case=replace(base.case, module=ModuleText(LOCAL))))
    assert script.count("import tvm_ffi") == 1
    assert script.index("tvm_ffi.structural_map") < script.index("status = 1"), "an older TVM has none"
    check = script[script.index("for name, function in after") : script.rindex("print(")]
    after = _marked_pure(module_of(LOCAL), broken)
    names = {"relax": relax, "after": after, "everywhere": tvm_ffi.structural_map}
    with pytest.raises(AssertionError, match="is not defined") if broken else nullcontext():
        exec(check, names)


def _marked_pure(module: Any, broken: bool) -> Any:
    """All functions marked as pure, as lowering leaves them; broken: the last value reads one of the inner function."""
    main = module["main"]
    inside, first, last = main.body.blocks[0].bindings
    of_inside = inside.value.body.blocks[0].bindings[-1].var
    value = relax.op.add(of_inside, of_inside)
    tvm_api.set_type(value, last.var.ty)
    block = relax.BindingBlock([inside, first, relax.VarBinding(last.var, value if broken else last.value)])
    body = relax.SeqExpr([block], last.var)
    tvm_api.set_type(body, last.var.ty)
    function = relax.Function(main.params, body, main.ret_ty, False, main.attrs)
    pure = lambda one: relax.Function(one.params, one.body, one.ret_ty, True, one.attrs)  # noqa: E731
    function = tvm_ffi.structural_map(function, [(relax.Function, pure)])
    return tvm.IRModule({relax.GlobalVar("main"): function})


def test_annotations_that_name_a_later_parameter_are_evaluated_late() -> None:
    early = (
        '@T.prim_func(s_tir=True)\ndef f(A: T.Buffer(("m", 4), "float32"), m: T.int64):\n    A[0, 0] = T.float32(1)\n'
    )
    assert needs_late_annotations(early)
    assert not needs_late_annotations(early.replace('"m"', "8"))


def test_a_module_that_is_kept_as_json_need_be_no_python() -> None:
    base = stored("definedness", "ToNonDataflow", None)
    odd = ModuleText("@I.ir_module\nclass Module:\n    def a-b(x):\n        return x\n", json="{}")
    assert "load_json" in repro_text(replace(base, case=replace(base.case, module=odd)))

"""What TVM's printer loses is said in the script, which then parses back to the same module; else there is JSON."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.script import relax as R

from corpus import script_losses
from corpus.module_text import live_module, text_of
from corpus.repro import repro_text
from corpus.store import StoredCase, read_case, write_case
from generators import tvm_api as T
from generators.case import Case, ModuleText, PassCall
from generators.tvm_api import IRModule
from tests.oracles.oracle_bench import module_of

pytestmark = pytest.mark.warm

IF = """
@I.ir_module
class Module:
    @R.function
    def main(w: R.Tensor((), "bool"), x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        if w:
            a = x
        else:
            a = y
        return a
"""
SCALAR = """
@I.ir_module
class Module:
    @R.function
    def main(n: R.Prim("int64")) -> R.Tuple(R.Prim("int64")):
        return (n,)
"""
PRIM = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def prim(A: T.Buffer((4,), "int32")):
        A[0] = VALUE
"""


def wider_if() -> IRModule:
    """The variable of the `if` has a wider type than the `if`, which cannot be written."""
    module = module_of(IF)
    wide = R.Tensor(dtype="float32", ndim=1)
    module["main"] = script_losses._helper()(module["main"], a=wide)
    return module


def twins() -> IRModule:
    """Two functions with the same variables as parameters."""
    module = module_of(PRIM.replace("VALUE", "1"))
    return tvm.IRModule({"prim": module["prim"], "twin": module["prim"]})


def folded(source: str) -> Callable[[], IRModule]:
    return lambda: module_of(PRIM.replace("VALUE", source))


def scalar_in_a_tuple() -> IRModule:
    return module_of(SCALAR)


LOSSES: dict[str, tuple[Callable[[], IRModule], str]] = {
    "type of an if": (wider_if, 'retyped(Module["main"], a=R.Tensor(dtype="float32", ndim=1))'),
    "shared parameters": (twins, 'Module["twin"] = Module["prim"]'),
    "folded min": (folded("T.Min(1, 2)"), "T.Min(1, 2)"),
    "folded max": (folded("T.Max(1, 2)"), "T.Max(1, 2)"),
    "folded truncmod": (folded("T.Mod(5, 3)"), "T.Mod(5, 3)"),
    "scalar in a tuple": (scalar_in_a_tuple, 'R.Prim("int64")'),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_said_in_the_script(name: str) -> None:
    make, said = LOSSES[name]
    module = make()
    assert not T.structural_equal(module, plain(module)), "the printer loses nothing here"
    text = text_of(module)
    assert text.json is None
    assert said in text.script
    assert T.structural_equal(live_module(text), module)


def plain(module: IRModule) -> IRModule | None:
    """What TVM's own script of the module parses to; None where it does not."""
    try:
        return live_module(ModuleText(T.script_of(module)))
    except tvm.error.DiagnosticError:
        return None


def test_what_cannot_be_said_is_kept_as_json() -> None:
    module = sharing()
    text = text_of(module)
    assert text.json is not None
    assert T.structural_equal(live_module(text), module)


def sharing() -> IRModule:
    """Two different functions with the same variables as parameters."""
    module = module_of(PRIM.replace("VALUE", "1"))
    twin = module["prim"].with_attr("tirx.noalias", True)
    return tvm.IRModule({"prim": module["prim"], "twin": twin})


def stored(module: IRModule) -> StoredCase:
    case = Case(text_of(module), (PassCall("CanonicalizeBindings", "relax.transform.CanonicalizeBindings()"),))
    return StoredCase(case, "a title", "well_formed", "ill-formed", "CanonicalizeBindings")


@pytest.mark.parametrize("make", [wider_if, twins, sharing])
def test_a_repro_has_no_blob_and_runs(make: Callable[[], IRModule], tmp_path: Path) -> None:
    case = stored(make())
    script = repro_text(case)
    assert max(len(line) for line in script.splitlines()) < 200
    write_case(tmp_path / "case", case, script, "")
    assert (tmp_path / "case" / "module.json").exists() == (case.case.module.json is not None)
    assert T.structural_equal(live_module(read_case(tmp_path / "case").case.module), live_module(case.case.module))
    command = [sys.executable, str(tmp_path / "case" / "repro.py")]
    ended = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
    assert (ended.returncode, ended.stdout) == (0, "the bug is gone\n"), ended.stderr


def test_a_single_file_holds_the_json_itself() -> None:
    case = stored(sharing())
    assert "module.json" in repro_text(case)
    assert "module.json" not in repro_text(case, embed_arrays=True)


@pytest.mark.parametrize(
    "line",
    [
        'Module["main"] = print(1)',
        'Module["main"] = retyped(Module["main"], a=print(1))',
        'Module["main"] = retyped(Module["main"], a=R.Tensor(exit()))',
        'Module[exit()] = Module["main"]',
    ],
)
def test_no_other_line_is_run(line: str) -> None:
    text = ModuleText(f"{IF.strip()}\n\n{line}\n")
    with pytest.raises(ValueError, match="not a"):
        live_module(text)


def test_constants_and_lines_stand_together() -> None:
    module = wider_if()
    builder = relax.BlockBuilder()
    with builder.function("other", []):
        builder.emit_func_output(builder.emit(relax.op.negative(T.constant(np.array([1, 2], "float32"), "float32"))))
    module["other"] = builder.get()["other"]
    text = text_of(module)
    assert text.json is None
    assert "np.array([1.0, 2.0]" in text.script
    assert T.structural_equal(live_module(text), module)

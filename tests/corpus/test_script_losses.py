"""What TVM's printer loses is said in the script, which then parses back to the same module; else there is JSON."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tvm
from tvm import relax, tirx
from tvm.script import relax as R

from corpus.scripts import rewrites, script_losses
from corpus.scripts.module_text import live_module, text_of
from corpus.scripts.repro import json_beside, repro_text
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
CALLBACK = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(f: R.Callable((R.Prim("int64"),), R.Any, True)) -> R.Any:
        @R.function(pure=False)
        def inner() -> R.Any:
            b: R.Any = f(T.int64(3))
            return b
        a: R.Any = f(T.int64(2))
        return a
"""
SYMBOLIC = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def prim(a: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        for i in range(n):
            with T.sblock("one"):
                v_i = T.axis.spatial(EXTENT, i)
                A[v_i] = T.float32(1)
"""
WIDE = PRIM.replace("int32", "float64").replace("VALUE", 'T.FloatImm("float64", -1e300)')
COPY = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def prim(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("copy"):
                v_i = T.axis.spatial(4, i)
                B[v_i] = A[v_i]
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y = R.call_tir(cls.prim, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
"""

OF_RELAX = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((), "float32"), y: R.Tensor((), "int32"), s: R.Shape(iter([]))) -> R.Tensor((), "float32"):
        a: R.Tensor((), "float32") = VALUE
        return a
"""
EMPTY_TUPLE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((), "float32")) -> R.Tensor((), "float32"):
        with R.dataflow():
            a = R.tuple()
            R.output(a)
        return x
"""
CALL = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def callee(n: T.int32):
        T.evaluate(n)

    @T.prim_func(s_tir=True)
    def prim(A: T.Buffer((4,), "int32")):
        tvm.ir.Call(Module.callee, [A[0]], ret_ty="void")
"""


def wider_if() -> IRModule:
    """The variable of the `if` has a wider type than the `if`, which cannot be written."""
    module = module_of(IF)
    wide = R.Tensor(dtype="float32", ndim=1)
    module["main"] = script_losses._helper("retyped")(module["main"], a=wide)
    return module


def twins() -> IRModule:
    """Two functions with the same variables as parameters."""
    module = module_of(PRIM.replace("VALUE", "1"))
    return tvm.IRModule({"prim": module["prim"], "twin": module["prim"]})


def folded(source: str) -> Callable[[], IRModule]:
    return lambda: module_of(PRIM.replace("VALUE", source))


def of_relax(value: str) -> Callable[[], IRModule]:
    return lambda: module_of(OF_RELAX.replace("VALUE", value))


def scalar_in_a_tuple() -> IRModule:
    return module_of(SCALAR)


def called_with_int64() -> IRModule:
    return module_of(CALLBACK)


def wide_float() -> IRModule:
    return module_of(WIDE)


def allocated() -> IRModule:
    passes = [relax.transform.RemovePurityChecking(), relax.transform.CallTIRRewrite()]
    module: IRModule = tvm.transform.Sequential(passes)(module_of(COPY))
    return module


def laid_out() -> IRModule:
    """A PrimFunc whose buffer has a layout, as TVM's Python code makes them."""
    buffer = tirx.decl_buffer((4,), "float32", "A")
    store = tirx.BufferStore(buffer, tirx.const(1.0, "float32"), [0])
    return tvm.IRModule({"prim": tirx.PrimFunc([buffer], store).with_attr("s_tir", True)})


def ranged() -> IRModule:
    """A PrimFunc with ranges as Python code often makes them."""
    module = module_of(SYMBOLIC.replace("EXTENT", "n"))
    module["prim"] = script_losses._helper("ranged")(module["prim"], "int32")
    return module


def axis_from_int32() -> IRModule:
    return module_of(SYMBOLIC.replace("EXTENT", "(0, n)"))


def same_name() -> IRModule:
    """Two variables of one name, of which one has a type that the script does not say."""
    module = wider_if()
    x, a = module["main"].params[1], tvm.relax.Var("a", R.Tensor((2,), "float32").as_ty())
    blocks = [relax.BindingBlock([relax.VarBinding(a, relax.op.negative(x))]), *module["main"].body.blocks]
    body = relax.BlockBuilder().normalize(relax.SeqExpr(blocks, module["main"].body.body))
    return tvm.IRModule({"main": relax.Function(module["main"].params, body, module["main"].ret_ty)})


LOSSES: dict[str, tuple[Callable[[], IRModule], str]] = {
    "type of an if": (wider_if, 'retyped(Module["main"], a=R.Tensor(dtype="float32", ndim=1))'),
    "type of one of two": (same_name, 'retyped(Module["main"], a_1=R.Tensor(dtype="float32", ndim=1))'),
    "layout": (laid_out, 'Module["prim"] = laid_out(Module["prim"], "A")'),
    "ranges": (ranged, 'Module["prim"] = ranged(Module["prim"], "int32")'),
    "begin of an axis": (axis_from_int32, "T.axis.spatial((0, n), i)"),
    "shared parameters": (twins, 'Module["twin"] = Module["prim"]'),
    "folded min": (folded("T.Min(1, 2)"), "T.Min(1, 2)"),
    "folded max": (folded("T.Max(1, 2)"), "T.Max(1, 2)"),
    "folded truncmod": (folded("T.Mod(5, 3)"), "T.Mod(5, 3)"),
    "scalar in a tuple": (scalar_in_a_tuple, 'R.Prim("int64")'),
    "number in a call": (called_with_int64, "f(T.int64(2))"),
    "number in an inner function": (called_with_int64, "f(T.int64(3))"),
    "float beyond float32": (wide_float, 'T.FloatImm("float64", -1e+300)'),
    "mode of a take": (
        of_relax('tvm.ir.Call("relax.grad.take_backward", [x, x, y], R.take(x, y, mode="").attrs)'),
        'R.take(x, y, axis=None, mode="").attrs)',
    ),
    "constant that is no number": (of_relax('R.add(x, R.const(float("nan"), "float32"))'), 'float("nan")'),
    "negative number": (of_relax('R.take(R.expand_dims(x, 0), T.int64(-1), mode="fast")'), "T.int64(-1)"),
    "shape of rank 0": (of_relax("R.reshape(x, s)"), "s: R.Shape(iter([]))"),
    "call without a result": (lambda: module_of(CALL), 'tvm.ir.Call(Module.callee, [A[0]], ret_ty="void")'),
    "pointer to anything": (
        folded('1\n        T.evaluate(T.call_intrin("handle", "tirx.tvm_access_ptr", T.int32(1), A.data, 0, 1, 1))'),
        'T.call_intrin("handle", "tirx.tvm_access_ptr", ',
    ),
    "empty tuple of a block": (lambda: module_of(EMPTY_TUPLE), "a = R.tuple()"),
    "types of an allocation": (allocated, 'tvm.ir.Op.get("relax.builtin.alloc_tensor"), ['),
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


def test_a_name_that_python_has_not_is_kept_as_json() -> None:
    module = module_of(PRIM.replace("VALUE", "1"))
    assert text_of(tvm.IRModule({"not a name": module["prim"]})).json is not None


def sharing() -> IRModule:
    """Two different functions with the same variables as parameters."""
    module = module_of(PRIM.replace("VALUE", "1"))
    twin = module["prim"].with_attr("tirx.noalias", True)
    return tvm.IRModule({"prim": module["prim"], "twin": twin})


def stored(module: IRModule) -> StoredCase:
    case = Case(text_of(module), (PassCall("CanonicalizeBindings", "relax.transform.CanonicalizeBindings()"),))
    return StoredCase(case, "a title", "well_formed", "ill-formed", "CanonicalizeBindings")


@pytest.mark.parametrize("make", [wider_if, twins, allocated, laid_out, sharing])
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


def test_a_script_of_its_own_reads_the_json_of_its_name(tmp_path: Path) -> None:
    case = stored(sharing())
    script = tmp_path / "mine.py"
    script.write_text(repro_text(case, single=True))
    json_beside(script).write_text(case.case.module.json or "")
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd="/", check=False)
    assert (ended.returncode, ended.stdout) == (0, "the bug is gone\n"), ended.stderr


@pytest.mark.parametrize(
    "line",
    [
        'Module["main"] = print(1)',
        'Module["main"] = retyped(Module["main"], a=print(1))',
        'Module["main"] = retyped(Module["main"], a=R.Tensor(exit()))',
        'Module["main"] = laid_out(Module["main"], exit())',
        'Module["main"] = exit(Module["main"])',
        'Module[exit()] = Module["main"]',
    ],
)
def test_no_other_line_is_run(line: str) -> None:
    text = ModuleText(f"{IF.strip()}\n\n{line}\n")
    with pytest.raises(ValueError, match="not a|malformed"):
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


@pytest.mark.parametrize("number", ["", "x", '"inf"', "1, 2", "-x", "1e300"])
def test_every_script_is_read_whatever_its_calls_are_given(number: str) -> None:
    script = f"y = T.float64({number})\nz = T.axis.spatial({number})\n"
    wide = script.replace("T.float64(1e300)", 'T.FloatImm("float64", 1e+300)')
    assert rewrites.readable(script) == wide
    assert all(ast.parse(one) for one in rewrites.scripts(script))

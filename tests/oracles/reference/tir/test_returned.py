"""Numbers that PrimFuncs return, at every level, in TIR alone and after a Relax call."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import tirx
from tvm.script import tirx as T

from corpus.scripts.module_text import live_module
from generators import tvm_api
from generators.case import EntryCall, ModuleText
from generators.passes.table import PASSES, PIPELINES, TIR_PIPELINE
from oracles.reference.numbers import Numbers
from oracles.reference.outcome import Wrong
from oracles.reference.tir import Trap, Unsupported, run_prim_func
from tests.oracles.reference.test_vm_builtins import CHOICE

TARGET = tvm.target.Target({"kind": "llvm", "opt-level": 0})


@T.prim_func
def twice(n: T.int64) -> T.int64:
    return n * T.int64(2)


@T.prim_func
def narrow(n: T.int32) -> T.int32:
    return n - 7


@T.prim_func
def above_two(n: T.int64) -> T.bool:
    return n > T.int64(2)


@T.prim_func
def stored_too(A: T.Buffer((4,), "float32"), x: T.float32) -> T.float32:
    A[1] = x
    return A[0] + A[1] * T.float32(2)


@T.prim_func
def sometimes(A: T.Buffer((4,), "float32")) -> T.int64:
    if A[0] > T.float32(2):
        return T.int64(1)
    return T.int64(0)


ARRAY = np.array([1.5, 0, 0, 0], np.float32)
CASES: dict[str, tuple[Any, list[Any], Any]] = {
    "int64": (twice, [5], 10),
    "int32": (narrow, [3], -4),
    "true": (above_two, [3], True),
    "false": (above_two, [2], False),
    "float": (stored_too, [ARRAY, 2.5], 6.5),
}


def steps(func: Any) -> list[tuple[str, Any]]:
    """The function as it is, and after each pass of the pipeline."""
    module = tvm.IRModule({"f": func.with_attr("global_symbol", "f")})
    found = [("", module)]
    for name in TIR_PIPELINE:
        with TARGET:
            module = eval(PASSES[name].sources[0], dict(tvm_api.PASS_NAMES))(module)
        found.append((name, module))
    return [(name, next(iter(module.functions.values()))) for name, module in found]


def called(func: Any, args: list[Any]) -> Any:
    """What it returns."""
    return run_prim_func(func, [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args])


@pytest.mark.parametrize("name", CASES)
def test_every_step_of_the_pipeline_returns_the_same(name: str) -> None:
    func, args, expected = CASES[name]
    for step, lowered in steps(func):
        number = called(lowered, args)
        assert number == expected, step
        assert type(number) is type(expected), step


@pytest.mark.parametrize("name", CASES)
def test_the_llvm_build_returns_the_same(name: str) -> None:
    func, args, expected = CASES[name]
    built = tvm.compile(tvm.IRModule({"f": func.with_attr("global_symbol", "f")}), target=TARGET)
    assert built["f"](*[tvm.runtime.tensor(arg) if isinstance(arg, np.ndarray) else arg for arg in args]) == expected


def test_a_function_that_returns_nothing_gives_none() -> None:
    assert called(tirx.PrimFunc([], tirx.Evaluate(0)), []) is None


def test_a_wrong_type_index_traps() -> None:
    """Fault: the result is said to be a float, and is an integer."""

    def other_type(call: Any) -> Any:
        if str(getattr(call.op, "name", "")) == "tirx.tvm_struct_set" and int(call.args[2]) == 13:
            return tirx.call_intrin("int32", "tirx.tvm_struct_set", *list(call.args)[:3], tirx.const(3, "int32"))
        return call

    _, packed = steps(twice)[TIR_PIPELINE.index("tirx.MakePackedAPI") + 1]
    with pytest.raises(Trap) as caught:
        called(tvm_ffi.structural_map(packed, [(tvm_api.Call, other_type)]), [5])
    assert caught.value.kind == "type"


def test_a_return_in_a_branch_is_unsupported_by_name() -> None:
    with pytest.raises(Unsupported, match=r"tirx\.Return\[nested\]"):
        called(sometimes, [ARRAY])


def lowered_choice() -> tuple[Any, Any]:
    """A condition that a PrimFunc computes: as it is, and with its PrimFuncs after the whole TIR pipeline."""
    start = live_module(ModuleText(CHOICE))
    module = start
    for name in (*PIPELINES["llvm"], *TIR_PIPELINE):
        with TARGET:
            module = eval(PASSES[name].sources[0], dict(tvm_api.PASS_NAMES))(module)
    return start, module


@pytest.mark.parametrize("extent", [3, 4])
def test_relax_takes_the_number_of_a_packed_function(extent: int) -> None:
    start, module = lowered_choice()
    numbers = Numbers(start, [EntryCall("main", (np.full((extent, 4), 3, np.float32),))])
    assert numbers.judge_module(module) is None
    (result,) = numbers.expected
    assert (result.value == (6 if extent > 3 else 9)).all()


def test_a_wrong_number_of_a_packed_function_is_seen() -> None:
    """Fault: the other branch is asked for."""
    start, module = lowered_choice()
    (name,) = [g for g in module.functions if "compute" in g.name_hint]

    def turned(cast: Any) -> Any:
        return tirx.const(1, "int64") - cast if str(cast.value.ty.dtype) == "bool" else cast

    broken = module.clone()
    broken[name] = tvm_ffi.structural_map(module[name], [(tirx.Cast, turned)])
    numbers = Numbers(start, [EntryCall("main", (np.full((3, 4), 3, np.float32),))])
    verdict = numbers.judge_module(broken)
    assert isinstance(verdict, Wrong)

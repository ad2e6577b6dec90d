"""Packed functions whose result is used: before LowerTVMBuiltin and after it."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tvm
from tvm import tirx

from oracles.reference.tir import Unsupported, run_prim_func

A = tirx.decl_buffer((4,), "float32", "A")
ECHO = "testing.echo"


def packed(ty: Any, name: str, *args: Any) -> Any:
    return tirx.call_intrin(ty, tvm.ir.Op.get("tirx.tvm_call_packed"), name, *args)


def storing(name: str, number: Any) -> Any:
    """A[0] = name(number), A[1] = (what name makes of A)[3], as a function for the CPU."""
    view = tirx.decl_buffer((4,), "float32", "view")
    pointer = tirx.Var("pointer", A.data.ty)
    body = tirx.SeqStmt(
        [
            tirx.BufferStore(A, packed("float32", name, number), [0]),
            tirx.Bind(pointer, packed(A.data.ty, name, A.data)),
            tirx.DeclBuffer(view, data=pointer),
            tirx.BufferStore(A, tirx.BufferLoad(view, [3]), [1]),
        ]
    )
    func = tirx.PrimFunc([A], body)
    return func.with_attr("global_symbol", "main").with_attr("target", tvm.target.Target("llvm"))


def lowered(func: Any) -> Any:
    return tirx.transform.LowerTVMBuiltin()(tvm.IRModule({"main": func}))["main"]


@pytest.mark.parametrize("form", [lambda func: func, lowered])
def test_echo_gives_back_its_argument(form: Any) -> None:
    out = np.array([1, 2, 3, 4], np.float32)
    run_prim_func(form(storing(ECHO, tirx.BufferLoad(A, [2]) + tirx.const(0.25, "float32"))), [out])
    assert out.tolist() == [3.25, 4, 3, 4]


@pytest.mark.parametrize("form", [lambda func: func, lowered])
def test_others_are_unsupported_by_name(form: Any) -> None:
    with pytest.raises(Unsupported, match="call_packed testing.nop"):
        run_prim_func(form(storing("testing.nop", tirx.const(1, "float32"))), [np.zeros(4, np.float32)])


@pytest.mark.parametrize("form", [lambda func: func, lowered])
def test_echo_takes_more_arguments_and_gives_back_the_first(form: Any) -> None:
    first, second = (tirx.const(value, "float32") for value in (1.5, 2.5))
    body = tirx.SeqStmt(
        [
            tirx.Evaluate(packed("int32", ECHO, first, second, first)),
            tirx.BufferStore(A, packed("float32", ECHO, first, second), [0]),
        ]
    )
    func = tirx.PrimFunc([A], body).with_attr("global_symbol", "main").with_attr("target", tvm.target.Target("llvm"))
    out = np.zeros(4, np.float32)
    run_prim_func(form(func), [out])
    assert out.tolist() == [1.5, 0, 0, 0]


def test_an_argument_of_an_unknown_float_is_unsupported() -> None:
    buffer = tirx.decl_buffer((4,), "float8_e3m4", "B")
    func = tirx.PrimFunc([buffer], tirx.Evaluate(tirx.BufferLoad(buffer, [0])))
    func = func.with_attr("global_symbol", "main").with_attr("target", tvm.target.Target("llvm", host="llvm"))
    packed_form = tirx.transform.MakePackedAPI()(tvm.IRModule({"main": func}))["main"]
    with pytest.raises(Unsupported, match="dtype float8_e3m4"):
        run_prim_func(packed_form, [np.zeros(4, ml_dtypes.float8_e3m4)])


def traced(action: str) -> Any:
    op = tvm.ir.Op.get("tirx.tvm_call_trace_packed")
    value = tirx.call_intrin("float32", op, action, tirx.BufferLoad(A, [1]), tirx.BufferLoad(A, [2]))
    func = tirx.PrimFunc([A], tirx.BufferStore(A, value, [0]))
    return func.with_attr("global_symbol", "main").with_attr("target", tvm.target.Target("llvm"))


@pytest.mark.parametrize("form", [lambda func: func, lowered])
def test_a_trace_gives_what_is_traced(form: Any) -> None:
    out = np.array([1, 2, 3, 4], np.float32)
    run_prim_func(form(traced("tvm.default_trace_action")), [out])
    assert out.tolist() == [3, 2, 3, 4]


@pytest.mark.parametrize("form", [lambda func: func, lowered])
def test_an_action_of_the_process_alone_may_give_another_value(form: Any) -> None:
    with pytest.raises(Unsupported, match="call_packed mine") as raised:
        run_prim_func(form(traced("mine")), [np.zeros(4, np.float32)])
    assert raised.value.stop.outside


def test_a_number_of_another_kind_is_unsupported() -> None:
    with pytest.raises(Unsupported, match=ECHO):
        run_prim_func(storing(ECHO, tirx.const(1, "int32")), [np.zeros(4, np.float32)])


def test_a_string_is_passed_and_nothing_happens() -> None:
    for form in (lambda func: func, lowered):
        text = tirx.PrimFunc([A], tirx.Evaluate(packed("int32", ECHO, "payload")))
        func = text.with_attr("global_symbol", "main").with_attr("target", tvm.target.Target("llvm"))
        out = np.ones(4, np.float32)
        run_prim_func(form(func), [out])
        assert out.tolist() == [1, 1, 1, 1]


def test_where_code_is_to_run_changes_no_value() -> None:
    there = tirx.AttrStmt(tvm.target.Target("cuda"), "target", 0, tirx.BufferStore(A, tirx.const(7, "float32"), [1]))
    out = np.zeros(4, np.float32)
    run_prim_func(tirx.PrimFunc([A], there), [out])
    assert out.tolist() == [0, 7, 0, 0]

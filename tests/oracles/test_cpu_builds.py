"""Other builds for a CPU: clean modules agree under every row, and what is planted in a build is seen under its row."""

from __future__ import annotations

import math
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax
from tvm.target import codegen

from generators.case import EntryCall
from generators.passes.row import Phase
from generators.passes.table import PIPELINES, default_call
from generators.source import SeededSource
from oracles.builds import cpu_trial
from oracles.builds.cpu_builds import (
    CPU_BUILDS,
    GROUPS,
    NO_CROSS,
    NO_ROW,
    WITHOUT_NOALIAS,
    CpuBuild,
    expanded,
    no_compiler,
    only_builds,
)
from oracles.builds.room import NO_ROOM
from oracles.forked import ChildRaised
from oracles.reference.numbers import Numbers
from oracles.trace import Position
from oracles.verdict import CODEGEN, Failed, Passed, Skipped, Verdict
from oracles.workbench import Workbench
from tests.oracles.oracle_bench import module_of
from tests.patience import HANGS_S

CLEAN = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor((4, 4), "float32"), c: R.Tensor((), "bool")):
        n = T.int64()
        cls = Module
        h = R.nn.softmax(R.matmul(x, y), axis=1)
        if c:
            r = R.add(h, x)
        else:
            r = R.multiply(R.const([1.0, 2.0, 4.0, 8.0], "float32"), x)
        s = cls.sub(r)
        return (s, R.argmax(x, axis=1), R.shape([n, 4]), R.strided_slice(x, axes=[1], begin=[1], end=[3]))
    @R.function(private=True)
    def sub(a: R.Tensor(("m", 4), "float32")) -> R.Tensor(("m", 4), "float32"):
        return R.subtract(R.exp(a), R.sum(a, axis=[1], keepdims=True))
"""
SUBTRACTS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32"), y: R.Tensor((2, 4), "float32")):
        return R.subtract(x, y)
"""
CLEAN_CALLS = tuple(
    EntryCall("main", (np.arange(n * 4, dtype=np.float32).reshape(n, 4) / 8, np.eye(4, dtype=np.float32), np.array(c)))
    for n, c in ((2, True), (3, False))
)
X = np.arange(8, dtype=np.float32).reshape(2, 4)
CALLS = (EntryCall("main", (X, X[:, ::-1].copy())),)
WITH_COMPILER = ("build_exported", "build_c")
KINDS = ("build_o3", "build_compiled", "build_may_alias", "build_no_vectorize", "build_no_cse", *WITH_COMPILER)
"""A row of each way of building that runs here."""


def judged(row: CpuBuild, script: str = SUBTRACTS, calls: tuple[EntryCall, ...] = CALLS) -> Verdict:
    module = module_of(script)
    bench = Workbench(SeededSource(0), Numbers(module, calls))
    return cpu_trial.judge(row, Position.at(module), bench)


def row_or_skip(name: str) -> CpuBuild:
    if name in WITH_COMPILER and no_compiler() is not None:
        pytest.skip(str(no_compiler()))
    return CPU_BUILDS[name]


def plant(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    """Has every build begin with what `change` does to the module."""
    honest = relax.build
    monkeypatch.setattr(relax, "build", lambda module, *rest, **named: honest(change(module), *rest, **named))


# --- the table --------------------------------------------------------------------------------------------


def test_every_option_is_set_by_a_row_or_left_out_with_a_reason() -> None:
    known = set(tvm.transform.PassContext.list_configs())
    options = "".join(row.options for row in CPU_BUILDS.values())
    set_here = {name for name in known if f'"{name}"' in options}
    assert set_here | NO_ROW.keys() == known
    assert not set_here & NO_ROW.keys()


def test_every_machine_is_compiled_for_or_left_out_with_a_reason() -> None:
    triples = {row.target.partition('"mtriple": "')[2].partition("-")[0] for row in CPU_BUILDS.values()}
    named = {"arm64": "aarch64", "armv7l": "arm", "powerpc64le": "powerpc64le"}
    here = {named.get(triple, triple) for triple in triples if triple}
    assert here | NO_CROSS.keys() == set(map(str, codegen.llvm_get_targets()))


def test_groups_stand_for_their_rows() -> None:
    assert expanded(("numeric", "cross_builds")) == {"numeric"} | GROUPS["cross_builds"]
    assert frozenset().union(*GROUPS.values()) == CPU_BUILDS.keys()
    assert only_builds(GROUPS["cpu_builds"])
    assert not only_builds(frozenset({"build", "build_c"}))
    assert not only_builds(frozenset())


# --- clean modules ----------------------------------------------------------------------------------------


QUICK = {*[name for name, row in CPU_BUILDS.items() if row.runs][::2]} | {"cross_i386", "cross_wasm32", "cross_sve"}


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.deep) for n in CPU_BUILDS])
def test_a_clean_module_is_right_under_every_row(name: str) -> None:
    assert judged(row_or_skip(name), CLEAN, CLEAN_CALLS) == Passed()


def test_a_module_without_prim_funcs_has_no_object_code() -> None:
    text = SUBTRACTS.replace("R.subtract(x, y)", "R.shape([2, 3])")
    assert judged(CPU_BUILDS["cross_s390x"], text) == Passed()


def test_without_noalias_no_function_has_it() -> None:
    module = relax.get_pipeline("default_build")(module_of(SUBTRACTS))
    stripped = cpu_trial._last_pass(WITHOUT_NOALIAS)(module)
    having = [
        sum(isinstance(f, tvm.tirx.PrimFunc) and "tirx.noalias" in f.attrs for f in m.functions.values())
        for m in (module, stripped)
    ]
    assert having == [1, 0]


# --- planted ----------------------------------------------------------------------------------------------


def swapped(module: Any) -> Any:
    """Subtracts the other way round."""

    def of(function: Any) -> Any:
        def other(node: Any) -> Any:
            return tvm.tirx.Sub(node.b, node.a) if "float" in str(node.ty) else node

        return tvm_ffi.structural_map(function, [(tvm.tirx.Sub, other)])

    return tvm.tirx.transform.Apply(of)(module)


@pytest.mark.parametrize("name", KINDS)
def test_wrong_numbers_are_seen(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    row = row_or_skip(name)
    plant(monkeypatch, swapped)
    verdict = judged(row)
    assert isinstance(verdict, Failed)
    assert (verdict.symptom, verdict.culprit) == ("wrong result", CODEGEN)
    assert row.promise in verdict.detail


def test_a_pass_that_is_wrong_under_the_options_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = tvm.tirx.transform.UnrollLoop

    def wrong(module: Any, _context: Any) -> Any:
        given = "tirx.UnrollLoop" in tvm.transform.PassContext.current().config
        return honest()(swapped(module) if given else module)

    monkeypatch.setattr(tvm.tirx.transform, "UnrollLoop", lambda: tvm.transform.module_pass(wrong, opt_level=0))
    assert judged(CPU_BUILDS["build_o3"]) == Passed()
    verdict = judged(CPU_BUILDS["build_unrolled"])
    assert isinstance(verdict, Failed)
    assert (verdict.symptom, verdict.culprit) == ("wrong result", "tirx.UnrollLoop")


def refuses(_module: Any) -> Any:
    raise tvm.error.InternalError("Check failed: (planted)")


def states_a_limit(_module: Any) -> Any:
    raise tvm.error.InternalError("this code generator currently only supports other modules")


def misses_an_intrinsic(_module: Any) -> Any:
    raise tvm.error.InternalError('Unresolved call ir.Op(span=None, name="tirx.fabs", description="")')


def makes_wrong_code(_module: Any) -> Any:
    said = "Instruction does not dominate all uses!\n  %c19 = call ptr %80(i32 1)\n  %78 = call i32 %77(ptr %c19)"
    raise tvm.error.InternalError(f"LLVM module verification failed with the following errors: \n{said}")


def dies(_module: Any) -> Any:
    os.kill(os.getpid(), signal.SIGSEGV)


def says_why_and_aborts(_module: Any) -> Any:
    os.write(2, b"LLVM ERROR: Cannot select: 0x5581: v4f32 = fp_round 0x5582\n")
    os.abort()


@pytest.mark.parametrize(
    ("change", "symptom", "message"),
    [
        (refuses, "does not build", "InternalError: Check failed: (planted)"),
        (misses_an_intrinsic, "does not build", "InternalError: no code for the intrinsic tirx.fabs"),
        (
            makes_wrong_code,
            "does not build",
            "InternalError: LLVM module verification failed with the following errors: "
            "Instruction does not dominate all uses!",
        ),
        (dies, "crash", "SIGSEGV"),
        (says_why_and_aborts, "crash", "SIGABRT: Cannot select fp_round"),
    ],
)
@pytest.mark.parametrize("name", ["build_o3", "cross_wasm32"])
def test_a_build_that_fails_is_seen(
    monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Any], Any], symptom: str, message: str
) -> None:
    plant(monkeypatch, change)
    verdict = judged(CPU_BUILDS[name])
    assert isinstance(verdict, Failed)
    assert (verdict.symptom, verdict.message, verdict.culprit) == (symptom, message, CODEGEN)


def test_a_stated_limit_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, states_a_limit)
    assert judged(CPU_BUILDS["cross_wasm32"]) == Skipped("rejected: cross_wasm32: InternalError")


def computes(_module: Any) -> Any:
    while True:
        math.factorial(1000)


def computes_with_options(module: Any) -> Any:
    return computes(module) if tvm.transform.PassContext.current().config else module


def sleeps(_module: Any) -> Any:
    time.sleep(HANGS_S)


@pytest.mark.parametrize(
    ("name", "change", "wanted"),
    [
        ("build_unrolled", computes_with_options, Failed),
        pytest.param("build_unrolled", computes, Skipped, marks=pytest.mark.deep),
        pytest.param("build_o3", sleeps, Skipped, marks=pytest.mark.deep),
        pytest.param("build_c", computes, Skipped, marks=pytest.mark.deep),
    ],
    ids=["TVM", "a slow module", "a busy machine", "the C++ compiler"],
)
def test_a_build_without_an_end_is_ended(
    monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Any], Any], wanted: type[Verdict]
) -> None:
    plant(monkeypatch, change)
    monkeypatch.setattr(cpu_trial, "LIMIT_S", 1 if wanted is Failed else 4)
    # What computes has used this much of a very busy CPU by then; what sleeps has not used four seconds.
    monkeypatch.setattr(cpu_trial, "HANG_CPU_S", cpu_trial.LIMIT_S if change is sleeps else 0.05)
    monkeypatch.setattr(cpu_trial, "ORDINARY_S", HANGS_S)
    verdict = judged(row_or_skip(name))
    assert isinstance(verdict, wanted)
    assert not isinstance(verdict, Failed) or verdict.symptom == "hang"


@pytest.mark.parametrize(
    ("complaint", "wanted"),
    [
        ("error: ‘stack_2’ was not declared in this scope", "the C++ compiler: stack_2 was not declared in this scope"),
        ("error: ‘int32_t8’ was not declared", "the C++ compiler: a vector type was not declared"),
        ("error: ‘half’ was not declared in this scope", Skipped("build: C has no float16")),
        ("fatal error: tvm/ffi/c_api.h: No such file or directory", Skipped("build: the C++ compiler lacks a header")),
    ],
)
def test_c_that_the_compiler_refuses_is_seen(
    monkeypatch: pytest.MonkeyPatch, complaint: str, wanted: str | Skipped
) -> None:
    row = row_or_skip("build_c")

    def refused(*_given: Any, **_named: Any) -> None:
        raise RuntimeError(f"Compilation error:\nlib0.c:6:12: {complaint}\n  6 | x")

    monkeypatch.setattr(tvm.runtime.Module, "export_library", refused)
    verdict = judged(row)
    assert verdict == wanted or (isinstance(verdict, Failed) and verdict.message == wanted)


def test_what_a_compiler_says_names_no_folder_of_this_machine() -> None:
    own = f"/home/me/out/.scratch-a1/{cpu_trial.BUILT_IN}x7/lib0.c"
    headers = "/home/me/.venv/lib/python3/site-packages/tvm/include"
    said = f"{own}:83:103: error: expected\nCommand line: g++ -o {own} -I{headers}"
    assert cpu_trial.without_folders(said) == (
        "lib0.c:83:103: error: expected\nCommand line: g++ -o lib0.c -Isite-packages/tvm/include"
    )


def test_what_is_our_fault_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_trial, "_numbers", lambda *_given: 1 // 0)
    with pytest.raises(ChildRaised, match="ZeroDivisionError"):
        judged(CPU_BUILDS["build_o3"])


# --- what is left out -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WITH_COMPILER)
def test_nothing_is_loaded_without_a_compiler(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for variable in ("CXX", "CC"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    verdict = judged(CPU_BUILDS[name])
    assert isinstance(verdict, Skipped) and "no C++ compiler" in verdict.reason


@pytest.mark.parametrize("dtype", ["float16", "float8_e4m3fn"])
def test_c_has_no_small_floats(dtype: str) -> None:
    row = row_or_skip("build_c")
    module = module_of(SUBTRACTS.replace("float32", dtype))
    bench = Workbench(SeededSource(0), Numbers(module, ()))
    assert cpu_trial.judge(row, Position.at(module), bench) == Skipped(f"build: C has no {dtype}")


@pytest.mark.parametrize(("name", "whole"), [("build_o3", False), ("build_no_cse", True), ("cross_i386", True)])
def test_lowered_prim_funcs_are_built_where_nothing_lowers_them_in_another_way(name: str, whole: bool) -> None:
    module = module_of(SUBTRACTS)
    bench = Workbench(SeededSource(0), Numbers(module, CALLS))
    lowered = bench.apply_all([default_call(name) for name in (*PIPELINES["llvm"], "tirx.BindTarget")], module)
    verdict = cpu_trial.judge(CPU_BUILDS[name], Position.at(lowered, Phase.BOUND), bench)
    assert verdict == (
        Skipped("PrimFuncs have been lowered for the ordinary build already", applies=False) if whole else Passed()
    )


# --- the compiler -----------------------------------------------------------------------------------------


def test_a_compiler_that_is_not_there_or_does_not_work_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("CXX", str(tmp_path / "missing"))
    assert str(no_compiler()).endswith("missing, which is not there")
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no licence >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", str(broken))
    assert no_compiler() == f"the C++ compiler {broken} does not work: no licence"
    assert isinstance(judged(CPU_BUILDS["build_exported"]), Skipped)
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert str(no_compiler()).startswith("no C++ compiler: neither $CXX")


# --- a full disk ------------------------------------------------------------------------------------------


@contextmanager
def no_file_may_grow() -> Iterator[None]:
    """As a full disk: files of more than 100 bytes fail, in children too. It ends before pytest writes what it found,
    into a file perhaps."""
    no_compiler()  # kept for later, as it is while files may grow
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("name", [min(GROUPS["cross_builds"]), "build_c", "build_exported"])
def test_a_full_disk_is_no_fault_of_tvm(name: str) -> None:
    row = row_or_skip(name)
    with no_file_may_grow():
        verdict = judged(row)
    assert isinstance(verdict, Skipped)
    assert verdict.reason == NO_ROOM


def test_a_crash_is_one_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, lambda module: os._exit(1))
    verdict = judged(CPU_BUILDS["build_o3"])
    assert isinstance(verdict, Failed) and verdict.symptom == "crash"
    monkeypatch.setattr(cpu_trial, "no_room", lambda folder: True)
    assert judged(CPU_BUILDS["build_o3"]) == Skipped(NO_ROOM)

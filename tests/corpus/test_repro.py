"""Repro scripts: right exit status on the installed TVM, for planted bugs and for clean modules, per oracle."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from corpus.finding import Expectation
from corpus.scripts.repro import repro_text
from corpus.store import StoredCase, write_case
from generators.case import Case, EntryCall, ModuleText, PassCall
from oracles.builds.cpu_builds import CPU_BUILDS
from oracles.evidence import (
    AcrossProcesses,
    AnotherForm,
    AttributeGone,
    BuiltUntyped,
    ChangedSignature,
    DeadBinding,
    Died,
    Evidence,
    GivenToCallTir,
    HostTouchesDevice,
    Hung,
    InKernel,
    LeftForVm,
    NotANumber,
    NotReadBack,
    OrderOfThreads,
    OutOfMemory,
    ReferenceTrap,
    RefusedByNvcc,
    SpoiltProcess,
    WithoutDead,
    WrongGradient,
)
from oracles.table import ORACLES
from tests.corpus.planted_faults import FAULTS
from tests.patience import HANGS_S

pytestmark = pytest.mark.warm

ADD = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        with R.dataflow():
            a = R.add(x, R.const(np.array([1.0, 2.0], "float32"), "float32"))
            b = R.multiply(a, a)
            R.output(b)
        return b
"""

PRINTS = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        a = R.add(x, R.const(np.array([1.0, 2.0], "float32"), "float32"))
        _ = R.print(a, format="{}")
        b = R.multiply(a, a)
        return b
"""
ON_HOST = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        T.func_attr({"target": T.target({"kind": "cuda", "arch": "sm_90"}, host="llvm")})
        for i in range(2):
            B[i] = A[i]
"""
LOSS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((), dtype="float32"):
        with R.dataflow():
            a = R.sum(R.multiply(x, x))
            R.output(a)
        return a
"""
OWN_MODULE = {"effects": PRINTS, "device_memory": ON_HOST, "gradient": LOSS}
X = np.array([1.0, 2.0], np.float32)
RESULT = np.array([4.0, 16.0], np.float32)

PLANTED = {
    "survives": "Die",
    "input_unchanged": "InPlace",
    "purity": "Impure",
    "definedness": "Undefined",
    "well_formed": "Undefined",
    "type_soundness": "Mistyped",
    "attributes": "WithoutAttributes",
    "effects": "Silent",
    "executable": "Unbuildable",
    "determinism": "Counting",
    "idempotence": "Renamed",
    "sequential": "Counting",
    "dead_code": "Alone",
    "dead_binding": "Tallied",
    "build": "Unbuildable",
    "numeric": "Subtracting",
    "pipelines": "Subtracting",
    "legalised": "Nothing",
    "device_memory": "Nothing",
    "normal_form": "Nested",
    "round_trip": "OddName",
    "gradient": "WithoutGradients",
}
"""A planted fault for every check; two need none, since nothing legalises the operators or refuses the module."""
OTHER_BUILDS = {
    "build_o3": "Subtracting",
    "build_compiled": "Subtracting",
    "build_may_alias": "Subtracting",
    "build_c": "Subtracting",
    "build_unrolled": "Subtracting",
    "cross_wasm32": "Unbuildable",
}
"""Of the builds that have a script, one of each form."""
CLEAN_ON = {
    "legalised": "relax.transform.LegalizeOps()",
    "executable": "relax.get_pipeline('default_build')",
    "device_memory": "tvm.tirx.transform.VerifyMemory()",
    "gradient": "relax.transform.Gradient('main')",
}
"""Passes after which all is as the check asks for; elsewhere any correct pass will do."""


ALWAYS: dict[str, Evidence] = {"gradient": WrongGradient("main", 0, (1,), 0, None, shifted=True)}
"""The evidence without which an oracle never fails."""


def stored(oracle: str, name: str, load: str | None, source: str | None = None) -> StoredCase:
    if source is None:
        source = f"relax.transform.{name}()" if load is None else f"loaded.PASSES[{name!r}]()"
    module = ModuleText(OWN_MODULE.get(oracle, ADD))
    case = Case(module, (PassCall(name, source),), (EntryCall("main", (X,)),), load=load)
    expected = (Expectation(0, (RESULT,), (1e-6,)),)
    return StoredCase(case, 'a "title"', oracle, "s", name, expectations=expected, evidence=ALWAYS.get(oracle))


def run(folder: Path) -> tuple[int, str]:
    """As a reader runs it: TVM looks for PYTEST_CURRENT_TEST, and reports exceptions in another way."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    command = [sys.executable, str(folder / "repro.py")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, check=False, env=environment)
    return ended.returncode, ended.stdout


def written(tmp_path: Path, case: StoredCase) -> Path:
    folder = tmp_path / "case"
    write_case(folder, case, repro_text(case), "")
    return folder


def test_every_oracle_has_a_plant() -> None:
    assert set(ORACLES) == set(PLANTED) | set(CPU_BUILDS)


def _marked(oracle: str) -> object:
    return (
        oracle
        if oracle in ("survives", "numeric", "idempotence", "build_o3")
        else pytest.param(oracle, marks=pytest.mark.deep)
    )


@pytest.mark.parametrize("oracle", [_marked(oracle) for oracle in (*PLANTED, *OTHER_BUILDS)])
def test_a_planted_bug_is_shown(tmp_path: Path, oracle: str) -> None:
    faults = tmp_path / "faults.py"
    faults.write_text(FAULTS)
    status, line = run(written(tmp_path, stored(oracle, {**PLANTED, **OTHER_BUILDS}[oracle], str(faults))))
    assert status == 1, line
    assert len(line.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("oracle", "name", "status"), [("survives", "Raise", 1), ("idempotence", "Raise", 2), ("purity", "Raise", 2)]
)
def test_the_traceback_of_tvm_is_shown(tmp_path: Path, oracle: str, name: str, status: int) -> None:
    faults = tmp_path / "faults.py"
    faults.write_text(FAULTS)
    command = [sys.executable, str(written(tmp_path, stored(oracle, name, str(faults))) / "repro.py")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert (ended.returncode, ended.stdout) == (status, "InternalError('Check failed: planted')\n")
    assert ended.stderr.startswith("Traceback")
    assert "_ffi_transform_api.RunPass" in ended.stderr
    assert ended.stderr.rstrip().endswith("Check failed: planted")


EVIDENCE: dict[str, tuple[str, str, Evidence]] = {
    "a pass that raises instead of hanging": ("survives", "Raise", Hung()),
    "a pass that raises instead of ending its process": ("survives", "Raise", Died("SIGSEGV")),
    "a pass that lowers a limit": ("survives", "Limits", SpoiltProcess("a lower RLIMIT_NOFILE")),
    "a pass that raises without memory": ("survives", "Raise", OutOfMemory()),
    "another module each time": ("determinism", "Counting", AcrossProcesses()),
    "a dead constant": ("dead_binding", "Tallied", DeadBinding("constant")),
    "dead zeros": ("dead_binding", "Tallied", DeadBinding("relax.zeros")),
    "a dead operator": ("dead_binding", "Tallied", DeadBinding("relax.add")),
    "a lost attribute": ("attributes", "WithoutAttributes", AttributeGone("global_symbol")),
    "an unwritten result": ("numeric", "Subtracting", ReferenceTrap("uninitialised")),
    "a read outside of the inputs": ("numeric", "Subtracting", ReferenceTrap("out-of-bounds")),
    "an ill-typed module": ("numeric", "Unbuildable", ReferenceTrap("type")),
    "another shape": ("numeric", "Subtracting", AnotherForm("shape")),
    "not a number": ("numeric", "Subtracting", NotANumber()),
    "a kernel": ("build", "Unbuildable", InKernel("memory", "k", "reads beside")),
    "a call that cannot be typed": ("survives", "Raise", BuiltUntyped("InternalError: Check failed: planted")),
    "a script that does not parse": ("round_trip", "OddName", NotReadBack("script")),
    "an operator that is left": ("executable", "Unbuildable", LeftForVm()),
    "an order of threads": ("build", "Unbuildable", OrderOfThreads("descending")),
    "memory of a device": ("build", "Unbuildable", HostTouchesDevice()),
    "source that nvcc refuses": ("build", "Unbuildable", RefusedByNvcc()),
}
"""A planted fault by evidence; those that are not here have a test of their own."""
OWN_TEST = {ChangedSignature, GivenToCallTir, WithoutDead, *map(type, ALWAYS.values())}


def test_every_evidence_has_a_script() -> None:
    assert {type(evidence) for _, _, evidence in EVIDENCE.values()} | OWN_TEST == set(get_args(Evidence))


@pytest.mark.parametrize("what", [pytest.param(what, marks=pytest.mark.deep) for what in EVIDENCE])
def test_a_planted_bug_is_shown_by_its_evidence(tmp_path: Path, what: str) -> None:
    oracle, name, evidence = EVIDENCE[what]
    faults = tmp_path / "faults.py"
    faults.write_text(FAULTS)
    status, line = run(written(tmp_path, replace(stored(oracle, name, str(faults)), evidence=evidence)))
    assert status == 1, line


@pytest.mark.deep
@pytest.mark.parametrize(("name", "status"), [("Mistyped", 1), ("Renamed", 0)])
def test_a_changed_signature_is_shown(tmp_path: Path, name: str, status: int) -> None:
    faults = tmp_path / "faults.py"
    faults.write_text(FAULTS)
    case = replace(stored("attributes", name, str(faults)), evidence=ChangedSignature())
    assert run(written(tmp_path, case))[0] == status


TRANSPOSED = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def transpose(W: T.Buffer((1, 3), "float32"), out: T.Buffer((3, 1), "float32")):
        T.func_attr({"layout_free_buffers": [1], "tirx.noalias": True})
        tile = T.sblock_alloc_buffer((3, 1))
        for i, j in T.grid(3, 1):
            with T.sblock("tile"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.sblock_attr({"meta_schedule.layout_rewrite_preproc": True})
                tile[v_i, v_j] = W[v_j, v_i]
        for i in range(3):
            with T.sblock("out"):
                v_i = T.axis.spatial(3, i)
                out[v_i, 0] = tile[v_i, 0]
    @R.function
    def main(x: R.Tensor((1, 3), "float32")) -> R.Tensor((3, 1), "float32"):
        cls = Module
        y = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((3, 1), "float32"))
        return y
"""
TRANSPOSES = "s_tir.transform.RemoveWeightLayoutRewriteBlock(skip_tensor_rewrite=True)"
"""It makes the PrimFunc take what the block made, and leaves its calls to others."""


@pytest.mark.deep
@pytest.mark.parametrize(("source", "status"), [(TRANSPOSES, 1), ("relax.transform.ToNonDataflow()", 0)])
def test_a_tensor_that_a_prim_func_does_not_take_is_shown(tmp_path: Path, source: str, status: int) -> None:
    base = stored("type_soundness", "P", None, source)
    case = replace(base.case, module=ModuleText(TRANSPOSED), calls=())
    given = replace(base, case=case, expectations=(), evidence=GivenToCallTir())
    assert run(written(tmp_path, given))[0] == status


@pytest.mark.deep
@pytest.mark.parametrize("oracle", [*PLANTED, *OTHER_BUILDS])
def test_a_clean_pass_is_cleared(tmp_path: Path, oracle: str) -> None:
    source = CLEAN_ON.get(oracle, "relax.transform.ToNonDataflow()")
    status, line = run(written(tmp_path, stored(oracle, "P", None, source)))
    assert (status, line.strip()) == (0, "the bug is gone")

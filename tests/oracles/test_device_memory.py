"""VerifyMemory is wrong where it lets host code touch memory of a device, and right where it raises or nothing does."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

from generators.case import PassCall
from generators.passes.table import default_call
from oracles.checks.device_memory import ORACLE, VERIFIER
from oracles.verdict import PASSED, Failed, Skipped, Verdict
from tests.oracles.oracle_bench import RealBench, module_of, module_pass, step_of

DEVICE = 'T.target({"kind": "cuda", "arch": "sm_90"})'
CUDA = 'T.target({"kind": "cuda", "arch": "sm_90"}, host="llvm")'
LLVM = 'T.target({"kind": "llvm"})'
STORES = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((2, 2), "float32")):
        T.func_attr({"target": TARGET, MORE})
        for i in LOOP:
            A[i // 2, i % 2] = T.float32(1)
"""
READS = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((2, 2), "int32"), B: T.Buffer((4,), "float32")):
        T.func_attr({"target": TARGET, MORE})
        for i in T.thread_binding(A[0, 1], "blockIdx.x"):
            B[i] = T.float32(1)
"""
SCRATCH = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((2, 2), "float32")):
        T.func_attr({"target": TARGET, MORE})
        S = T.alloc_buffer((4,), "float32")
        for i in T.serial(4):
            S[i] = T.float32(1)
        T.evaluate(T.call_extern("int32", "takes", T.address_of(A[0, 1])))
"""
REGION = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((2, 2), "float32")):
        T.func_attr({"target": TARGET, MORE})
        with T.attr(0, "device_scope", 0):
            A[0, 0] = T.float32(1)
"""
ENTRY = REGION.replace('"device_scope", 0', '"tirx.device_entry", True')
KERNEL = STORES.replace("LOOP", 'T.thread_binding(4, "threadIdx.x")')
ON_HOST = STORES.replace("LOOP", "T.serial(4)")
LETS_ALL_PASS = PassCall(VERIFIER, module_pass(lambda module: module, "LetsAllPass").source)


def flat(script: str, target: str = CUDA, more: str = "") -> Any:
    """The module as it is where the pass stands in a pipeline: buffers of one dim are declared on what is given."""
    module = module_of(script.replace("TARGET", target).replace("MORE", more))
    return tvm.tirx.transform.FlattenBuffer()(module)


def judged(call: PassCall, module: Any) -> Verdict:
    bench = RealBench()
    return ORACLE.judge(step_of(call, module, bench), bench)


@pytest.mark.parametrize(("script", "buffer"), [(ON_HOST, "A"), (READS, "A")])
def test_host_code_that_touches_what_it_is_given_is_found(script: str, buffer: str) -> None:
    verdict = judged(LETS_ALL_PASS, flat(script))
    assert isinstance(verdict, Failed)
    assert verdict.symptom == "host touches device memory"
    assert verdict.detail.startswith(f"main, {buffer}")


@pytest.mark.parametrize("script", [KERNEL, SCRATCH, REGION, ENTRY])
def test_kernels_memory_of_the_host_and_addresses_are_left_alone(script: str) -> None:
    assert judged(LETS_ALL_PASS, flat(script)) == PASSED


@pytest.mark.parametrize(
    ("target", "more"), [(LLVM, ""), (DEVICE, ""), (CUDA, '"tirx.is_host_func": True'), (CUDA, '"calling_conv": 2')]
)
def test_functions_that_the_pass_does_not_verify_are_left_alone(target: str, more: str) -> None:
    """A target without a host is that of a function that kernels call."""
    verdict = judged(LETS_ALL_PASS, flat(ON_HOST, target, more))
    assert verdict == PASSED or (isinstance(verdict, Skipped) and not verdict.applies)


def test_other_passes_are_not_asked() -> None:
    verdict = judged(module_pass(lambda module: module, "LetsAllPass"), flat(ON_HOST))
    assert isinstance(verdict, Skipped) and not verdict.applies


def test_a_refusal_is_right() -> None:
    """As TVM's own gives it before buffers are flattened."""
    module = module_of(ON_HOST.replace("TARGET", CUDA).replace("MORE", ""))
    verdict = judged(default_call(VERIFIER), module)
    assert isinstance(verdict, Skipped) and verdict.applies

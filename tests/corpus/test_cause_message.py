"""What a message of an error says in a cause."""

from __future__ import annotations

import pytest

from corpus.causes.cause import UNCERTAIN, cause_of
from corpus.causes.failure_facts import FailureFacts
from oracles.evidence import Died
from oracles.verdict import CRASH, Failed
from tests.corpus.test_cause import raised, thrown


def test_instructions_that_llvm_quotes_do_not_count() -> None:
    def of(instructions: str) -> str:
        said = "LLVM module verification failed with the following errors: Instruction does not dominate all uses!"
        place = "/project/src/target/llvm/codegen_llvm.cc"
        return thrown(raised(place, "tvm::codegen::Verify", f"InternalError: {said} {instructions}"), "codegen")

    one = of("%178 = shufflevector <4 x float> %159, !dbg !37")
    other = of("%x.1 = fadd float %a, %b, !dbg !1 %y = fsub float %a")
    assert one == other and one.endswith("Instruction does not dominate all uses!")


def test_an_intrinsic_that_is_called_wrongly_counts() -> None:
    def of(instructions: str) -> str:
        said = (
            "LLVM module verification failed with the following errors: \nCall parameter type does not match function"
        )
        place = "/project/src/target/llvm/codegen_llvm.cc"
        return thrown(raised(place, "tvm::codegen::Verify", f"InternalError: {said} signature!\n{instructions}"), "x")

    load = "  %3 = load i64, ptr %2, align 64, !dbg !38\n i32  "
    mask = of(f"{load}%4 = call <4 x i1> @llvm.get.active.lane.mask.v4i1.i32(i64 %3, i64 3), !dbg !38")
    other = of(f"{load}%9 = call <8 x i1> @llvm.get.active.lane.mask.v8i1.i32(i64 %1, i64 7), !dbg !38")
    power = of(f"{load}%4 = call <4 x float> @llvm.powi.v4f32.i32(<4 x float> %3, i32 3), !dbg !38")
    assert mask == other and ": llvm.get.active.lane.mask: " in mask
    assert ": llvm.powi: " in power


@pytest.mark.parametrize(
    ("printed", "cause"),
    [
        (
            "terminate called after throwing an instance of 'tvm::ffi::Error'\n  what():  Check failed: "
            "literal_constraints_.size() == before (12 vs. 10) : \n",
            "any pass: ends by SIGABRT: Check failed: literal_constraints_.size() == before (# vs. #)",
        ),
        ("terminate called after throwing 'E'\n  what():  Check failed: p\n", "A: ends by SIGABRT: Check failed: p"),
        (
            "terminate called after throwing 'E'\n  what():  Check failed: (it != memo_.end()) is false: \n",
            "A: ends by SIGABRT: Check failed: (it != memo_.end()) is false",
        ),
        (
            "terminate called after throwing 'E'\n  what():  Check failed: p: variable total_number_ is free\n",
            "A: ends by SIGABRT: Check failed: p: variable <name> is free",
        ),
        (
            "terminate called after throwing 'std::bad_alloc'\n  what():  std::bad_alloc\n",
            f"{UNCERTAIN}A: ends by SIGABRT on Select",
        ),
        ("LLVM ERROR: Cannot select: intrinsic %llvm.x\n", "A: ends by SIGABRT: Cannot select: intrinsic %llvm.x"),
        ("python: a.cpp:7: void llvm::F::g(): Assertion `Bits > 0' failed.\n", "A: ends by SIGABRT: Bits > #"),
    ],
)
def test_a_process_that_says_why_it_aborts_is_told_by_that(printed: str, cause: str) -> None:
    """What the module holds does not count then; of a check of a member of one class, neither does the pass."""
    died = Failed(CRASH, "SIGABRT in A", printed, evidence=Died("SIGABRT"))
    assert str(cause_of("survives", died, "A", FailureFacts(holds=("Select",)))) == cause

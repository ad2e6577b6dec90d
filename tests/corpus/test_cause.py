"""When two failures have one cause, and when they have not. Tracebacks are as TVM 0.27 writes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus.causes.cause import LONGEST, UNCERTAIN, Cause, cause_of
from corpus.causes.failure_facts import FailureFacts, Rewrite
from oracles.evidence import AcrossProcesses, Died, Hung, OutOfMemory, ReferenceTrap, SpoiltProcess
from oracles.ir.kinds import IRKind, Piece
from oracles.verdict import (
    CRASH,
    DEFINED_TWICE,
    DOES_NOT_BUILD,
    DOES_NOT_RUN,
    HANG,
    INPUT_CHANGED,
    WRONG_RESULT,
    Failed,
    wrong_call,
)
from tests.corpus.test_throw_site import BACKTRACE, frame

CALL = frame("/a/site-packages/tvm/ir/transform.py", "__call__") + frame(
    "python/tvm_ffi/cython/function.pxi", "tvm_ffi.core.Function.__call__"
)


def node(name: str) -> IRKind:
    return IRKind(Piece.NODE, name)


def raised(path: str, function: str, message: str, line: int = 12, before: str = "") -> str:
    place = f'  File "{path}", line {line}, in {function}\n'
    return f"Traceback (most recent call last):\n{CALL}{before}{place}tvm.error.{message}\n"


def thrown(
    detail: str, culprit: str, oracle: str = "survives", symptom: str = CRASH, facts: FailureFacts | None = None
) -> str:
    return str(cause_of(oracle, Failed(symptom, "told in another way by each oracle", detail), culprit, facts))


FUSE_TIR = "/project/src/relax/transform/fuse_tir.cc"
PATTERN = "/project/src/relax/analysis/tir_op_pattern_kind.cc"
FUSE_OPS = "/project/src/relax/transform/fuse_ops.cc"
CHECK = 'InternalError: Check failed: (name != "fused") is false: '


# --- errors ---------------------------------------------------------------------------------------------


def test_an_oracle_a_line_and_a_pipeline_do_not_count() -> None:
    alone = thrown(raised(FUSE_TIR, "void tvm::relax::F::Construct()", CHECK), "FuseTIR")
    later = thrown(
        raised(FUSE_TIR, "void tvm::relax::F::Construct()", CHECK, 998), "FuseTIR", "idempotence", "not idempotent"
    )
    within = thrown(
        raised(FUSE_TIR, "void tvm::relax::F::Construct()", CHECK),
        "target default pipeline",
        "pipelines",
        DOES_NOT_BUILD,
        FailureFacts(running="FuseTIR"),
    )
    assert alone == later == within
    assert alone.startswith("src/relax/transform/fuse_tir.cc: relax::F::Construct: InternalError: Check failed")


def test_an_analysis_counts_without_the_pass_that_asks_it() -> None:
    detail = raised(PATTERN, "bool tvm::relax::HasReshapePattern(const tvm::tirx::PrimFunc&)", CHECK)
    assert thrown(detail, "RewriteDataflowReshape") == thrown(detail, "default_build", "pipelines", DOES_NOT_BUILD)


def test_two_checks_of_one_function_are_two_causes() -> None:
    one, other = (
        raised(FUSE_TIR, "void tvm::relax::F::C()", f"InternalError: Check failed: ({x}) is false: ") for x in "ab"
    )
    assert thrown(one, "FuseTIR") != thrown(other, "FuseTIR")


def test_a_check_in_the_file_of_another_pass_counts_with_the_pass() -> None:
    detail = raised(FUSE_OPS, "void tvm::relax::OperatorFusor::GetGroupFromVar(const tvm::Var&)", CHECK)
    assert thrown(detail, "FuseOps") != thrown(detail, "MergeCompositeFunctions")


def test_a_library_counts_with_its_caller_and_without_its_words() -> None:
    library = "/project/include/tvm/relax/expr_functor.h"
    function = "R tvm::relax::ExprFunctor<R(const tvm::Expr&)>::VisitExprDefault_(const tvm::ffi::Object*)"
    said = [
        raised(library, function, f"InternalError: Do not have a default for {x}") for x in ("relax.expr.If", "ir.Var")
    ]
    assert thrown(said[0], "MergeCompositeFunctions") == thrown(said[1], "MergeCompositeFunctions")
    assert thrown(said[0], "MergeCompositeFunctions") != thrown(said[0], "FuseOps")


def test_a_library_called_for_one_operator_counts_with_that_code() -> None:
    library, function = "/project/src/ir/prim/const_fold.h", "tvm::prim::detail::TryConstFold(tvm::PrimExpr)"
    for_two = [
        raised(library, function, CHECK, before=frame(f"/a/site-packages/tvm/topi/{x}.py", "gen_ir"))
        for x in ("index_put", "searchsorted")
    ]
    assert thrown(for_two[0], "LegalizeOps") != thrown(for_two[1], "LegalizeOps")


def test_a_difference_below_zero_is_one_bug_whoever_forms_it_and_a_division_is_its_callers() -> None:
    def folds(op: str, before: str = "") -> str:
        function = f"tvm::prim::detail::TryConstFold(tvm::PrimExpr, tvm::PrimExpr) [with Op = tvm::prim::{op}]"
        return raised("/project/src/ir/prim/const_fold.h", function, CHECK, before=before)

    topi = frame("/a/site-packages/tvm/topi/index_put.py", "gen_ir")
    assert thrown(folds("Sub"), "StmtSimplify") == thrown(folds("Sub"), "FlattenBuffer")
    assert thrown(folds("Sub"), "StmtSimplify") == thrown(folds("Sub", topi), "LegalizeOps")
    assert thrown(folds("Div"), "StmtSimplify") != thrown(folds("Div"), "FlattenBuffer")
    assert thrown(folds("Div"), "StmtSimplify") != thrown(folds("Sub"), "StmtSimplify")


def test_an_undefined_variable_is_told_by_the_part_of_a_node_that_a_pass_forgets() -> None:
    def undefined(place: str) -> str:
        text = f"PrimFunc main: InternalError: ValueError: Invalid use of undefined variable n at <root>.body.{place}."
        return str(cause_of("well_formed", Failed("ill-formed", text), "SplitHostDevice", FailureFacts()))

    extent, offset = undefined("seq[3].node.dom.extent.a.a"), undefined("seq[0].buffer.elem_offset")
    assert len({extent, offset, undefined("seq[1].value")}) == 3
    assert extent == undefined("node.dom.extent") and offset == undefined("body.buffer.elem_offset.a")
    assert undefined("seq[1].value") == undefined("seq[2].value.args[0].b")


def test_a_changed_input_says_nothing_of_another_failure() -> None:
    facts = FailureFacts(changes_input=True, rewrite=Rewrite((node("a"),), (node("b"),)))
    changed = str(cause_of("input_unchanged", Failed(INPUT_CHANGED, "x"), "SplitHostDevice", facts))
    assert changed == "SplitHostDevice: changes the module that it is given"
    unseen = replace(facts, changes_input=False)  # a pass that gives its input back leaves nothing to compare
    assert str(cause_of("input_unchanged", Failed(INPUT_CHANGED, "y"), "SplitHostDevice", unseen)) == changed
    for other in (Failed(WRONG_RESULT, "value: x"), Failed("ill-formed", "undefined variable")):
        assert str(cause_of("numeric", other, "SplitHostDevice", facts)) != changed


def test_calls_that_cannot_be_typed_are_one_cause_of_their_pass_for_each_operator() -> None:
    matmul, permute = (
        raised(
            "/project/src/relax/op/tensor/x.cc",
            f"tvm::Type tvm::relax::InferType{x}(const tvm::Call&)",
            f"ValueError: {x}",
        )
        for x in ("Matmul", "PermuteDims")
    )
    of_matmul = thrown(matmul, "Expand", facts=FailureFacts(called="matmul"))
    broken = FailureFacts(broken=wrong_call("matmul"))
    assert of_matmul == str(cause_of("well_formed", Failed("ill-formed", "x"), "Expand", broken))
    assert of_matmul != thrown(permute, "Expand", facts=FailureFacts(called="permute_dims"))
    assert thrown(matmul, "Expand") != thrown(permute, "Expand")


def test_a_library_counts_with_the_operator_where_a_pass_has_code_for_each() -> None:
    detail = raised("/project/include/tvm/relax/nested_msg.h", "tvm::relax::TransformTupleLeaf()", CHECK)
    of_each = [thrown(detail, "ConvertLayout", facts=FailureFacts(operators=(x,), each=True)) for x in ("a", "b")]
    of_any = [thrown(detail, "FuseOps", facts=FailureFacts(operators=(x,))) for x in ("a", "b")]
    assert of_each[0] != of_each[1]
    assert of_any[0] == of_any[1]


def test_which_intrinsic_has_no_code_does_not_count_and_of_which_floats_does() -> None:
    def unknown(printed: str, *floats: str, of: str = "target/llvm/codegen_llvm.cc") -> str:
        message = f"InternalError: unknown intrinsic {printed}"
        return thrown(
            raised(f"/project/src/{of}", "tvm::codegen::C::F()", message), "codegen", facts=FailureFacts(floats=floats)
        )

    atan, asin = (f'ir.Op(span=None, ty=ir.Type(span=None), name="tirx.{x}")' for x in ("atan2", "asin"))
    assert unknown(atan, "float16").endswith("InternalError: unknown intrinsic <intrinsic> of float16")
    assert unknown(atan, "float16") == unknown(asin, "float16")
    assert len({unknown(atan), unknown(atan, "float16"), unknown(atan, "bfloat16")}) == 3
    assert unknown('I.GlobalVar("mine")') == unknown('I.GlobalVar("yours")')
    elsewhere = "relax/transform/fuse_tir.cc"
    assert unknown(atan, of=elsewhere).endswith("tirx.atan2")
    assert unknown(atan, of=elsewhere) != unknown(asin, of=elsewhere)


def test_an_analyzer_that_is_told_twice_and_a_verifier_that_sees_it_have_one_cause() -> None:
    bind = raised("/project/src/sym/x.cc", "void tvm::sym::A::Impl::Bind(const tvm::Var&)", CHECK)
    seen = str(cause_of("well_formed", Failed("ill-formed", "x"), "tirx.L", FailureFacts(broken=DEFINED_TWICE)))
    assert thrown(bind, "tirx.L") == seen
    later = FailureFacts(broken=DEFINED_TWICE, broken_by="tirx.L")
    assert thrown(bind, "codegen", "build", DOES_NOT_BUILD, later) == seen


def test_what_a_legalisation_logs_tells_why_an_operator_is_left() -> None:
    def left(logged: str) -> str:
        facts = FailureFacts(left="declines an operator", left_by="LegalizeOps", logged=logged)
        return str(cause_of("executable", Failed("not executable", "x"), "LegalizeOps", facts))

    assert left("TOPI conv2d does not take groups") == left("TOPI conv3d does not take groups")
    assert left("TOPI conv2d does not take groups") != left("TOPI conv2d does not take layouts")
    chunk = "{} where data layout has channel chunk cannot be legalized by TOPI at this moment."
    assert left(chunk.format("Conv1D")) == left(chunk.format("Conv2D"))
    assert "TOPI at this moment" in str(left(chunk.format("Conv2D")))


def test_what_a_module_holds_tells_hangs_and_nameless_crashes_of_a_pass_apart() -> None:
    for evidence in (Hung(), OutOfMemory(), Died("SIGSEGV")):
        failed = Failed(CRASH, "x", "", evidence=evidence)
        one, other = (
            str(cause_of("survives", failed, "A", FailureFacts(holds=held))) for held in (("sort",), ("split",))
        )
        assert one != other and one.endswith(" on sort")


def test_a_pass_that_spoils_its_process_is_told_by_what_it_leaves() -> None:
    failed = Failed(
        CRASH, "leaves its process with a lower RLIMIT_NOFILE", evidence=SpoiltProcess("a lower RLIMIT_NOFILE")
    )
    assert str(cause_of("survives", failed, "A")) == "A: leaves its process with a lower RLIMIT_NOFILE"


def test_results_that_follow_addresses_are_told_by_the_rewrite() -> None:
    failed = Failed(
        "not deterministic across processes", "another process gets something else", evidence=AcrossProcesses()
    )
    one, other = (
        str(cause_of("determinism", failed, "A", FailureFacts(rewrite=Rewrite((), (kind,)))))
        for kind in (IRKind(Piece.TUPLE), IRKind(Piece.OPERATOR, "sort"))
    )
    assert one == other == "A: gives different results in different processes"


def test_a_wrong_schedule_is_told_by_what_no_primitive_may_do() -> None:
    def wrong(misdone: str, *added: str) -> str:
        facts = FailureFacts(rewrite=Rewrite((), tuple(map(node, added))), misdone=misdone)
        return str(cause_of("numeric", Failed(WRONG_RESULT, "value"), "s_tir.Schedule[split+pad_einsum]", facts))

    one, other = wrong("adds iterations", "BufferStore"), wrong("adds iterations", "For", "LT on int")
    assert one == other == "s_tir.Schedule[pad_einsum]: value: adds iterations"
    assert wrong("loses a statement", "BufferStore") != one


def test_an_expression_in_a_message_counts_whatever_is_added_in_it() -> None:
    def of(one: str, other: str) -> str:
        said = f"AssertionError: Dimension of updates[0] ({one}) must equal dimension of out_shape[0] ({other})"
        return thrown(raised("/a/site-packages/tvm/topi/scatter.py", "_verify_scatter_nd_inputs", said), "LegalizeOps")

    assert of("n + T.int64(1)", "n + T.int64(1)") == of("n + T.int64(1) + T.int64(2)", "m * T.int64(4)")
    assert "dimension of out_shape" in of("n + T.int64(1)", "n + T.int64(1)")


def test_let_and_bind_are_one_construct_and_other_constructors_are_not() -> None:
    let, bind, cast = (
        thrown(raised(f"/project/src/{file}", f"tvm::{name}(tvm::Var)", CHECK), "tirx.BF16ComputeLegalize")
        for file, name in (
            ("ir/prim/expr.cc", "prim::Let::Let"),
            ("tirx/ir/stmt.cc", "tirx::Bind::Bind"),
            ("ir/prim/expr.cc", "prim::Cast::Cast"),
        )
    )
    assert let == bind != cast


def test_classes_of_nodes_in_messages_do_not_count() -> None:
    place = "/a/site-packages/tvm/relax/transform/fast_math.py"
    said = [
        raised(place, "visit_call_", f"AttributeError: '{x}' object has no attribute 'name'")
        for x in ("GlobalVar", "ExternFunc")
    ]
    assert thrown(said[0], "FastMathTransform") == thrown(said[1], "FastMathTransform")
    other = raised(place, "visit_call_", "AttributeError: 'GlobalVar' object has no attribute 'dtype'")
    assert thrown(other, "FastMathTransform") != thrown(said[0], "FastMathTransform")


@pytest.mark.parametrize(
    "messages",
    [
        ("UnboundLocalError: local variable 'x' referenced before assignment",
         "UnboundLocalError: cannot access local variable 'x' where it is not associated with a value"),
        ("ValueError: too many values to unpack (expected 2)",
         "ValueError: too many values to unpack (expected 2, got 3)"),
        ("AttributeError: module 'tvm.topi' has no attribute 'ad'",
         "AttributeError: module 'tvm.topi' has no attribute 'ad'. Did you mean: 'add'?"),
    ],
)  # fmt: skip
def test_a_cause_is_the_same_in_each_version_of_python(messages: tuple[str, str]) -> None:
    place = "/a/site-packages/tvm/relax/transform/fast_math.py"
    one, other = (thrown(raised(place, "visit_call_", message), "FastMathTransform") for message in messages)
    assert one == other


def test_a_cast_that_names_no_place_is_a_guess() -> None:
    detail = f"Traceback (most recent call last):\n{CALL}TypeError: Cannot treat type `ir.A` as type `ir.B`\n"
    assert thrown(detail, "CombineParallelMatmul").startswith(f"{UNCERTAIN}CombineParallelMatmul: TypeError")
    on_one = thrown(detail, "ConvertLayout", facts=FailureFacts(operators=("stack",), each=True))
    of_any = thrown(detail, "AttachGlobalSymbol", facts=FailureFacts(operators=("sort",)))
    assert of_any == thrown(detail, "AttachGlobalSymbol", facts=FailureFacts(operators=("stack",)))
    assert on_one == f"{UNCERTAIN}ConvertLayout: fails on stack"
    died = Failed(CRASH, "SIGFPE in ConvertLayout", "", evidence=Died("SIGFPE"))
    facts = FailureFacts(operators=("stack",), each=True, holds=("stack",))
    assert str(cause_of("survives", died, "ConvertLayout", facts)) == on_one
    assert str(cause_of("survives", died, "ConvertLayout", replace(facts, operators=("a", "stack")))) != on_one


def test_python_that_raises_itself_is_named() -> None:
    """A bare assertion says nothing: two of one pass would have one cause."""

    def asserted(function: str, below: str = "") -> str:
        place = frame("/a/site-packages/tvm/relax/op/_op_gradient.py", function)
        detail = f"Traceback (most recent call last):\n{CALL}{place}    assert axis\n{below}AssertionError\n"
        return thrown(detail, "Gradient")

    concat, stack = asserted("concat_grad"), asserted("stack_grad")
    assert concat == "python/tvm/relax/op/_op_gradient.py: concat_grad in Gradient: AssertionError"
    assert stack != concat
    assert asserted("concat_grad", frame("<unknown>", "tvm::ffi::Cast()")).startswith(UNCERTAIN)


def test_an_error_of_a_users_own_pass_is_its_message() -> None:
    detail = raised("/home/me/mine.py", "my_pass", "KeyError: 'x'")
    assert not thrown(detail, "Mine").startswith(UNCERTAIN)


def test_of_a_schedule_the_last_primitive_counts() -> None:
    detail = raised("/project/src/s_tir/schedule/state.cc", "tvm::s_tir::R::Mutate_(int)", CHECK)
    both = thrown(detail, "s_tir.Schedule[split+rfactor]")
    assert both == thrown(detail, "s_tir.Schedule[rfactor]") != thrown(detail, "s_tir.Schedule[split]")


# --- ends of processes ----------------------------------------------------------------------------------


def test_a_crash_at_run_time_is_the_function_and_in_a_pass_also_the_pass() -> None:
    died = Failed(CRASH, "SIGSEGV in codegen", BACKTRACE, evidence=Died("SIGSEGV"))
    assert str(cause_of("build", died, "codegen")) == "runtime::memory::StorageObj::AllocTensor: crash"
    within = replace(died, detail=BACKTRACE.replace("runtime::memory", "relax"))
    assert cause_of("survives", within, "A") != cause_of("survives", within, "B")


def test_a_crash_without_a_backtrace_is_a_guess() -> None:
    died = Failed(CRASH, "SIGSEGV in A", "", evidence=Died("SIGSEGV"))
    assert str(cause_of("survives", died, "A")) == f"{UNCERTAIN}A: ends by SIGSEGV"


def test_built_code_that_crashes_by_what_a_pass_has_broken_has_the_cause_of_that() -> None:
    broken = FailureFacts(broken="new: the result of memory.alloc_storage is out of its scope")
    died = Failed(CRASH, "SIGSEGV in codegen", BACKTRACE, evidence=Died("SIGSEGV"))
    said = Failed("undefined", "undefined variable", "undefined variable: storage in main")
    assert cause_of("build", died, "StaticPlanBlockMemory", broken) == cause_of(
        "definedness", said, "StaticPlanBlockMemory", broken
    )


STORES = FailureFacts(rewrite=Rewrite((node("BufferStore"),)))


def test_built_code_that_ends_by_a_wrong_result_of_a_pass_has_the_cause_of_that() -> None:
    trap = Failed("reference trap: use-after-kill", "x", evidence=ReferenceTrap("use-after-kill"))
    seen = cause_of("numeric", trap, "StaticPlanBlockMemory", STORES)
    before = replace(STORES, earlier=trap, running="StaticPlanBlockMemory")
    died = Failed(CRASH, "SIGSEGV", BACKTRACE, evidence=Died("SIGSEGV"))
    raised_late = Failed(DOES_NOT_RUN, "InternalError: std::bad_alloc", "InternalError: std::bad_alloc")
    assert cause_of("pipelines", died, "default_build", before) == seen
    assert cause_of("build", raised_late, "codegen", before) == seen
    assert cause_of("pipelines", died, "default_build") != seen


def test_a_hang_and_memory_without_bound_are_their_passs() -> None:
    assert str(cause_of("survives", Failed(HANG, "no answer", evidence=Hung()), "A")) == "A: does not end"
    assert str(cause_of("survives", Failed(CRASH, "x", evidence=OutOfMemory()), "A")) == "A: takes memory without bound"


# --- wrong modules and results --------------------------------------------------------------------------

# --- the text -------------------------------------------------------------------------------------------


def test_the_text_is_one_printable_line_that_still_differs_where_it_is_cut() -> None:
    causes = [Cause("A", f"{'x' * 300}{end}\n\x00\u2028") for end in "ab"]
    lines = [str(cause) for cause in causes]
    assert all(len(line) <= LONGEST and line.isprintable() for line in lines)
    assert lines[0] != lines[1]


def test_a_guess_is_no_certainty() -> None:
    assert str(Cause("A", "x", certain=False)) != str(Cause("A", "x"))


def test_the_body_of_a_block_that_a_message_prints_does_not_count() -> None:
    def said(*body: str) -> str:
        block = "".join(f"\n    {line}" for line in body)
        text = f'InternalError: Check failed: (found) is false: No realize of block with T.sblock("a"):{block}\n'
        traced = "Traceback (most recent call last):\n" + frame(
            "/project/src/s_tir/analysis/a.cc", "tvm::s_tir::Find()"
        )
        return str(cause_of("survives", Failed(CRASH, "raised", traced + text), "FuseTIR"))

    assert said() == said("v0 = T.axis.spatial(1)", "T.reads(A[v0])", 'A[v0] = T.Cast("uint8", B[v0]) * 2')
    assert "No realize of block" in said()

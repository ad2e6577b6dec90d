"""Places in TVM are the same on every machine, and say whether they tell a bug by themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.causes.throw_site import (
    ThrowSite,
    called_operator,
    crashed_in,
    defines_variables,
    file_stem,
    is_of_others,
    is_own,
    is_shared,
    is_telling,
    last_called,
    operators_printed,
    sites,
    without_operators,
)
from oracles.tvm_frames import crashed, function_name


def frame(path: str, function: str) -> str:
    return f'  File "{path}", line 12, in {function}\n    some_code()\n'


TRACEBACK = "Traceback (most recent call last):\n" + "".join(
    [
        frame("/home/me/mine.py", "guarded"),
        frame("/opt/env/lib/python3.11/site-packages/tvm/ir/transform.py", "__call__"),
        frame("python/tvm_ffi/cython/function.pxi", "tvm_ffi.core.Function.__call__"),
        frame("<unknown>", "tvm::relax::RewriteCall(tvm::relax::DFPattern const&, tvm::Function)"),
        frame("<unknown>", "tvm::ObjectMutator::Mutate(tvm::ffi::AnyView, tvm::ffi::InplaceMode)"),
        frame("/project/src/relax/transform/fuse_tir.cc", "PrimFunc tvm::relax::FusedTIRConstructor::ConstructFunc()"),
    ]
)


def test_the_places_of_a_traceback_are_those_of_the_repository() -> None:
    assert sites(TRACEBACK) == (
        ThrowSite("python/tvm/ir/transform.py", "__call__"),
        ThrowSite("src/relax/transform/fuse_tir.cc", "relax::FusedTIRConstructor::ConstructFunc"),
    )


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/a/site-packages/tvm/topi/nn/conv.py", "python/tvm/topi/nn/conv.py"),
        ("/usr/lib/python3/dist-packages/tvm/ir/op.py", "python/tvm/ir/op.py"),
        ("/home/me/tvm/python/tvm/ir/op.py", "python/tvm/ir/op.py"),
        ("/home/me/tvm/src/relax/op/op.cc", "src/relax/op/op.cc"),
        ("/home/me/src/tvm-0.27/src/relax/op/op.cc", "src/relax/op/op.cc"),
        ("/project/include/tvm/relax/type.h", "include/tvm/relax/type.h"),
    ],
)
def test_a_file_has_one_name_wherever_tvm_was_built(path: str, file: str) -> None:
    assert [site.file for site in sites(frame(path, "f"))] == [file]


@pytest.mark.parametrize(
    "path",
    ["/home/me/passes.py", "<unknown>", "python/tvm_ffi/cython/function.pxi", "/project/3rdparty/tvm-ffi/src/a.cc"],
)
def test_files_of_others_and_of_the_ffi_are_no_places(path: str) -> None:
    assert sites(frame(path, "f")) == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("virtual tvm::relax::Expr tvm::relax::P::VisitExpr_(const tvm::CallNode*)", "relax::P::VisitExpr_"),
        ("R tvm::F<R(const tvm::Expr&, Args ...)>::V_(const tvm::ffi::Object*) [with R = void]", "F::V_"),
        ("tvm::tirx::U(const PrimFunc&, VarMap*)::<lambda(const tvm::Expr&)>", "tirx::U"),
        ("static M tvm::relax::{anonymous}::P::Get(const tvm::ffi::Array<T>&)", "relax::P::Get"),
        ("const tvm::ffi::Any& tvm::ffi::SeqBaseObj::operator[](int64_t) const", "ffi::SeqBaseObj::operator[]"),
        ("tvm::sym::RewriteSimplifier::operator()(tvm::PrimExpr const&)", "sym::RewriteSimplifier::operator_call"),
        ("visit_call_", "visit_call_"),
    ],
)
def test_a_function_is_named_without_arguments_and_templates(text: str, name: str) -> None:
    assert function_name(text) == name


def test_the_last_function_without_a_file_is_no_mutator() -> None:
    assert last_called(TRACEBACK) == "relax::RewriteCall"
    assert last_called(frame("<unknown>", "tvm::ffi::Array<int>::at(long)")) == ""


def test_code_of_others_is_told_from_what_tvm_throws() -> None:
    assert not is_of_others(TRACEBACK)
    assert is_of_others(TRACEBACK + frame("/home/me/mine.py", "my_pass"))
    assert not is_of_others(TRACEBACK + frame("/a/site-packages/tvm_ffi/container.py", "__getitem__"))


BACKTRACE = "!!!!!!! Segfault encountered !!!!!!!\n" + "".join(
    [
        frame("./signal/../sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c", "0x00007f8ccdc5a04f"),
        frame("<unknown>", "tvm::ffi::details::Call(void*)"),
        frame("<unknown>", "tvm::runtime::memory::StorageObj::AllocTensor(long, tvm::ffi::Shape, DLDataType)"),
        frame("<unknown>", "tvm::runtime::memory::StorageObj::AllocTensorScoped(long)"),
        frame("Python/ceval.c", "_PyEval_EvalFrameDefault"),
    ]
)


def test_a_crash_is_where_the_innermost_function_of_tvm_is() -> None:
    assert crashed(BACKTRACE)
    assert not crashed(TRACEBACK)
    assert crashed_in(BACKTRACE) == ThrowSite("", "runtime::memory::StorageObj::AllocTensor")
    assert crashed_in("!!!!!!! Segfault encountered !!!!!!!\n" + frame("Python/ceval.c", "_PyEval_Vector")) is None


@pytest.mark.parametrize(
    ("file", "function", "tells"),
    [
        ("python/tvm/relax/transform/fast_math.py", "visit_call_", True),
        ("python/tvm/relax/transform/legalize_ops/nn.py", "_nn_pixel_shuffle", True),
        ("python/tvm/relax/transform/legalize_ops/common.py", "_call_topi_without_attr", False),
        ("python/tvm/s_tir/dlight/cpu/gemv.py", "apply", True),
        ("python/tvm/s_tir/dlight/base/transform.py", "_apply_rules", False),
        ("python/tvm/ir/transform.py", "__call__", False),
        ("src/relax/analysis/tir_op_pattern_kind.cc", "relax::HasReshapePattern", True),
        ("src/target/llvm/codegen_llvm.cc", "codegen::CodeGenLLVM::CreateIntrinsic", True),
        ("src/s_tir/meta_schedule/postproc/rewrite_layout.cc", "s_tir::RewriteLayout", True),
        ("src/s_tir/meta_schedule/schedule_rule/add_rfactor.cc", "s_tir::meta_schedule::AddRFactorNode::Apply", True),
        ("src/s_tir/meta_schedule/database/database.cc", "s_tir::meta_schedule::WorkloadNode::AsJSON", False),
        ("src/s_tir/meta_schedule/utils.h", "s_tir::meta_schedule::GetRVFromSRef", False),
        ("src/relax/op/tensor/manipulate.cc", "relax::InferLayoutSqueeze", True),
        ("src/relax/op/tensor/manipulate.cc", "relax::InferTypeReshape", False),
        ("src/relax/op/nn/nn.cc", "relax::NormCheckDtypeAndShape", False),
        ("src/relax/op/nn/attention.cc", "relax::InferMixedPrecisionAttention", True),
        ("src/ir/prim/const_fold.h", "prim::detail::TryConstFold", False),
        ("include/tvm/relax/expr_functor.h", "relax::ExprFunctor::VisitExprDefault_", False),
        ("src/relax/transform/utils.h", "relax::MemoizedExprTranslator::VisitExpr_", False),
    ],
)
def test_code_for_one_thing_tells_the_bug(file: str, function: str, tells: bool) -> None:
    assert is_telling(ThrowSite(file, function)) is tells


def test_a_file_is_its_passs_own_by_its_name() -> None:
    fuses = ThrowSite("src/relax/transform/fuse_ops.cc", "relax::OperatorFusor::GetGroupFromVar")
    assert is_own(fuses, "FuseOps")
    assert not is_own(fuses, "MergeCompositeFunctions")
    assert is_shared(fuses)
    assert not is_shared(ThrowSite("src/relax/transform/utils.h", "relax::F"))


@pytest.mark.parametrize(
    ("culprit", "stem"),
    [
        ("FuseTIR", "fuse_tir"),
        ("tirx.LowerIntrin", "lower_intrin"),
        ("VMShapeLower", "vm_shape_lower"),
        ("SpecializePrimFuncBasedOnCallSite", "specialize_prim_func_based_on_call_site"),
    ],
)
def test_source_files_are_named_after_passes(culprit: str, stem: str) -> None:
    assert file_stem(culprit) == stem


PRINTED = (
    'ir.Op(span=None, ty=ir.Type(span=None), name="relax.matmul", description="Of (two", '
    'arguments=(ir.ArgumentInfo(name="x1", type_info="Tensor", description="A"),), num_inputs=2)'
)


def test_an_operator_that_tvm_prints_is_named_and_cut_whole() -> None:
    text = f"Operator {PRINTED} wants a Tensor, not {PRINTED.replace('matmul', 'add')}."
    assert operators_printed(text) == ("relax.matmul", "relax.add")
    assert without_operators(text, "X") == "Operator X wants a Tensor, not X."
    assert without_operators("no operator (at all)", "X") == "no operator (at all)"


@pytest.mark.parametrize(
    ("file", "function", "message", "called"),
    [
        ("src/relax/op/op_common.cc", "tvm::relax::GetInputTensorType(int)", f"TypeError: {PRINTED}", "relax.matmul"),
        ("src/relax/op/tensor/x.cc", "tvm::relax::InferTypeConcat(int)", "ValueError: axes", "InferTypeConcat"),
        ("src/relax/op/op_common.cc", "tvm::relax::NormalizeAxes(int)", "ValueError: axes", ""),
        ("src/relax/op/tensor/x.cc", "tvm::relax::InferLayoutConcat(int)", f"TypeError: {PRINTED}", ""),
        ("src/relax/transform/x.cc", "tvm::relax::F(int)", f"TypeError: {PRINTED}", ""),
    ],
)
def test_the_operator_whose_call_cannot_be_typed(file: str, function: str, message: str, called: str) -> None:
    assert called_operator(f"{frame(f'/project/{file}', function)}{message}\n") == called


def test_analyzers_are_told_of_variables_in_two_functions() -> None:
    assert defines_variables(ThrowSite("src/sym/const_int_bound.cc", "sym::ConstIntBoundAnalyzer::Impl::Update"))
    assert defines_variables(ThrowSite("src/arith/x.cc", "arith::Impl::Bind"))
    assert not defines_variables(ThrowSite("src/sym/x.cc", "sym::Simplify"))
    assert not defines_variables(ThrowSite("src/tirx/ir/stmt.cc", "tirx::Bind::Bind"))


def test_a_file_of_tvm_is_known_in_a_folder_of_any_name(tmp_path: Path) -> None:
    """`pip install --target` leaves packages in one that is not called site-packages."""
    (tmp_path / "tvm").mkdir()
    (tmp_path / "tvm" / "__init__.py").touch()
    files = [str(tmp_path / "tvm/topi/nn.py"), "/home/me/tvm/topi/nn.py", "/home/me/tvm/python/tvm/topi/nn.py"]
    program = f"from oracles.tvm_frames import Frame; print(*(repr(Frame(f, 1, 'g').path) for f in {files}))"
    place = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parents[2]}"}
    said = subprocess.run([sys.executable, "-c", program], env=place, capture_output=True, text=True, check=True).stdout
    assert said.split() == ["'python/tvm/topi/nn.py'", "''", "'python/tvm/topi/nn.py'"]

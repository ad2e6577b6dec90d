"""What TVM prints when it fails: texts as TVM 0.27.0.post1 printed them, and hostile ones."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from corpus.causes.tracebacks import (
    backtrace_text,
    crashing_function,
    link_to,
    of_runtime,
    raised_text,
    raising_frame,
    tag_of,
    traceback_text,
)
from generators.passes import constructors
from oracles import workbench
from oracles.tvm_errors import said_by
from oracles.tvm_frames import Frame, crashed
from tests.hostile import HOSTILE, examples, texts

OF_CPP = """\
Traceback (most recent call last):
  File "/home/me/passfuzz/oracles/workbench.py", line 80, in guarded
    return action()
           ^^^^^^^^
  File "/home/me/venv/lib/python3.11/site-packages/tvm/ir/transform.py", line 171, in __call__
    return _ffi_transform_api.RunPass(self, mod)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "python/tvm_ffi/cython/function.pxi", line 1038, in tvm_ffi.core.Function.__call__
  File "<unknown>", line 0, in tvm::ObjectMutator::Mutate(tvm::ffi::AnyView, tvm::ffi::InplaceMode)
  File "/project/src/ir/prim/expr.cc", line 889, in tvm::prim::Let::Let(tvm::Var, tvm::PrimExpr, tvm::Span)
tvm.error.InternalError: Check failed: (value.ty() == var->ty.as_or_throw<PrimType>()) is false: first
  second line of the message
"""
OF_PYTHON = """\
Traceback (most recent call last):
  File "/x/site-packages/tvm/ir/transform.py", line 238, in _pass_func
    return inst.transform_module(mod, ctx)

  File "/x/site-packages/tvm/relax/transform/fast_math.py", line 41, in visit_call_
    if call.op.name == "relax.nn.softmax":

AttributeError: 'GlobalVar' object has no attribute 'name'
"""
OF_A_CRASH = """\
warning: something before
!!!!!!! Segfault encountered !!!!!!!
  File "./signal/../sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c", line 0, in 0x00007fde7705a04f
  File "<unknown>", line 0, in tvm::runtime::memory::StorageObj::AllocTensor(long, tvm::ffi::Shape, DLDataType)
  File "Objects/call.c", line 214, in _PyObject_MakeTpCall
  File "<unknown>", line 0, in _start
  File "<unknown>", line 0, in 0xffffffffffffffff
"""


def test_a_message_is_whole() -> None:
    condition = "Check failed: (value.ty() == var->ty.as_or_throw<PrimType>()) is false:"
    assert raised_text(OF_CPP) == f"tvm.error.InternalError: {condition} first\n  second line of the message"
    assert raised_text(OF_PYTHON) == "AttributeError: 'GlobalVar' object has no attribute 'name'"


def test_the_place_that_raised_is_the_innermost_of_tvm() -> None:
    frame = raising_frame(OF_CPP)
    assert frame is not None
    assert (frame.source, frame.line, frame.name) == ("src/ir/prim/expr.cc", 889, "tvm::prim::Let::Let")
    assert link_to(frame, "0.27.0.post1") == (
        "https://github.com/apache/tvm/blob/v0.27.0.post1/src/ir/prim/expr.cc#L889"
    )
    frame = raising_frame(OF_PYTHON)
    assert frame is not None
    assert (frame.source, frame.line) == ("python/tvm/relax/transform/fast_math.py", 41)


def test_a_traceback_begins_in_tvm_and_names_no_machine() -> None:
    text = traceback_text(OF_CPP)
    assert text.splitlines()[:2] == [
        "Traceback (most recent call last):",
        '  File "site-packages/tvm/ir/transform.py", line 171, in __call__',
    ]
    assert "/home/me" not in text
    assert text.endswith("first\n  second line of the message")
    kept = OF_CPP.splitlines()[7:]
    assert text.splitlines()[-len(kept) :] == kept


RUN_PASS = """\
  File "/x/site-packages/tvm/ir/transform.py", line 171, in __call__
    return _ffi_transform_api.RunPass(self, mod)

  File "python/tvm_ffi/cython/function.pxi", line 1038, in tvm_ffi.core.Function.__call__
"""
SCHEDULED = """\
  File "/x/site-packages/tvm/s_tir/schedule/schedule.py", line 1915, in cache_index
    return _ffi_api.ScheduleCacheIndex(

  File "/project/src/tirx/ir/stmt.cc", line 1056, in tvm::tirx::SeqStmt::SeqStmt(tvm::ffi::Array<tvm::tirx::Stmt>)
"""
RAISED = "tvm.error.InternalError: a SeqStmt of length 1"


@pytest.mark.parametrize("file", [constructors.__file__, workbench.__file__, constructors.PASS_FILE])
def test_a_traceback_has_no_frame_of_ours_nor_of_what_calls_it(file: str) -> None:
    """What takes the steps of a schedule is a pass of ours; a script takes them itself."""
    ours = f'  File "{file}", line 332, in scheduled\n    _value(step, names)\n\n'
    begin = "Traceback (most recent call last):\n"
    shown = SCHEDULED.replace("/x/", "")
    assert traceback_text(f"{begin}{RUN_PASS}{ours}{ours}{SCHEDULED}{RAISED}") == f"{begin}{shown}{RAISED}"
    assert traceback_text(f"{begin}{RUN_PASS}{ours}{RAISED}") == f"{begin}{RAISED}"
    assert "RunPass" in traceback_text(f"{begin}{RUN_PASS}{SCHEDULED}{RAISED}")


def test_a_file_of_the_user_s_own_has_no_folder() -> None:
    text = traceback_text(
        OF_PYTHON.replace("AttributeError", '  File "/home/me/my pass.py", line 3, in f\nAttributeError')
    )
    assert '  File "my pass.py", line 3, in f\n' in text
    assert "/home/me" not in text
    assert 'File "/project/src/ir/prim/expr.cc", line 889' in traceback_text(OF_CPP)


def test_a_native_crash_names_its_function() -> None:
    assert crashed(OF_A_CRASH)
    assert crashing_function(OF_A_CRASH) == "tvm::runtime::memory::StorageObj::AllocTensor"
    assert of_runtime(crashing_function(OF_A_CRASH))
    assert raised_text(OF_A_CRASH) == ""
    assert raising_frame(OF_A_CRASH) is None
    lines = backtrace_text(OF_A_CRASH).splitlines()
    assert len(lines) == 2
    assert lines[0] == "!!!!!!! Segfault encountered !!!!!!!"


@pytest.mark.parametrize("detail", ["", "entry call 0: value: output 0[0] is 7, not 1", "def main(x):\n    return x"])
def test_other_texts_are_no_tracebacks(detail: str) -> None:
    assert (raised_text(detail), traceback_text(detail), crashing_function(detail)) == ("", "", "")
    assert raising_frame(detail) is None
    assert not crashed(detail)


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("tvm::tirx::PrimFunc tvm::tirx::Split::create() const", "tvm::tirx::Split::create"),
        ("void tvm::A<int, tvm::B<3>>::run<x>(const std::map<int, int>&)", "tvm::A::run"),
        ("tvm::(anonymous namespace)::Check(int)", "tvm::Check"),
        ("tvm::relax::Fuse(int)::{lambda(int)#1}::operator()(int) const", "tvm::relax::Fuse"),
        ("const M& tvm::relax::{anonymous}::P::Get(int)", "tvm::relax::P::Get"),
        ("bool tvm::sym::Rewrite::operator()(tvm::PrimExpr const&)", "tvm::sym::Rewrite::operator()"),
        ("visit_call_", "visit_call_"),
        ("", ""),
    ],
)
def test_a_function_is_named_without_types(printed: str, name: str) -> None:
    assert Frame("x.cc", 1, printed).name == name


def test_a_file_of_the_ffi_has_no_place_in_tvm_s_repository() -> None:
    frame = Frame("/project/3rdparty/tvm-ffi/src/ffi/object.cc", 7, "f")
    assert (frame.path, frame.source, link_to(frame, "0.27.0")) == ("3rdparty/tvm-ffi/src/ffi/object.cc", "", "")


@pytest.mark.parametrize(
    ("version", "tag"),
    [
        ("0.27.0.post1", "v0.27.0.post1"),
        ("0.26.0", "v0.26.0"),
        ("0.28.dev12+g0123abcdef", "0123abcdef"),
        ("0.28.dev12", "main"),
        ("", "main"),
        ("../../evil", "main"),
    ],
)
def test_each_version_has_its_tag(version: str, tag: str) -> None:
    assert tag_of(version) == tag


@examples(60)
@given(texts)
@example(HOSTILE)
@example(f'Traceback (most recent call last):\n  File "{HOSTILE}", line 1, in x\nE: y')
def test_any_text_can_be_read(text: str) -> None:
    for detail in (text, f"{OF_CPP}{text}", f'  File "{text}", line 1, in {text}\n{text}', f"{OF_A_CRASH}{text}"):
        raised_text(detail), traceback_text(detail), crashing_function(detail), backtrace_text(detail)
        frame = raising_frame(detail)
        assert frame is None or frame.source


def test_a_key_error_with_a_message_of_several_lines_is_spelled_out() -> None:
    said = "key is not in Map\n\nError in pass: it's mine"
    detail = f'Traceback (most recent call last):\n  File "/project/src/a.cc", line 7, in tvm::F()\nKeyError: {said!r}'
    assert raised_text(detail) == f"KeyError: {said}"
    assert traceback_text(detail).endswith(f"\nKeyError: {said}")
    broken = detail.replace(repr(said), r"'C:\new\xq'")
    assert raised_text(broken) == r"KeyError: 'C:\new\xq'"
    key = detail.replace(repr(said), "'x'")
    assert raised_text(key) == "KeyError: 'x'"


def test_the_message_of_a_key_error_is_what_tvm_says_and_a_key_is_quoted() -> None:
    assert said_by(KeyError("no such key\nError in pass: P")) == "no such key\nError in pass: P"
    assert said_by(KeyError("x")) == "'x'"
    assert said_by(ValueError("a\nb")) == "a\nb"

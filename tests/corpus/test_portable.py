"""Repro scripts in the words of an older TVM."""

from __future__ import annotations

import ast
import runpy

import pytest

from corpus.portable.text import REWRITES, SHIMS, adapted, with_shims
from corpus.portable.wording import in_words_of_today
from corpus.replayable import CORPUS, case_folders

SCRIPT = '''"""Title"""
from __future__ import annotations
import os, sys
from typing import TypeVar
import tvm
from tvm.script import ir as I, relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, 2), dtype="float32"), s: T.int64) -> R.Tensor((n * 2,), dtype="float32"):
        # a comment
        y = R.call_dps_packed("f", (x,), out_ty=R.Tensor((n,), dtype="float32"))
        return y

    @R.function(private=True)
    def other(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        return x
'''


def test_symbolic_extents_are_strings_and_variables() -> None:
    text = adapted(SCRIPT, ["type variables"])
    assert "def main(x: R.Tensor(('n', 2), dtype=\"float32\"), s: T.int64) -> R.Tensor(('n * 2',), dtype" in text
    assert text.count("n = T.int64()") == 1  # the other function uses none
    assert "from tvm.script import ir as I, relax as R, tirx as T" in text
    assert "# a comment" in text and "out_ty=R.Tensor((n,)" in text
    ast.parse(text)


def test_names_of_arguments_and_types_of_scalars() -> None:
    assert "out_sinfo=R.Tensor((n,)" in adapted(SCRIPT, ["out_ty"])
    assert 's: R.Prim("int64")' in adapted(SCRIPT, ["scalar parameters"])


def test_what_a_string_says_is_left_alone() -> None:
    text = SCRIPT + 'NAME = "out_ty=1"\n'
    changed = adapted(text, ["out_ty"])
    assert 'NAME = "out_ty=1"' in changed and "out_sinfo=R.Tensor((n,)" in changed


def test_what_is_read_is_left_alone() -> None:
    assert adapted(SCRIPT, []) == SCRIPT
    assert adapted("no ( Python", REWRITES) == "no ( Python"


def test_the_probes_are_those_that_are_rewritten() -> None:
    told = runpy.run_path(str(SHIMS))
    assert set(told["PROBES"]) == set(REWRITES)
    assert told["not_read"]() == []  # the TVM that scripts are written for
    assert told["ADDED"] == []


@pytest.mark.parametrize("folder", case_folders(CORPUS), ids=lambda folder: folder.name)
def test_every_script_stays_python(folder: object) -> None:
    from pathlib import Path

    assert isinstance(folder, Path)
    text = (folder / "repro.py").read_text()
    changed = with_shims(adapted(text, REWRITES))
    tree = ast.parse(changed)
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert "runpy" in names
    assert changed.index("runpy") < changed.index("from tvm.script") if "from tvm.script" in text else True


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("fails in src/arith/x.cc: arith::Y::Z", "fails in src/sym/x.cc: sym::Y::Z"),
        ("Expected TensorStructInfo", "Expected TensorType"),
        ("Check failed: value.dtype() == var.dtype() (float32 vs. bfloat16) : ",
         "Check failed: (value.ty() == var->ty.as_or_throw<PrimType>()) is false: "),
        ("Check failed: (x.dtype().is_float()) is false: power", "Check failed: (IsFloatType(x.ty())) is false: power"),
        ("CodeGenVM cannot handle this intrinsic now", "CodeGenVM cannot emit this Relax operator directly"),
        ("Downcast from relax.expr.Constant to relax.expr.Var failed.",
         "Cannot treat type `ir.GenericConst` as type `ir.Var`"),
    ],
)  # fmt: skip
def test_what_two_versions_say_is_one(older: str, newer: str) -> None:
    assert in_words_of_today(older).strip() == in_words_of_today(newer).strip()


def test_other_checks_stay_others() -> None:
    one, other = "Check failed: (extent_ty == var_ty) is false", "Check failed: (value == 0) is false"
    assert in_words_of_today(one) != in_words_of_today(other)

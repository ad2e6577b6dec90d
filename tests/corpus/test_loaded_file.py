"""Scripts of passes that a user's file brings travel: with the text of the file, or with a line on what must go too."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.loaded_file import MOST_BYTES, literal_of, loaded_file
from corpus.repro import repro_text
from corpus.store import StoredCase, write_case
from generators.case import Case, ModuleText, PassCall
from tests.patience import HANGS_S

pytestmark = pytest.mark.warm
MODULE = """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return x
"""
ALONE = '''\
"""Passes of mine: \\\\ and \\'quotes\\'."""

import tvm
from tvm.script import relax as R


@R.function(private=True)
def template(y: R.Tensor((2,), "float32")):
    return y  # TVMScript reads its own source


@tvm.transform.module_pass(opt_level=0, name="Mine")
def mine(mod, context):
    raise RuntimeError(f"the bug is there: {len(template.params)} parameter")


PASSES = {"Mine": lambda: mine}
'''
HELPED = ALONE.replace("import tvm\n", "import tvm\nimport of_mine\n", 1).replace("the bug", "{of_mine.WHAT}")


def put(folder: Path, text: str, single: bool = False) -> Path:
    """The script of a finding of `mine.py`, in a folder of its own."""
    file = folder / "home" / "mine.py"
    file.parent.mkdir()
    file.write_text(text)
    (file.parent / "of_mine.py").write_text("WHAT = 'the helper'\n")
    case = Case(ModuleText(MODULE), (PassCall("Mine", "PASSES['Mine']()"),), load=str(file))
    stored = StoredCase(case, "a title", "survives", "crash", "Mine")
    write_case(folder / "finding", stored, repro_text(stored, single), "")
    return folder / "finding"


def run(folder: Path) -> tuple[int, str]:
    ended = subprocess.run(
        [sys.executable, str(folder / "repro.py")], capture_output=True, text=True, timeout=HANGS_S, check=False
    )
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("single", [False, True])
def test_a_script_runs_where_the_file_is_not(single: bool, tmp_path: Path) -> None:
    folder = shutil.move(put(tmp_path, ALONE, single), tmp_path / "elsewhere")
    shutil.rmtree(tmp_path / "home")
    status, output = run(folder)
    assert (status, "the bug is there: 1 parameter" in output) == (1, True)
    assert str(tmp_path) not in (folder / "repro.py").read_text()
    assert ALONE in (folder / "repro.py").read_text()


def test_a_script_says_what_must_stand_beside_it(tmp_path: Path) -> None:
    folder = put(tmp_path, HELPED)
    assert "# To run this elsewhere, put beside it: mine.py, of_mine.py\n" in (folder / "repro.py").read_text()
    status, output = run(folder)
    assert (status, "the helper is there" in output) == (1, True)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder, elsewhere)
    (tmp_path / "home").rename(tmp_path / "gone")
    assert run(elsewhere)[0] == 2
    shutil.copytree(tmp_path / "gone", elsewhere, dirs_exist_ok=True)
    status, output = run(elsewhere)
    assert (status, "the helper is there" in output) == (1, True)


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("import tvm\nPASSES = {}\n", ()),
        ("from tvm import relax\n", ()),
        ("import of_mine\n", ("mine.py", "of_mine.py")),
        ("def f():\n    from of_mine import x\n", ("mine.py", "of_mine.py")),
        ("import parts.one\n", ("mine.py", "parts")),
        ("from . import of_mine\n", ("mine.py", "of_mine.py")),
        ("from .of_mine import x\n", ("mine.py", "of_mine.py")),
        ("print(__file__)\n", ("mine.py",)),
        ("def (", ("mine.py",)),
        ("", ("mine.py",)),
        ("#" * MOST_BYTES + "\n", ("mine.py",)),
    ],
)
def test_what_stands_alone(text: str, beside: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "of_mine.py").write_text("")
    (tmp_path / "parts").mkdir()
    (tmp_path / "mine.py").write_text(text)
    found = loaded_file(tmp_path / "mine.py")
    assert found.beside == beside
    assert (found.literal is None) == bool(beside)


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    assert loaded_file(tmp_path / "gone.py").beside == ("gone.py",)


@pytest.mark.parametrize(
    "text", ["x\n", "'''\n", "'''\n\"\"\"\n", "\\\n", "a\\", "'", '"""\n', "\r\n", "\0", "é\u2028", "{{ x }}"]
)
def test_literals_give_the_text_back(text: str) -> None:
    assert ast.literal_eval(literal_of(text)) == text


def test_a_readable_literal_is_the_text_itself() -> None:
    assert literal_of("a = '\\n'\n") == "r'''a = '\\n'\n'''"

"""The blocks of CONTRIBUTING.md say where they go, and the recipes for passes work as they stand."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from generators import tvm_api
from generators.passes import relax_bindings
from generators.passes.row import PassRow
from generators.passes.table import join
from tests.oracles.oracle_bench import module_of
from tests.project_copy import ROOT, Piece, piece_of, project_copy, recipe, with_piece

MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y = x
            z = R.add(y, y)
            R.output(z)
        return z
"""
TABLE = """
ROWS = (
    row("a"),
    row("b"),
)  # the end
BY_NAME: dict[str, Row] = {
    row.name: row
    for row in (
        row("a"),
    )
}
"""


@pytest.mark.parametrize(
    "block, before, after",
    [
        ('# a/b.py: a row of ROWS\n    row("c"),\n', '    row("b"),\n', ")  # the end\n"),
        ('# a/b.py: a row of ROWS, after "a"\n    row("c"),\n', '    row("a"),\n', '    row("b"),\n'),
        ('# a/b.py: a row of BY_NAME\n        row("c"),\n', '        row("a"),\n', "    )\n}\n"),
        ("# a/b.py: above BY_NAME\ndef f(): ...\n", ")  # the end\n", "\n\nBY_NAME: dict[str, Row] = {\n"),
    ],
)
def test_a_block_is_put_where_its_first_line_says(block: str, before: str, after: str) -> None:
    added = block.split("\n", 1)[1]
    changed = with_piece(TABLE, piece_of(block))
    assert changed.replace(added + ("\n\n" if "above" in block else ""), "") == TABLE
    assert f"{before}{added}{after}" in changed


def test_a_new_file_is_the_whole_block_and_other_headings_are_refused() -> None:
    assert piece_of("# a/b.py: a new file\nx = 1\n") == Piece("a/b.py", "# a/b.py: a new file\nx = 1\n")
    assert piece_of("{# a/b.py.j2: a new file #}\nx\n").path == "a/b.py.j2"
    for heading in ("# a/b.py", "# a/b.py: the end", "import a"):
        with pytest.raises(AssertionError, match="does not say where the block goes"):
            piece_of(f"{heading}\nx = 1\n")


def test_the_pass_can_be_constructed_and_applied() -> None:
    (piece,) = recipe("Add a pass")
    (row,) = eval(f"({piece.text})", vars(relax_bindings))
    assert isinstance(row, PassRow)
    assert join((row,)) == {row.name: row}
    applied = eval(row.sources[0], dict(tvm_api.PASS_NAMES))(module_of(MODULE))
    assert len(applied["main"].body.blocks[0].bindings) == 1


DRAWN = """
import generators
from fuzzer.protocol import Plan
from fuzzer.trial.repertoire import repertoire_of
from fuzzer.worker.draw import draw_experiment
from generators import externs

assert generators.__file__.startswith(FOLDER), generators.__file__
externs.register()
plan = Plan(1, under_test=(NAME,))
print(draw_experiment(plan, repertoire_of(plan), 0).experiment.passes[-1].name)
"""


def test_a_pass_that_is_added_as_described_is_drawn(tmp_path: Path) -> None:
    (piece,) = recipe("Add a pass")
    project = project_copy(tmp_path / "project")
    project.follow(piece)
    name = ast.literal_eval(piece.text.split("(", 1)[1].split(",", 1)[0].strip())
    drawn = project.python("-c", f"FOLDER, NAME = {str(project.folder)!r}, {name!r}\n{DRAWN}")
    assert (drawn.returncode, drawn.stdout) == (0, f"{name}\n"), drawn.stderr


@pytest.mark.deep
@pytest.mark.parametrize("title", ["Add a pass", "Add a TIR pass"])
def test_a_pass_that_is_added_as_described_is_drawn_and_judged(title: str, tmp_path: Path) -> None:
    (piece,) = recipe(title)
    project = project_copy(tmp_path / "project")
    project.follow(piece)
    name = ast.literal_eval(piece.text.split("(", 1)[1].split(",", 1)[0].strip())
    options = ("--passes", name, "--cases", "3", "--seed", "1", "--jobs", "1", "--out", "out")
    ran = project.python("-m", "fuzzer.cli", "run", *options)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    summary = json.loads((project.folder / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["cases"] == 3
    assert summary["passes"][name]["applied"] > 0


def test_the_table_counts_the_files_of_each_recipe() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| (an? [\w ]+) \| (\d) \| (\d) \|$", text, re.MULTILINE)
    counted = []
    for title in re.findall(r"^## Add (.+)$", text, re.MULTILINE):
        paths = {piece.path for piece in recipe(f"Add {title}")}
        of_tests = {path for path in paths if path.startswith("tests/")}
        counted.append((title, str(len(paths - of_tests)), str(len(of_tests))))
    assert told == counted


@pytest.mark.deep
def test_a_project_that_has_followed_the_recipes_keeps_the_rules(tmp_path: Path) -> None:
    """But for an operator, of which TVM has no other, and a pass that TVM's pipeline does not run."""
    project = project_copy(tmp_path / "project")
    for title in ("Add a pass", "Add a calling convention", "Add a target", "Add an oracle"):
        project.follow(*recipe(title))
    files = ("test_imports.py", "test_names.py", "test_tables.py", "test_decisions.py", "test_tests.py")
    rows = ("generators/test_passes_table.py", "oracles/test_target_rows.py")
    status, line = project.pytest(*(f"tests/{file}" for file in (*files, *rows)))
    assert status == 0, line

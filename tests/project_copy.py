"""A copy of the project in which a test follows a recipe of CONTRIBUTING.md to the letter."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.patience import HANGS_S

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("generators", "oracles", "corpus", "reports", "fuzzer", "tests", "benchmarks")


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of a recipe, and where its first line says that it goes.

    above, row_of: the table above which its code is written, or into which it is put as one more row; "" for neither,
    which is a new file. after: the first argument of the row that it follows; "" for before the closing bracket.
    """

    path: str
    text: str
    above: str = ""
    row_of: str = ""
    after: str = ""


HEADING = re.compile(
    r"""(?:\#|{\#)\ (?P<path>[\w/]+\.py(?:\.j2)?):\ (?:
        a\ new\ file
        | above\ (?P<above>\w+)
        | a\ row\ of\ (?P<row_of>\w+)(?:,\ after\ "(?P<after>[^"]+)")?
    )(?:\ \#})?""",
    re.VERBOSE,
)


def recipe(title: str) -> tuple[Piece, ...]:
    """The blocks of Python and Jinja under a heading of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return tuple(piece_of(block) for block in re.findall(r"```(?:python|jinja)\n(.*?)```", section, re.DOTALL))


def piece_of(block: str) -> Piece:
    """A block by its first line. A new file keeps that line; code that is added to a file does not."""
    heading, text = block.split("\n", 1)
    found = HEADING.fullmatch(heading)
    assert found is not None, f"{heading!r} does not say where the block goes"
    places = found.groupdict(default="")
    return Piece(text=text if places["above"] or places["row_of"] else block, **places)


def assignment(source: str, name: str) -> ast.Assign | ast.AnnAssign:
    """The statement of a file that makes a table."""
    (found,) = (
        node
        for node in ast.parse(source).body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        and name in [ast.unparse(one) for one in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    )
    return found


def display(source: str, name: str) -> ast.Tuple | ast.Dict:
    """The rows of a table: the outermost tuple or dict that is written out."""
    value = assignment(source, name).value
    assert value is not None
    return next(node for node in ast.walk(value) if isinstance(node, (ast.Tuple, ast.Dict)))


def line_after(source: str, piece: Piece) -> int:
    """How many lines of the file stand before the new ones."""
    if piece.above:
        return assignment(source, piece.above).lineno - 1
    rows = display(source, piece.row_of)
    if not piece.after:
        assert rows.end_lineno is not None
        return rows.end_lineno - 1
    (end,) = (
        node.end_lineno
        for node in ast.walk(rows)
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.args[0]) == repr(piece.after)
    )
    assert end is not None
    return end


def with_piece(source: str, piece: Piece) -> str:
    """A file with code above a table, or with one more row."""
    lines = source.splitlines(keepends=True)
    place = line_after(source, piece)
    if piece.row_of and not piece.after:
        assert lines[place].lstrip()[0] in ")}", f"the closing bracket of {piece.row_of} has no line of its own"
    return "".join((*lines[:place], piece.text, *(["\n\n"] if piece.above else []), *lines[place:]))


@dataclass(frozen=True, slots=True)
class ProjectCopy:
    """A copy of all source files under `folder`."""

    folder: Path

    def follow(self, *pieces: Piece) -> None:
        """Writes new files, which must not be there yet, and adds to those that are there."""
        for piece in pieces:
            file = self.folder / piece.path
            if piece.above or piece.row_of:
                file.write_text(with_piece(file.read_text(encoding="utf-8"), piece), encoding="utf-8")
            else:
                with file.open("x", encoding="utf-8") as new:
                    new.write(piece.text)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs Python on the copy; nothing of the original project can be imported."""
        threads = {"TVM_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**os.environ, **threads, "PYTHONPATH": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=HANGS_S,
            check=False,
        )

    def pytest(self, *arguments: str) -> tuple[int, str]:
        """Runs tests of the copy: the exit status and the last line."""
        ended = self.python("-m", "pytest", "-q", "-rN", *arguments)
        return ended.returncode, (ended.stdout.splitlines() or [ended.stderr])[-1]


def project_copy(folder: Path) -> ProjectCopy:
    """Copies the project into a new folder, with what Python has compiled of it: a changed file is compiled anew."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("cases"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return ProjectCopy(folder)

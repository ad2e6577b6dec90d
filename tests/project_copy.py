"""A copy of the project in which a test follows a recipe of CONTRIBUTING.md to the letter."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.patience import HANGS_S

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("generators", "oracles", "corpus", "reports", "fuzzer", "tests")


def blocks(title: str, language: str = "python") -> list[str]:
    """The blocks of a language under a heading of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return re.findall(rf"```(?:{language})\n(.*?)```", section, re.DOTALL)


def recipe(title: str) -> dict[str, str]:
    """The blocks of Python and Jinja there, by the file that their first line names."""
    found = blocks(title, "python|jinja")
    return {re.findall(r"[\w/]+\.py(?:\.j2)?", block.splitlines()[0])[0]: block for block in found}


@dataclass(frozen=True, slots=True)
class ProjectCopy:
    """A copy of all source files under `folder`."""

    folder: Path

    def write(self, path: str, text: str) -> None:
        """Writes a file that must not be there yet."""
        with (self.folder / path).open("x", encoding="utf-8") as file:
            file.write(text)

    def add_row(self, path: str, table: str, block: str) -> None:
        """Puts the functions of a block above `table`, and the row that it calls ROW into the table."""
        before, mark, row = block.partition("ROW = ")
        assert mark, f"the block for {path} has no ROW"
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert text.count(table) == 1 and text.count(f"\n{table}") == 1
        head, _, tail = text.partition(table)
        opening = "for row in (\n"
        assert opening in tail
        file.write_text(head + before + table + tail.replace(opening, f"{opening}{row.strip()},\n", 1), "utf-8")

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


def project_copy(folder: Path) -> ProjectCopy:
    """Copies the project into a new folder."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "cases"))
    return ProjectCopy(folder)

"""Texts of a finding's folder: what is read of an honest one, and what is not of a stranger's."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given

from corpus.escapes import Markdown, one_line
from corpus.readme import readme_text
from corpus.store import write_case
from reports.finding_files import LONGEST, MOST, FindingFiles, files_under, no_files
from reports.finding_row import FindingRow
from tests.corpus.test_store import stored_case
from tests.hostile import HOSTILE, examples, texts

ROW = FindingRow("s", "numeric", "FuseOps", "crash", "m", case="findings/s", repro="findings/s/repro.py")
DIFFERENCE = "--- before\n+++ after\n@@ main @@\n-    a\n+    ```b\n"


def folder(out: Path) -> Path:
    made = out / "findings" / "s"
    made.mkdir(parents=True)
    return made


FAULT = ("The pass is wrong: *all* say [so].", "a & b <c>")


def test_the_texts_are_those_of_the_files(tmp_path: Path) -> None:
    """What a report says in words of ours is for people: the title, the change and the fault are fields."""
    stored = replace(stored_case(), title="[Relax] FuseOps gives `x` [0]", difference=DIFFERENCE, fault=FAULT)
    write_case(folder(tmp_path), stored, "import tvm\n", "## Another heading\n", "another first line\n\ntext\n")
    read = files_under(tmp_path)(ROW)
    assert read.script == "import tvm\n"
    assert read.issue.endswith("text\n")
    assert read.title == stored.title
    assert read.difference == DIFFERENCE.rstrip("\n")
    assert read.fault == FAULT
    assert not read.cut


def test_what_a_case_says_is_not_looked_for_in_its_reports(tmp_path: Path) -> None:
    readme = readme_text(stored_case(), "repro", "0.27", difference=DIFFERENCE, fault=FAULT)
    write_case(folder(tmp_path), replace(stored_case(), difference="", fault=()), "import tvm\n", readme)
    read = files_under(tmp_path)(ROW)
    assert (read.difference, read.fault) == ("", ())


def test_of_an_older_folder_the_change_and_the_fault_are_in_its_reports(tmp_path: Path) -> None:
    readme = readme_text(stored_case(), "repro", "0.27", difference=DIFFERENCE, fault=FAULT)
    write_case(folder(tmp_path), replace(stored_case(), difference=None, fault=None), "import tvm\n", readme)
    read = files_under(tmp_path)(ROW)
    assert (read.difference, read.fault) == (DIFFERENCE.rstrip("\n"), FAULT)


def test_an_older_folder_has_its_report_as_the_issue(tmp_path: Path) -> None:
    (folder(tmp_path) / "README.md").write_text("# a title\n")
    read = files_under(tmp_path)(ROW)
    assert (read.issue, read.title, read.script) == ("# a title\n", "", "")


def test_a_change_that_only_the_issue_shows(tmp_path: Path) -> None:
    (folder(tmp_path) / "issue.md").write_text("# x\n\n````diff\n-a\n+```\n````\nafter\n")
    assert files_under(tmp_path)(ROW).difference == "-a\n+```"


def test_no_folder_and_no_file_is_no_text(tmp_path: Path) -> None:
    assert files_under(tmp_path)(ROW) == FindingFiles()
    folder(tmp_path)
    assert files_under(tmp_path)(ROW) == FindingFiles() == no_files(ROW)
    nameless = FindingRow("s", "numeric", "FuseOps", "crash", "m")
    (tmp_path / "repro.py").write_text("not of a finding")
    assert files_under(tmp_path)(nameless) == FindingFiles()


@pytest.mark.parametrize("at", ["file", "folder", "findings"])
def test_links_are_not_followed(tmp_path: Path, at: str) -> None:
    out, secret = tmp_path / "out", tmp_path / "secret"
    made = folder(secret)
    (made / "repro.py").write_text("a secret")
    if at == "findings":
        out.mkdir()
        (out / "findings").symlink_to(secret / "findings")
    elif at == "folder":
        (out / "findings").mkdir(parents=True)
        (out / "findings" / "s").symlink_to(made)
    else:
        (folder(out) / "repro.py").symlink_to(made / "repro.py")
    assert files_under(out)(ROW) == FindingFiles()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(folder(tmp_path) / "repro.py")
    assert files_under(tmp_path)(ROW).script == ""


def test_long_texts_are_cut_and_huge_ones_are_not_read(tmp_path: Path) -> None:
    made = folder(tmp_path)
    (made / "repro.py").write_text("x" * (LONGEST + 1))
    (made / "issue.md").write_bytes(b"x" * (MOST + 1))
    read = files_under(tmp_path)(ROW)
    assert (len(read.script), read.issue, read.cut) == (LONGEST, "", True)


def test_bytes_that_are_no_text_are_shown_as_such(tmp_path: Path) -> None:
    (folder(tmp_path) / "repro.py").write_bytes(b"\xff\xfe a")
    assert files_under(tmp_path)(ROW).script == "\ufffd\ufffd a"


def test_many_fences_take_no_time_to_read(tmp_path: Path) -> None:
    """Without a line that ends the block, each of 100,000 beginnings could be followed to the end of the file."""
    (folder(tmp_path) / "README.md").write_text("```diff\n" * 100_000)
    assert files_under(tmp_path)(ROW).difference == ""


@examples(60)
@given(text=texts)
@example(text=HOSTILE)
def test_what_a_report_says_of_the_fault_is_read_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    out = tmp_path_factory.mktemp("out")
    written = Markdown.of("# x\n\n## Whose fault\n\n- {}\n", f"fault {text}")
    (folder(out) / "README.md").write_text(written)
    assert files_under(out)(ROW).fault == (one_line(f"fault {text}"),)

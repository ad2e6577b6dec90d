"""Exit statuses are true whatever becomes of stdout and stderr, and an error of the system names the file."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from corpus.store import StoredCase, write_atomically, write_case
from fuzzer.campaign.disk import Disk
from fuzzer.errors import ExitStatus, line_of
from generators.case import Case, ModuleText
from reports.finding_row import row_of
from reports.summary import append_finding, write_out, write_text
from tests.fuzzer.module_files import GOOD
from tests.reports.reports_data import finding, report

ROOT = Path(__file__).resolve().parents[2]


def test_an_error_of_the_system_that_says_nothing_is_told_by_its_kind() -> None:
    assert line_of(TimeoutError()) == "error: TimeoutError"


@dataclass(frozen=True)
class Command:
    """A command line, the exit status that is true of it, and which stream it writes to."""

    arguments: str
    status: int
    on_stdout: bool


COMMANDS = {
    "help": Command("--help", 0, True),
    "help of a command": Command("check --help", 0, True),
    "version": Command("--version", 0, True),
    "no such command": Command("bogus", 2, False),
    "no such option": Command("run --bogus", 2, False),
    "no argument": Command("check", 2, False),
    "no such module": Command("check nope.py", 2, False),
    "no such module, JSON": Command("check nope.py --json", 2, False),
    "table": Command("list targets", 0, True),
    "table as JSON": Command("list targets --json", 0, True),
    "no such table": Command("list nope", 2, False),
    "report": Command("report out", 0, True),
    "report as JSON": Command("report out --json", 0, True),
    "report in a format": Command("report out --markdown", 0, True),
    "no report": Command("report nope", 2, False),
    "no corpus": Command("replay nope", 2, False),
    "an unwritable file": Command("replay --junit /proc/x", 3, False),
    "an unwritable folder": Command("run --cases 1 --out /proc/x", 3, False),
}


@dataclass(frozen=True)
class Breakage:
    """What the shell does to the streams; the status of a clean command whose text goes to stdout."""

    redirection: str
    lost: int = 0


BREAKAGES = {
    "nothing": Breakage(""),
    "stderr closed": Breakage("2>&-"),
    "stderr full": Breakage("2>/dev/full"),
    "stderr without reader": Breakage("2>&READER"),
    "stderr read-only": Breakage("2</dev/null"),
    "stdout closed": Breakage(">&-", 3),
    "stdout full": Breakage(">/dev/full", 3),
    "stdout without reader": Breakage(">&READER", 141),
    "stdout read-only": Breakage("1</dev/null", 3),
    "stdout beyond the limit of files": Breakage(">limited", 3),
    "both full": Breakage(">/dev/full 2>&1", 3),
    "both without reader": Breakage(">&READER 2>&1", 141),
    "all closed": Breakage("<&- >&- 2>&-", 3),
}
EVERYWHERE = ("nothing", "stdout full", "stderr without reader", "both without reader", "all closed")
ALIKE = ("stderr read-only", "stdout read-only", "both full")
"""Breakages of which a quick test has another one of the kind."""


def no_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def ended(folder: Path, arguments: str, redirection: str) -> subprocess.CompletedProcess[str]:
    """The command line in a shell. READER is a pipe without a reader; where files are limited, none can grow."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [
                "bash",
                "-c",
                f'exec "$0" -m fuzzer.cli {arguments} {redirection.replace("READER", str(writer))}',
                sys.executable,
            ],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PASSFUZZ_DEBUG": "0"},
            preexec_fn=no_files if "limited" in redirection else None,
            pass_fds=(writer,),
            check=False,
        )
    finally:
        os.close(writer)


def cells() -> Iterator[object]:
    """Every breakage with a command that writes to what it breaks, and each other command with some of them."""
    for what, breakage in BREAKAGES.items():
        for name, command in COMMANDS.items():
            writes_there = name == ("no such module" if "stderr" in what else "help")
            marks = () if writes_there and what not in ALIKE else pytest.mark.deep
            if writes_there or what in EVERYWHERE:
                yield pytest.param(command, breakage, id=f"{name}, {what}", marks=marks)


@pytest.mark.parametrize(("command", "breakage"), list(cells()))
def test_the_exit_status_is_true(command: Command, breakage: Breakage, tmp_path: Path) -> None:
    write_out(tmp_path / "out", report(finding()))
    (tmp_path / "limited").touch()
    done = ended(tmp_path, command.arguments, breakage.redirection)
    assert done.returncode == (command.status or (breakage.lost if command.on_stdout else 0))
    # What can still be said is said, and nothing else: no traceback, no "Exception ignored".
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr
    assert done.stderr.count("\n") <= 1
    if command.status and "2" not in breakage.redirection and "limited" not in breakage.redirection:
        assert done.stderr.startswith("passfuzz: error: ")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("redirection", "clean", "failing"),
    [
        (">/dev/full", 3, 1),
        (">&READER", 141, 1),
        (">&-", 3, 1),
        ("2>&-", 0, 1),
        ("2>/dev/full", 0, 1),
        (">&- 2>&- <&-", 3, 1),
    ],
)
def test_a_check_says_what_it_found(redirection: str, clean: int, failing: int, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "mine.py").write_text(RAISES)
    assert ended(tmp_path, "check good.py --passes DeadCodeElimination", redirection).returncode == clean
    assert ended(tmp_path, "check good.py --load mine.py", redirection).returncode == failing


@pytest.mark.deep
def test_a_campaign_goes_on_without_a_reader(tmp_path: Path) -> None:
    done = ended(tmp_path, "run --cases 2 --jobs 1 --seed 5 --out out", ">&READER 2>&1")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["cases"] == 2
    assert done.returncode == (1 if summary["findings"] else ExitStatus.NO_READER)


RAISES = """\
import tvm


def turn(module, context):
    return module.with_attr("global_symbol", 1) if False else {}["nothing"]


PASSES = {"Mine": lambda: tvm.transform.module_pass(turn, opt_level=0, name="Mine")}
"""


# --- full disks -----------------------------------------------------------------------------------------


def in_child_without_files(work: Callable[[], object]) -> str:
    """The text of the OSError that `work` ends with in a process in which no file can grow."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing was raised"
        try:
            no_files()
            work()
        except OSError as error:
            said = str(error)
        except BaseException as error:  # noqa: BLE001 - the end of a forked child
            said = repr(error)
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with open(reader, encoding="utf-8") as pipe:
        return pipe.read()


def test_a_campaign_says_in_words_what_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    disk = Disk(tmp_path, 1, str(tmp_path), own=True)

    def full() -> None:
        raise OSError(28, "No space left on device", "out/report.html")

    assert not disk.tries(full)
    assert not disk.tries(full)
    warning = "passfuzz: warning: out/report.html: no space left on device; the campaign goes on\n"
    assert capsys.readouterr().err == warning


STORED = StoredCase(Case(ModuleText("class Module: pass\n"), ()), "a title", "numeric", "wrong result", "FuseOps")


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("file.txt", lambda path: write_atomically(path, b"text")),
        ("deep/file.txt", lambda path: write_text(path, "text")),
        ("case", lambda path: write_case(path, STORED, "repro", "readme")),
        ("findings.jsonl", lambda path: append_finding(path.parent, row_of(finding()))),
    ],
)
def test_a_full_disk_names_the_file(tmp_path: Path, name: str, write: Callable[[Path], object]) -> None:
    path = tmp_path / name
    assert in_child_without_files(partial(write, path)) == f"[Errno 27] File too large: '{path}'"
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []

"""What another user made runs nothing of theirs: the exploits of cases, modules and scripts, each tried.

`marker` is a file that each would make.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus import own
from corpus.replayable import CORPUS
from corpus.scripts.repro import repro_text
from corpus.store import StoredCase, read_case, write_case, write_contents
from fuzzer import cli, trust
from fuzzer.commands.check import check_module
from fuzzer.commands.reduce import reduce_case
from fuzzer.commands.reduce_asked import ReduceOptions
from fuzzer.commands.replay import replay
from fuzzer.errors import UsageError
from fuzzer.processes.sandbox import Walls, offered
from fuzzer.worker.seeds import draw_seed
from generators.case import Case, ModuleText
from generators.source import SeededSource

pytestmark = [pytest.mark.warm, pytest.mark.usefixtures("few_other_builds")]

CASE = CORPUS / "17340-kill-after-last-use-in-dataflow"
SCRIPT = """\
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y = R.add(x, {value})
            R.output(y)
        return y
"""
RUNS = '__import__("os").system("touch {marker}")'
Command = Callable[[Path], Any]


def check(path: Path) -> Any:
    return check_module(path, (), None, None)


def reduce(path: Path) -> Any:
    return reduce_case(path, ReduceOptions(time_s=5))


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "marker"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A case of the shipped corpus, as it comes from another user."""
    folder = tmp_path / "corpus" / "case"
    shutil.copytree(CASE, folder)
    return folder


def change(folder: Path, **entries: Any) -> None:
    path = folder / "case.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


def with_pass(folder: Path, marker: Path) -> None:
    source = f"({RUNS}, relax.transform.KillAfterLastUse())[1]".replace("{marker}", str(marker))
    change(folder, passes=[{"name": "KillAfterLastUse", "source": source}])


def with_setup(folder: Path, marker: Path) -> None:
    source = f"relax.transform.DeadCodeElimination([{RUNS}])".replace("{marker}", str(marker))
    change(folder, setup=[{"name": "DeadCodeElimination", "source": source}])


def with_options(folder: Path, marker: Path) -> None:
    entry = {"name": "KillAfterLastUse", "source": "relax.transform.KillAfterLastUse()"}
    change(folder, passes=[{**entry, "options": f"{{'x': {RUNS}}}".replace("{marker}", str(marker))}])


def with_load(folder: Path, marker: Path) -> None:
    file = folder / "mine.py"
    file.write_text(
        f"import tvm\n{RUNS}\nPASSES = {{'Mine': lambda: tvm.transform.PrintIR()}}\n".replace("{marker}", str(marker))
    )
    change(folder, load=str(file))


def with_module(folder: Path, marker: Path) -> None:
    value = f'R.const(np.array([3.0, 4.0 + 0 * {RUNS}], "float32"))'.replace("{marker}", str(marker))
    (folder / "module.py").write_text(SCRIPT.format(value=value))


EXPLOITS = (with_pass, with_setup, with_options, with_load, with_module)


@pytest.mark.parametrize("command", [check, reduce])
@pytest.mark.parametrize("exploit", EXPLOITS)
def test_a_case_of_somebody_else_runs_nothing(
    command: Command, exploit: Callable[[Path, Path], None], foreign: Path, marker: Path
) -> None:
    exploit(foreign, marker)
    with pytest.raises(UsageError, match="--trust"):
        command(foreign)
    with pytest.raises(UsageError, match="--trust"):
        command(foreign / "case.json")
    assert not marker.exists()


@pytest.mark.parametrize("command", [check, reduce])
def test_a_module_of_somebody_else_runs_nothing(command: Command, tmp_path: Path, marker: Path) -> None:
    with_module(tmp_path, marker)
    with pytest.raises(UsageError) as refused:
        command(tmp_path / "module.py")
    assert "module.py, line 10: __import__('os').system: " in str(refused.value)
    assert not marker.exists()


@pytest.mark.deep
def test_the_exploits_are_real(tmp_path: Path, marker: Path) -> None:
    """What is refused would run: with --trust it does."""
    with_module(tmp_path, marker)
    check_module(tmp_path / "module.py", ("FoldConstant",), None, None, trust=True)
    assert marker.exists()


def test_a_seed_of_somebody_else_runs_nothing(foreign: Path, marker: Path) -> None:
    with_module(foreign, marker)
    program, useless = draw_seed(SeededSource(1, 1), (foreign,))
    assert program is None
    assert set(useless) == {"a module of another user that is not plain TVMScript"}
    assert not marker.exists()


def test_a_script_of_somebody_else_is_not_replayed(foreign: Path, marker: Path) -> None:
    (foreign / "repro.py").write_text(RUNS.replace("{marker}", str(marker)))
    for corpus in (foreign, foreign.parent):
        with pytest.raises(UsageError, match=r"1 case, not of this machine's making:.*--trust"):
            replay(corpus, ())
    assert not marker.exists()


def test_a_script_that_must_not_run_keeps_no_other_from_it(foreign: Path, marker: Path, tmp_path: Path) -> None:
    (foreign / "repro.py").write_text(RUNS.replace("{marker}", str(marker)))
    corpus = tmp_path / "mixed"
    shutil.copytree(foreign, corpus / "theirs")
    mine = {file.name: file.read_bytes() for file in foreign.iterdir() if file.is_file()}
    write_contents(corpus / "own", {**mine, "repro.py": b"raise SystemExit(0)"}, made_here=True)
    (corpus / "corrupt").mkdir()
    (corpus / "corrupt" / "case.json").write_text("[]")
    rows = {row.case: row for row in replay(corpus, ()).rows}
    assert not marker.exists()
    assert rows["own"].outcome in ("fixed", "passes")
    assert rows["theirs"].outcome == rows["corrupt"].outcome == "error"
    assert "--trust" in rows["theirs"].message and "--trust" not in rows["corrupt"].message


def test_with_trust_it_is_replayed(foreign: Path, marker: Path) -> None:
    (foreign / "repro.py").write_text(RUNS.replace("{marker}", str(marker)))
    (row,) = replay(foreign, (), trust=True).rows
    assert row.case == "case"
    assert marker.exists()


@pytest.mark.skipif(not offered().files, reason="this kernel has no Landlock")
def test_a_script_of_ones_own_is_replayed_and_writes_nothing(tmp_path: Path, marker: Path) -> None:
    folder = tmp_path / "corpus" / "mine"
    write_case(folder, read_case(CASE), f"open({str(marker)!r}, 'w')", "", made_here=True)
    (row,) = replay(folder, ()).rows
    assert (row.outcome, "PermissionError" in row.message) == ("error", True)
    assert not marker.exists()


FOLDED = """\
import numpy as np
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def calls(x: T.Buffer((1,), "int32"), y: T.Buffer((1,), "int32")):
        with T.sblock("y"):
            y[0] = x[0] + T.call_extern("int32", "creat", "{marker}", 420)

    @R.function
    def main() -> R.Tensor((1,), "int32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.calls, (R.const(np.array([1], "int32")),), out_ty=R.Tensor((1,), "int32"))
            R.output(a)
        return a
"""


@pytest.mark.skipif(not offered().files, reason="this kernel has no Landlock")
@pytest.mark.parametrize("trusted", [False, True])
def test_a_plain_module_that_calls_the_system_writes_nothing(trusted: bool, tmp_path: Path, marker: Path) -> None:
    """FoldConstant builds and runs the PrimFunc, which calls a function of the C library."""
    file = tmp_path / "module.py"
    file.write_text(FOLDED.replace("{marker}", str(marker)))
    check_module(file, ("FoldConstant",), None, None, trust=trusted)
    assert marker.exists() == trusted


# --- what is one's own ------------------------------------------------------------------------------------


def mine(folder: Path) -> Path:
    """A folder that this machine has written, with an expression and a module of no table."""
    stored = read_case(CASE)
    write_case(folder, stored, repro_text(stored), "read me", made_here=True)
    return folder


def test_what_was_written_here_is_ones_own(tmp_path: Path) -> None:
    folder = mine(tmp_path / "case")
    assert own.is_own(folder)
    assert trust.is_trusted(folder)
    moved = folder.rename(tmp_path / "elsewhere")
    assert own.is_own(moved)


def test_a_copy_of_a_stranger_s_case_stays_a_stranger_s(tmp_path: Path) -> None:
    """Whoever writes a case again says whose it was; who says nothing makes no case their own."""
    theirs, ours = tmp_path / "theirs", mine(tmp_path / "ours")
    shutil.copytree(CASE, theirs)
    for source, own_one in ((theirs, False), (ours, True)):
        stored = read_case(source)
        write_case(tmp_path / "promoted", stored, repro_text(stored), "", made_here=own.is_own(source))
        assert own.is_own(tmp_path / "promoted") == own_one
        write_case(tmp_path / "promoted", stored, repro_text(stored), "")
        assert not own.is_own(tmp_path / "promoted")


def remove(folder: Path) -> None:
    (folder / "repro.py").unlink()


def change_script(folder: Path) -> None:
    (folder / "repro.py").write_text("exit(0)")


def add_module(folder: Path) -> None:
    (folder / "numpy.py").write_text("")


def add_link(folder: Path) -> None:
    (folder / "numpy.py").symlink_to("/dev/null")


def add_folder(folder: Path) -> None:
    (folder / "numpy").mkdir()


def forge(folder: Path) -> None:
    (folder / own.MARK).write_text("0" * 64)


def forget(folder: Path) -> None:
    (folder / own.MARK).unlink()


@pytest.mark.parametrize("alter", [remove, change_script, add_module, add_link, add_folder, forge, forget])
def test_what_was_changed_is_not(alter: Callable[[Path], None], tmp_path: Path) -> None:
    folder = mine(tmp_path / "case")
    alter(folder)
    assert not own.is_own(folder)


def test_texts_for_people_may_change(tmp_path: Path) -> None:
    folder = mine(tmp_path / "case")
    (folder / "README.md").write_text("changed")
    (folder / "issue.md").write_text("new")
    assert own.is_own(folder)


def test_a_folder_of_another_user_is_not_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = mine(tmp_path / "case")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert not own.is_own(folder)
    mine(tmp_path / "theirs")
    assert not own.is_own(folder)


def test_a_key_that_others_can_read_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = mine(tmp_path / "case")
    os.chmod(tmp_path / "state" / "passfuzz" / "key", 0o644)
    assert not own.is_own(folder)


def test_without_a_state_folder_nothing_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    folder = mine(tmp_path / "case")
    assert not (folder / own.MARK).exists()
    assert not own.is_own(folder)


def test_the_key_is_not_in_the_folder(tmp_path: Path) -> None:
    folder = mine(tmp_path / "case")
    key = (own.state_folder() / "key").read_bytes()
    assert len(key) == 32
    assert all(
        key not in path.read_bytes() and key.hex().encode() not in path.read_bytes() for path in folder.iterdir()
    )


def test_the_shipped_corpus_is_trusted_and_a_link_to_elsewhere_is_not(tmp_path: Path) -> None:
    assert all(trust.is_trusted(folder) for folder in CORPUS.iterdir())
    assert not trust.is_trusted(CORPUS / ".." / ".." / "tests")
    assert not trust.is_trusted(tmp_path)


def test_a_case_of_ones_own_may_say_anything(tmp_path: Path) -> None:
    stored = StoredCase(Case(ModuleText(SCRIPT.format(value="open('x')")), ()), "t", "survives", "crash", "CSE")
    write_case(tmp_path / "case", stored, "exit(0)", "", made_here=True)
    trust.admit(tmp_path / "case", stored.case, None)
    shutil.copytree(tmp_path / "case", tmp_path / "sent", ignore=shutil.ignore_patterns(own.MARK))
    with pytest.raises(UsageError, match="open"):
        trust.admit(tmp_path / "sent", stored.case, None)


def test_every_command_that_runs_data_can_be_told_to_trust_it(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("check", "reduce", "replay"):
        with pytest.raises(SystemExit):
            cli.main([command, "--help"])
        assert "--trust" in capsys.readouterr().out


def test_missing_walls_are_told_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "offered", lambda: Walls(0, True))
    trust.warn_of_missing_walls()
    assert capsys.readouterr().err.count("\n") == 1
    monkeypatch.setattr(trust, "offered", lambda: Walls(7, True))
    trust.warn_of_missing_walls()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("trusted", [False, True])
def test_trust_arrives_where_data_runs(trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bool] = []

    def asked(*given: Any, **named: Any) -> Any:
        told.append(named["trust"] if "trust" in named else given[1].trust)
        raise UsageError("enough")

    for name in ("check.check_module", "reduce.reduce_case", "replay.replay"):
        monkeypatch.setattr(f"fuzzer.commands.{name}", asked)
    for command in ("check", "reduce", "replay"):
        with pytest.raises(SystemExit):
            cli.main([command, str(tmp_path), *(["--trust"] if trusted else [])])
    assert told == [trusted] * 3

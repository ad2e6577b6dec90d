"""A repro under confirmation: its status counts, and it ends with the campaign, however that ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from corpus.causes.signature import signature_of
from corpus.finding import Expectation, Finding
from corpus.findings import keep_finding, stored_from, with_each_setting
from corpus.issue import issue_text
from corpus.rate import ReproRate
from corpus.scripts.poison_fill import FILLS, Fill
from corpus.scripts.repro import repro_text
from corpus.scripts.setting import ScriptSetting
from corpus.store import StoredCase, read_case
from fuzzer.processes.guard import NOT_STARTED, end, guarded
from fuzzer.results import CheckRow
from fuzzer.worker import confirm
from fuzzer.worker.confirm import TRIALS_BY_CHANCE, Tried, confirmed
from generators.case import Case, EntryCall, ModuleText, PassCall
from oracles.evidence import CLOSED_DESCRIPTORS, AcrossProcesses, Died
from oracles.verdict import ACROSS_PROCESSES, CRASH, Failed
from tests.corpus.test_repro_memory import reduction
from tests.corpus.test_tracebacks import OF_A_CRASH
from tests.fuzzer.test_campaign import alive, wait_for
from tests.patience import HANGS_S
from tests.quick import one_in
from tests.reports.reports_data import finding

FORKS = "import os, sys, time; os.fork(); open(sys.argv[1] + str(os.getpid()), 'w').close(); time.sleep(100)"
"""Like a repro of a hang: a parent that waits, a child that does not end."""
ASKS = """
import subprocess, sys, time
from fuzzer.processes.guard import NOT_STARTED, end, guarded
subprocess.Popen(guarded([sys.executable, "-c", sys.argv[1], sys.argv[2]]), start_new_session=True)
time.sleep(100)
"""


@pytest.mark.parametrize(
    ("script", "status"), [("", 0), ("import sys; sys.exit(1)", 1), ("import os; os.kill(os.getpid(), 9)", 128 + 9)]
)
def test_the_status_is_the_command_s(script: str, status: int) -> None:
    command = guarded([sys.executable, "-c", script])
    assert subprocess.run(command, start_new_session=True, check=False).returncode == status


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_killed_parent(tmp_path: Path, number: signal.Signals) -> None:
    root = str(Path(__file__).resolve().parents[2])
    asking = subprocess.Popen(
        [sys.executable, "-c", ASKS, FORKS, f"{tmp_path}/"], env={**os.environ, "PYTHONPATH": root}
    )
    wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
    started = [int(path.name) for path in tmp_path.iterdir()]
    assert all(map(alive, started))
    asking.send_signal(number)
    asking.wait()
    wait_for(lambda: not any(map(alive, started)))


def test_what_its_repro_does_not_show_is_no_finding(tmp_path: Path) -> None:
    one = finding("ToNonDataflow")
    script = (
        '@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2,), "float32")):\n        return x\n'
    )
    one = replace(one, case=replace(one.case, module=ModuleText(script)))
    assert confirmed(one, tmp_path) == Tried(one, shown=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "ends",
    [
        *("os.kill(os.getpid(), 9)", "os.kill(os.getppid(), 9); import time; time.sleep(100)"),
        "print('killed by signal 9'); raise SystemExit(1)",  # what a script says of its child
    ],
)
def test_a_repro_or_its_guard_that_is_killed_from_outside_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    saves(monkeypatch, f"import os\n{ends}\n")
    assert confirmed(finding(), tmp_path) == Tried(finding(), shown=False, ended="SIGKILL")


def test_a_repro_that_takes_too_long_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saves(monkeypatch, "import time\ntime.sleep(1000)\n")
    monkeypatch.setattr(confirm, "DEADLINE_S", 0.2)
    tried = confirmed(finding(), tmp_path)
    assert (tried.shown, tried.ended) == (False, "no answer within 0.2 s")


@pytest.mark.parametrize(
    ("detail", "shown", "rate"),
    [
        ("", (1, 0, 1), ReproRate(2, 3)),
        ("", (0, 1, 0), ReproRate(1, 3)),
        ("", (1, 1, 1), None),
        (OF_A_CRASH, (1, 0, 1), None),
    ],
)
def test_a_death_without_a_place_is_tried_several_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, detail: str, shown: tuple[int, ...], rate: ReproRate | None
) -> None:
    """What kills a process later than it went wrong may not kill it each time."""
    runs = tmp_path / "runs"
    runs.write_text("")
    saves(
        monkeypatch,
        f"runs = open({str(runs)!r}, 'a+')\nnumber = runs.seek(0, 2)\nruns.write('x')\n"
        f"print('killed by signal 6')\nraise SystemExit({shown}[number])\n",
    )
    died = replace(finding(), verdict=Failed(CRASH, "SIGABRT in FuseTIR", detail, "FuseTIR", Died("SIGABRT")))
    tried = confirmed(died, tmp_path)
    assert (tried.shown, tried.finding.rate, tried.finding.said) == (True, rate, "killed by signal 6")
    assert len(runs.read_text()) == (1 if detail else 3)
    assert (f"the script showed it in {rate} runs" in issue_text(tried.finding, stored_from(tried.finding))) == bool(
        rate
    )


@pytest.mark.parametrize("ends", one_in(2, ("os.kill(os.getpid(), 9)", "time.sleep(1000)")))
@pytest.mark.parametrize(("number", "shown"), [(0, False), (1, True), pytest.param(2, True, marks=pytest.mark.deep)])
def test_a_run_that_says_nothing_is_one_in_which_a_death_did_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str, number: int, shown: bool
) -> None:
    """The first run alone decides."""
    runs = tmp_path / "runs"
    runs.write_text("")
    saves(
        monkeypatch,
        f"import os, time\nruns = open({str(runs)!r}, 'a+')\nnumber = runs.seek(0, 2)\nruns.write('x')\n"
        f"runs.flush()\nif number == {number}: {ends}\nprint('killed by signal 6')\nraise SystemExit(1)\n",
    )
    monkeypatch.setattr(confirm, "DEADLINE_S", 3.0)
    died = replace(finding(), verdict=Failed(CRASH, "SIGABRT in FuseTIR", "", "FuseTIR", Died("SIGABRT")))
    tried = confirmed(died, tmp_path)
    assert (tried.shown, tried.finding.rate) == (shown, ReproRate(2, 3) if shown else None)
    assert bool(tried.ended) != shown


def test_what_no_setting_shows_is_kept_with_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saves(monkeypatch, "print('the bug is gone')\n")
    one = replace(finding(), oracle="build")
    assert len(with_each_setting(one)) > 1
    assert confirmed(one, tmp_path) == Tried(one, shown=False)


def test_a_death_that_is_never_seen_again_is_not_confirmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saves(monkeypatch, "print('the bug is gone')\n")
    died = replace(finding(), verdict=Failed(CRASH, "SIGABRT in FuseTIR", "", "FuseTIR", Died("SIGABRT")))
    assert confirmed(died, tmp_path) == Tried(died, shown=False)


@pytest.mark.parametrize("script", ["def", "import no_such_module", "raise SystemExit(1)"])
def test_a_script_that_python_ends_shows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Python ends with 1, too, where it cannot read a script: a line of why is part of showing."""
    saves(monkeypatch, script)
    assert not confirmed(finding(), tmp_path).shown


def saves(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Has this script confirm what is to be confirmed."""

    def save(room: Path, one: Finding) -> Path:
        folder = room / one.folder
        folder.mkdir(parents=True)
        (folder / "repro.py").write_text(script)
        return folder

    monkeypatch.setattr(confirm, "save_finding", save)


def test_a_script_finds_the_file_that_it_does_not_carry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands where the user has it, and not beside the script."""
    saves(monkeypatch, "import os\nprint(open(os.environ['PASSFUZZ_LOADED'] + '/mine.py').read())\nos._exit(1)\n")
    one = replace(finding(), case=replace(finding().case, load=str(tmp_path / "mine.py")))
    assert not confirmed(one, tmp_path).shown
    (tmp_path / "mine.py").write_text("PASSES = {}")
    assert confirmed(one, tmp_path).shown


@pytest.mark.parametrize(("shows", "shown"), [(TRIALS_BY_CHANCE - 1, False), (TRIALS_BY_CHANCE, True)])
def test_what_may_hang_on_chance_must_show_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shows: int, shown: bool
) -> None:
    counter = tmp_path / "runs"

    saves(
        monkeypatch,
        f"import sys\nopen({str(counter)!r}, 'a').write('.')\n"
        f"print('why')\nsys.exit(1 if len(open({str(counter)!r}).read()) <= {shows} else 0)\n",
    )
    evidence = AcrossProcesses()
    failed = Failed(ACROSS_PROCESSES, "a process gives another module", culprit="VMShapeLower", evidence=evidence)
    one = replace(finding(), verdict=failed, signature=signature_of("determinism", failed))
    assert confirmed(one, tmp_path).shown == shown
    assert len(counter.read_text()) == TRIALS_BY_CHANCE


def _finding_of(stored: StoredCase) -> Finding:
    failed = Failed(stored.symptom, stored.message, culprit=stored.culprit, evidence=stored.evidence)
    return replace(
        finding(),
        case=stored.case,
        verdict=failed,
        oracle=stored.oracle,
        signature=signature_of(stored.oracle, failed),
        expectations=stored.expectations,
    )


@pytest.mark.deep
@pytest.mark.warm
def test_what_shows_with_another_fill_is_kept_with_it(tmp_path: Path) -> None:
    tried = confirmed(_finding_of(reduction(tmp_path, "min")), tmp_path)
    assert tried.shown
    folder = keep_finding(tmp_path / "out", tried.finding)
    assert read_case(folder).setting.fill == Fill(0xCE)
    script = [sys.executable, str(folder / "repro.py")]
    assert subprocess.run(script, capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize(
    ("shown_with", "otherwise", "shown", "tried"),
    [
        (FILLS[0], 0, True, FILLS[:1]),
        (FILLS[-1], 0, True, FILLS),
        (None, 0, False, FILLS),
        (FILLS[1], 2, False, FILLS[:1]),
        (FILLS[1], 139, False, FILLS[:1]),
    ],
)
def test_fills_are_tried_while_the_script_says_that_the_bug_is_gone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shown_with: Fill | None,
    otherwise: int,
    shown: bool,
    tried: tuple[Fill, ...],
) -> None:
    seen: list[Fill] = []

    def save(room: Path, one: Finding) -> Path:
        seen.extend(() if one.setting != ScriptSetting(one.setting.fill) else (one.setting.fill,))
        folder = room / one.folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "repro.py").write_text(
            f"import sys\nprint('why')\nsys.exit({1 if one.setting.fill == shown_with else otherwise})\n"
        )
        return folder

    monkeypatch.setattr(confirm, "save_finding", save)
    assert confirmed(_finding_of(reduction(tmp_path, "min")), tmp_path).shown == shown
    assert tuple(seen) == tried


@pytest.mark.parametrize("oracle", ["build", "survives"])
def test_what_llvm_may_hide_is_tried_without_its_optimisation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, oracle: str
) -> None:
    def save(room: Path, one: Finding) -> Path:
        text = repro_text(stored_from(one))
        status = 1 if '"opt-level": 0' in text else 0
        folder = room / one.folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "repro.py").write_text(f"print('why')\nraise SystemExit({status})\n")
        return folder

    monkeypatch.setattr(confirm, "save_finding", save)
    tried = confirmed(replace(finding(), oracle=oracle), tmp_path)
    assert (tried.shown, tried.finding.setting.unoptimised) == (oracle == "build", oracle == "build")


@pytest.mark.parametrize(("target", "found_by"), [("cuda", "numeric"), ("cuda-cpu", "build")])
@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ([("numeric", "wrong result"), ("build", "wrong result")], True),
        ([("input_unchanged", "input changed"), ("numeric", "wrong result"), ("build", "wrong result")], True),
        ([("input_unchanged", "input changed")], False),
        ([("numeric", "reference trap: data-race"), ("build", "cuda-cpu: empty launch")], False),
    ],
)
def test_where_a_script_needs_a_device_check_must_find_the_same(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[tuple[str, str]],
    shown: bool,
    target: str,
    found_by: str,
) -> None:
    verdicts = [asdict(CheckRow(oracle, "ThreadSync", "failed", symptom)) for oracle, symptom in rows]
    said = json.dumps({"rows": verdicts})
    asked = [sys.executable, "-c", f"import sys; print({said!r}); sys.exit(1)"]
    monkeypatch.setattr(confirm, "module_command", lambda *arguments: asked)
    failed = Failed("wrong result", "1 is not 2", culprit="s_tir.ThreadSync[shared]")
    one = replace(
        finding(),
        verdict=failed,
        oracle=found_by,
        signature=signature_of(found_by, failed),
        expectations=(Expectation(0, (np.ones(2),), (0.0,)),),
    )
    script = (
        '@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2,), "float32")):\n        return x\n'
    )
    call = EntryCall("main", (np.ones(2, np.float32),))
    case = replace(one.case, module=ModuleText(script), target=target, calls=(call,))
    assert confirmed(replace(one, case=case), tmp_path).shown == shown


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    open(sys.argv[1] + str(os.getpid()), "w").close()
    time.sleep(10_000)
while not os.listdir(sys.argv[1]):
    time.sleep(0.01)
if sys.argv[2] == "waits":
    time.sleep(10_000)
"""
"""Leaves a process in a session of its own."""


@pytest.mark.parametrize("what", ["waits", "ends"])
def test_nothing_outlives_a_guard_whether_told_to_end_or_not(tmp_path: Path, what: str) -> None:
    command = guarded([sys.executable, "-c", DAEMON, f"{tmp_path}/", what])
    process = subprocess.Popen(command, start_new_session=True)
    wait_for(lambda: bool(list(tmp_path.iterdir())))
    status = end(process) if what == "waits" else process.wait(HANGS_S)
    assert status == (128 + signal.SIGKILL if what == "waits" else 0)
    assert not any(alive(int(path.name)) for path in tmp_path.iterdir())


def test_a_command_that_is_not_there_is_no_repro_that_shows_its_bug() -> None:
    ended = subprocess.run(guarded(["/nonexistent"]), start_new_session=True, capture_output=True, check=False)
    assert ended.returncode == NOT_STARTED


@pytest.mark.deep
@pytest.mark.parametrize("closed", ["os.closerange(0, 1000)", "os.close(1)"])
def test_a_pass_after_which_nothing_can_be_said_is_shown_by_its_script(tmp_path: Path, closed: str) -> None:
    """Its process cannot say why it ends either."""
    file = tmp_path / "mine.py"
    file.write_text(
        "import os, tvm\n"
        "@tvm.transform.module_pass(opt_level=0, name='Closes')\n"
        f"def Closes(mod, ctx):\n    {closed}\n    return mod\n"
        "PASSES = {'Closes': lambda: Closes}\n"
    )
    failed = Failed(CRASH, "closed descriptors in Closes", culprit="Closes", evidence=Died(CLOSED_DESCRIPTORS))
    case = Case(ModuleText(ONE_FUNCTION), (PassCall("Closes", "PASSES['Closes']()"),), load=str(file))
    found = replace(finding(), oracle="survives", verdict=failed, case=case, signature=signature_of("survives", failed))
    (tmp_path / "room").mkdir()
    assert confirmed(found, tmp_path / "room").shown
    file.write_text(file.read_text().replace(closed, "pass"))
    assert not confirmed(found, tmp_path / "room").shown


ONE_FUNCTION = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((), dtype="float32")) -> R.Tensor((), dtype="float32"):
        return x
"""

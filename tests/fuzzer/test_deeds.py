"""Passes that are hostile to their process: `check` and `run` say what they did, and nothing of theirs is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.commands.check import check_module
from oracles.family import children
from tests.deeds import (
    CUT_OFF,
    DEEDS,
    EXIT,
    FROM_OUTSIDE,
    NOTHING,
    SIGNAL,
    SPOILS,
    Deed,
    is_alive,
    left_alive,
    write_hostile,
)
from tests.fuzzer.test_campaign import wait_for
from tests.patience import HANGS_S

ROOT = Path(__file__).resolve().parents[2]
MODULE = """\
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32")) -> R.Tensor((2, 4), "float32"):
        a = R.add(x, x)
        return a
"""
QUICK = {"Exit_100", "ReplacesPipes", "DeafDaemon", "LimitsFiles", "LeavesAlarm"}
"""A deed of each kind, with those that were taken for success once."""
AS_EXCEPTIONS = {"Exit0", "Exit5", "Interrupts", "RaisesBase", "RaisesOdd"}
"""What Python raises in a pass comes through TVM as a RuntimeError of the pass, or as a crash of TVM."""
SOME = "survives,well_formed,numeric"
"""Oracles that find nothing in a pass that changes nothing, and ask it for nothing twice."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that hostile processes write their ids into."""
    folder = tmp_path / "left"
    folder.mkdir()
    monkeypatch.setenv("HOSTILE", str(folder))
    return folder


def marked(deed: Deed) -> object:
    marks = pytest.mark.warm if deed.name in QUICK else pytest.mark.deep
    return pytest.param(deed, id=deed.name, marks=marks)


@pytest.mark.usefixtures("few_other_builds")
@pytest.mark.parametrize("deed", [marked(deed) for deed in DEEDS])
def test_check_says_what_a_pass_did_to_its_process(deed: Deed, place: Path, tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(MODULE, encoding="utf-8")
    load = write_hostile(tmp_path, deed.name)
    if deed.kind == FROM_OUTSIDE:  # Killed each time: nobody from outside does that.
        result = check_module(module, (deed.name,), "llvm", load)
        assert [row.message for row in result.rows if row.verdict == "failed"] == [f"SIGKILL in {deed.name}"]
    else:
        result = check_module(module, (deed.name,), "llvm", load)
        said = {(row.oracle, row.pass_name): row for row in result.rows}
        row = said["survives", deed.name]
        if deed.kind == NOTHING:
            assert not result.failed
            assert said["numeric", deed.name].verdict in ("passed", "skipped")
            assert row.verdict == "passed"
        elif deed.name in AS_EXCEPTIONS:
            # A RuntimeError with a text is a rejection by the pass.
            assert (row.verdict, row.pass_name) in (("failed", deed.name), ("skipped", deed.name))
            assert ("numeric", deed.name) not in said
        else:
            assert (row.verdict, row.symptom, result.culprit, result.status()) == ("failed", "crash", deed.name, 1)
            said_of = f"leaves its process with {deed.how}" if deed.kind == SPOILS else f"{deed.how} in {deed.name}"
            assert row.message == said_of
    assert left_alive(place) == []


@pytest.mark.deep
@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.name)
def test_a_campaign_says_what_a_pass_did_to_its_process(deed: Deed, place: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [*(sys.executable, "-m", "fuzzer.cli", "run", "--cases", "4", "--seed", "1", "--jobs", "1")]
    command += ["--oracles", SOME, "--load", str(write_hostile(tmp_path, deed.name)), "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False)
    summary = json.loads((out / "summary.json").read_text())
    culprits = [json.loads(line)["culprit"] for line in (out / "findings.jsonl").read_text().splitlines()]
    assert summary["invalid"] == 0, "the generator is not to blame"
    assert summary["generated"] == 4
    if deed.name in AS_EXCEPTIONS:
        assert ended.returncode in (0, 1) and set(culprits) <= {deed.name}, ended.stderr
    elif deed.kind == CUT_OFF or deed.name == "KillsGroup":
        # Where its script has no pipe to lose, or kills who would hear of it, no finding tells of it.
        assert (ended.returncode, set(culprits)) in ((1, {deed.name}), (3, set())), ended.stderr
        assert culprits or f"a loaded pass ends or spoils its process, or remembers earlier calls ({deed.name})" in (
            ended.stderr
        )
        unshown = f"repro does not show it: survives {deed.name}" in summary["inconclusive"]
        assert culprits or summary["died"] or unshown, summary
    elif deed.kind in (EXIT, SIGNAL, SPOILS):
        assert (ended.returncode, set(culprits)) == (1, {deed.name}), ended.stderr
    elif deed.kind == FROM_OUTSIDE:  # Each case is tried once more, and its script shows it.
        assert summary["skipped"].get("ended by SIGKILL"), summary["skipped"]
        assert (ended.returncode, set(culprits)) == (1, {deed.name}), ended.stderr
    else:
        assert (ended.returncode, culprits) == (0, []), ended.stderr
    assert left_alive(place) == []


WAITS = """
DEEDS["Waits"] = lambda: (stays(), stays(os.setsid, again), stays(os.setsid, again, deaf), time.sleep(10_000))
PASSES["Waits"] = a_pass("Waits")
"""


@pytest.mark.deep
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("depth", range(3))
@pytest.mark.parametrize("what", ["check", "run"])
def test_nothing_outlives_a_command(what: str, depth: int, number: signal.Signals, place: Path, tmp_path: Path) -> None:
    """Whichever is killed of the command, the guard of its process and that process, by a person or for its memory."""
    module, load = tmp_path / "module.py", write_hostile(tmp_path)
    module.write_text(MODULE, encoding="utf-8")
    load.write_text(load.read_text(encoding="utf-8") + WAITS, encoding="utf-8")
    named = [str(module)] if what == "check" else ["--jobs", "1", "--cases", "1", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-m", "fuzzer.cli", what, *named, "--passes", "Waits", "--load", str(load)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: len(left_alive(place)) >= 3)
        killed = process.pid
        for _ in range(depth):
            (killed,) = children(killed)
        began = left_alive(place)
        os.kill(killed, number)
        wait_for(lambda: not any(map(is_alive, began)))
        assert what == "run" or process.wait(HANGS_S) != 0
    finally:
        process.terminate()
        process.wait(HANGS_S)
    wait_for(lambda: left_alive(place) == [])

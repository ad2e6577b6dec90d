"""What `passfuzz reduce` leaves on disk: the best so far, what is not confirmed, and what `--resume` goes on from."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus.own import is_own
from corpus.rate import ReproRate
from corpus.replayable import CORPUS
from corpus.store import read_case
from fuzzer.campaign.interrupts import SAME_S
from fuzzer.commands import reduce as reduce_command
from fuzzer.commands.reduce import ReduceOptions, reduce_case
from fuzzer.commands.reduce_output import FILES, ReductionOutput, identity, output_of_reduction
from fuzzer.commands.reduce_shown import shown
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.oneshot.messages import STOP, Better, Kept, Reduction, Reply, Request
from fuzzer.oneshot.read_case import read_subject
from fuzzer.oneshot.reduce import Latest, clock_of
from fuzzer.trust import is_plain
from tests.fuzzer.test_reduce_predicate import BODY

pytestmark = pytest.mark.warm

SIZES = {"bindings_before": 9, "bindings": 2, "statements_before": 0, "statements": 0, "passes_before": 1, "passes": 1}
ROW: dict[str, float] = {**SIZES, "oracle_calls": 14, "seconds": 2.5}
SHOWS, GONE = "import sys\nsys.exit(1)\n", "import sys\nsys.exit(0)\n"
NOW_AND_THEN = """\
import os, sys
count = os.path.join(os.path.dirname(__file__), "count")
number = int(open(count).read()) + 1 if os.path.exists(count) else 0
open(count, "w").write(str(number))
sys.exit(number % 2)
"""
"""Shows its bug in every second run."""
KEPT = Kept("survives: Pass: crash", 9, 0, 1)
BETTER = Better(4, 0, 1, 3, 0.5, "print('best')\n", None, {"case.json": b"{}", "module.py": b"best\n"})


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "module.py"
    path.write_text(BODY, encoding="utf-8")
    return path


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., list[Reply]]], None]:
    """Has this function answer in place of the process that reduces: (request, hear, look)."""

    def put(answer: Callable[..., list[Reply]]) -> None:
        def ask(request: Request, limit_s: float, hear: Any, look: Any) -> list[Reply]:
            return answer(request, hear, look)

        monkeypatch.setattr(reduce_command, "ask", ask)

    return put


def heard(hear: Callable[[Reply], None], *replies: Reply) -> list[Reply]:
    for reply in replies:
        hear(reply)
    return list(replies)


def reduction(*scripts: str, **more: Any) -> Reduction:
    return Reduction(scripts, ROW, "survives-Pass-1", kept="survives: Pass: crash", **more)


# --- the best so far ----------------------------------------------------------------------------------------


def test_the_best_is_there_although_the_process_ends(passfuzz: Any, answering: Any, module: Path) -> None:
    def answer(request: Request, hear: Any, look: Any) -> list[Reply]:
        heard(hear, KEPT, BETTER)
        raise EnvironmentFault("the process that does the work was killed by SIGKILL")

    answering(answer)
    output = module.with_name("small.py")
    status, _, stderr = passfuzz("reduce", module, "-o", output, "--trust")
    assert status == 3
    assert f"the smallest so far, not confirmed, is in {output}" in stderr
    assert output.read_text() == BETTER.repro
    assert (module.with_name("small.py.resume") / "module.py").read_bytes() == b"best\n"


def test_ctrl_c_ends_with_the_smallest_so_far(passfuzz: Any, answering: Any, module: Path) -> None:
    def answer(request: Request, hear: Any, look: Any) -> list[Reply]:
        heard(hear, KEPT, BETTER)
        look()
        assert not (Path(request.scratch) / STOP).exists()
        os.kill(os.getpid(), signal.SIGTERM)
        look()
        assert (Path(request.scratch) / STOP).exists()
        return heard(hear, reduction(SHOWS, finished=False, stopped=True))

    answering(answer)
    output = module.with_name("small.py")
    status, stdout, _ = passfuzz("reduce", module, "-o", output, "--trust")
    assert status == 0
    assert "note: interrupted; --resume goes on" in stdout
    assert output.read_text() == SHOWS
    assert module.with_name("small.py.resume").is_dir()


def test_ctrl_c_before_there_is_anything_ends_at_once(passfuzz: Any, answering: Any, module: Path) -> None:
    def answer(request: Request, hear: Any, look: Any) -> list[Reply]:
        os.kill(os.getpid(), signal.SIGINT)
        look()
        raise AssertionError("it goes on")

    answering(answer)
    status, _, stderr = passfuzz("reduce", module, "-o", module.with_name("small.py"), "--trust")
    assert status == 130
    assert stderr == "passfuzz: interrupted: nothing smaller was found, and nothing was written\n"
    assert not module.with_name("small.py").exists()


def test_a_second_ctrl_c_says_where_the_smallest_is(passfuzz: Any, answering: Any, module: Path) -> None:
    def answer(request: Request, hear: Any, look: Any) -> list[Reply]:
        heard(hear, KEPT, BETTER)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(2 * SAME_S)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("it goes on")

    answering(answer)
    output = module.with_name("small.py")
    status, _, stderr = passfuzz("reduce", module, "-o", output, "--trust")
    assert status == 130
    assert f"passfuzz: interrupted: the smallest so far, not confirmed, is in {output}; --resume goes on\n" in stderr
    assert output.read_text() == BETTER.repro


def test_a_second_ctrl_c_without_an_output_says_that_nothing_is_written(answering: Any, module: Path) -> None:
    def answer(request: Request, hear: Any, look: Any) -> list[Reply]:
        heard(hear, KEPT, BETTER)
        raise KeyboardInterrupt

    answering(answer)
    with pytest.raises(KeyboardInterrupt, match="^something smaller was found, and nothing was written$"):
        reduce_case(module, ReduceOptions(output=None, trust=True))


def test_a_clock_is_ahead_once_the_user_wants_an_end(tmp_path: Path, module: Path) -> None:
    clock = clock_of(Request("reduce", read_subject(module, None), scratch=str(tmp_path)))
    before = clock()
    (tmp_path / STOP).touch()
    assert clock() - before > 1e8


def test_news_takes_a_fifth_of_the_time_and_the_last_is_told() -> None:
    now, told = [0.0], list[str]()

    def news(text: str) -> Callable[[], None]:
        def tell() -> None:
            told.append(text)
            now[0] += 0.5

        return tell

    latest = Latest(lambda: now[0])
    latest.tell_if_due()
    for text in ("first", "second", "third"):
        latest.put(news(text))
    assert told == ["first"]
    now[0] += 1.9
    latest.tell_if_due()
    assert told == ["first"]
    now[0] += 0.2
    latest.tell_if_due()
    latest.tell_if_due()
    assert told == ["first", "third"]
    latest.put(news("last"))
    latest.tell()
    latest.tell()
    assert told == ["first", "third", "last"]


def test_time_that_ran_out_is_said_with_what_goes_on(passfuzz: Any, answering: Any, module: Path) -> None:
    slow = Reduction((SHOWS,), {**ROW, "seconds": 59.0}, "s", finished=False)
    answering(lambda request, hear, look: heard(hear, KEPT, BETTER, slow))
    _, stdout, _ = passfuzz("reduce", module, "-o", module.with_name("small.py"), "--trust")
    assert "time ran out; --time 5m --resume goes on" in stdout


# --- what is not confirmed ------------------------------------------------------------------------------


def test_a_script_that_shows_nothing_has_another_name(passfuzz: Any, answering: Any, module: Path) -> None:
    answering(lambda request, hear, look: heard(hear, KEPT, BETTER, reduction(GONE)))
    output = module.with_name("small.py")
    status, _, stderr = passfuzz("reduce", module, "-o", output, "--trust")
    assert status == 3
    assert "not in a fresh process (0 of 5 runs" in stderr
    assert not output.exists()
    assert module.with_name("small.unconfirmed.py").read_text() == GONE


def test_a_flaky_failure_is_told_with_its_rate(passfuzz: Any, answering: Any, module: Path) -> None:
    answering(lambda request, hear, look: heard(hear, reduction(NOW_AND_THEN, shows=ReproRate(3, 10))))
    output = module.with_name("small.py")
    status, _, stderr = passfuzz("reduce", module, "-o", output, "--trust")
    assert status == 3
    assert "fails in 3 of 10 tries here and in 2 of 5 fresh processes" in stderr
    assert f"--flaky {ReproRate(3, 10).tries} reduces" in stderr
    assert module.with_name("small.unconfirmed.py").exists()


def test_with_tries_a_flaky_failure_is_confirmed(passfuzz: Any, answering: Any, module: Path) -> None:
    answering(lambda request, hear, look: heard(hear, reduction(NOW_AND_THEN)))
    output = module.with_name("small.py")
    status, stdout, stderr = passfuzz("reduce", module, "-o", output, "--trust", "--flaky", "6")
    assert status == 0, stderr
    assert "note: flaky: shows in 3 of 6 fresh processes" in stdout
    assert output.read_text() == NOW_AND_THEN


def test_a_flaky_failure_is_kept_with_its_rate(tmp_path: Path) -> None:
    shipped = next(folder for folder in sorted(CORPUS.iterdir()) if is_plain(folder))
    files = {file.name: file.read_bytes() for file in shipped.iterdir()}
    ReductionOutput(tmp_path / "case", "me").finish(reduction(GONE, folders=(files,)), 0, ReproRate(3, 6))
    assert read_case(tmp_path / "case").rate == ReproRate(3, 6)
    kept, given = (json.loads(data) for data in ((tmp_path / "case" / "case.json").read_bytes(), files["case.json"]))
    assert kept == {**given, "rate": {"times": 3, "runs": 6}}
    assert "the script showed it in 3 of 6 runs" in (tmp_path / "case" / "README.md").read_text()


def test_scripts_are_run_in_turn() -> None:
    what = shown(reduction(GONE, SHOWS), trust=True)
    assert (what.number, what.rate.each_time) == (1, True)


@pytest.mark.parametrize(("times", "of", "tries"), [(10, 10, 1), (5, 10, 7), (1, 10, 44), (0, 10, 50)])
def test_the_tries_that_are_proposed_show_it_almost_for_sure(times: int, of: int, tries: int) -> None:
    assert ReproRate(times, of).tries == tries
    if 0 < times < of and tries < 50:
        assert (1 - times / of) ** tries <= 0.01 < (1 - times / of) ** (tries - 1)


# --- folders, and going on ------------------------------------------------------------------------------


def test_no_folder_of_anything_else_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "case").mkdir()
    for name in FILES:
        (tmp_path / "case" / name).write_text("old")
    assert output_of_reduction(tmp_path / "case", False) == tmp_path / "case"
    (tmp_path / "case" / "mine.txt").write_text("of the user's")
    with pytest.raises(UsageError, match=r"holds other files \(mine.txt\)"):
        output_of_reduction(tmp_path / "case", False)


def test_an_unconfirmed_case_has_no_script_to_replay(tmp_path: Path) -> None:
    out = ReductionOutput(tmp_path / "case", "me")
    out.leave_unconfirmed(reduction(GONE, folders=({"case.json": b"{}", "repro.py": b"1"},)), 0)
    assert sorted(file.name for file in (tmp_path / "case").iterdir()) == ["case.json", "repro.unconfirmed.py"]


@pytest.mark.parametrize(
    ("trusted", "of_module", "forged", "own"),
    [(True, False, True, True), (False, True, False, True), (False, True, True, False), (False, False, False, False)],
)
def test_what_a_stranger_makes_is_not_ones_own(
    trusted: bool, of_module: bool, forged: bool, own: bool, tmp_path: Path
) -> None:
    """A child behind walls decides what is answered: a case that would run as Python gets no mark by it."""
    shipped = next(folder for folder in sorted(CORPUS.iterdir()) if is_plain(folder))
    files = {file.name: file.read_bytes() for file in shipped.iterdir()}
    if forged:
        case = json.loads(files["case.json"])
        files["case.json"] = json.dumps({**case, "load": "/tmp/evil.py"}).encode()
    out = ReductionOutput(tmp_path / "case", "me", trusted, of_module)
    out.finish(reduction(GONE, folders=(files,)), 0)
    assert is_own(tmp_path / "case") is own


def test_a_reduction_goes_on_where_it_was_left(passfuzz: Any, module: Path) -> None:
    smaller = BODY.replace("            a = R.multiply(x, y)\n", "").replace("R.nn.relu(a)", "R.nn.relu(x)")
    output = module.with_name("small.py")
    asked = ("reduce", module, "--interesting", "grep -q relu", "-o", output, "--time", "10m")
    wanted = ((), None, None, "grep -q relu")
    left = ReductionOutput(output, identity(read_subject(module, None), *wanted))
    left.before = {"bindings_before": 3, "statements_before": 0, "passes_before": 0}
    left.better(Better(2, 0, 0, 1, 0.1, smaller, None, {"module.py": smaller.encode()}))
    other = module.with_name("other.py")
    other.write_text(smaller, encoding="utf-8")
    status, _, stderr = passfuzz("reduce", other, *asked[2:], "--resume")
    assert (status, "is of another module" in stderr) == (2, True)
    status, stdout, stderr = passfuzz(*asked, "--resume")
    assert status == 0, stderr
    assert "3 bindings -> 1" in stdout
    assert "multiply" not in output.read_text()
    assert not left.resume.exists()

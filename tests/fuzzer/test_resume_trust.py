"""Whose a campaign and its findings are: what another user has begun, and what their cases have had a say in."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from corpus.findings import save_finding
from corpus.own import is_own
from fuzzer.campaign import begin
from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.checkpoint import CHECKPOINT_FILE, Begun, read_checkpoint
from fuzzer.campaign.observer import Observer
from fuzzer.commands.run import report_of
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.processes.lines import line_of
from fuzzer.protocol import Answer, CandidateDigests, CaseDigests, Confirmed, Judged, Killed, Ready, Reduced
from fuzzer.settings import DEFAULT_TIME_S, Settings, read_settings
from reports.summary import read_out, unconfirmed_in
from reports.tally import Tally
from tests.fuzzer.fake_campaigns import assert_whole, campaign, settings, with_fake_workers, writer
from tests.fuzzer.fake_worker import LOADED, RAVES, UNSHOWN, failures_of
from tests.quick import one_in
from tests.reports.reports_data import finding

pytestmark = pytest.mark.warm


@pytest.fixture(autouse=True)
def fake_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    with_fake_workers(monkeypatch)


def test_what_somebody_else_has_begun_is_gone_on_with_only_where_the_user_asks(tmp_path: Path) -> None:
    """A file of --load would be run, and so would the script of a finding that waits for its confirmation."""
    out = tmp_path / "out"
    campaign(out, cases=20)
    path = out / CHECKPOINT_FILE
    data = path.read_bytes()
    assert read_checkpoint(out).tally.cases == 20
    changed = {
        "another file to load": data.replace(b'"load":null', b'"load":"/x.py"'),
        "no mark": re.sub(rb'"mark":"\w+",', b"", data),
        "another mark": data.replace(b'"mark":"', b'"mark":"0'),
        "two marks": data.replace(b"{", b'{"mark":"00",', 1),
        "another member": data.replace(b'"schema":1', b'"schema":1,"x":0'),
    }
    for what, text in changed.items():
        assert text != data, what
        path.write_bytes(text)
        with pytest.raises(UsageError, match=r"resume\.json: was not written here by you as it is"):
            read_checkpoint(out)
        assert read_checkpoint(out, trust=True).tally.cases == 20


def test_a_finding_of_a_checkpoint_that_cannot_be_read_is_reduced_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    campaign(out, cases=40)
    data = json.loads((out / CHECKPOINT_FILE).read_text())
    key, place = data["places"][0]
    failure = {"index": 0, "oracle": "survives", "symptom": "crash", "message": "it crashed", "detail": ""}
    failure |= {"culprit": "FuseOps", "tier": "B"}
    place["open"] = {"failure": failure, "number": 1, "at_s": 0.0, "stage": "confirming", "finding": "AAAA"}
    (out / CHECKPOINT_FILE).write_text(json.dumps(data))
    opened = dict(read_checkpoint(out, trust=True).places)[tuple(key)].open
    assert opened is not None and opened.finding is None


def test_findings_are_ones_own_unless_somebody_elses_cases_have_run(tmp_path: Path) -> None:
    """A worker that judges these may be made to say anything, and what it says is then another user's too."""
    theirs, mine = tmp_path / "theirs" / "findings", tmp_path / "mine" / "findings"
    load = tmp_path / "mine.py"
    load.touch()
    for corpus in (theirs, mine):
        save_finding(corpus.parent, finding(), made_here=corpus == mine)
    for number, (options, expected) in enumerate(
        (
            ({}, True),
            ({"corpus": mine}, True),
            ({"corpus": theirs}, False),
            ({"corpus": theirs, "load": load}, False),
            ({"corpus": mine, "load": load}, True),
            ({"corpus": theirs, "trust": True}, True),
        )
    ):
        out = tmp_path / f"out{number}"
        rows = campaign(out, cases=40, **options).findings
        assert rows
        assert {is_own(out / "findings" / row.signature) for row in rows} == {expected}, options


class Starts(Observer):
    """What summary.json says when the first worker is about to be awaited, and when one is ready."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.said: list[object] = []

    def on_start(self, settings: Settings) -> None:
        self.said.append(read_out(self.out).facts.ended)


def test_a_run_that_is_gone_on_with_has_not_ended_from_the_first_moment_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_and_write(out, cases=20)
    assert read_out(out).facts.ended == "done"
    watching = Starts(out)
    run_campaign(settings(out, seed=None, cases=40, resume=True), watching)  # which writes no summary of its own
    assert watching.said == [None]
    tally = read_out(out).tally
    assert tally.cases == 20  # The rest of what it says is of the moment before.


@pytest.mark.parametrize(
    ("begun", "asked", "time_s", "cases"),
    [
        ({"cases": 40}, {}, None, 40),
        ({"cases": 40}, {"time": "1h"}, 3600.0, None),
        ({"cases": 40}, {"cases": 60}, None, 60),
        ({"time": "1h"}, {}, DEFAULT_TIME_S, None),
        ({"time": "1h", "cases": 40}, {}, DEFAULT_TIME_S, None),
    ],
)
def test_a_run_goes_on_to_the_end_that_it_was_begun_with_unless_another_is_named(
    begun: dict[str, Any], asked: dict[str, Any], time_s: float | None, cases: int | None, tmp_path: Path
) -> None:
    left = Begun.with_settings(read_settings(out=tmp_path, **begun))
    goes_on = left.within(read_settings(out=tmp_path, resume=True, **asked))
    assert (goes_on.time_s, goes_on.cases) == (time_s, cases)


def run_and_write(out: Path, **options: Any) -> None:
    """A campaign whose summary says that it is done."""
    asked = settings(out, **options)
    writing = writer(out)
    result = run_campaign(asked, writing)
    writing.write(report_of(asked, result, None))


@pytest.mark.parametrize("why", [UsageError, EnvironmentFault, KeyboardInterrupt])
def test_a_run_that_cannot_be_gone_on_with_is_what_it_was(
    why: type[BaseException], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The file of --load is gone, say, which a worker finds out."""
    out = tmp_path / "out"
    run_and_write(out, cases=20)
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}

    def refuses(*_given: object) -> None:
        assert read_out(out).facts.ended is None
        raise why("no")

    monkeypatch.setattr(begin, "workforce_of", refuses)
    with pytest.raises(why):
        run_campaign(settings(out, seed=None, cases=40, resume=True), writer(out))
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == before


def test_a_failure_that_does_not_show_again_is_listed_with_its_case(tmp_path: Path) -> None:
    """Of a number alone no one could draw the case again."""
    out = tmp_path / "out"
    campaign(out, cases=40, jobs=1)
    assert unconfirmed_in(out) == 0
    out = tmp_path / "flaky"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(UNSHOWN, "FuseOps")
        patch.setenv(LOADED, "FuseOps")
        result = campaign(out, cases=40, jobs=1)
    rows = [json.loads(line) for line in (out / "unconfirmed" / "failures.jsonl").read_text().splitlines()]
    unshown = [failure for index in range(40) for failure in failures_of(index) if failure.culprit == "FuseOps"]
    assert unshown
    assert {row["culprit"] for row in rows} == {"FuseOps"}
    assert result.unshown == {"FuseOps": len(unshown)}, "each sighting counts, not each reduction"
    assert {(row["seed"], row["index"]) for row in rows} <= {(1, failure.index) for failure in unshown}
    assert (
        len(rows)
        == unconfirmed_in(out)
        == sum(
            number for reason, number in result.tally.inconclusive.items() if reason.startswith("does not show again")
        )
    )


@pytest.mark.parametrize(
    "said",
    one_in(
        3,
        (
            *(Reduced(99, None), Reduced(99, b"x"), Reduced(99, None, "SIGKILL"), Confirmed(99, b"x", True)),
            *(Judged(99, Tally(generated=1)), Killed(99), Ready("9.9"), CaseDigests(7, (), 0.0), CandidateDigests(())),
        ),
    ),
    ids=lambda said: type(said).__name__,
)
def test_an_answer_that_nobody_asked_for_changes_nothing(
    said: Answer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As the code of another user may say it in a worker of a campaign that starts from their cases."""
    monkeypatch.setenv(RAVES, line_of(said).decode().strip())
    result = campaign(tmp_path / "out", cases=40, jobs=1)
    assert_whole(result, cases=40)
    assert result.fault() is None


@pytest.mark.parametrize("said", one_in(3, ["{}", "[]", "1", "nonsense", "{", '{"type": "judged", "index": "x"}']))
def test_a_worker_that_says_what_is_no_answer_is_lost_and_ends_no_campaign(
    said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The case that does so again is left out. What is not even JSON is a line that was cut."""
    monkeypatch.setenv(RAVES, said)
    result = campaign(tmp_path / "out", cases=40, jobs=1)
    assert result.fault() is None
    lost = {} if said in ("nonsense", "{") else {"worker process lost": 2, "worker killed, again and again": 1}
    assert (result.tally.cases, result.tally.skipped) == (39 if lost else 40, lost)

"""Workers that end and campaigns that end: with workers that judge nothing, in no time."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from corpus.registry import KnownCause, add_entries
from corpus.signature_baseline import write_known
from fuzzer.campaign import aside, begin, loop
from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.checkpoint import CHECKPOINT_FILE, UNREDUCED_FILE, read_checkpoint
from fuzzer.campaign.interrupts import Interrupts
from fuzzer.campaign.observer import Observer, Observers
from fuzzer.engines.messages import versions
from fuzzer.errors import ExitStatus, UsageError
from fuzzer.processes import pool, start
from fuzzer.processes.pool import LocalSlot, Pool
from fuzzer.protocol import Confirm, Reduce
from fuzzer.settings import Settings
from reports.causes import headline
from reports.finding_row import FindingRow
from reports.summary import read_findings
from tests.fuzzer.fake_campaigns import (
    assert_whole,
    campaign,
    noted_pools,
    settings,
    slugs,
    with_fake_workers,
    writer,
)
from tests.fuzzer.fake_worker import LOADED, OWN_FAULT, PASSES, cause_in, failures_of
from tests.patience import HANGS_S

pytestmark = pytest.mark.warm
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def fake_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    with_fake_workers(monkeypatch)


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[Pool]:
    return noted_pools(monkeypatch)


@pytest.mark.parametrize(
    ("limit", "jobs"),
    [
        (None, 3),
        (f"{HANGS_S:g}s", 3),
        *(pytest.param(limit, 1, marks=pytest.mark.deep) for limit in (None, f"{HANGS_S:g}s")),
    ],
)
def test_every_case_is_judged_once_and_every_failure_is_found(tmp_path: Path, jobs: int, limit: str | None) -> None:
    """Every sighting counts, whether its finding is being reduced, being confirmed or known by then."""
    result = campaign(tmp_path / "out", jobs=jobs, time=limit)
    assert_whole(result)
    assert {row.signature for row in read_findings(tmp_path / "out")} == slugs(result)


def test_a_fault_of_ours_while_more_is_asked_of_a_finding_is_said_and_the_finding_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = "looking for the cause: KeyError: 'x'"
    monkeypatch.setenv(OWN_FAULT, fault)
    out = tmp_path / "out"
    result = campaign(out)
    assert len(slugs(result)) == len(PASSES)
    told = (out / "own-faults.txt").read_text()
    assert all(f"{slug} of seed 1, {fault}" in told for slug in slugs(result))
    assert result.tally.skipped[f"own fault: {fault}"] == len(PASSES)


def test_a_registry_says_what_is_known_and_what_has_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "tvm_version", lambda: "0.28.0")
    known = tmp_path / "known.toml"
    legalize, dataflow = (cause_in(name) for name in PASSES[2:])
    entries = [
        KnownCause("other", "Theirs", also=(legalize,), link="apache/tvm#1"),
        KnownCause(dataflow, "Mended", "fixed-in", fixed_in="0.28.0", tier="A"),
        KnownCause(legalize, "Again"),
    ]
    add_entries(known, entries)
    result = campaign(tmp_path / "out", known=known)
    told = {row.culprit: (row.standing, row.known, row.title, row.tier) for row in result.findings}
    assert told == {
        PASSES[0]: ("new", False, "", "A"),
        PASSES[1]: ("new", False, "", "A"),
        PASSES[2]: ("known", True, "Theirs", "A"),
        PASSES[3]: ("returned", False, "Mended", "A"),
    }
    assert {row.culprit: (row.standing, row.cause) for row in read_findings(tmp_path / "out")} == {
        name: (told[name][0], cause_in(name)) for name in PASSES
    }
    assert headline(result.findings) == "1 new cause (2 findings), 1 returned, 1 known"
    assert result.status(("A",)) == 1
    (doubt,) = result.notes
    assert doubt.startswith(f"{known}: lines 4 and 19 both match survives-{PASSES[2]}-")


@pytest.mark.parametrize("known", ["every cause", pytest.param("an older baseline", marks=pytest.mark.deep)])
def test_nothing_new_is_no_failure(tmp_path: Path, known: str) -> None:
    if known == "every cause":
        path = tmp_path / "known.toml"
        add_entries(path, [KnownCause(cause, "Known") for cause in sorted({cause_in(name) for name in PASSES})])
    else:
        path = tmp_path / "known.json"
        write_known(path, {slug: "" for slug in slugs(campaign(tmp_path / "before"))})
    result = campaign(tmp_path / "out", known=path)
    assert {row.standing for row in result.findings} == {"known"}
    assert result.status(("A", "B", "C")) == 0
    assert campaign(tmp_path / "none", known=Path("none")).status(("A", "B", "C")) == 1


class Kills(Observer):
    """An observer that kills a worker, or stops it for a while, whenever so many more cases are judged; and each time
    that one begins to reduce or confirm, up to a limit."""

    def __init__(self, pools: list[Pool], seed: int) -> None:
        self.pools, self.chance = pools, random.Random(seed)
        self.next, self.aside = 0, 0
        self.killed: set[int] = set()

    def on_tally(self, tally: Any, now: float) -> None:
        slots = [slot for made in self.pools for slot in made.slots if slot.busy]
        aside = [slot for slot in slots if isinstance(slot.busy, (Reduce, Confirm))]
        if aside and self.aside < 4 and self.chance.random() < 0.5:
            self.aside += 1
            self._kill(self.chance.choice(aside))
        elif slots and tally.cases >= self.next:
            self.next = tally.cases + self.chance.randrange(1, 80)
            self._kill(self.chance.choice(slots))

    def _kill(self, slot: LocalSlot) -> None:
        self.killed.add(slot.process.pid)
        slot.process.kill()

    def missed(self) -> int:
        """How many of those the campaign missed: all but the ones that had answered everything when it ended."""
        at_the_end = [slot for made in self.pools for slot in made.slots if slot.process.pid in self.killed]
        assert all(slot.busy is None for slot in at_the_end)
        return len(self.killed) - len(at_the_end)

    def on_finding(self, row: FindingRow) -> None: ...

    def on_end(self) -> None: ...


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.deep) for seed in (1, 2))])
def test_killed_workers_lose_nothing(tmp_path: Path, pools: list[Pool], seed: int) -> None:
    """Workers are killed while they judge, reduce and confirm; a case is given up when that happens to it twice."""
    out, kills = tmp_path / "out", Kills(pools, seed)
    result = run_campaign(settings(out, jobs=3), Observers((writer(out), kills)))
    given_up = result.tally.skipped.pop("worker killed, again and again", 0)
    assert result.tally.skipped == {"worker process lost": kills.missed()}
    assert kills.missed() > 4
    assert f"{kills.missed()} worker processes ended before their time, or were stopped for good" in result.notes
    assert result.tally.cases + given_up == 400
    assert all(count == 1 for count in result.tally.ops.values())
    assert given_up <= len(kills.killed) // 2
    open_ones = [json.loads(line)["culprit"] for line in (out / UNREDUCED_FILE).read_text().splitlines()]
    assert {row.culprit for row in result.findings} | set(open_ones) == set(PASSES)
    assert result.unreduced == len(open_ones)


class Dawdles(Observers):
    """An observer that takes its time to begin."""

    def on_start(self, settings: Settings) -> None:
        time.sleep(0.3)


def test_the_shortest_campaign_judges_something(tmp_path: Path) -> None:
    """Its time begins when all is ready."""
    result = run_campaign(settings(tmp_path / "out", cases=None, time="0.0001s"), Dawdles())
    assert result.tally.cases > 0
    assert result.fault() is None


class Stops(Observer):
    """An observer that interrupts its campaign after so many cases."""

    def __init__(self, interrupts: Interrupts, cases: int) -> None:
        self.interrupts, self.cases = interrupts, cases
        self.rows: list[FindingRow] = []
        self.time_s: float | None = None

    def on_start(self, settings: Settings) -> None:
        self.time_s = settings.time_s

    def on_tally(self, tally: Any, now: float) -> None:
        if tally.cases >= self.cases:
            self.interrupts.happened = True

    def on_finding(self, row: FindingRow) -> None:
        self.rows.append(row)

    def on_end(self) -> None: ...


@pytest.mark.parametrize("after", [0, pytest.param(60, marks=pytest.mark.deep), 200])
def test_a_campaign_that_was_interrupted_goes_on(tmp_path: Path, after: int) -> None:
    out = tmp_path / "out"
    with Interrupts() as interrupts:
        first = run_campaign(settings(out), Stops(interrupts, after), interrupts)
    assert first.interrupted and first.tally.cases < 400
    result = campaign(out, seed=None, resume=True)
    assert_whole(result)
    assert slugs(first) <= slugs(result)
    assert result.wall_s > first.wall_s


def test_who_watches_is_told_when_a_campaign_that_goes_on_will_end(tmp_path: Path) -> None:
    """In the seconds that are counted since it was first begun."""
    out = tmp_path / "out"
    campaign(out, cases=20)
    before = read_checkpoint(out).wall_s
    with Interrupts() as interrupts:
        watching = Stops(interrupts, 0)
        run_campaign(settings(out, seed=None, cases=None, time="500s", resume=True), watching, interrupts)
    assert watching.time_s == before + 500


def test_a_campaign_that_was_killed_goes_on(tmp_path: Path) -> None:
    """From its last checkpoint: what came after it is judged again, and counts once."""
    out, again = tmp_path / "out", tmp_path / "again"
    script = f"""
import sys
from tests.fuzzer import test_ends as t
from fuzzer.processes import pool, start
from fuzzer.campaign import disk
disk.CHECKPOINT_S = 0.1
real = start.module_command
pool.module_command = lambda module, *given: real("tests.fuzzer.fake_worker", *given)
print("begun", flush=True)
t.campaign(t.Path({str(out)!r}), cases=4000)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE
    )
    while not (out / CHECKPOINT_FILE).exists() or read_checkpoint(out).tally.cases < 100:
        assert process.poll() is None
    process.kill()
    process.wait()
    before = read_findings(out)
    assert [path.name for path in out.iterdir() if path.name.startswith(".scratch-")]
    result = campaign(out, seed=None, cases=400, resume=True)
    assert all(count == 1 for count in result.tally.ops.values())
    assert result.tally.cases >= 400
    assert {row.signature for row in before} <= slugs(result)
    judged = [int(name.removeprefix("op")) for name in result.tally.ops]
    seen = Counter(failure.culprit for index in judged for failure in failures_of(index))
    assert {row.culprit: row.count for row in result.findings} == seen
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []
    assert not again.exists()


def test_what_is_seen_and_not_reduced_in_time_stands_in_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "ASIDE_SHARE", -1e9)  # nothing is reduced while there are cases
    out = tmp_path / "out"
    with Interrupts() as interrupts:
        result = run_campaign(settings(out), Stops(interrupts, 100), interrupts)
    rows = [json.loads(line) for line in (out / UNREDUCED_FILE).read_text().splitlines()]
    assert result.unreduced == len(rows) > 0
    for row in rows:
        assert (row["seed"], row["index"] % 5, row["oracle"], row["symptom"]) == (1, 0, "survives", "crash")
        assert row["culprit"] == PASSES[row["index"] % len(PASSES)]
    monkeypatch.undo()
    monkeypatch.setattr(pool, "module_command", _fake)
    assert_whole(campaign(out, seed=None, resume=True))
    assert (out / UNREDUCED_FILE).read_text() == ""


@pytest.mark.parametrize(("loaded", "status"), [("", ExitStatus.CLEAN), ("FuseOps", ExitStatus.NEW_FINDING)])
def test_what_is_not_reduced_fails_a_run_where_it_is_of_the_users_own_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loaded: str, status: ExitStatus
) -> None:
    monkeypatch.setattr(aside, "ASIDE_SHARE", -1e9)  # nothing is reduced while there are cases
    monkeypatch.setenv(LOADED, loaded)
    with Interrupts() as interrupts:
        result = run_campaign(settings(tmp_path / "out", known=Path("none")), Stops(interrupts, 100), interrupts)
    assert result.unreduced and not result.findings
    assert result.status(("A", "B")) == status


def _fake(_module: str, *arguments: str) -> list[str]:
    return start.module_command("tests.fuzzer.fake_worker", *arguments)


@pytest.mark.parametrize(("field", "name"), [("tvm", "TVM"), ("ffi", "apache-tvm-ffi")])
def test_a_campaign_of_another_tvm_is_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], field: str, name: str
) -> None:
    out = tmp_path / "out"
    campaign(out, cases=20)
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    ours = getattr(versions(), field)
    monkeypatch.setattr(begin, "versions", lambda: msgspec.structs.replace(versions(), **{field: "9.9"}))
    with pytest.raises(UsageError, match=f"--resume: {out}: was begun with {name} {ours}, and this is 9.9: ") as raised:
        campaign(out, seed=None, cases=40, resume=True)
    assert raised.value.status == 2
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == before
    monkeypatch.undo()
    monkeypatch.setattr(pool, "module_command", _fake)
    assert campaign(out, seed=None, cases=40, resume=True).tally.cases == 40
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("field", "says"),
    [("passfuzz", "passfuzz 9.9, and this is"), ("python", "Python 9.9"), ("sources", "other sources of passfuzz")],
)
def test_another_passfuzz_goes_on_with_a_campaign_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], field: str, says: str
) -> None:
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(loop, "versions", lambda: msgspec.structs.replace(versions(), **{field: "9.9"}))
        campaign(out, cases=20)
    assert campaign(out, seed=None, cases=40, resume=True).tally.cases == 40
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"passfuzz: warning: --resume: {out}: was begun with {says}")


def test_a_checkpoint_of_an_older_passfuzz_is_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    campaign(out, cases=20)
    data = json.loads((out / CHECKPOINT_FILE).read_text())
    for field in ("versions", "early"):
        del data[field]
    for _, place in data["places"]:
        del place["unnamed"]
    (out / CHECKPOINT_FILE).write_text(json.dumps(data))
    with pytest.raises(UsageError, match=r"resume\.json: was not written here by you as it is; .*: --trust takes it"):
        campaign(out, seed=None, resume=True)
    assert_whole(campaign(out, seed=None, resume=True, trust=True))
    assert capsys.readouterr().err == ""


def test_an_interrupt_before_a_worker_is_ready_ends_in_order(tmp_path: Path) -> None:
    with Interrupts() as interrupts:
        interrupts.happened = True
        result = run_campaign(settings(tmp_path / "out"), Observers(), interrupts)
    assert (result.interrupted, result.tally.cases, result.fault()) == (True, 0, None)
    assert result.status(("A", "B", "C")) == ExitStatus.INTERRUPTED
    assert read_checkpoint(tmp_path / "out").tally.cases == 0

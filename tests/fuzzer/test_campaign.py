"""Campaigns: the same cases with any number of workers, exact counts, shards, and ends of every kind in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fuzzer.campaign.begin import run_campaign
from fuzzer.campaign.observer import Observers
from fuzzer.campaign.plan import plan_of
from fuzzer.results import CampaignResult
from fuzzer.settings import read_settings
from fuzzer.trial.determinism import hash_seeds
from tests.fuzzer.planted import write_passes
from tests.patience import HANGS_S

ROOT = Path(__file__).resolve().parents[2]
REPORTS = {"summary.json", "findings.jsonl", "report.md", "report.html", "report.sarif", "junit.xml"}
KEPT = {"resume.json", "unreduced.jsonl"}

SOME = "survives,well_formed,numeric"
"""Oracles that find nothing in the passes used here, whose findings would cost seconds of reduction."""

DIGESTS = """\
import hashlib, sys
from fuzzer.trial.repertoire import repertoire_of
from fuzzer.worker.draw import draw_experiment
from fuzzer.protocol import Plan
from generators import externs, tvm_api
from generators.unavailable import Unavailable

externs.register()
for seed, index in (map(int, place.split(":")) for place in sys.argv[1:]):
    plan = Plan(seed)
    repertoire = repertoire_of(plan)
    try:
        case = draw_experiment(plan, repertoire, index)
    except Unavailable as reason:
        print(f"{seed}:{index}", reason)
        continue
    experiment = case.experiment
    parts = [tvm_api.json_of(experiment.module), repr(experiment.setup), repr(experiment.passes)]
    parts += [repr(call) for call in experiment.calls] + [repr(case.source.real(0, 1))]
    print(f"{seed}:{index}", hashlib.sha256("\\0".join(parts).encode()).hexdigest())
"""


def digests(*places: str) -> dict[str, str]:
    """A digest of everything drawn for each case, "SEED:INDEX", in a process of its own."""
    command = [sys.executable, "-c", DIGESTS, *places]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "random"}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=HANGS_S, check=True)
    return dict(line.split(" ", 1) for line in ended.stdout.splitlines())


@pytest.mark.parametrize(
    "start", [pytest.param("forked", marks=pytest.mark.warm), pytest.param("anew", marks=pytest.mark.deep)]
)
def test_a_case_depends_on_seed_and_index_alone(start: str) -> None:
    """Nor on the hashes of the process, where it is started anew."""
    together = digests(*(f"5:{index}" for index in range(12)))
    assert len(together) == 12
    backwards = digests("6:0", *(f"5:{index}" for index in reversed(range(0, 12, 3))))
    assert backwards.pop("6:0") != together["5:0"]
    assert backwards == {place: together[place] for place in backwards} and len(backwards) == 4
    assert len(set(together.values())) > 6


def campaign(out: Path, **options: object) -> CampaignResult:
    return run_campaign(read_settings(out=out, **options), Observers())  # type: ignore[arg-type]


@pytest.mark.warm
def test_the_number_of_workers_changes_nothing_that_is_counted(tmp_path: Path) -> None:
    options = {"seed": 3, "cases": 12, "passes": "Normalize,DeadCodeElimination", "oracles": SOME}
    one = campaign(tmp_path / "one", jobs=1, **options)
    two = campaign(tmp_path / "two", jobs=2, **options)
    for name in ("generated", "cases", "invalid", "skipped", "ops", "passes", "oracles"):
        assert getattr(one.tally, name) == getattr(two.tally, name), name
    assert {f.signature for f in one.findings} == {f.signature for f in two.findings}


@pytest.mark.warm
def test_shards_part_the_cases(tmp_path: Path) -> None:
    options = {"seed": 4, "jobs": 1, "passes": "Normalize", "oracles": SOME}
    whole = campaign(tmp_path / "whole", cases=8, **options).tally
    parts = [campaign(tmp_path / f"{i}", cases=4, shard=f"{i}/2", **options).tally for i in (1, 2)]
    assert whole.generated == sum(part.generated for part in parts)
    assert whole.ops == {name: sum(part.ops.get(name, 0) for part in parts) for name in whole.ops}
    assert parts[0].ops != parts[1].ops


@pytest.mark.warm
@pytest.mark.parametrize("cases", [1, 9])
def test_so_many_cases_are_drawn_as_were_asked_for(tmp_path: Path, cases: int) -> None:
    result = campaign(tmp_path, seed=2, cases=cases, jobs=2, passes="Normalize", oracles=SOME)
    not_drawn = sum(number for reason, number in result.tally.skipped.items() if reason.startswith("not drawn"))
    assert result.tally.generated + not_drawn == cases


@pytest.mark.warm
def test_time_ends_a_campaign(tmp_path: Path) -> None:
    """And not before: how many cases that are depends on the machine."""
    result = campaign(tmp_path, seed=2, time="1s", jobs=1, passes="Normalize", oracles=SOME)
    assert result.wall_s >= 1.0
    assert not result.interrupted


def test_the_plan_holds_what_was_asked_for(tmp_path: Path) -> None:
    load = write_passes(tmp_path, "Identity")
    settings = read_settings(seed=9, passes="FuseOps,@pipelines", oracles="numeric", load=load, out=tmp_path)
    plan = plan_of(settings, tmp_path)
    assert (plan.seed, plan.under_test, plan.oracles, plan.load) == (9, ("FuseOps",), ("numeric",), str(load))
    assert "pipeline" in plan.kinds


# --- ends -----------------------------------------------------------------------------------------------


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A campaign on planted passes in a process of its own, which has found something already."""
    load = write_passes(tmp_path, "Mutates", "Identity")
    out = tmp_path / "out"
    process = subprocess.Popen(
        [*(sys.executable, "-m", "fuzzer.cli", "run", "--time", "10h", "--seed", "1", "--jobs", "2")]
        + ["--load", str(load), "--out", str(out), "--oracles", "survives,well_formed,input_unchanged"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(lambda: process.poll() is not None or (out / "findings.jsonl").exists() and found_in(out) != [])
        assert process.poll() is None
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def wait_for(condition: Callable[[], bool]) -> None:
    """Returns when the condition holds; the limit only ends a test that hangs."""
    end = time.monotonic() + HANGS_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


def parents() -> dict[int, int]:
    """The parent of every process."""
    found: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(stat.parent.name)] = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
    return found


def children(pid: int) -> set[int]:
    """The processes that `pid` has started."""
    return {child for child, parent in parents().items() if parent == pid}


def workers_of(pid: int) -> set[int]:
    """The workers of a campaign of seed 1, without the second process that determinism uses."""
    mark = f"PYTHONHASHSEED={hash_seeds(1)[0]}".encode()
    return {child for child in children(pid) if alive(child) and mark in environment_of(child)}


def environment_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def descendants(pid: int) -> set[int]:
    """The processes that `pid` has started, with those that they have started."""
    known, found = parents(), {pid}
    while more := {child for child, parent in known.items() if parent in found} - found:
        found |= more
    return found - {pid}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except OSError:
        return False


def found_in(out: Path) -> list[str]:
    return [json.loads(line)["culprit"] for line in (out / "findings.jsonl").read_text().splitlines()]


@pytest.mark.deep
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_in_order(running: subprocess.Popen[bytes], tmp_path: Path, number: signal.Signals) -> None:
    workers = descendants(running.pid)
    running.send_signal(number)
    assert running.wait(HANGS_S) == 1  # what had been found is new
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir() if path.is_file()} == REPORTS | KEPT
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []
    assert json.loads((out / "summary.json").read_text())["interrupted"] is True
    assert found_in(out) == ["Mutates"]
    wait_for(lambda: not any(map(alive, workers)))


@pytest.mark.deep
@pytest.mark.warm
def test_a_killed_campaign_leaves_no_worker_and_keeps_its_findings(
    running: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    workers = descendants(running.pid)
    assert len(workers) >= 2
    running.kill()
    running.wait()
    wait_for(lambda: not any(map(alive, workers)))
    out = tmp_path / "out"
    assert found_in(out) == ["Mutates"]
    (folder,) = (out / "findings").iterdir()
    ended = subprocess.run(
        [sys.executable, str(folder / "repro.py")], capture_output=True, timeout=HANGS_S, check=False
    )
    assert ended.returncode == 1


@pytest.mark.deep
def test_a_killed_worker_costs_its_cases_in_flight_only(running: subprocess.Popen[bytes], tmp_path: Path) -> None:
    wait_for(lambda: len(workers_of(running.pid)) == 2)
    killed = min(workers_of(running.pid))
    os.kill(killed, signal.SIGKILL)
    wait_for(lambda: len(workers_of(running.pid) - {killed}) == 2)  # another one has taken its place
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    assert running.wait(HANGS_S) == 1
    skipped = json.loads((tmp_path / "out" / "summary.json").read_text())["skipped"]
    assert skipped["worker process lost"] == 1

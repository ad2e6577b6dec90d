"""Disturbs campaigns at random and counts what is lost: `python -m benchmarks.bench_faults_injected --injections 300`.

A campaign on planted passes is run undisturbed, then again and again while its processes are killed, stopped, sent
signals, limited in memory and in the size of files, and its disk is full for a while. A third of the faults strike
campaigns with findings in hand. A campaign that ends early is gone on with (--resume). One that does nothing for two
minutes is ended, and counts as a loss: it stood still.
What the passes do wrong is known, so that each case, finding and false finding can be counted.

The disk is one in memory that is mounted in namespaces of the benchmark's own (`unshare`, of util-linux).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.campaign.checkpoint import CHECKPOINT_FILE
from fuzzer.processes.start import module_command
from oracles.family import children
from reports.summary import FINDINGS_FILE, SUMMARY_FILE, UNREDUCED_FILE
from tests.fuzzer.planted import CORRECT, FAULTY, write_passes

MARK = "PASSFUZZ_BENCH_INJECTED"
"""In the environment of everything that a disturbed campaign starts."""
FAULTS = ("KILL", "STOP", "TERM", "HUP", "INT", "memory", "file size", "full disk")
WITH_FINDINGS = 1 / 3
"""The share of the faults that strike where there are findings."""
DISK = "256m"
"""How much the disk holds."""
OWN_DISK = "PASSFUZZ_BENCH_DISK"
"""In the environment where this process has namespaces of its own."""
STILL_S = 120.0
"""Seconds in which a campaign must judge a case, or get on with a failure: importing TVM takes ten on a busy machine, a
reduction fifteen at most."""
QUIET_S = 10.0
"""Seconds after which nothing of a campaign that has ended may live."""


@dataclass(slots=True)
class Score:
    """What was injected, by role and fault, and what was lost by it."""

    injected: Counter[str] = field(default_factory=Counter)
    campaigns: int = 0
    begun_again: int = 0
    with_findings: int = 0
    lost_cases: int = 0
    twice_counted: int = 0
    given_up: int = 0
    lost_findings: list[str] = field(default_factory=list)
    false_findings: list[str] = field(default_factory=list)
    orphans: int = 0
    torn: list[str] = field(default_factory=list)
    stood_still: list[str] = field(default_factory=list)


def roles(root: int) -> dict[str, list[int]]:
    """The processes of a campaign by what they are: a guard leads each worker, and each repro that is run."""
    guards = sorted(children(root))
    workers = [pid for guard in guards for pid in children(guard)]
    found = {"campaign": [root], "guard": guards, "worker": workers, "child": list[int]()}
    for pid in (pid for worker in workers for pid in children(worker)):
        found["guard" if b"guard.py" in _command_line(pid) else "child"].append(pid)
    return found


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@contextlib.contextmanager
def small_disk() -> Iterator[Path]:
    """A folder that is a disk of its own."""
    with tempfile.TemporaryDirectory(prefix="injected-") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def fill(disk: Path, seconds: float) -> None:
    """Has a disk full for so long."""
    filler = disk / "filler"
    try:
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            for size in (1 << 20, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(size))
        time.sleep(seconds)
    finally:
        filler.unlink()


def inject(chance: random.Random, root: int, score: Score, disk: Path) -> None:
    """One fault into one process, or into the disk."""
    there = {role: pids for role, pids in roles(root).items() if pids}
    role = chance.choice(sorted(there))
    pid, fault = chance.choice(there[role]), chance.choice(FAULTS)
    if fault == "memory" and not there.get("worker"):
        return  # Python that has no memory for its imports tries them for ever.
    try:
        if fault == "memory":
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
            resource.prlimit(pid, resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 20), -1))
        elif fault == "full disk":
            role = "all"
            fill(disk, chance.uniform(0.1, 3.0))
        elif fault == "file size":
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, -1))
            time.sleep(chance.uniform(0.1, 3.0))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (-1, -1))
        elif fault == "STOP":
            os.kill(pid, signal.SIGSTOP)
            time.sleep(chance.uniform(0.1, 3.0))
            os.kill(pid, signal.SIGCONT)
        else:
            os.kill(pid, getattr(signal, f"SIG{fault}"))
    except (ProcessLookupError, FileNotFoundError, PermissionError):
        return
    score.injected[f"{role} {fault}"] += 1


def campaign(options: list[str], out: Path) -> subprocess.Popen[bytes]:
    """A campaign that is running."""
    return subprocess.Popen(
        [*module_command("fuzzer.cli"), "run", "--out", str(out), "--jobs", "2", *options],
        env={**os.environ, MARK: str(out)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class Pulse:
    """Whether a campaign gets on, by its files."""

    def __init__(self, out: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._clock = clock
        self._seen: object = None
        self._since = clock()

    def stands_still(self) -> bool:
        """Whether nothing has changed for STILL_S; to be asked now and then."""
        if (seen := self._look()) != self._seen:
            self._seen, self._since = seen, self._clock()
        return self._clock() - self._since > STILL_S

    def _look(self) -> object:
        """The cases that are counted, the findings, and the failures that are being worked on."""
        counts = {}
        if (text := _text(self._out / SUMMARY_FILE)) != "":
            counts = {name: said for name, said in json.loads(text).items() if name not in ("wall_s", "cpu_s")}
        return counts, _text(self._out / FINDINGS_FILE), _text(self._out / UNREDUCED_FILE)


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def doings(out: Path) -> str:
    """What the processes of a campaign are doing, and what it has not settled, for a person."""
    said = []
    for pid in marked(out):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            waits = Path(f"/proc/{pid}/wchan").read_text()
        except OSError:
            continue
        words = _command_line(pid).replace(b"\0", b" ").decode(errors="replace")
        said.append(f"{pid} {state} in {waits or '?'}, children {sorted(children(pid))}: ...{words[-80:].strip()}")
    open_ones = [json.loads(line) for line in _text(out / UNREDUCED_FILE).splitlines()]
    said += [f"{row['culprit']} {row['stage']} {row['why']}".strip() for row in open_ones]
    return "; ".join(said) or "no process is left"


def end(running: subprocess.Popen[bytes], out: Path) -> None:
    """Ends a campaign with all that it has started."""
    running.kill()
    running.wait()
    for pid in marked(out):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def undisturbed(options: list[str], out: Path) -> tuple[int, frozenset[str]]:
    """How many cases are generated or skipped, and the culprits that are found."""
    running, pulse = campaign(options, out), Pulse(out)
    while running.poll() is None:
        time.sleep(0.5)
        if pulse.stands_still():
            said = doings(out)
            end(running, out)
            raise SystemExit(f"undisturbed, it stood still: {said}")
    summary = json.loads((out / SUMMARY_FILE).read_text())
    return summary["generated"], frozenset(row["culprit"] for row in summary["findings"])


def disturb(options: list[str], out: Path, chance: random.Random, score: Score, left: int, pause_s: float) -> int:
    """One campaign with faults, gone on with until it has ended by itself or stands still; how many faults there
    were. Where too few have struck findings so far, it is left alone until it has some."""
    done = 0
    running, pulse = campaign(options, out), Pulse(out)
    score.campaigns += 1
    while True:
        try:
            running.wait(chance.uniform(0.0, 2 * pause_s))
        except subprocess.TimeoutExpired:
            if pulse.stands_still():
                score.stood_still.append(doings(out))
                end(running, out)
                return done
            if done < left:
                found = bool(_text(out / FINDINGS_FILE).strip())
                if not found and score.with_findings < WITH_FINDINGS * score.injected.total():
                    continue
                before = score.injected.total()
                inject(chance, running.pid, score, out.parent)
                done += score.injected.total() - before
                score.with_findings += (score.injected.total() - before) * found
            continue
        check_left(out, score)
        if ended_by_itself(out):
            return done
        score.begun_again += 1
        resumable = (out / CHECKPOINT_FILE).exists()
        more = ["--resume", *_cases_of(options)] if resumable else ["--fresh", *options]
        running, pulse = campaign(more, out), Pulse(out)


def _cases_of(options: list[str]) -> list[str]:
    return options[options.index("--cases") : options.index("--cases") + 2]


def ended_by_itself(out: Path) -> bool:
    """Whether the campaign has come to its end."""
    try:
        return bool(json.loads((out / SUMMARY_FILE).read_text()).get("ended") == "done")
    except FileNotFoundError:
        return False


def check_left(out: Path, score: Score) -> None:
    """Counts torn files, and processes that outlive their campaign."""
    for path in (out / SUMMARY_FILE, out / CHECKPOINT_FILE):
        try:
            json.loads(path.read_text())
        except FileNotFoundError:
            pass
        except ValueError as error:
            score.torn.append(f"{path.name}: {error}")
    for folder in (out / "findings").glob("*"):
        score.torn += [f"{folder.name}: {name}" for name in ("repro.py", "case.json") if not (folder / name).exists()]
    end = time.monotonic() + QUIET_S
    while (alive := marked(out)) and time.monotonic() < end:
        time.sleep(0.2)
    score.orphans += len(alive)
    for pid in alive:
        os.kill(pid, signal.SIGKILL)


def marked(out: Path) -> list[int]:
    """The processes that a campaign into `out` has started and that live."""
    mark, found = f"{MARK}={out}".encode(), []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in environ.read_bytes().split(b"\0"):
                found.append(int(environ.parent.name))
        except OSError:
            continue
    return found


def compare(out: Path, generated: int, culprits: frozenset[str], score: Score) -> None:
    """Counts what a campaign that was disturbed has lost, and what it has found that is not there."""
    summary = json.loads((out / SUMMARY_FILE).read_text())
    given_up = sum(number for reason, number in summary["skipped"].items() if reason.endswith("twice"))
    score.given_up += given_up
    score.lost_cases += max(0, generated - summary["generated"])
    score.twice_counted += max(0, summary["generated"] - generated)
    found = {row["culprit"] for row in summary["findings"]}
    unreduced = {json.loads(line)["culprit"] for line in (out / UNREDUCED_FILE).read_text().splitlines()}
    score.lost_findings += sorted(culprits - found - unreduced)
    score.false_findings += sorted(found - set(FAULTY))


def main() -> None:
    """Prints the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--injections", type=int, default=300)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=1.5, help="seconds between two faults, on average")
    given = parser.parse_args()
    if OWN_DISK not in os.environ:
        command = [
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            sys.executable,
            "-m",
            __spec__.name,
            *sys.argv[1:],
        ]
        os.execvpe(command[0], command, {**os.environ, OWN_DISK: "1"})
    chance, score, left = random.Random(given.seed), Score(), given.injections
    with small_disk() as folder:
        load = write_passes(folder, *FAULTY, *CORRECT)
        options = ["--cases", str(given.cases), "--seed", str(given.seed), "--load", str(load)]
        generated, culprits = undisturbed(options, folder / "undisturbed")
        print(f"undisturbed: {generated} cases, findings in {', '.join(sorted(culprits))}", flush=True)
        for number in range(given.injections):
            if left <= 0:
                break
            out = folder / f"out-{number}"
            left -= disturb(options, out, chance, score, left, given.pause)
            if ended_by_itself(out):
                compare(out, generated, culprits, score)
            print(f"{score.injected.total()} of {given.injections}: {score}", file=sys.stderr, flush=True)
    print(
        f"{score.injected.total()} faults in {score.campaigns} campaigns, {score.with_findings} with findings in hand"
    )
    print(f"by role and fault: {dict(sorted(score.injected.items()))}")
    print(f"gone on with {score.begun_again} times; cases given up after two kills: {score.given_up}")
    print(f"cases lost {score.lost_cases}, counted twice {score.twice_counted}")
    print(f"findings lost {score.lost_findings}, false {score.false_findings}")
    print(f"orphans {score.orphans}, torn files {score.torn}")
    print(f"stood still, each of which is a loss: {len(score.stood_still)}")
    for said in score.stood_still:
        print(f"  {said}")


if __name__ == "__main__":
    main()

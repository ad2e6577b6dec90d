"""`passfuzz capture -- CMD...`: the pass call at which a command of the user fails becomes a case. No TVM here."""

from __future__ import annotations

import os
import pickle
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from corpus.escapes import one_line, slug_of
from fuzzer.capture.messages import CaseMade, NotMade, Settled, Task, Why
from fuzzer.capture.raw import Raw, Spooled, read_spool
from fuzzer.capture.run import CommandEnd, require_command, run_command
from fuzzer.errors import EnvironmentFault, ExitStatus, UsageError, tell
from fuzzer.given_paths import output_folder
from fuzzer.processes.lines import Lines
from fuzzer.processes.scratch import scratch_folder
from fuzzer.processes.start import module_command, worker_environment
from fuzzer.render import print_json
from fuzzer.versions import require_tvm
from generators.json_values import JsonObject

_SHOWN = 12
"""Names of passes that a line lists."""


@dataclass(frozen=True, slots=True)
class KeepCalls:
    """Which calls are kept though they do not fail. name: of a pass, its application `number`, from 1; or all."""

    every: bool = False
    name: str = ""
    number: int = 1

    @property
    def text(self) -> str:
        """As the watch in the command reads it."""
        return "all" if self.every else f"{self.name}:{self.number}" if self.name else ""


@dataclass(frozen=True, slots=True)
class CaptureResult:
    """command: how it ended. made: the cases, that of the failure first. failure: whether there is one. harmless: the
    command caught its exception and ended well."""

    command: str
    made: tuple[CaseMade, ...]
    failure: bool
    harmless: bool = False

    def status(self) -> ExitStatus:
        return ExitStatus.NEW_FINDING if self.failure and not self.harmless else ExitStatus.CLEAN

    def to_json(self) -> JsonObject:
        cases = [{name: getattr(one, name) for name in one.__struct_fields__} for one in self.made]
        return {**asdict(self), "made": cases}


def read_keep(every: bool, name: str | None, number: int | None) -> KeepCalls:
    """The options as typed. Raises UsageError."""
    if every and name is not None:
        raise UsageError("--all and --pass: only one of them can say what is kept")
    if number is not None and (name is None or number < 1):
        raise UsageError(f"--nth {number}: counts the applications of --pass NAME, from 1")
    return KeepCalls(every, name or "", number or 1)


def capture(command: Sequence[str], out: Path, keep: KeepCalls, limit_s: float | None) -> CaptureResult:
    """Runs the command, and writes what was captured into `out`: the case of the failure, or of the one call that was
    asked for; a folder for each with --all.

    Kept of failures is the first that ended the command or a test, or that its process did not survive; else the first
    whose exception the command caught. Raises UsageError for a command that cannot be started, that never loads TVM, or
    that does not apply the pass asked for; EnvironmentFault where no case can be made.
    """
    require_command(command)
    output_folder(out, "--output")
    if out.is_dir() and any(out.iterdir()):
        raise UsageError(f"--output {out}: is not empty; name another folder, or remove it")
    require_tvm()
    with scratch_folder() as spool:
        ended = run_command(command, spool, keep.text, limit_s)
        spooled = read_spool(spool)
        for fault in spooled.faults[:3]:
            tell(f"warning: the watch in the command: {fault}")
        tasks = tuple(_tasks(spooled, ended, out, keep, shlex.join(command)))
        if not tasks:
            _refuse_nothing(spooled, ended, keep)
            return CaptureResult(ended.how, (), False)
        made = _settled(tasks)
    why = tasks[0].why
    return CaptureResult(ended.how, made, why != "asked", why == "caught" and ended.status == 0)


def _tasks(spooled: Spooled, ended: CommandEnd, out: Path, keep: KeepCalls, command: str) -> Iterator[Task]:
    failure = _first_failure(spooled) if spooled.kept or not keep.name else None
    several = keep.every or bool(keep.name and spooled.kept and failure)
    if failure is not None:
        raw, why = failure
        yield Task(raw, out / "failure" if several else out, why, raw.kind or f"the command {ended.how}", command)
    if several:
        for number, raw in enumerate(spooled.kept):
            folder = out / f"{number:03d}-{slug_of(raw.levels[-1].name.replace('.', '_'))}"
            yield Task(raw, folder, "asked", "was asked for", command)
    elif failure is None and spooled.kept:
        yield Task(spooled.kept[0], out, "asked", "was asked for", command)


def _first_failure(spooled: Spooled) -> tuple[Raw, Why] | None:
    """The first call that ended the command, a test or its process; else the first whose exception was caught."""
    found: list[tuple[Raw, Why]] = [(raw, "unended") for raw in spooled.unended]
    found += [(raw, "raised") for raw in spooled.failures if raw.escaped]
    caught: list[tuple[Raw, Why]] = [(raw, "caught") for raw in spooled.failures]
    return min(found or caught, key=lambda one: one[0].at_s, default=None)


def _refuse_nothing(spooled: Spooled, ended: CommandEnd, keep: KeepCalls) -> None:
    """Raises UsageError where the command did not do what capturing asks for."""
    if not spooled.tvm:
        raise UsageError(f"the command {ended.how}, and no Python that it ran has imported tvm where it can be watched")
    if keep.name:
        times = f"application {keep.number} of {keep.name}" if keep.number > 1 else keep.name
        raise UsageError(
            f"--pass {keep.name}: the command {ended.how}, and {times} was not seen; --all keeps every call"
        )


def _settled(tasks: tuple[Task, ...]) -> tuple[CaseMade, ...]:
    """The cases, made in a process that loads TVM. Raises EnvironmentFault where that of the first task is not made."""
    process = subprocess.run(
        module_command("fuzzer.capture.settle", str(os.getpid())),
        input=pickle.dumps(list(tasks)),
        capture_output=True,
        env=worker_environment(),
        check=False,
    )
    replies = [
        reply for reply in Lines[Settled](Settled).take(process.stdout) if isinstance(reply, (CaseMade, NotMade))
    ]
    if len(replies) < len(tasks):
        last = (process.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
        raise EnvironmentFault(f"the process that makes cases ended with status {process.returncode}: {last[:300]}")
    for number, reply in enumerate(replies):
        if isinstance(reply, NotMade):
            line = f"{reply.name} was captured, and no case can be made of it: {reply.why}"
            if number == 0:
                raise EnvironmentFault(line)
            tell(f"warning: {line}")
    return tuple(reply for reply in replies if isinstance(reply, CaseMade))


def show_capture(result: CaptureResult, as_json: bool) -> None:
    """What was captured: lines on stderr, as stdout is the command's; with as_json an object on stdout, last."""
    if as_json:
        print_json(result.to_json())
        return
    if not result.made:
        how = "--pass NAME or --all keeps calls that do not fail, and `passfuzz check FILE.py:Module` judges a module"
        tell(f"the command {result.command}, and no pass failed in it; nothing was captured; {how}")
    for made in result.made[:_SHOWN]:
        fails = f" fails: {one_line(made.message)[:300]}" if result.failure and made is result.made[0] else ""
        tell(f"captured in {made.folder}: {one_line(made.source)[:200]}{fails}")
        for note in made.notes:
            tell(f"note: {note}")
    if len(result.made) > _SHOWN:
        tell(f"captured {len(result.made) - _SHOWN} more in the same folder")
    if result.made:
        folder = result.made[0].folder
        tell(f"`passfuzz check {folder}` judges it; `passfuzz reduce {folder}` makes it small")

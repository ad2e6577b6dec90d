"""The worker process: imports TVM once, forks children that draw and judge cases, watches them, and reports.

The parent never applies a pass itself, so that no pass can break it: a child that crashes, hangs or eats memory is
seen from outside, its case is named from the flight recorder, and the next child goes on with the next case. Commands
come on standard input, answers go to standard output (`fuzzer.protocol`).
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from typing_extensions import assert_never

from corpus.finding_bytes import from_bytes, to_bytes
from fuzzer.coverage import probes
from fuzzer.errors import of_system
from fuzzer.processes import sandbox
from fuzzer.processes.flight import Recorder
from fuzzer.processes.lines import Lines, cut, send
from fuzzer.processes.tvm_alone import without_torch
from fuzzer.protocol import (
    Begin,
    CandidateDigests,
    CaseDigests,
    Command,
    Confirm,
    Confirmed,
    Done,
    Failure,
    JudgeCases,
    Judged,
    Killed,
    Plan,
    Ready,
    Reduce,
    Reduced,
    Refused,
    Resemble,
    TakeDigests,
    TryDraws,
    Warned,
)
from fuzzer.versions import ffi_version, passfuzz_version
from oracles.activities import Activity, Working, described
from oracles.family import go_on_guarded
from oracles.forked import Ended, await_child, fork_child
from oracles.process_state import limit_memory
from oracles.tail import tail
from reports.tally import Tally

if TYPE_CHECKING:
    from fuzzer.trial.repertoire import Repertoire

R = TypeVar("R")
_STDERR_KEPT = 6000
ROOM_S = 60.0
"""Seconds for which a worker that begins waits for room on the disk."""


def main() -> None:
    """Obeys commands, the first of which is Begin, until standard input closes."""
    go_on_guarded(int(sys.argv[1]))
    answers = os.dup(1)
    commands = _commands()
    begin = next(commands, None)
    if not isinstance(begin, Begin):
        return
    scratch = Path(begin.plan.scratch)
    uncounted = "" if begin.plan.probes is None else probes.begin(begin.plan.probes)
    if begin.plan.walled:  # After the file of hits, which is outside; before files inside, where links may lie.
        sandbox.enter(begin.plan.scratch)
    give_up = time.monotonic() + ROOM_S
    try:
        errors = _when_there_is_room(partial(_errors_file, scratch / f"stderr-{os.getppid()}"), give_up)
        recorder = _when_there_is_room(partial(Recorder.create, scratch / f"flight-{os.getpid()}"), give_up)
    except OSError as error:
        send(answers, Refused(of_system(error), usage=False))
        return
    os.dup2(errors, 1)
    os.dup2(errors, 2)
    worker = _Worker(begin.plan, recorder, answers, errors, uncounted)
    if worker.prepare():
        for command in commands:
            worker.obey(command)


def _when_there_is_room(make: Callable[[], R], give_up: float) -> R:
    """What `make` gives. A disk that is full is waited for, until `give_up` on the monotonic clock: the campaign goes
    on meanwhile. Raises OSError."""
    while True:
        try:
            return make()
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT) or time.monotonic() > give_up:
                raise
            time.sleep(0.2)


def _errors_file(path: Path) -> int:
    """A new file for what is printed. What cases of another user have left under its name goes."""
    path.unlink(missing_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)


def _commands() -> Iterator[Command]:
    lines = Lines[Command](Command)
    for line in sys.stdin.buffer:
        yield from lines.take(line)


def _left_to_the_reference(targets: Sequence[str]) -> Iterator[str]:
    """A line for each target whose modules could be built here, as it seemed, and cannot."""
    from oracles.builds.builders import unusable

    for target in targets:
        if (why := unusable(target)) is not None:
            yield f"--target {target}: nothing is built and run, the reference alone judges: {why}"


class _Worker:
    def __init__(self, plan: Plan, recorder: Recorder, answers: int, errors: int, uncounted: str) -> None:
        self.plan = plan
        self.recorder = recorder
        self._answers = answers
        self._errors = errors
        self._uncounted = uncounted
        self._speaks = os.getpid()
        """The process that may answer: this one, or the child that it has forked to do work."""
        self._repertoire: Repertoire | None = None

    @property
    def repertoire(self) -> Repertoire:
        """The passes, once it is prepared."""
        assert self._repertoire is not None, "prepared before the first command"
        return self._repertoire

    def say(self, answer: msgspec.Struct) -> None:
        """One answer, written whole. A process that a pass has forked, and that comes here, ends without a word."""
        if os.getpid() != self._speaks:
            os._exit(0)
        send(self._answers, answer)

    def prepare(self) -> bool:
        """Imports TVM and the tables; False after saying why this cannot work."""
        with without_torch():
            import tvm

        from fuzzer.trial.options import oracle_names
        from fuzzer.trial.repertoire import LoadFault, repertoire_of
        from fuzzer.worker.child import before_forking
        from fuzzer.worker.kin import wants_trials
        from oracles.builds.cpu_builds import GROUPS

        try:
            repertoire = repertoire_of(self.plan, lambda line: self.say(Warned(line)))
        except LoadFault as fault:
            self.say(Refused(str(fault)))
            return False
        plans = [replace(self.plan, oracles=(), targets=(target,)) for target in self.plan.targets]
        known = frozenset[str]().union(*map(oracle_names, plans))
        unknown = [name for name in self.plan.oracles if name not in known | GROUPS.keys()]
        if unknown:
            self.say(Refused(f"--oracles {unknown[0]}: unknown oracle; `passfuzz list oracles` shows them all"))
            return False
        before_forking(self.plan.targets)
        for line in _left_to_the_reference(self.plan.targets):
            self.say(Warned(line))
        self._repertoire = repertoire
        if self.plan.probes is not None:
            self._uncounted = self._uncounted or probes.why_not(self.plan.probes)
        versions = str(tvm.__version__), ffi_version(), passfuzz_version()
        self.say(Ready(*versions, self._uncounted, repertoire.loaded, wants_trials(self.plan, repertoire)))
        return True

    def obey(self, command: Command) -> None:
        """Carries out one command in children; always ends with Done."""
        match command:
            case JudgeCases(indices, seconds):
                self._run_cases(indices, time.monotonic() + seconds)
            case Reduce():
                self._reduce(command)
            case Confirm():
                self._confirm(command)
            case TakeDigests():
                self._say_digests(command)
            case TryDraws():
                self._try_draws(command)
            case Resemble(kin):
                self._repertoire = replace(self.repertoire, kin=kin)
            case Begin():
                raise AssertionError("a worker begins once")
            case _:
                assert_never(command)
        self.say(Done())

    # --- cases ------------------------------------------------------------------------------------------

    def _run_cases(self, indices: Sequence[int], until: float) -> None:
        """Judges the cases in as few children as survive."""
        left = list(indices)
        while left:
            self.recorder.write(left[0], Working("start"))
            pid = self._fork(partial(self._judge_batch, tuple(left), until))
            ended = self._watch(pid, self.plan.deadline_s, per_case=True)
            if ended is None:
                return
            index, activity = self.recorder.read()
            self._report_lost(index, activity, ended)
            done = left.index(index) if index in left else 0  # Code under test can write what is recorded.
            left = left[done + 1 :] if time.monotonic() < until else []

    def _judge_batch(self, indices: Sequence[int], until: float) -> None:
        from fuzzer.worker.child import judge_case

        for number, index in enumerate(indices):
            if number and time.monotonic() >= until:
                return
            self.recorder.write(index, Working("draw"))
            self.say(judge_case(self.plan, self.repertoire, index, self.recorder))

    def _report_lost(self, index: int, activity: Activity, ended: Ended) -> None:
        """A case that ended its child is a failure of what it was doing."""
        from fuzzer.trial.end_of_child import FromOutside, OurFault, ReferenceStuck, judged_end

        cut(self._answers)
        stderr = self._stderr_tail()
        end = judged_end(index, activity, ended, deadline_s=self.plan.deadline_s, stderr=stderr)
        match end:
            case OurFault() if ended.raised and not stderr.strip():  # A limit from outside keeps Python from saying it.
                self.say(Killed(index))
            case OurFault():
                self.say(self._own_fault(index, activity))
            case FromOutside(failure):
                self.say(Killed(index, failure))
            case ReferenceStuck():
                reason = f"the reference interpreter {ended.verb}"
                self.say(Judged(index, Tally(generated=1, cases=1, inconclusive={reason: 1})))
            case Failure():
                counts = Tally(generated=1, cases=1, died=1, skipped={f"ended by {ended.how}": 1})
                self.say(Judged(index, counts, (end,)))
            case _:
                assert_never(end)

    def _own_fault(self, index: int, activity: Activity) -> Judged:
        """An exception of ours in a child: an invalid case."""
        text, where = self._stderr_tail(), described(activity)
        last = (text.strip().splitlines() or ["no message"])[-1]
        counts = Tally(generated=1, invalid=1, skipped={f"own fault: {last.split(':')[0][:60]} in {where}": 1})
        return Judged(index, counts, own_fault=f"in {where}\n{text}")

    def _try_draws(self, command: TryDraws) -> None:
        from fuzzer.worker.kin import kin_of

        self.say(kin_of(self.plan, self.repertoire, command))

    # --- findings ---------------------------------------------------------------------------------------

    def _reduce(self, command: Reduce) -> None:
        def work() -> None:
            from fuzzer.trial.shrinking.odd_order import NotCounted
            from fuzzer.worker.shrink_drawn import shrink_failure

            limits = command.budget_s, command.ceiling_s
            finding = shrink_failure(self.plan, self.repertoire, command.failure, *limits)
            if isinstance(finding, NotCounted):
                self.say(Reduced(command.token, None, no_finding=finding.reason))
            else:
                self.say(Reduced(command.token, None if finding is None else to_bytes(finding)))

        self.recorder.write(command.failure.index, Working("reduce"))
        ended = self._watch(self._fork(work), command.ceiling_s + 2 * command.budget_s + 30, per_case=False)
        if ended is not None:
            cut(self._answers)
            self.say(Reduced(command.token, None, ended.how, self._stderr_tail() if ended.raised else ""))

    def _confirm(self, command: Confirm) -> None:
        from fuzzer.worker.confirm import confirmed

        said = confirmed(from_bytes(command.finding), Path(self.plan.scratch))
        self.say(Confirmed(command.token, to_bytes(said.finding), said.shown, said.ended))

    # --- digests ----------------------------------------------------------------------------------------

    def _say_digests(self, command: TakeDigests) -> None:
        """The digests of cases, or of the candidate in a file; none for it where that ends the child."""

        def work() -> None:
            from fuzzer.trial.digests import digests_in
            from fuzzer.worker.child import digests_of_case

            for index in command.indices:
                self.recorder.write(index, Working("digests"))
                start = time.process_time()
                said = tuple(digests_of_case(self.plan, self.repertoire, index))
                self.say(CaseDigests(index, said, time.process_time() - start))
            if command.file is not None:
                self.say(CandidateDigests(digests_in(self.plan, self.repertoire, command.file)))

        self.recorder.write(-1, Working("digests"))
        ended = self._watch(self._fork(work), 2 * self.plan.deadline_s, per_case=True)
        if ended is not None:
            cut(self._answers)
            if command.file is not None:
                self.say(CandidateDigests(()))

    # --- children ---------------------------------------------------------------------------------------

    def _fork(self, work: Callable[[], None]) -> int:
        os.ftruncate(self._errors, 0)

        def limited() -> None:
            self._speaks = os.getpid()
            limit_memory(self.plan.memory_bytes)
            work()

        return fork_child(limited, _print_traceback)

    def _watch(self, pid: int, deadline_s: float, per_case: bool) -> Ended | None:
        """How a child ended, None for well; the deadline is that of each case, or of the whole work."""
        case = (lambda: self.recorder.read()[0]) if per_case else (lambda: None)
        return await_child(pid, deadline_s, case)[0]

    def _stderr_tail(self) -> str:
        return tail(self._errors, _STDERR_KEPT)


def _print_traceback() -> None:
    import traceback

    traceback.print_exc()
    sys.stderr.flush()


if __name__ == "__main__":
    main()

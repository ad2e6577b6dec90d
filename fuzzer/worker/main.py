"""The worker process: imports TVM once, forks children that draw and judge cases, watches them, and reports.

The parent (zygote) never applies a pass itself, so that no pass can break it: a child that crashes, hangs or
eats memory is seen from outside, its case is named from the flight recorder, and the next child goes on with
the next case. One JSON object per line on standard output; commands come on standard input.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from fuzzer.processes.flight import Recorder
from fuzzer.processes.fork import die_with_parent, fork_child
from fuzzer.protocol import Failure, Plan

_STDERR_KEPT = 6000


def main() -> None:
    """Reads a plan and then commands, one JSON object per line, until standard input closes."""
    die_with_parent(int(sys.argv[1]))
    answers = os.dup(1)
    plan = Plan.from_json(json.loads(sys.stdin.readline()))
    scratch = Path(plan.scratch)
    errors = os.open(scratch / f"stderr-{os.getpid()}", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    os.dup2(errors, 1)
    os.dup2(errors, 2)
    worker = _Worker(plan, Recorder.create(scratch / f"flight-{os.getpid()}"), answers, errors)
    if worker.prepare():
        for line in sys.stdin:
            worker.obey(json.loads(line))


class _Worker:
    def __init__(self, plan: Plan, recorder: Recorder, answers: int, errors: int) -> None:
        self.plan = plan
        self.recorder = recorder
        self._answers = answers
        self._errors = errors
        self.repertoire: Any = None

    def say(self, kind: str, **payload: Any) -> None:
        """One answer, written whole."""
        data = (json.dumps({"kind": kind, **payload}) + "\n").encode()
        while data:
            data = data[os.write(self._answers, data) :]

    def prepare(self) -> bool:
        """Imports TVM and the tables; False after saying why this cannot work."""
        import tvm

        from fuzzer.worker.child import before_forking, oracle_names
        from fuzzer.worker.draw import LoadFault, repertoire_of
        from oracles.builds.cpu_builds import GROUPS

        try:
            self.repertoire = repertoire_of(self.plan)
        except LoadFault as fault:
            self.say("fault", message=str(fault))
            return False
        plans = [replace(self.plan, oracles=(), targets=(target,)) for target in self.plan.targets]
        known = frozenset[str]().union(*map(oracle_names, plans))
        unknown = [name for name in self.plan.oracles if name not in known | GROUPS.keys()]
        if unknown:
            self.say("fault", message=f"--oracles {unknown[0]}: unknown oracle; `passfuzz list oracles` shows them all")
            return False
        before_forking(self.plan.targets)
        self.say("ready", tvm=str(tvm.__version__))
        return True

    def obey(self, command: dict[str, Any]) -> None:
        """Carries out one command in children; always ends with a "done"."""
        match command["do"]:
            case "cases":
                self._run_cases(command["indices"], command["until"])
            case "reduce":
                self._reduce(command)
            case "digests":
                self._say_digests(command)
        self.say("done")

    # --- cases ------------------------------------------------------------------------------------------

    def _run_cases(self, indices: list[int], until: float) -> None:
        """Judges the cases in as few children as survive."""
        left = list(indices)
        while left and time.time() < until:
            self.recorder.write(left[0], "start")
            pid = self._fork(partial(self._judge_batch, tuple(left), until))
            ended = self._watch(pid, self.plan.deadline_s, per_case=True)
            if ended is None:
                return
            index, stage = self.recorder.read()
            self._report_lost(index, stage, ended)
            left = left[left.index(index) + 1 :] if index in left else []

    def _judge_batch(self, indices: Sequence[int], until: float) -> None:
        from fuzzer.worker.child import judge_case

        for index in indices:
            if time.time() >= until:
                return
            self.recorder.write(index, "draw")
            for kind, payload in judge_case(self.plan, self.repertoire, index, self.recorder):
                self.say(kind, **payload)

    def _report_lost(self, index: int, stage: str, ended: str) -> None:
        """A case that ended its child is a failure of whatever stage it was in."""
        from fuzzer.worker.child import lost_failure

        if ended.startswith("exit"):
            self._report_own_fault(index, stage)
            return
        if ended == signal.SIGKILL.name:
            # Somebody else did that (the system out of memory, an operator): it says nothing of a pass.
            os.write(self._answers, b"\n")
            self.say("tally", delta={"generated": 1, "skipped": {"child ended from outside": 1}})
            return
        failure = lost_failure(self.plan, self.repertoire, index, stage, ended, self._stderr_tail())
        os.write(self._answers, b"\n")
        self.say("tally", delta={"generated": 1, "cases": 1, "skipped": {f"ended by {ended}": 1}})
        self.say("failure", failure=failure.to_json())

    def _report_own_fault(self, index: int, stage: str) -> None:
        """An exception of ours in a child: counted as an invalid case, its traceback kept under OUT."""
        text = self._stderr_tail()
        last = (text.strip().splitlines() or ["no message"])[-1]
        with (Path(self.plan.scratch).parent / "own-faults.txt").open("a") as file:
            file.write(f"case {index} of seed {self.plan.seed}, in {stage}\n{text}\n\n")
        os.write(self._answers, b"\n")
        reason = f"own fault: {last.split(':')[0][:60]} in {stage}"
        self.say("tally", delta={"generated": 1, "invalid": 1, "skipped": {reason: 1}})

    # --- reduction --------------------------------------------------------------------------------------

    def _reduce(self, command: dict[str, Any]) -> None:
        failure = Failure.from_json(command["failure"])
        out = Path(self.plan.scratch) / f"reduced-{command['token']}"

        def work() -> None:
            from fuzzer.trial.shrink import shrink_failure

            shrunk = shrink_failure(self.plan, self.repertoire, failure, out, command["budget_s"])
            self.say("reduced", token=command["token"], file=str(out) if shrunk else None)

        self.recorder.write(failure.index, "reduce")
        ended = self._watch(self._fork(work), 3 * command["budget_s"] + 30, per_case=False)
        if ended is not None:
            os.write(self._answers, b"\n")
            self.say("reduced", token=command["token"], file=None)

    # --- a witness --------------------------------------------------------------------------------------

    def _say_digests(self, command: dict[str, Any]) -> None:
        """The digests of cases, or of the candidate in a file; None for it where that ends the child."""

        def work() -> None:
            from fuzzer.trial.digests import digests_in, digests_of_case

            for index in command.get("indices", ()):
                self.recorder.write(index, "digests")
                start = time.process_time()
                said = digests_of_case(self.plan, self.repertoire, index)
                self.say("digests", index=index, digests=said, cpu_s=time.process_time() - start)
            if "file" in command:
                self.say("digests", digests=digests_in(self.plan, self.repertoire, command["file"]))

        self.recorder.write(-1, "digests")
        ended = self._watch(self._fork(work), 2 * self.plan.deadline_s, per_case=True)
        if ended is not None:
            os.write(self._answers, b"\n")
            if "file" in command:
                self.say("digests", digests=None)

    # --- children ---------------------------------------------------------------------------------------

    def _fork(self, work: Callable[[], None]) -> int:
        os.ftruncate(self._errors, 0)

        def limited() -> None:
            limit_memory(self.plan.memory_bytes)
            work()

        return fork_child(limited, _print_traceback)

    def _watch(self, pid: int, deadline_s: float, per_case: bool) -> str | None:
        """Waits for a child; None when it ended well, else "SIGSEGV", "hang" or "exit 1". Ends those that hang."""
        handle = os.pidfd_open(pid)
        seen, since = self.recorder.read()[0], time.monotonic()
        hung = False
        try:
            while not select.select([handle], [], [], 0.2)[0]:
                index = self.recorder.read()[0]
                if per_case and index != seen:
                    seen, since = index, time.monotonic()
                if time.monotonic() - since > deadline_s:
                    hung = True
                    os.kill(pid, signal.SIGKILL)
                    break
        finally:
            os.close(handle)
        _, status = os.waitpid(pid, 0)
        if hung:
            return "hang"
        if os.WIFSIGNALED(status):
            return signal.Signals(os.WTERMSIG(status)).name
        code = os.WEXITSTATUS(status)
        return None if code == 0 else f"exit {code}"

    def _stderr_tail(self) -> str:
        size = os.fstat(self._errors).st_size
        start = max(0, size - _STDERR_KEPT)
        return os.pread(self._errors, _STDERR_KEPT, start).decode(errors="replace")


def _print_traceback() -> None:
    import traceback

    traceback.print_exc()
    sys.stderr.flush()


def limit_memory(extra_bytes: int) -> None:
    """Lets this process map `extra_bytes` more than it has: beyond, allocation fails as an exception."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + extra_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))


if __name__ == "__main__":
    main()

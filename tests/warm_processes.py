"""Python processes that are forked from the process of the tests, which has TVM imported, instead of started anew.

For tests marked `warm` (`tests/conftest.py`): importing TVM and our tables anew takes longer than what most workers,
checks and scripts of tests then do. Processes, pipes, signals and exit statuses are real. What a fork lacks is a fresh
import, a hash seed of its own, and other variables for the loader: tests of those are not marked. A process with a
module search path of its own is started anew in any test.

A fork also sees what the tests have done so far: modules that are imported, what the running test has patched, and
functions that test files have registered. The guard around a command is skipped; the walls around one
(`fuzzer.processes.sandbox`) are put up in the fork. `start_new_session` and `pass_fds` are ignored: a fork always leads
a session.
"""

from __future__ import annotations

import faulthandler
import os
import runpy
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.machinery import SourceFileLoader
from typing import Any, ClassVar

from _pytest.assertion.rewrite import AssertionRewritingHook

from fuzzer.processes import guard, sandbox
from oracles.family import die_with_parent


def words_of(command: Any) -> list[str] | None:
    """What follows `python` in a command, without the guard around it; None where it is not this Python. Of a command
    with walls around it: what puts them up, and what follows `python` inside."""
    if not isinstance(command, Sequence) or isinstance(command, str) or command[0] != sys.executable:
        return None
    words = [str(word) for word in command[1:]]
    if words[:2] == ["-I", guard.__file__]:
        return words_of(words[3:])
    if words[:2] == ["-I", sandbox.__file__]:
        inner = words_of(words[3:])
        return None if inner is None else [*words[:3], *inner]
    return words if words and (words[0] in ("-c", "-m") or not words[0].startswith("-")) else None


def is_searched(path: str) -> bool:
    """Whether every folder of a PYTHONPATH is searched here, too."""
    return {os.path.abspath(folder) for folder in path.split(os.pathsep) if folder} <= set(
        map(os.path.abspath, sys.path)
    )


def run(words: list[str]) -> None:
    """What Python does with these arguments."""
    first, *rest = words
    if first == "-I":
        sandbox.enter(rest[1])
        run(rest[2:])
    elif first == "-c":
        sys.argv, sys.path = ["-c", *rest[1:]], ["", *sys.path]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    elif first == "-m":
        sys.argv, sys.path = ["-m", *rest[1:]], [os.getcwd(), *sys.path]
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path = words, [os.path.dirname(os.path.abspath(first)), *sys.path]
        runpy.run_path(first, run_name="__main__")


def status_of(work: Callable[[], object]) -> int:
    """The exit status of Python whose main program is `work`."""
    try:
        work()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001 - as the top level of Python
        told = sys.exc_info()
        return status_of(lambda: sys.excepthook(*told)) or 1
    return 0


def forget_pytest() -> None:
    """Has modules found by Python alone: `runpy` takes no module from the loader that rewrites assertions."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, AssertionRewritingHook)]
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        if spec is not None and spec.origin and isinstance(spec.loader, AssertionRewritingHook):
            spec.loader = SourceFileLoader(spec.name, spec.origin)


def forget_handlers() -> None:
    """Signals do what they do in a program that has just begun: one that was ignored stays so."""
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def become(words: list[str], cwd: str | None, env: dict[str, str] | None, descriptors: tuple[int, ...]) -> None:
    """Does in a forked child what the command would, and ends it."""
    status = 1
    try:
        for number, descriptor in enumerate(descriptors):
            if descriptor >= 0:
                os.dup2(descriptor, number)
        faulthandler.disable()
        forget_pytest()
        os.closerange(3, 1 << 16)
        warnings.simplefilter("ignore")
        if cwd is not None:
            os.chdir(cwd)
        if env is not None:
            os.environ.clear()
            os.environ.update(env)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - open until the end
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
        status = status_of(partial(run, words))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status & 0xFF)


class Popen(subprocess.Popen[Any]):
    """`subprocess.Popen`; while `warm`, a Python process is forked. It leads a session and ends with its parent."""

    warm: ClassVar[bool] = False

    def _execute_child(self, command: Any, *given: Any) -> None:
        _, prepare, _, _, cwd, env, _, _, _, *pipes = given[:15]
        words = words_of(command) if Popen.warm and prepare is None else None
        if words is None or not is_searched((env or os.environ).get("PYTHONPATH", "")):
            super()._execute_child(command, *given)
            return
        import fuzzer.trial.judge  # noqa: F401 - with TVM and the tables, for every process to come

        stdin, _, _, stdout, _, stderr = pipes
        parent = os.getpid()
        # A signal that finds the child with the handlers of the tests would unwind it into their loop.
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        self.pid = os.fork()
        if self.pid == 0:
            forget_handlers()
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        if self.pid == 0:
            os.setsid()
            die_with_parent(parent)
            become(words, cwd, env, (stdin, stdout, stderr))
        self._child_created = True
        self._close_pipe_fds(*pipes)

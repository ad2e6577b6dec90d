"""Runs repro scripts on one TVM: imports it once, and forks for each script. The Python that runs it may be another.

Records of `fuzzer.replaying.server_messages`: a `TvmReady` or `NoTvm` on stdout when TVM is imported or cannot be,
then a `RunScript` on stdin, and a `ScriptRan` on stdout when that script has ended. Scripts run beside each other.

A script runs in a process of its own, as the main program, behind walls where the request says so, with a guard
around it that ends it with all that it has started (`oracles.family`). This file imports what every Python has, and
four files of ours that import nothing else.
"""

from __future__ import annotations

import gc
import linecache
import os
import resource
import runpy
import selectors
import signal
import sys
import time
import types
from dataclasses import dataclass
from typing import NoReturn

from fuzzer.processes import sandbox
from fuzzer.processes.tvm_alone import without_torch
from fuzzer.replaying.server_messages import FromServer, NoTvm, RunScript, ScriptRan, TvmReady, fields_of, line_of
from oracles.family import go_on_guarded

PRELOADED = (
    "numpy",
    "tvm",
    "tvm.relax",
    "tvm.tirx",
    "tvm.s_tir",
    "tvm.script",
    "tvm.script.parser",
    "tvm.s_tir.dlight",
)
"""What scripts import; what a version lacks is left out, but for TVM itself."""


def main(root: str) -> None:
    """Serves until stdin is closed. root: the folder that holds our rooms, which is on the path of this process."""
    sys.path.remove(root)
    answers = os.dup(1)
    os.dup2(2, 1)  # What TVM prints while it is imported is no answer.
    said = greeting(root)
    _say(answers, said)
    if isinstance(said, NoTvm):
        return
    gc.freeze()
    Server(answers).serve()


def greeting(root: str) -> TvmReady | NoTvm:
    """The version that TVM itself tells, and where it lies; or why it cannot be imported."""
    try:
        with without_torch():
            import tvm
            import tvm.relax
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the answer
        return NoTvm(f"{type(error).__name__}: {error}")
    for name in PRELOADED:
        try:
            __import__(name)
        except ImportError:
            continue
    version = getattr(tvm, "__version__", None)
    if not isinstance(version, str):
        return NoTvm("its tvm has no __version__")
    shims = runpy.run_path(os.path.join(root, "corpus", "portable", "shims.py"))
    ffi = str(getattr(sys.modules.get("tvm_ffi"), "__version__", ""))
    return TvmReady(version, str(tvm.__file__), ffi, tuple(shims["not_read"]()), bool(shims["ADDED"]), _stamp())


def _stamp() -> str:
    """What tells this build of TVM from the next: its libraries that are loaded, their sizes and times."""
    with open("/proc/self/maps") as maps:
        files = {line.split()[-1] for line in maps if "libtvm" in line.split()[-1]}
    return " ".join(f"{file}:{os.stat(file).st_size}:{os.stat(file).st_mtime_ns}" for file in sorted(files))


def _say(where: int, message: FromServer) -> None:
    os.write(where, line_of(message))


MOST_FILES = 4096
"""Descriptors that a fork closes: more than a server opens."""


@dataclass(frozen=True)
class Running:
    """A script that runs. number: of its request. start, deadline: on the clock of `time.monotonic`."""

    number: int
    start: float
    deadline: float


class Server:
    """The loop: requests come in, guards of scripts end."""

    def __init__(self, answers: int) -> None:
        self.answers = answers
        self.running: dict[int, Running] = {}
        """By the process of the guard."""
        self.late: set[int] = set()
        heard, told = os.pipe()
        os.set_blocking(heard, False)
        os.set_blocking(told, False)
        self.ended = heard
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Until stdin is closed; what runs then ends with this process."""
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(0, selectors.EVENT_READ)
            selector.register(self.ended, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select(self._patience()):
                    data = os.read(key.fd, 1 << 16)
                    if key.fd == 0 and not data:
                        return
                    if key.fd == 0:
                        *lines, rest = (rest + data).split(b"\n")
                        for line in lines:
                            self._start(request(line))
                self._end_late()
                self._reap()

    def _patience(self) -> float | None:
        waits = [one.deadline for pid, one in self.running.items() if pid not in self.late]
        return max(0.0, min(waits) - time.monotonic()) if waits else None

    def _end_late(self) -> None:
        for pid, one in self.running.items():
            if one.deadline <= time.monotonic() and pid not in self.late:
                self.late.add(pid)
                os.kill(pid, signal.SIGTERM)

    def _reap(self) -> None:
        while self.running:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            one = self.running.pop(pid)
            wall_s, cpu_s = time.monotonic() - one.start, used.ru_utime + used.ru_stime
            _say(self.answers, ScriptRan(one.number, _as_shell(status), pid in self.late, wall_s, cpu_s))
            self.late.discard(pid)

    def _start(self, request: RunScript) -> None:
        start, parent = time.monotonic(), os.getpid()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            become(parent, request)
        self.running[pid] = Running(request.number, start, start + request.limit_s)


def request(line: bytes) -> RunScript:
    """What a line of who has started the server asks."""
    made, fields = fields_of(line, [RunScript])
    return made(**fields)


def _as_shell(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _end(status: int) -> NoReturn:
    os._exit(_as_shell(status))


def become(parent: int, request: RunScript) -> NoReturn:
    """In a fork of the server: the guard of a script, and in a fork of that the script."""
    status = 3
    try:
        os.setsid()
        for number, name in ((1, "stdout"), (2, "stderr")):
            file = os.open(os.path.join(request.folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(file, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.closerange(3, MOST_FILES)
        go_on_guarded(parent, _end)
        _forget_handlers()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.environ.update(request.variables)
        if request.walled:
            sandbox.enter(request.scratch)
        status = _run(request.script)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status & 0xFF)


def _forget_handlers() -> None:
    """Signals do what they do in a program that has just begun."""
    for number in (signal.SIGCHLD, signal.SIGALRM, signal.SIGPROF, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _run(script: str) -> int:
    """Runs a file as Python's main program, and says with which status Python would end."""
    module = types.ModuleType("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    sys.argv = [script]
    sys.path.insert(0, os.path.dirname(script))
    sys.excepthook = sys.__excepthook__
    linecache.clearcache()
    try:
        with open(script, "rb") as file:
            text = file.read()
        exec(compile(text, script, "exec", dont_inherit=True), module.__dict__)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001 - as the top level of Python
        sys.excepthook(*sys.exc_info())
        return 1
    return 0

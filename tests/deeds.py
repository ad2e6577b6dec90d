"""What code under test may do to its process, one deed a row: for the fork helpers, `check` and campaigns.

The processes that a deed leaves behind write their ids into the folder $HOSTILE, one file each, before the deed goes
on; they live until they are killed. `left_alive` says which of them still do.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TEXT = '''\
import ctypes
import os
import resource
import signal
import sys
import threading
import time


def stays(*prepare):
    """Starts a process that says that it is there, and then lives until it is killed."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        for step in prepare:
            step()
        path = os.path.join(os.environ["HOSTILE"], str(os.getpid()))
        with open(path, "w"):
            os.write(writer, b"!")
        while True:
            time.sleep(1)
    os.read(reader, 1)
    os.close(reader)
    os.close(writer)


def again():
    """The second fork of a daemon."""
    if os.fork():
        os._exit(0)


def deaf():
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)


def forks_on():
    """Its process is another one every few milliseconds, each in a session of its own."""
    path = os.path.join(os.environ["HOSTILE"], "")
    reader, writer = os.pipe()
    if os.fork() == 0:
        while True:
            os.setsid()
            with open(path + str(os.getpid()), "w"):
                os.write(writer, b"!")
            if os.fork():
                os._exit(0)
            time.sleep(0.005)
    for _ in range(3):
        os.read(reader, 1)


def breeds():
    """A group of processes that grows."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        for _ in range(3):  # More would leave the process under test no CPU.
            os.fork()
            with open(os.path.join(os.environ["HOSTILE"], str(os.getpid())), "w"):
                os.write(writer, b"!")
        while True:
            if os.fork() == 0:
                time.sleep(0.05)
                os._exit(0)
            time.sleep(0.01)
            os.waitpid(-1, os.WNOHANG)
    for _ in range(8):  # of 14
        os.read(reader, 1)


def overflows():
    sys.setrecursionlimit(1 << 30)
    calls_c = lambda: max(map(lambda _: calls_c(), "a"))
    calls_c()


def raises(error):
    raise error


def fills():
    line = b"x" * 999 + b"\\n"
    for _ in range(100_000):
        os.write(2, line)


def starts_threads():
    for _ in range(4):
        threading.Thread(target=lambda: time.sleep(10_000)).start()


DEEDS = {
    "Exit0": lambda: sys.exit(0),
    "Exit5": lambda: sys.exit(5),
    "Exit_0": lambda: os._exit(0),
    "Exit_1": lambda: os._exit(1),
    "Exit_100": lambda: os._exit(100),
    "Exit_101": lambda: os._exit(101),
    "Exit_232": lambda: os._exit(232),
    "ExitsInC": lambda: ctypes.CDLL(None).exit(0),
    "Kills": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "KillsGroup": lambda: os.killpg(0, signal.SIGTERM),
    "Segfaults": lambda: ctypes.string_at(0),
    "Aborts": os.abort,
    "Interrupts": lambda: raises(KeyboardInterrupt()),
    "RaisesBase": lambda: raises(BaseException("base")),
    "RaisesOdd": lambda: raises(ValueError("\\udcff\\x00")),
    "Overflows": overflows,
    "ClosesAll": lambda: os.closerange(0, 1 << 16),
    "ClosesPipes": lambda: os.closerange(3, 1 << 16),
    "ReplacesPipes": lambda: [os.dup2(os.open(os.devnull, os.O_RDWR), number) for number in range(3, 64)],
    "ClosesStdout": lambda: os.closerange(1, 2),
    "ReadsInput": lambda: os.read(0, 10),
    "Fills": fills,
    "Threads": starts_threads,
    "ChangesFolder": lambda: os.chdir("/proc/self"),
    "Alarm": lambda: (signal.alarm(1), time.sleep(10_000)),
    "Handlers": deaf,
    "Nice": lambda: os.nice(19),
    "LimitsFiles": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20)),
    "LimitsRecursion": lambda: sys.setrecursionlimit(500),
    "LeavesAlarm": lambda: signal.alarm(3600),
    "LimitsStack": lambda: resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20)),
    "LimitsCpu": lambda: (resource.setrlimit(resource.RLIMIT_CPU, (1, 60)), [None for _ in iter(int, 1)]),
    "Sleeper": stays,
    "SleeperAndExit": lambda: (stays(), os._exit(0)),
    "SleeperAndKill": lambda: (stays(), os.kill(os.getpid(), signal.SIGKILL)),
    "Session": lambda: stays(os.setsid),
    "Daemon": lambda: stays(os.setsid, again),
    "DaemonAndExit": lambda: (stays(os.setsid, again), os._exit(7)),
    "Deaf": lambda: stays(deaf),
    "DeafDaemon": lambda: stays(os.setsid, again, deaf),
    "ForksOn": forks_on,
    "Breeds": breeds,
    "Forks": os.fork,
}
"""What is done, by name."""
'''

EXIT, SIGNAL, FROM_OUTSIDE, CUT_OFF, RAISES, NOTHING = "exit", "signal", "from outside", "cut off", "raises", "nothing"
SPOILS = "spoils"
"""It goes on, and other code in it may fail: a campaign and `check` say so of a pass."""


@dataclass(frozen=True, slots=True)
class Deed:
    """name: in TEXT. kind: what becomes of the process. how: as `Ended.how` says it, what is raised, or with what a
    process is left."""

    name: str
    kind: str
    how: str = ""


DEEDS = (
    Deed("Exit0", EXIT, "exit 0"),
    Deed("Exit5", EXIT, "exit 5"),
    Deed("Exit_0", EXIT, "exit 0"),
    Deed("Exit_1", EXIT, "exit 1"),
    Deed("Exit_100", EXIT, "exit 100"),
    Deed("Exit_101", EXIT, "exit 101"),
    Deed("Exit_232", EXIT, "exit 232"),
    Deed("ExitsInC", EXIT, "exit 0"),
    Deed("Kills", FROM_OUTSIDE, "SIGKILL"),
    Deed("KillsGroup", SIGNAL, "SIGTERM"),
    Deed("Segfaults", SIGNAL, "SIGSEGV"),
    Deed("Aborts", SIGNAL, "SIGABRT"),
    Deed("Interrupts", EXIT, "exit 130"),
    Deed("RaisesBase", EXIT, "exit 1"),
    Deed("RaisesOdd", RAISES, "ValueError"),
    Deed("Overflows", SIGNAL, "SIGSEGV"),
    Deed("ClosesAll", CUT_OFF, "closed descriptors"),
    Deed("ClosesPipes", CUT_OFF, "closed descriptors"),
    Deed("ReplacesPipes", CUT_OFF, "closed descriptors"),
    Deed("ClosesStdout", NOTHING),
    Deed("ReadsInput", NOTHING),
    Deed("Fills", NOTHING),
    Deed("Threads", NOTHING),
    Deed("ChangesFolder", NOTHING),
    Deed("Alarm", SIGNAL, "SIGALRM"),
    Deed("Handlers", SPOILS, "another handler of SIGHUP"),
    Deed("Nice", NOTHING),
    Deed("LimitsFiles", SPOILS, "a lower RLIMIT_NOFILE"),
    Deed("LimitsRecursion", SPOILS, "a lower limit of recursion"),
    Deed("LeavesAlarm", SPOILS, "a timer that runs on"),
    Deed("LimitsStack", SPOILS, "a lower RLIMIT_STACK"),
    Deed("LimitsCpu", SIGNAL, "SIGXCPU"),
    Deed("Sleeper", NOTHING),
    Deed("SleeperAndExit", EXIT, "exit 0"),
    Deed("SleeperAndKill", FROM_OUTSIDE, "SIGKILL"),
    Deed("Session", NOTHING),
    Deed("Daemon", NOTHING),
    Deed("DaemonAndExit", EXIT, "exit 7"),
    Deed("Deaf", NOTHING),
    Deed("DeafDaemon", NOTHING),
    Deed("ForksOn", NOTHING),
    Deed("Breeds", NOTHING),
    Deed("Forks", NOTHING),
)

PASSES = (
    TEXT
    + """

import tvm
from tvm import relax


def has_call(mod):
    return any(
        isinstance(binding.value, tvm.ir.Call)
        for f in mod.functions.values()
        if isinstance(f, relax.Function)
        for block in f.body.blocks
        for binding in block.bindings
    )


def a_pass(name):
    done = []

    def act(mod, context):
        if has_call(mod) and not done:
            done.append(name)
            DEEDS[name]()
        return mod

    return lambda: tvm.transform.module_pass(act, opt_level=0, name=name)


PASSES = {name: a_pass(name) for name in WANTED}
"""
)


def write_hostile(folder: Path, *names: str) -> Path:
    """A `--load` file with these passes, which do what their names say at the first module with a call."""
    path = folder / "hostile_passes.py"
    path.write_text(f"WANTED = {names!r}\n{PASSES}", encoding="utf-8")
    return path


def left_alive(folder: Path) -> list[int]:
    """The processes of this folder that have not ended."""
    return [int(path.name) for path in folder.iterdir() if path.name.isdigit() and is_alive(int(path.name))]


def is_alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except OSError:
        return False

"""Finding and ending a process and all that it has started, however the process ends.

A process that asks for orphans (Linux's child subreaper) becomes the parent of its descendants whose own parents have
ended, in any session. It finds them among its children and ends them. A guard does so for a process that may itself be
killed: the kernel sends the guard a signal when the guard's parent ends, and the process a signal when its guard ends.

Three things outlive both: a process that has left its parent's session, if process and guard are killed at the same
moment; what an outside service (systemd, at, a container engine) was asked to start; and what a hostile pass does to
these processes, which belong to the same user. Against that, use a sandbox with a PID namespace.

Guards import this file alone, so it imports no other file of the project and few modules of Python.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import resource
import signal
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from types import FrameType
from typing import NoReturn

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_ENDS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""The signals at which a guard ends its process."""
_PATIENCE_S = 10.0
"""Seconds to wait for killed processes to go; one in an uninterruptible wait may stay longer."""
_POLL_S = 0.0005


def adopt_orphans() -> None:
    """Has the kernel make this process the parent of the orphans among its descendants."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Has the kernel send this process a signal when its parent, process `parent`, ends, however that happens."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # It has ended before the kernel was asked.
        os._exit(0)


# --- which processes exist -----------------------------------------------------------------------------------------


def children(of: int | str = "self") -> frozenset[int]:
    """The children of a process, also those that have ended and were not waited for; none if the process is gone."""
    found: set[int] = set()
    try:
        for thread in os.listdir(f"/proc/{of}/task"):
            with open(f"/proc/{of}/task/{thread}/children") as file:
                found.update(map(int, file.read().split()))
    except FileNotFoundError:
        if os.path.exists("/proc/thread-self/children") or not os.path.exists(f"/proc/{of}"):
            return frozenset(found)
        return _children_by_parent(os.getpid() if of == "self" else int(of))
    except ProcessLookupError:
        pass
    return frozenset(found)


def _children_by_parent(of: int) -> frozenset[int]:
    """The same on a kernel that keeps no lists of children."""
    return frozenset(int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(int(name)) == of)


def _parent(pid: int) -> int | None:
    fields = _stat(pid)
    return int(fields[1]) if fields else None


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; [] for a process that is gone."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()
    except OSError:
        return []


def family(pid: int) -> frozenset[int]:
    """A process and its descendants; without those whose parents have ended."""
    found, new = {pid}, {pid}
    while new := {child for one in new for child in children(one)} - found:
        found |= new
    return frozenset(found)


def is_stopped(pid: int) -> bool:
    """Whether a signal has stopped the process, or a debugger has."""
    return _stat(pid)[:1] in (["T"], ["t"])


def used_s(pid: int) -> float:
    """CPU seconds of a process and of those that it has waited for; 0 for one that is gone."""
    return sum(map(int, _stat(pid)[11:15])) / os.sysconf("SC_CLK_TCK")


def starved_s(pid: int) -> float:
    """Seconds that a process has waited for a CPU that others used; 0 if the kernel does not count them, or the process
    is gone."""
    try:
        with open(f"/proc/{pid}/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


# --- ends -------------------------------------------------------------------------------------------------


def end_children(spared: Collection[int] = ()) -> None:
    """Kills the children of this process except those spared, and all that they have started: their orphans become
    children of this process, if it asks for orphans. Returns when all have ended."""
    give_up = time.monotonic() + _PATIENCE_S
    while time.monotonic() < give_up:
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return  # No children at all, the usual case.
        strays = children() - frozenset(spared)
        if not strays:
            return
        for pid in strays:
            _kill(pid)
        if not any([_is_reaped(pid) for pid in strays]):
            time.sleep(_POLL_S)


def _kill(pid: int) -> None:
    """Kills a child and its group in one call, so that a group that forks without end cannot escape."""
    group = os.getpgid(pid)
    if group in (pid, os.getsid(pid)) and group != os.getpgrp():
        os.killpg(group, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)


def _is_reaped(pid: int) -> bool:
    return os.waitpid(pid, os.WNOHANG)[0] == pid


# --- guards -----------------------------------------------------------------------------------------------


def end_alike(status: int) -> NoReturn:
    """Ends this process in the same way as the process with this wait status."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
        os._exit(128 + number)
    os._exit(os.WEXITSTATUS(status))


def go_on_guarded(parent: int, ends: Callable[[int], NoReturn] = end_alike) -> None:
    """Returns in a fork of this process; this process itself becomes the guard of the fork.

    When the fork ends, the guard calls `ends` with its wait status. The guard also ends at a signal, and when its
    parent, process `parent`, ends. In each case it first ends all that the fork has started. If the guard is killed,
    the fork ends itself and what it has started.
    """
    die_with_parent(parent, signal.SIGTERM)
    adopt_orphans()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # If it were ignored, `waitpid` would not report children.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS | {signal.SIGCHLD})
    guard = os.getpid()
    pid = os.fork()
    if pid:
        ends(_guarded(pid))
    atexit.register(_wake, guard)

    def end_at_a_signal(number: int, _frame: FrameType | None) -> NoReturn:
        end_children()
        _wake(guard)
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, end_at_a_signal)
    die_with_parent(guard, signal.SIGTERM)
    adopt_orphans()
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _wake(guard: int) -> None:
    """Has the guard go on if a signal has stopped it: it would outlive all that it waits for. A process behind walls
    may not, and leaves it."""
    if os.getppid() == guard:
        with suppress(OSError):
            os.kill(guard, signal.SIGCONT)


def _guarded(pid: int) -> int:
    """Waits until a child of this process ends, or a signal asks this process to end it. Returns the child's wait
    status; all that the child has started has then ended, too."""
    while True:
        if signal.sigwait(_ENDS | {signal.SIGCHLD}) in _ENDS:
            os.kill(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, 0)
        else:
            ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            end_children()
            return status

"""Forked children: what they answer, and how they ended. A child ends when its parent ends, and so does what the child
has started (`oracles.family`).

A native crash, a hang or a lack of memory in a child is a value for its parent. No TVM is imported.

Code under test may end its process with any exit status, so a parent does not rely on the status alone. A child that is
done writes so into memory that it shares with its parent: its last word, the number of bytes that it has written, and
what was raised. A process that a child has forked writes nothing there and ends where the child's work ends.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import select
import signal
import struct
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, NoReturn, TypeAlias, TypeVar

from oracles.evidence import CLOSED_DESCRIPTORS
from oracles.family import adopt_orphans, children, die_with_parent, end_children, family, go_on_guarded, used_s
from oracles.pace import Clock
from oracles.pipes import CannotAnswer, close_input, note_pipes, require_pipes, rest_of, write_all
from oracles.process_state import Spoilt, note_state

T = TypeVar("T")
Write: TypeAlias = Callable[[bytes], None]
"""Writes all of the bytes into the pipe to the parent."""
THROUGH = 100
"""Exit status of a child that did its work. Others, 0 too, come from code under test that calls exit."""
RAISED, CUT_OFF, SPOILT = 1000, 1001, 1002
"""`Ended.status` instead of an exit status: the child's work raised; or it could not answer, because the code under
test has closed its pipe; or that code has changed its process so that no answer can be relied on."""
KEPT_TMPDIR = "PASSFUZZ_TMPDIR"
"""The variable that names the folder for what outlives a run, in processes whose $TMPDIR is the run's own."""
_POLL_S = 0.5
_PATIENCE = 10  # times its deadline a child may last that gets no CPU
_TERM_S = 5.0
"""Seconds that a guard has to end its process and what that has started."""
_LAST_WORD = struct.Struct("=qqq")
"""The last word (0 for none), the bytes written, and the length of the text that follows."""
_TEXT = mmap.PAGESIZE - _LAST_WORD.size


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended without doing its work: by a signal, or by itself with a status; with neither, its parent has
    killed it because it hung.

    what: what its work raised, in one line, or with what the code under test has left its process. cpu_s: CPU seconds
    that it has used, with the processes that it waited for.
    """

    by: signal.Signals | None = None
    status: int | None = None
    what: str = field(default="", compare=False)
    cpu_s: float = field(default=0.0, compare=False)

    @property
    def how(self) -> str:
        """For readers: "hang", a signal's name, "an exception", "closed descriptors", what a process is left with, or
        "exit N"."""
        if self.by is not None:
            return self.by.name
        if self.raised:
            return "an exception"
        if self.cut_off:
            return CLOSED_DESCRIPTORS
        if self.spoilt:
            return self.what
        return "hang" if self.hung else f"exit {self.status}"

    @property
    def verb(self) -> str:
        """The same as the verb of a sentence: "hung", or "ended by SIGSEGV"."""
        return "hung" if self.hung else f"ended by {self.how}"

    @property
    def hung(self) -> bool:
        """Whether it was killed because nothing happened in it for too long."""
        return self.by is None and self.status is None

    @property
    def by_exit(self) -> bool:
        """Whether it ended itself: its work raised, or called exit."""
        return self.status is not None

    @property
    def raised(self) -> bool:
        """Whether its work raised: an exception of ours, since those of TVM and of passes are values."""
        return self.status == RAISED

    @property
    def cut_off(self) -> bool:
        """Whether it could not answer any more: what it wrote into was closed, or replaced."""
        return self.status == CUT_OFF

    @property
    def spoilt(self) -> bool:
        """Whether the code under test has left it with `what`, which makes other code fail."""
        return self.status == SPOILT

    @property
    def from_outside(self) -> bool:
        """Whether it was killed or stopped from outside: by a system without memory, or a person."""
        return self.by in (signal.SIGKILL, signal.SIGSTOP)


class ChildRaised(RuntimeError):
    """The work of a child raised: a fault of ours. The message is what it raised, and where."""


# --- the child --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Watched:
    """What a parent knows of a child: its last words, its elder siblings, which live on, and whether it has a guard."""

    last_words: mmap.mmap
    siblings: frozenset[int]
    guarded: bool

    def word(self) -> tuple[int, int, str]:
        """The last word, how many bytes were written before it, and what was raised."""
        word, written, length = _LAST_WORD.unpack_from(self.last_words)
        return word, written, self.last_words[_LAST_WORD.size :][:length].decode(errors="replace")


_WATCHED: dict[int, _Watched] = {}
"""The children of this process that have not been waited for yet, by process id."""


@dataclass(slots=True)
class _Child:
    """This process, where it is a child: its id, its last words, and the bytes that it has written so far."""

    pid: int
    last_words: mmap.mmap
    written: int = 0

    def say(self, word: int, text: str = "") -> None:
        data = text.encode(errors="backslashreplace")[:_TEXT]
        self.last_words[_LAST_WORD.size : _LAST_WORD.size + len(data)] = data
        _LAST_WORD.pack_into(self.last_words, 0, word, self.written, len(data))


def fork_child(work: Callable[[], None], on_error: Callable[[], None] = lambda: None, guarded: bool = False) -> int:
    """The process id of a child that does `work` and ends: well, or after `on_error` where `work` raised.

    This is the worker boundary: what `work` raises stays in the child. guarded: with a guard between, which costs
    another fork, so that what the child starts ends also if this process is killed; for code under test.
    """
    return _forked(lambda _: work(), on_error, guarded)


def _forked(work: Callable[[_Child], None], on_error: Callable[[], None], guarded: bool) -> int:
    if not guarded:
        adopt_orphans()
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:  # A pass did so: `wait4` would not report children.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    siblings, last_words, parent = children(), mmap.mmap(-1, mmap.PAGESIZE), os.getpid()
    pid = os.fork()
    if pid == 0:
        _do(work, on_error, parent, guarded, last_words)
    _WATCHED[pid] = _Watched(last_words, siblings, guarded)
    return pid


def _do(
    work: Callable[[_Child], None], on_error: Callable[[], None], parent: int, guarded: bool, last_words: mmap.mmap
) -> NoReturn:
    """In the child: does the work, says its last word and ends."""
    status, word, text = RAISED & 0xFF, 0, ""
    _WATCHED.clear()
    if guarded:
        os.setsid()
        go_on_guarded(parent)
        parent = os.getppid()
    me = _Child(os.getpid(), last_words)
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        die_with_parent(parent)
        close_input()
        note_pipes()
        note_state()
        work(me)
        status = word = THROUGH
    except CannotAnswer:
        word = CUT_OFF
    except Spoilt as spoilt:
        word, text = SPOILT, str(spoilt)
    except Exception as error:  # noqa: BLE001 - the worker boundary: the parent sees the last word
        word, text = RAISED, in_a_line(error)
        _of_this_process(me, on_error)
    except BaseException as end:  # noqa: BLE001 - SystemExit and the like, which only code under test raises
        status = _status_of(end)
    finally:
        if os.getpid() == me.pid:
            me.say(word, text)
        os._exit(status)


def _of_this_process(me: _Child, action: Callable[[], None]) -> None:
    if os.getpid() == me.pid:
        action()


def in_a_line(error: Exception) -> str:
    """What was raised, and where, for readers."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    first = (str(error).strip().splitlines() or ["no message"])[0]
    return f"{type(error).__name__}: {first} ({Path(last.filename).name}:{last.lineno})"


def _status_of(end: BaseException) -> int:
    """The exit status of a Python program that this exception ends."""
    if isinstance(end, SystemExit):
        code = end.code
        return 0 if code is None else code & 0xFF if isinstance(code, int) else 1
    return 128 + signal.SIGINT if isinstance(end, KeyboardInterrupt) else 1


# --- the parent -------------------------------------------------------------------------------------------


def await_child(
    pid: int, deadline_s: float, progress: Callable[[], object] = lambda: None, reader: int | None = None
) -> tuple[Ended | None, bytes]:
    """Waits for a child and takes what it writes: how it ended (None: well), and the bytes from `reader`.

    It is killed after `deadline_s` seconds in which it could have run and `progress()` gave the same value (seconds in
    which others had the CPU do not count), or in which it was stopped. It has ended when its process has ended: its
    pipe may be held open by a process that it started, which this function ends before it returns.
    """
    watched = _WATCHED.pop(pid)
    handle = os.pidfd_open(pid)
    chunks: list[bytes] = []
    try:
        killed = _watch(pid, handle, deadline_s, progress, reader, chunks)
    finally:
        _end(pid, handle, watched)
        os.close(handle)
        _, status, used = os.wait4(pid, 0)
        if not watched.guarded:
            end_children({*watched.siblings, *_WATCHED})
    if reader is not None:
        chunks.append(rest_of(reader))
    data = b"".join(chunks)
    word, written, what = watched.word()
    watched.last_words.close()
    if reader is not None and word == THROUGH and len(data) < written:
        word = CUT_OFF  # Some of what it wrote did not get here.
    return killed or _ended(status, word, what, used.ru_utime + used.ru_stime), data


def _watch(
    pid: int, handle: int, deadline_s: float, progress: Callable[[], object], reader: int | None, chunks: list[bytes]
) -> Ended | None:
    """Returns None when the child has ended, or, when it must be killed, how that counts."""
    sources = [handle] if reader is None else [handle, reader]
    seen, clock = progress(), Clock(pid)
    while True:
        ready = select.select(sources, [], [], max(0.01, min(_POLL_S, deadline_s - clock.seconds)))[0]
        if reader is not None and reader in ready:
            chunk = os.read(reader, 1 << 16)
            chunks.append(chunk)
            if not chunk:
                sources.remove(reader)
        if handle in ready:
            return None
        clock.look()
        now = progress()
        if now != seen:
            seen = now
            clock.restart()
        if clock.seconds >= deadline_s:
            return Ended(cpu_s=_cpu_s(pid))
        if clock.stopped_s >= deadline_s:
            return Ended(signal.SIGSTOP)
        if time.monotonic() - clock.since > _PATIENCE * deadline_s:
            return Ended(signal.SIGKILL)


def _end(pid: int, handle: int, watched: _Watched) -> None:
    """Ends a child that has not been waited for, and its group; if it has a guard, that ends what the child started."""
    if watched.guarded:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        if select.select([handle], [], [], _TERM_S)[0]:
            return
    with contextlib.suppress(ProcessLookupError):  # It does not lead a group yet.
        os.killpg(pid, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)


def _cpu_s(pid: int) -> float:
    """CPU seconds of a process and its descendants so far."""
    return sum(map(used_s, family(pid)))


def _ended(status: int, word: int, what: str, cpu_s: float) -> Ended | None:
    if os.WIFSIGNALED(status):
        return Ended(signal.Signals(os.WTERMSIG(status)), cpu_s=cpu_s)
    if word == THROUGH and os.WEXITSTATUS(status) == THROUGH:
        return None
    return Ended(status=word if word in (RAISED, CUT_OFF, SPOILT) else os.WEXITSTATUS(status), what=what, cpu_s=cpu_s)


def written_by(
    work: Callable[[Write], None],
    deadline_s: float,
    progress: Callable[[], object] = lambda: None,
    guarded: bool = False,
) -> tuple[Ended | None, bytes]:
    """Does `work` in a child: how it ended (None: well), and all that it wrote. The deadline is as in `await_child`."""
    pid, reader = _writing(work, guarded)
    try:
        return await_child(pid, deadline_s, progress, reader)
    finally:
        os.close(reader)


def _writing(work: Callable[[Write], None], guarded: bool) -> tuple[int, int]:
    """A child that does `work`, and what it writes."""
    reader, writer = os.pipe()

    def answering(me: _Child) -> None:
        os.close(reader)
        note_pipes()

        def write(data: bytes) -> None:
            if os.getpid() != me.pid:  # A pass has forked, and this is what it forked.
                os._exit(0)
            require_pipes()
            write_all(writer, data)
            me.written += len(data)

        work(write)

    try:
        return _forked(answering, traceback.print_exc, guarded), reader
    except OSError:
        os.close(reader)
        raise
    finally:
        os.close(writer)


@dataclass(frozen=True, slots=True)
class Pending(Generic[T]):
    """A child that works on a result. One of `result` and `drop` must be called, once."""

    pid: int
    reader: int

    def result(self, limit_s: float) -> T | Ended:
        """As `forked`; the limit counts from this call."""
        try:
            ended, data = await_child(self.pid, limit_s, reader=self.reader)
        finally:
            os.close(self.reader)
        if ended is None:
            result: T = pickle.loads(data)
            return result
        if ended.raised:
            raise ChildRaised(ended.what)
        return ended

    def drop(self) -> None:
        """Ends the child."""
        try:
            await_child(self.pid, 0.0, reader=self.reader)
        finally:
            os.close(self.reader)


def begun(action: Callable[[], T], guarded: bool = False) -> Pending[T]:
    """A child that calls `action`, while this process goes on."""
    return Pending(*_writing(lambda write: write(pickle.dumps(action())), guarded))


def forked(action: Callable[[], T], limit_s: float, guarded: bool = False) -> T | Ended:
    """The result of `action`, called in a child, or how the child ended. The limit is as in `await_child`.

    The result is pickled. Raises ChildRaised where `action` raises, which is a fault of ours, not of TVM's.
    """
    return begun(action, guarded).result(limit_s)

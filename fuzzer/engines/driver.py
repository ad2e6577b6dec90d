"""A campaign whose engine may end its process: Ray ends a driver with status 1, and no word, where its raylet is lost.

1 says that there is a new cause. So the command runs in a child, which says when it has come to its own end.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from types import FrameType, TracebackType

from fuzzer.errors import EnvironmentFault, ExitStatus, Handler
from fuzzer.processes.start import module_command
from oracles.family import die_with_parent

ENDING = "ray"
"""The engine that ends its driver."""
_SAYS = "PASSFUZZ_LAST_WORD"
"""The number of the parent, and the descriptor on which a child says that its campaign has come to its own end."""
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def is_ended_by(on: str) -> bool:
    """Whether `--on` names an engine that may end this process."""
    return on.partition("://")[0] == ENDING


def last_word_descriptor() -> int | None:
    """In such a child: where it says its last word; it ends with its parent from now on. None in any other process."""
    parent, _, descriptor = os.environ.pop(_SAYS, "").partition(":")
    if not (parent.isdigit() and descriptor.isdigit()):
        return None
    die_with_parent(int(parent))
    os.set_inheritable(int(descriptor), False)
    return int(descriptor)


def say_last_word(descriptor: int, status: int) -> None:
    """The campaign has ended with this exit status, and its files are written."""
    os.write(descriptor, bytes([status]))


def in_child(arguments: Sequence[str]) -> int:
    """Runs a command line of ours in a child, and forwards signals to it; its exit status.

    Where it ended without its last word, but for the statuses of errors that it has told: raises KeyboardInterrupt if
    it was sent a signal, which it may have been too young to note, else EnvironmentFault."""
    heard, says = os.pipe()
    with _Forwarding() as forwarding:
        try:
            child = subprocess.Popen(
                module_command("fuzzer.__main__", *arguments),
                env={**os.environ, _SAYS: f"{os.getpid()}:{says}"},
                pass_fds=(says,),
            )
        finally:
            os.close(says)
        forwarding.to(child)
        status = child.wait()
    os.set_blocking(heard, False)  # what Ray has started may hold the other end
    try:
        said = os.read(heard, 1)
    except BlockingIOError:
        said = b""
    finally:
        os.close(heard)
    if status in (ExitStatus.WRONG_USAGE, ExitStatus.OWN_FAULT, ExitStatus.INTERRUPTED, ExitStatus.NO_READER):
        return status  # Ray gives none of these; the last two also say what became of stdout.
    if said:
        return said[0]
    if forwarding.sent:
        raise KeyboardInterrupt
    raise EnvironmentFault(
        f"--on {ENDING}: the process of the campaign was ended before its time, as Ray does where a part of it is lost;"
        " what was found by then is under --out, and --resume goes on with a campaign that had begun"
    )


class _Forwarding:
    """A context in which the signals to this process go to a child, also those that come before there is one. What is
    ignored (nohup) stays ignored. sent: whether there was a signal."""

    def __init__(self) -> None:
        self.sent = False
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._before: dict[int, Handler] = {}

    def __enter__(self) -> _Forwarding:
        for number in _FORWARDED:
            if signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._forward)
        return self

    def to(self, child: subprocess.Popen[bytes]) -> None:
        """The child, which gets what has come by now."""
        self._child = child
        for number in self._early:
            child.send_signal(number)

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        self.sent = True
        if self._child is None:
            self._early.append(number)
        else:
            self._child.send_signal(number)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

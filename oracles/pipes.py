"""The pipes through which a child answers: code under test may close them, or put something else in their place."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import stat


def close_input() -> None:
    """Has this child read nothing of what is meant for its parent."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    if nothing:
        os.dup2(nothing, 0)
        os.close(nothing)


class CannotAnswer(OSError):
    """The pipe for answers is closed, or stays full."""


_ANSWERED_THROUGH: dict[int, tuple[int, int]] = {}
"""The pipes of this child but its standard streams: what each descriptor led to when its work began."""


def note_pipes() -> None:
    """Notes what the pipes of this child lead to, for `require_pipes`, before the code under test runs."""
    _ANSWERED_THROUGH.clear()
    for number in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):  # The listing had a descriptor of its own.
            led = os.fstat(number)
            if number > 2 and stat.S_ISFIFO(led.st_mode):
                _ANSWERED_THROUGH[number] = led.st_dev, led.st_ino


def require_pipes() -> None:
    """Raises CannotAnswer in a child whose pipes the code under test has closed or replaced since its work began."""
    for number, led in _ANSWERED_THROUGH.items():
        try:
            leads = os.fstat(number)
        except OSError as error:
            raise CannotAnswer(*error.args) from error
        if (leads.st_dev, leads.st_ino) != led:
            raise CannotAnswer(errno.EBADF, "a pipe was replaced")


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of the bytes. Raises CannotAnswer."""
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError as error:
        raise CannotAnswer(*error.args) from error


def rest_of(reader: int) -> bytes:
    """What has been written into a pipe until now."""
    chunks: list[bytes] = []
    while select.select([reader], [], [], 0.0)[0]:
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks)

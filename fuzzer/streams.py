"""Stdout and stderr that never fail: what cannot be written is swallowed, and remembered for the exit status.

A reader that goes away, a full disk or a limit on file sizes ends no command: a campaign goes on, and its results are
under OUT. What was lost on stdout is said by the exit status (`Streams.status`); what was lost on stderr changes none.
A stream that is closed at the start becomes /dev/null, so that no file that is opened later takes its number; stdout
can only be read there, so that what is printed is lost, also for a command that goes on under another TVM.
"""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from typing_extensions import Buffer

from fuzzer.errors import ExitStatus, tell

STDIN, STDOUT, STDERR = 0, 1, 2


class Swallowing(io.FileIO):
    """A file descriptor that takes everything. After the first failure nothing more is written: a text with a hole
    would look whole."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.failure: OSError | None = None
        """Why not all was written; None while it was."""

    def write(self, data: Buffer, /) -> int:
        if self.failure is None:
            try:
                return self._written(data)
            except OSError as error:
                self.failure = error
        return memoryview(data).nbytes

    def _written(self, data: Buffer) -> int:
        while (written := super().write(data)) is None:  # a full pipe that another process has made non-blocking
            select.select([], [self.fileno()], [])
        return written


@dataclass(frozen=True, slots=True)
class Streams:
    """The standard streams of a command. stdout: None where the text goes elsewhere than to descriptor 1 (tests)."""

    stdout: Swallowing | None

    def status(self, status: int) -> int:
        """The exit status of a command that ended with `status`, once what it printed is known to be out or lost.

        What a command found stays its status. Where that is 0 and text is lost, it is NO_READER, or OWN_FAULT with a
        line on stderr.
        """
        sys.stdout.flush()
        failure = None if self.stdout is None else self.stdout.failure
        if failure is None:
            return status
        reader_gone = isinstance(failure, BrokenPipeError)
        if not reader_gone:
            tell(f"error: stdout cannot be written: {failure.strerror}")
        return status or (ExitStatus.NO_READER if reader_gone else ExitStatus.OWN_FAULT)


@contextmanager
def swallowing_streams() -> Iterator[Streams]:
    """Puts streams that never fail in place of `sys.stdout` and `sys.stderr`, until the block ends."""
    _open_closed()
    before = sys.stdout, sys.stderr
    stdout, stderr = _swallowing(sys.stdout, STDOUT), _swallowing(sys.stderr, STDERR)
    try:
        if stderr is not None:
            sys.stderr = _text(stderr, sys.stderr)
        if stdout is not None:
            sys.stdout = _text(stdout, sys.stdout)
        yield Streams(stdout)
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdout, sys.stderr = before


def _open_closed() -> None:
    """Opens /dev/null for each standard descriptor that is closed, for this process and those that it starts."""
    for descriptor in (STDIN, STDOUT, STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            null = os.open(os.devnull, os.O_RDONLY if descriptor == STDOUT else os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
            os.set_inheritable(descriptor, True)


def _swallowing(stream: TextIO | None, descriptor: int) -> Swallowing | None:
    """The descriptor of a standard stream; None where the stream is another's, such as that of a test."""
    if stream is None:  # Python found the descriptor closed
        return Swallowing(descriptor)
    try:
        own = stream.fileno() == descriptor
    except (OSError, ValueError):
        return None
    return Swallowing(descriptor) if own else None


def _text(raw: Swallowing, like: TextIO | None) -> TextIO:
    """A text stream as `like`, on which every character can be said."""
    encoding = "utf-8" if like is None else like.encoding
    by_line = like is None or raw.fileno() == STDERR or raw.isatty()
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=by_line)

"""Messages between processes: one JSON object per line, each a tagged record. No TVM is imported here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from fuzzer.processes.flight import Recorder, plain
from oracles.activities import Activity
from oracles.forked import Ended, written_by
from oracles.pipes import write_all

M = TypeVar("M")
_ENCODER = msgspec.json.Encoder(enc_hook=plain)


def line_of(message: msgspec.Struct) -> bytes:
    """A message as it is sent. Lone surrogates, which no JSON can hold, are written as their escapes."""
    try:
        return _ENCODER.encode(message) + b"\n"
    except UnicodeEncodeError:
        return _ENCODER.encode(_without_surrogates(msgspec.to_builtins(message, enc_hook=plain))) + b"\n"


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(one) for key, one in value.items()}
    return [_without_surrogates(one) for one in value] if isinstance(value, (list, tuple)) else value


def send(descriptor: int, message: msgspec.Struct) -> None:
    """Writes a message whole."""
    write_all(descriptor, line_of(message))


def cut(descriptor: int) -> None:
    """Ends a line that a child may have begun and did not live to end."""
    write_all(descriptor, b"\n")


LONGEST_LINE = 1 << 28
"""Bytes of a line. A finding with arrays takes megabytes; what sends more is code under test that has taken over a
process of ours, and must not fill the memory of its reader."""


class Lines(Generic[M]):
    """Reads messages of one union from a stream of bytes. What is no JSON is a line that was cut, and so is one of more
    than LONGEST_LINE bytes.

    JSON that is no message of the union is a fault of ours: msgspec.ValidationError.
    """

    def __init__(self, union: Any, longest: int = LONGEST_LINE) -> None:
        self._decoder: msgspec.json.Decoder[M] = msgspec.json.Decoder(union)
        self._longest = longest
        self._rest = bytearray()
        self._too_long = False

    def take(self, data: bytes) -> Iterator[M]:
        """The messages that are whole by now."""
        self._rest += data
        lines: list[bytes] = []
        if b"\n" in data:
            *lines, rest = bytes(self._rest).split(b"\n")
            self._rest = bytearray(rest)
        if lines and self._too_long:
            self._too_long, lines = False, lines[1:]
        if len(self._rest) > self._longest:
            self._too_long, self._rest = True, bytearray()
        for line in lines:
            if not line:
                continue
            try:
                message = self._decoder.decode(line)
            except msgspec.ValidationError:
                raise
            except (msgspec.DecodeError, RecursionError):  # no JSON, or nested deeper than any message
                continue
            yield message


@dataclass(frozen=True, slots=True)
class Heard(Generic[M]):
    """What a child said. ended: how it ended, None for well. activity: what it was doing last."""

    messages: tuple[M, ...]
    ended: Ended | None
    activity: Activity


Say: TypeAlias = Callable[[msgspec.Struct], None]
"""Sends an answer."""


def in_child(
    work: Callable[[Say], None],
    union: Any,
    recorder: Recorder,
    deadline_s: float,
    per_activity: bool = False,
    guarded: bool = False,
) -> Heard[Any]:
    """Runs `work` in a forked child and hears what it says, messages of `union`.

    per_activity: the deadline is that of each activity, not of the whole work. guarded: as in `fork_child`.
    """
    progress = recorder.read if per_activity else lambda: None
    messages, ended = said_by(work, union, deadline_s, progress, guarded)
    return Heard(messages, ended, recorder.read()[1])


def said_by(
    work: Callable[[Say], None],
    union: Any,
    deadline_s: float,
    progress: Callable[[], object] = lambda: None,
    guarded: bool = False,
) -> tuple[tuple[Any, ...], Ended | None]:
    """The same without a flight recorder: what a forked child says, and how it ended (None for well).

    progress: as in `written_by`.
    """
    ended, data = written_by(lambda write: work(lambda message: write(line_of(message))), deadline_s, progress, guarded)
    return tuple(Lines[Any](union).take(data)), ended

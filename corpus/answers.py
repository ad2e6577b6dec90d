"""What a repro script answers, in one place for what writes scripts and for what reads their answers.

A script of any age runs alone, with TVM and nothing of ours, so that its exit status and the last line that it prints
are an interface: they stay as they are. The templates of `corpus/frames` write these words; `fuzzer/replaying` and
`fuzzer/worker/confirm.py` read them, and no other text of a script. No TVM is imported here.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TypeAlias

LONGEST = 300
"""Characters of a last line, or of an error, that are shown."""
FAILS, PASSES, CANNOT_RUN = 1, 0, 2
"""Exit statuses: the bug is there, it is gone, this TVM cannot run the script."""

WORDS = {
    "GONE": "the bug is gone",
    "KILLED": "killed by signal",
    "EXITED": "exit",
    "SAME_FORM": "kinds[0] == kinds[1]",
    "SAME_COUNT": "len(results) == len(wanted)",
}
"""Words of scripts by their names in templates. GONE: the last line where nothing is wrong. KILLED, EXITED: the last
line, with a number after it, where the child ended before it came to its end. SAME_FORM, SAME_COUNT: what is asserted
of dtypes and shapes, and of the number of outputs, before values are compared."""


@dataclass(frozen=True, slots=True)
class ChildKilled:
    """A signal has ended the child that shows the bug."""

    number: int

    @property
    def from_outside(self) -> bool:
        """Whether nobody but the system, out of memory, or a person sends this signal: it says nothing of a pass."""
        return self.number == signal.SIGKILL


@dataclass(frozen=True, slots=True)
class ChildExited:
    """The child that shows the bug has ended itself before it came to its end."""

    status: int

    @property
    def from_outside(self) -> bool:
        return False


ChildEnd: TypeAlias = ChildKilled | ChildExited


def child_end(line: str) -> ChildEnd | None:
    """What the last line of a script says of its child; None where the child came to its end, or there is none."""
    words, _, number = line.rpartition(" ")
    if not (number.isascii() and number.isdigit()):
        return None
    if words == WORDS["KILLED"]:
        return ChildKilled(int(number))
    return ChildExited(int(number)) if words == WORDS["EXITED"] else None


def last_line(text: str) -> str:
    """The last line that says something, shortened."""
    return whole_last_line(text)[:LONGEST]


def whole_last_line(text: str) -> str:
    """The last line that says something."""
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""

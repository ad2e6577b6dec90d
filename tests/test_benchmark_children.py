"""The children of benchmarks: what they say is kept however they end, and nothing of them stays in their parent."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.children import in_child
from tests.patience import HANGS_S


@dataclass
class Counts:
    seen: Counter[str]
    seconds: float


Say = Callable[[str], None]


def _burns(say: Say) -> None:
    say("one")
    sum(range(3_000_000))
    say("two")


def _crashes(say: Say) -> None:
    say("one")
    os.kill(os.getpid(), signal.SIGKILL)


def _exits(say: Say) -> None:
    say("one")
    os._exit(0)


def _raises(say: Say) -> None:
    say("one")
    raise ValueError("two")


@pytest.mark.parametrize(
    ("action", "lines", "ended"),
    [(_burns, ["one", "two"], True), (_crashes, ["one"], False), (_exits, ["one"], False), (_raises, ["one"], False)],
)
def test_what_a_child_says_is_kept(action: Callable[[Say], None], lines: list[str], ended: bool) -> None:
    said = in_child(action, str, HANGS_S)
    assert (said.messages, said.ended) == (lines, ended)
    assert said.cpu_s > 0


def test_records_come_back_as_they_were() -> None:
    counts = Counts(Counter({"a": 2}), 1.5)
    assert in_child(lambda say: say(counts), Counts, HANGS_S).messages == [counts]


def test_what_hangs_is_stopped() -> None:
    said = in_child(lambda say: (say("one"), signal.pause()), str, 0.5)  # type: ignore[func-returns-value]
    assert (said.messages, said.ended) == (["one"], False)


def test_children_leave_nothing_in_their_parent() -> None:
    """Neither memory that was shared with them nor descriptors."""

    def held() -> tuple[int, int]:
        maps = Path("/proc/self/maps").read_text()
        return maps.count("/dev/zero"), len(os.listdir("/proc/self/fd"))

    in_child(lambda say: None, str, HANGS_S)
    before = held()
    for _ in range(5):
        in_child(lambda say: None, str, HANGS_S)
    assert held() == before

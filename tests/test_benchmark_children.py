"""The children of benchmarks: what they say is kept however they end, and nothing of them stays in their parent."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.children import Say, in_child
from tests.patience import HANGS_S


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
    said = in_child(action, HANGS_S)
    assert (said.lines, said.ended) == (lines, ended)
    assert said.cpu_s > 0


def test_what_hangs_is_stopped() -> None:
    said = in_child(lambda say: (say("one"), signal.pause()), 0.5)  # type: ignore[func-returns-value]
    assert (said.lines, said.ended) == (["one"], False)


def test_children_leave_nothing_in_their_parent() -> None:
    """Neither memory that was shared with them nor descriptors."""

    def held() -> tuple[int, int]:
        maps = Path("/proc/self/maps").read_text()
        return maps.count("/dev/zero"), len(os.listdir("/proc/self/fd"))

    in_child(lambda say: None, HANGS_S)
    before = held()
    for _ in range(5):
        in_child(lambda say: None, HANGS_S)
    assert held() == before

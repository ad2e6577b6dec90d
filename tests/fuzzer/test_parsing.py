"""Which versions of Python let threads parse at once, and that nothing of ours relies on it elsewhere."""

from __future__ import annotations

import pytest

from fuzzer.parsing import threads_can_parse


@pytest.mark.parametrize(
    ("version", "can"),
    [
        *(((3, 10, 0), True), ((3, 11, 0), False), ((3, 11, 7), False), ((3, 11, 8), True)),
        *(((3, 12, 1), False), ((3, 12, 2), True), ((3, 13, 0), True)),
    ],
)
def test_versions_in_which_one_thread_parses_at_a_time(version: tuple[int, int, int], can: bool) -> None:
    assert threads_can_parse(version) is can

"""The picture of size against time while something is made small."""

from __future__ import annotations

import io

from reports.shrinking import BARS, COLUMNS, ShrinkDisplay, picture
from reports.terminal import Terminal


def test_bars_fall_with_the_size() -> None:
    assert picture([(0.0, 100), (5.0, 50), (7.5, 0)], 10.0, 4) == "█▅▁▁"
    assert picture([(0.0, 8)], 1.0) == BARS[-1] * COLUMNS
    assert picture([], 1.0) == ""


def test_nothing_is_drawn_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    display = ShrinkDisplay(Terminal(file=stream))
    display.on_start(9, 0, 1)
    display.on_better(2, 0, 1, 7)
    display.on_end()
    assert stream.getvalue() == ""


def test_a_terminal_shows_time_size_and_trials() -> None:
    stream, now = io.StringIO(), [0.0]
    display = ShrinkDisplay(Terminal(file=stream, force_terminal=True, width=120), lambda: now[0])
    display.on_start(9, 4, 2)
    now[0] = 4.0
    display.on_better(2, 0, 1, 7)
    assert display.line().startswith("[4 s] 2 bindings, 0 statements, 1 pass, 7 trials ")
    display.on_end()
    assert "trials" in stream.getvalue()

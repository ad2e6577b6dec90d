"""What is seen while a campaign runs, on a terminal and in a log."""

from __future__ import annotations

import io

from fuzzer.settings import Settings
from reports.finding_row import row_of
from reports.live import LINE_S, REDRAW_S, LiveDisplay, left_line
from reports.tally import Tally
from reports.terminal import Terminal
from reports.words import neediest_first, progress_line
from tests.reports.reports_data import finding, tally

SETTINGS = Settings(seed=11, time_s=60.0, cases=200, jobs=3)


def watched(terminal: bool, message: str = "Var [x] is not defined", width: int = 160) -> str:
    """What a campaign of two moments and one finding prints."""
    stream = io.StringIO()
    display = LiveDisplay(Terminal(file=stream, force_terminal=terminal, width=width))
    display.on_start(SETTINGS)
    display.on_tally(tally(), LINE_S)
    display.on_finding(row_of(finding("FuseOps", message=message)))
    display.on_finding(row_of(finding("FuseOps", message=message).seen_again()))
    display.on_tally(tally(), 2 * LINE_S)
    display.on_end()
    return stream.getvalue()


def test_a_log_gets_plain_lines() -> None:
    assert watched(terminal=False).splitlines() == [
        "seed 11, 3 workers, results in passfuzz-out",
        "[10 s] 98 cases, 9.8/s, 99.0% valid, 0 new causes, 0 known, 50 s left, 102 cases left, 3 workers",
        "[2 s] FuseOps: ill-formed, by well_formed, tier A: Var [x] is not defined",
        "[20 s] 98 cases, 4.9/s, 99.0% valid, 1 new cause (1 finding), 0 known, 40 s left, 102 cases left, 3 workers",
    ]


def test_a_terminal_gets_findings_and_the_passes_that_fire_least() -> None:
    text = watched(terminal=True)
    assert "Var [x] is not defined" in text
    assert text.index("LiftTransformParams") < text.rindex("FuseOps")


def test_a_long_message_does_not_push_the_culprit_out() -> None:
    lines = watched(terminal=True, message="x" * 300, width=80).splitlines()
    rows = [line for line in lines if "xxx" in line]
    assert rows
    assert all("FuseOps" in row and "ill-formed" in row for row in rows)


def test_lines_do_not_come_more_often_than_every_few_seconds() -> None:
    stream = io.StringIO()
    display = LiveDisplay(Terminal(file=stream))
    display.on_start(SETTINGS)
    for tenth in range(100):
        display.on_tally(Tally(), tenth * REDRAW_S / 10)
    assert len(stream.getvalue().splitlines()) == 1


def test_neediest_passes_come_first() -> None:
    assert [name for name, _ in neediest_first(tally())] == ["LiftTransformParams", "FuseOps"]


def test_nothing_divides_by_zero_at_the_start() -> None:
    assert progress_line(Tally(), 0.0) == "0 cases, 0.0/s, 100.0% valid"
    assert left_line(Settings(seed=1, time_s=None), Tally(), 5.0) == ""

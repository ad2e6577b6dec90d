"""What is seen while a campaign runs, on a terminal and in a log."""

from __future__ import annotations

import io
from dataclasses import replace

from fuzzer.settings import Settings
from reports.finding_row import row_of
from reports.live import ALL_JUDGED, LINE_S, REDRAW_S, LiveDisplay, left_line
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
        "[10 s] 98 cases, 9.8/s, 99.0% valid, 0 new causes, 0 known, 50 s left, 100 cases left, 3 workers",
        "[10 s] new: official pipeline: FuseOps: Var [x] is not defined",
        "[20 s] 98 cases, 4.9/s, 99.0% valid, 1 new cause (1 finding), 0 known, 40 s left, 100 cases left, 3 workers",
    ]


def test_a_terminal_gets_the_newest_causes_and_nothing_about_passes_that_fire_least() -> None:
    text = watched(terminal=True)
    assert "1 new cause (1 finding), 0 known" in text
    assert "official pipeline" in text and "Var [x] is not defined" in text
    assert "LiftTransformParams" not in text


def test_a_log_gets_a_line_for_a_new_cause_and_none_for_another_finding_of_it_or_a_known_one() -> None:
    stream = io.StringIO()
    display = LiveDisplay(Terminal(file=stream))
    display.on_start(SETTINGS)
    display.on_tally(tally(), LINE_S / 2)
    first, second = (replace(row_of(finding(message=text)), cause="one") for text in ("a", "b b"))
    known = replace(row_of(finding("CSE")), cause="two", standing="known", known=True)
    back = replace(row_of(finding("DCE")), cause="three", standing="returned")
    for row in (first, second, known, back, replace(first, count=2)):
        display.on_finding(row)
    display.on_tally(tally(), LINE_S)
    _, *lines, status = stream.getvalue().splitlines()
    assert lines == [
        "[5 s] new: official pipeline: FuseOps: a",
        "[5 s] returned: official pipeline: DCE: Var x is not defined",
    ]
    assert "1 new cause (2 findings), 1 returned, 1 known" in status


def test_what_a_resumed_run_had_found_has_no_second_of_this_one() -> None:
    stream = io.StringIO()
    display = LiveDisplay(Terminal(file=stream))
    display.on_start(SETTINGS)
    display.on_finding(replace(row_of(finding("CSE")), cause="one"))
    display.on_tally(tally(), LINE_S)
    display.on_finding(replace(row_of(finding("DCE")), cause="two"))
    lines = [line for line in stream.getvalue().splitlines() if " new: " in line]
    assert [(line.split("]")[0], line.split(": ")[2]) for line in lines] == [("[earlier", "CSE"), ("[10 s", "DCE")]


def test_a_long_message_does_not_push_the_culprit_out() -> None:
    lines = watched(terminal=True, message="x" * 300, width=80).splitlines()
    rows = [line for line in lines if "xxx" in line]
    assert rows
    assert all("FuseOps" in row and "official pipeline" in row for row in rows)


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
    assert progress_line(Tally(), 0.0) == "0 cases, 0.0/s"
    assert left_line(Settings(seed=1, time_s=None), Tally(), 5.0) == ""


def test_what_could_not_be_drawn_is_said_and_not_waited_for() -> None:
    tally = Tally(cases=39, generated=39, undrawn=1)
    assert progress_line(tally, 10.0) == "39 cases, 1 not drawn, 3.9/s, 100.0% valid"
    limits = Settings(seed=1, cases=41, time_s=None)
    assert left_line(limits, tally, 5.0) == "1 case left"
    assert left_line(replace(limits, cases=40), tally, 5.0) == ALL_JUDGED


def test_after_its_time_a_run_says_what_it_still_does() -> None:
    settings = Settings(seed=1, time_s=60.0)
    assert left_line(settings, Tally(), 59.0).startswith("1 s left")
    assert left_line(settings, Tally(), 61.0).startswith("the time is up")


def test_after_its_cases_a_run_says_what_it_still_does_and_its_rate_stays() -> None:
    stream = io.StringIO()
    display = LiveDisplay(Terminal(file=stream))
    display.on_start(Settings(seed=1, time_s=None, cases=40, jobs=1))
    counted = Tally(generated=2, cases=1, invalid=1)
    display.on_tally(counted, LINE_S)
    counted.add(Tally(generated=38, cases=37, invalid=1))
    for now in (2.0, 3.0, 9.0):
        display.on_tally(counted, now * LINE_S)
    _, first, *rest = stream.getvalue().splitlines()
    assert first.startswith("[10 s] 1 case, 0.1/s,") and "38 cases left" in first
    assert [line.split(",")[1] for line in rest] == [" 1.9/s"] * 3
    assert all("every case is judged" in line and "left" not in line for line in rest)

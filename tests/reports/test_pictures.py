"""Where the parts of a picture stand, computed here in another way."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from reports.causes import causes_of
from reports.pictures import (
    ABREAST,
    BOTTOM,
    HEIGHT,
    LEFT,
    LEVELS,
    MOST_COLUMNS,
    MOST_ROWS,
    MOST_TICKS,
    RADIUS,
    RIGHT,
    TOP,
    WIDTH,
    fire_rates,
    heat,
    heat_of_share,
    met_by_passes,
    operators_by_pass,
    over_time,
    seconds_label,
    ticks,
)
from reports.tally import tally_of
from tests.reports.reports_data import finding, known_finding, report


def test_a_line_rises_by_one_cause_at_its_time() -> None:
    found = [(known_finding if at > 20 else finding)(f"P{at}", at_s=at) for at in (10.0, 20.0, 40.0)]
    shown = over_time(causes_of(report(*found).findings), 40.0)
    assert shown is not None
    across, up = WIDTH - RIGHT - LEFT, HEIGHT - BOTTOM - TOP
    points = [(float(x), float(y)) for x, y in re.findall(r"H([\d.]+)V([\d.]+)", shown.every.path)]
    expected = [(LEFT + across * at / 40, HEIGHT - BOTTOM - up * n / 3) for n, at in enumerate((10, 20, 40), 1)]
    assert points == [pytest.approx(point, abs=0.06) for point in expected]
    assert (shown.every.total, shown.news.total) == (3, 2)
    assert shown.every.path.startswith(f"M{LEFT:.1f} {HEIGHT - BOTTOM:.1f}")
    assert shown.news.y == pytest.approx(HEIGHT - BOTTOM - up * 2 / 3, abs=0.06)


def test_findings_of_one_cause_are_one_step() -> None:
    rows = [replace(row, cause="one") for row in report(finding("A"), finding("B")).findings]
    shown = over_time(causes_of(rows), 60.0)
    assert shown is not None and shown.every.total == 1


def test_nothing_found_is_no_picture() -> None:
    assert over_time((), 60.0) is None


def test_a_run_that_has_not_begun_divides_by_nothing() -> None:
    shown = over_time(causes_of(report(finding(at_s=0.0)).findings), 0.0)
    assert shown is not None and shown.every.total == 1


def test_dots_stand_at_their_share_and_do_not_overlap() -> None:
    passes = {f"P{n}": {"applied": 10, "changed": n % 4} for n in range(200)}
    tally = tally_of({"passes": {**passes, "Idle": {"rejected": 1}, "All": {"applied": 3, "changed": 3}}})
    shown = fire_rates(tally, causes_of(report(finding("P7")).findings))
    places = [(dot.x, dot.y) for dot in shown.dots]
    assert len(places) == len(set(places)) == 201, "what was never applied has no rate"
    for one in shown.dots:
        middle = LEFT + (WIDTH - 2 * LEFT) * one.changed / one.applied
        assert abs(one.x - middle) <= RADIUS * ABREAST
        assert 0 < one.y < shown.height - BOTTOM
        for other in shown.dots:
            apart = abs(one.x - other.x) >= 2 * RADIUS - 0.2 or abs(one.y - other.y) >= 2 * RADIUS - 0.2
            assert apart or one is other
    assert [dot.name for dot in shown.dots if dot.blamed] == ["P7"]


def test_known_causes_blame_nobody() -> None:
    tally = tally_of({"passes": {"CSE": {"applied": 1}}})
    shown = fire_rates(tally, causes_of(report(known_finding("CSE")).findings))
    assert not any(dot.blamed for dot in shown.dots)


def test_heat_grows_with_the_number() -> None:
    levels = [heat(number, 1000).level for number in (0, 1, 3, 30, 300, 1000)]
    assert levels[0] == 0 and levels[-1] == LEVELS
    assert levels == sorted(levels) and len(set(levels)) >= 5
    assert [heat_of_share(number, 100).level for number in (0, 1, 20, 21, 100, 200)] == [0, 1, 1, 2, LEVELS, LEVELS]
    assert heat_of_share(3, 0).level == 0


@pytest.mark.parametrize("most", [1, 2, 3, 7, 10, 37, 99, 153, 500, 2717.0, 0.3, 1e6])
def test_ticks_are_round_and_few(most: float) -> None:
    found = ticks(most)
    assert found[0] == 0 and found[-1] <= most and 1 <= len(found) - 1 <= MOST_TICKS
    step = found[1]
    assert f"{step:e}"[0] in "125"
    assert found == pytest.approx([step * number for number in range(len(found))])


@pytest.mark.parametrize(
    ("value", "end", "label"),
    [(30, 60, "30 s"), (90, 119, "90 s"), (600, 2700, "10 min"), (5400, 21600, "1.5 h"), (0, 60, "0 s")],
)
def test_times_on_an_axis(value: float, end: float, label: str) -> None:
    assert seconds_label(value, end) == label


def test_the_axis_of_a_long_run_counts_whole_minutes() -> None:
    shown = over_time(causes_of(report(finding(at_s=5.0)).findings), 2717.0)
    assert shown is not None
    assert [tick.label for tick in shown.seconds] == ["0 min", "10 min", "20 min", "30 min", "40 min"]


def test_the_grid_counts_causes_by_operator_and_pass() -> None:
    grid = operators_by_pass([("A", ["x", "y", "x"]), ("A", ["x"]), ("B", ["y"]), ("C", [])])
    assert grid is not None
    numbers = {
        (name, operator): cell.number
        for name, cells in grid.rows
        for operator, cell in zip(grid.operators, cells, strict=True)
    }
    assert numbers == {("A", "x"): 2, ("A", "y"): 1, ("B", "x"): 0, ("B", "y"): 1}
    assert grid.left_out == (0, 0)
    assert operators_by_pass([("A", [])]) is None


def test_a_large_grid_leaves_out_the_least_and_says_how_many() -> None:
    grid = operators_by_pass((f"P{number}", [f"o{number}", "all"]) for number in range(50))
    assert grid is not None
    assert len(grid.rows) == MOST_ROWS and len(grid.operators) == MOST_COLUMNS and grid.operators[0] == "all"
    assert grid.left_out == (50 - MOST_ROWS, 51 - MOST_COLUMNS)


def test_what_passes_met_is_a_grid_of_the_largest_first() -> None:
    grid = met_by_passes({"A": {"add": (4, 1, 0), "sort": (2, 2, 1)}, "B": {"add": (9, 0, 0)}})
    assert grid is not None
    assert (grid.columns, [name for name, _ in grid.rows], grid.left_out) == (("add", "sort"), ["B", "A"], (0, 0))
    (_, (_, none)), (_, (some, failed)) = grid.rows
    assert (none.applied, none.heat.level, none.failures.level) == (0, 0, 0)
    assert (some.applied, some.changed, some.heat.level) == (4, 1, 2)
    assert (failed.failed, failed.heat.level, failed.failures.level) == (1, 5, 3)


def test_a_large_grid_says_what_it_leaves_out() -> None:
    met = {f"P{n}": {f"op{m}": (1, 0, 0) for m in range(MOST_COLUMNS + 3)} for n in range(MOST_ROWS + 2)}
    grid = met_by_passes(met)
    assert grid is not None
    assert (len(grid.rows), len(grid.columns), grid.left_out) == (MOST_ROWS, MOST_COLUMNS, (2, 3))
    assert met_by_passes({}) is None

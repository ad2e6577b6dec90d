"""The geometry of the report's pictures: where what stands, in the units of an SVG's view box. Templates draw it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from reports.causes import CauseRow
from reports.severity import best, first_seen
from reports.tally import MetCounts, Tally

WIDTH, HEIGHT = 480, 230
LEFT, RIGHT, TOP, BOTTOM = 34, 64, 12, 30
"""Margins, which hold the labels of the axes and of the lines."""
STEPS = (1, 2, 5)
"""What an axis counts by, and these times powers of ten."""
MOST_TICKS = 5
LEVELS = 5
"""Shades of a heat map."""
BINS = 20
"""Columns of dots from a fire rate of 0 to one of 1."""
ABREAST = 2
"""Dots in a row of a column."""
RADIUS = 4.5
FIRE_HEIGHT = 188
"""The smallest height of the dots."""
MOST_ROWS, MOST_COLUMNS = 24, 18
"""Passes and operators of a grid; those with the most causes."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis and its label."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Steps:
    """A line that rises at each event. path: its "d". x, y: its end. total: the number of events."""

    path: str
    x: float
    y: float
    total: int


@dataclass(frozen=True, slots=True)
class OverTime:
    """How many causes had been seen by when."""

    every: Steps
    news: Steps
    seconds: tuple[Tick, ...]
    numbers: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class Dot:
    """A pass in the picture of fire rates. blamed: a new cause is its fault."""

    x: float
    y: float
    name: str
    applied: int
    changed: int
    blamed: bool


@dataclass(frozen=True, slots=True)
class FireRates:
    """One dot for each pass that was applied, over the share of modules that it changed."""

    dots: tuple[Dot, ...]
    shares: tuple[Tick, ...]
    height: float


@dataclass(frozen=True, slots=True)
class Heat:
    """A cell of a heat map. level: 0 for nothing, then 1 to LEVELS."""

    number: int
    level: int


@dataclass(frozen=True, slots=True)
class Grid:
    """Causes by operator and pass. rows: a pass and its cells, one for each operator. left_out: passes and operators
    for which there is no room."""

    operators: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Heat, ...]], ...]
    left_out: tuple[int, int]


@dataclass(frozen=True, slots=True)
class MetCell:
    """How often something was in a module that a pass was given, that it changed, and in which an oracle failed. heat:
    the share that was changed; failures: that of what failed."""

    applied: int
    changed: int
    failed: int
    heat: Heat
    failures: Heat


@dataclass(frozen=True, slots=True)
class MetGrid:
    """What passes met. columns: operators, or kinds of nodes. rows: a pass and a cell for each of these."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[MetCell, ...]], ...]
    left_out: tuple[int, int]


def met_by_passes(met: Mapping[str, Mapping[str, MetCounts]]) -> MetGrid | None:
    """The grid of what passes met, those first that met the most; None where nothing was counted."""
    passes, columns = Counter[str](), Counter[str]()
    for name, row in met.items():
        for what, (applied, _, _) in row.items():
            passes[name] += applied
            columns[what] += applied
    if not passes:
        return None
    shown, names = _most(columns, MOST_COLUMNS), _most(passes, MOST_ROWS)
    rows = tuple((name, tuple(_met_cell(*met[name].get(what, (0, 0, 0))) for what in shown)) for name in names)
    return MetGrid(shown, rows, (len(passes) - len(names), len(columns) - len(shown)))


def _met_cell(applied: int, changed: int, failed: int) -> MetCell:
    return MetCell(applied, changed, failed, heat_of_share(changed, applied), heat_of_share(failed, applied))


def operators_by_pass(found: Iterable[tuple[str, Iterable[str]]]) -> Grid | None:
    """The grid of causes, each given as its pass and the operators of its reduced program; None without operators."""
    pairs = Counter((name, operator) for name, operators in found for operator in set(operators))
    passes, operators = Counter[str](), Counter[str]()
    for (name, operator), number in pairs.items():
        passes[name] += number
        operators[operator] += number
    if not pairs:
        return None
    columns, names = _most(operators, MOST_COLUMNS), _most(passes, MOST_ROWS)
    most = max(LEVELS, *pairs.values())
    rows = ((name, tuple(heat(pairs[name, operator], most) for operator in columns)) for name in names)
    shown = tuple(row for row in rows if any(cell.number for cell in row[1]))
    return Grid(columns, shown, (len(passes) - len(shown), len(operators) - len(columns)))


def _most(counts: Counter[str], number: int) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:number])


def over_time(causes: Sequence[CauseRow], wall_s: float) -> OverTime | None:
    """The causes of a run, by the first sighting of each; None where there are none."""
    times = sorted(map(first_seen, causes))
    if not times:
        return None
    end = max(wall_s, times[-1], 1.0)
    across = _scale(end, LEFT, WIDTH - RIGHT)
    up = _scale(len(times), HEIGHT - BOTTOM, TOP)
    name, unit = _unit(end)
    news = sorted(first_seen(cause) for cause in causes if not cause.known)
    return OverTime(
        _steps(times, end, across, up),
        _steps(news, end, across, up),
        tuple(Tick(round(across(value * unit), 1), f"{value:g} {name}") for value in ticks(end / unit)),
        tuple(Tick(round(up(value), 1), f"{value:g}") for value in ticks(len(times)) if value == int(value)),
    )


def fire_rates(tally: Tally, causes: Iterable[CauseRow]) -> FireRates:
    """The passes that were applied, in columns by their fire rate, those that are blamed at the bottom."""
    blamed = {best(cause).culprit for cause in causes if not cause.known}
    applied = [(name, row) for name, row in tally.passes.items() if row["applied"]]
    applied.sort(key=lambda item: (item[0] not in blamed, item[0]))
    size_of: Counter[int] = Counter()
    across = _scale(1.0, LEFT, WIDTH - LEFT)
    placed = []
    for name, row in applied:
        column = round(min(1.0, row["changed"] / row["applied"]) * BINS)
        placed.append((name, row, column, *divmod(size_of[column], ABREAST)))
        size_of[column] += 1
    rows = math.ceil(max(size_of.values(), default=0) / ABREAST)
    floor = max(FIRE_HEIGHT, 2 * RADIUS * rows + TOP)
    dots = (
        Dot(
            round(across(column / BINS) + 2 * RADIUS * (place - (ABREAST - 1) / 2), 1),
            round(floor - RADIUS * (1 + 2 * level), 1),
            name,
            row["applied"],
            row["changed"],
            name in blamed,
        )
        for name, row, column, level, place in placed
    )
    shares = tuple(Tick(round(across(part / 4), 1), f"{part * 25} %") for part in range(5))
    return FireRates(tuple(dots), shares, floor + BOTTOM)


def heat(number: int, most: int) -> Heat:
    """A cell whose level follows the logarithm of its number; `most` has the highest level."""
    if number <= 0:
        return Heat(0, 0)
    part = math.log1p(number) / math.log1p(max(most, number))
    return Heat(number, max(1, math.ceil(part * LEVELS)))


def heat_of_share(number: int, whole: int) -> Heat:
    """A cell whose level follows a share of what there could be."""
    return Heat(number, max(1, math.ceil(min(1.0, number / whole) * LEVELS)) if number > 0 and whole > 0 else 0)


def ticks(most: float) -> list[float]:
    """Round numbers from 0 to `most`, at most MOST_TICKS after 0."""
    least = most / MOST_TICKS
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    step = next(step * power for step in (*STEPS, 10, 20) if step * power >= least)
    return [round(index * step, 9) for index in range(int(most / step + 1e-9) + 1)]


def seconds_label(value: float, end: float) -> str:
    """A time of something that lasted until `end`, both in seconds."""
    name, unit = _unit(end)
    return f"{value / unit:.3g} {name}"


def _unit(end: float) -> tuple[str, int]:
    """The unit of times up to `end`, and its seconds."""
    return next(((name, unit) for name, unit in (("h", 3600), ("min", 60)) if end >= 2 * unit), ("s", 1))


def _scale(most: float, start: float, end: float) -> Callable[[float], float]:
    return lambda value: start + (end - start) * value / most


def _steps(times: Sequence[float], end: float, across: Callable[[float], float], up: Callable[[float], float]) -> Steps:
    """The line that rises by one at each time."""
    moves = (
        f"H{across(at):.1f}V{up(number):.1f}" for at, number in zip(times, accumulate([1] * len(times)), strict=True)
    )
    path = f"M{across(0):.1f} {up(0):.1f}{''.join(moves)}H{across(end):.1f}"
    return Steps(path, round(across(end), 1), round(up(len(times)), 1), len(times))

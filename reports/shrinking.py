"""What people see while a failure is made small: size against time, redrawn on a terminal, nothing elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rich.console import RenderableType
from rich.live import Live
from rich.text import Text

from corpus.number_of import number_of
from reports.terminal import Terminal

COLUMNS = 40
"""Of the picture."""
BARS = "▁▂▃▄▅▆▇█"
REDRAW_RATE = 4
"""Per second."""

Success = tuple[float, int]
"""Seconds since the start, and the size from then on."""


def picture(successes: Sequence[Success], now: float, columns: int = COLUMNS) -> str:
    """A bar for each of `columns` moments between the start and `now`: how large the smallest was, the first being full
    height."""
    if not successes:
        return ""
    largest = max(size for _, size in successes) or 1
    bars = []
    for column in range(columns):
        moment = now * (column + 1) / columns
        size = next((size for at, size in reversed(successes) if at <= moment), successes[0][1])
        bars.append(BARS[round((len(BARS) - 1) * size / largest)])
    return "".join(bars)


class ShrinkDisplay:
    """Time, size, trials, and the picture of size against time."""

    def __init__(self, console: Terminal, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = 0.0
        self._successes: list[Success] = []
        self._sizes = ""
        self._live = (
            Live(console=console, get_renderable=self._screen, refresh_per_second=REDRAW_RATE, transient=True)
            if console.is_terminal
            else None
        )

    def on_start(self, bindings: int, statements: int, passes: int) -> None:
        self._began = self._clock()
        self._told(bindings, statements, passes, "")
        if self._live is not None:
            self._live.start()

    def on_better(self, bindings: int, statements: int, passes: int, trials: int) -> None:
        self._told(bindings, statements, passes, f", {number_of(trials, 'trial')}")

    def on_end(self) -> None:
        if self._live is not None:
            self._live.stop()

    def line(self) -> str:
        """What is shown at the moment."""
        now = self._clock() - self._began
        return f"[{now:.0f} s] {self._sizes} {picture(self._successes, now)}"

    def _told(self, bindings: int, statements: int, passes: int, trials: str) -> None:
        self._successes.append((self._clock() - self._began, bindings + statements))
        program = f"{number_of(bindings, 'binding')}, {number_of(statements, 'statement')}"
        self._sizes = f"{program}, {number_of(passes, 'pass', 'passes')}{trials}"

    def _screen(self) -> RenderableType:
        return Text(self.line())

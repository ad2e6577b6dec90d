"""Where choices come from: one small protocol, so that one generator serves campaigns and property tests.

`SeededSource` makes a case a pure function of (campaign seed, index) at about a microsecond a choice;
`HypothesisSource` hands every choice to Hypothesis, so that `generators.strategies` shrinks and replays; `Echo` makes
choices again.
Nothing here knows TVM, or which programs are drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

T = TypeVar("T")
Choice: TypeAlias = int | float | bool
Choices: TypeAlias = tuple[Choice, ...]
"""What a source gave, in order."""


class Source(Protocol):
    """A stream of bounded choices."""

    def integer(self, low: int, high: int) -> int:
        """An integer in [low, high], both inclusive. ValueError when low > high."""
        ...

    def real(self, low: float, high: float) -> float:
        """A finite float in [low, high]."""
        ...

    def pick(self, options: Sequence[T]) -> T:
        """One of `options`, the first being the simplest. ValueError when there is none."""
        ...

    def flip(self, probability: float = 0.5) -> bool:
        """True with about this probability."""
        ...

    def array_seed(self) -> int:
        """A seed for filling one array, so that contents cost one choice and not one each."""
        ...


class SeededSource:
    """Choices from a seed: equal keys give equal streams on every machine and Python version."""

    def __init__(self, seed: int, index: int = 0) -> None:
        self._random = random.Random(f"passfuzz/{seed}/{index}")

    def integer(self, low: int, high: int) -> int:
        if low > high:
            raise ValueError(f"empty range [{low}, {high}]")
        return low + int(self._random.random() * (high - low + 1))

    def real(self, low: float, high: float) -> float:
        return low + (high - low) * self._random.random()

    def pick(self, options: Sequence[T]) -> T:
        if not options:
            raise ValueError("nothing to pick from")
        return options[int(self._random.random() * len(options))]

    def flip(self, probability: float = 0.5) -> bool:
        return self._random.random() < probability

    def array_seed(self) -> int:
        return self._random.getrandbits(32)


class HypothesisSource:
    """Choices made by Hypothesis: `draw` is the argument that `st.composite` functions get."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        from hypothesis import strategies

        self._draw = draw
        self._st = strategies

    def integer(self, low: int, high: int) -> int:
        if low > high:
            raise ValueError(f"empty range [{low}, {high}]")
        return int(self._draw(self._st.integers(low, high)))

    def real(self, low: float, high: float) -> float:
        return float(self._draw(self._st.floats(low, high, allow_nan=False)))

    def pick(self, options: Sequence[T]) -> T:
        if not options:
            raise ValueError("nothing to pick from")
        return options[self.integer(0, len(options) - 1)]

    def flip(self, probability: float = 0.5) -> bool:
        # A threshold on 0..99 keeps "False" the simplest outcome and costs one choice.
        return self.integer(0, 99) >= 100 - round(probability * 100)

    def array_seed(self) -> int:
        return self.integer(0, 2**32 - 1)


C = TypeVar("C", int, float, bool)
_TRIES = 8
"""Draws of a choice that is to be another: of two options the same comes up each time in one of 256 cases."""


class Echo:
    """Choices of another source. Each repeats the choice that was `given` before, if it has the same kind and is
    allowed, but for a share that is made anew, and one that becomes another: the new draw resembles the earlier one,
    and is not the same, also where that took few choices. keeps: how many of the first choices stay as they are.
    """

    def __init__(self, source: Source, earlier: Sequence[Choice] = (), anew: float = 0.0, keeps: int = 0) -> None:
        self._source = source
        self._earlier = list(earlier)
        self._anew = anew
        self._keeps = keeps
        self._other = source.integer(keeps, len(self._earlier) - 1) if anew and self._earlier else None
        self.given: list[Choice] = []

    def _choice(self, kind: type[C], fresh: Callable[[], C], allowed: Callable[[C], bool]) -> C:
        place = len(self.given)
        again = self._earlier[place] if place < len(self._earlier) else None
        if place == self._other:
            value = next((new for new in (fresh() for _ in range(_TRIES)) if new != again), fresh())
        elif place < len(self._earlier) and (place < self._keeps or not self._source.flip(self._anew)):
            value = again if isinstance(again, kind) and type(again) is kind and allowed(again) else fresh()
        else:
            value = fresh()
        self.given.append(value)
        return value

    def integer(self, low: int, high: int) -> int:
        return self._choice(int, lambda: self._source.integer(low, high), lambda n: low <= n <= high)

    def real(self, low: float, high: float) -> float:
        return self._choice(float, lambda: self._source.real(low, high), lambda x: low <= x <= high)

    def pick(self, options: Sequence[T]) -> T:
        if not options:
            raise ValueError("nothing to pick from")
        return options[self.integer(0, len(options) - 1)]

    def flip(self, probability: float = 0.5) -> bool:
        return self._choice(bool, lambda: self._source.flip(probability), lambda flag: True)

    def array_seed(self) -> int:
        return self._source.array_seed()


def weighted(source: Source, options: Sequence[tuple[T, int]]) -> T:
    """One of the (option, weight) pairs, in proportion to its positive integer weight."""
    ticket = source.integer(1, sum(weight for _, weight in options))
    for option, weight in options:
        ticket -= weight
        if ticket <= 0:
            return option
    raise ValueError("weights must be positive")


def favour(source: Source, plain: T, *others: T) -> T:
    """One of the options, the plain one twice as often as each of the others: the ratio of whatever has no reason for
    one of its own."""
    return source.pick((plain, plain, *others))

"""Looks ahead in a search: while a candidate is judged, those that may come next are judged, too.

What is found, and the number of calls, is the same as without. Which comes next follows from the answer to be given:
the same as the one before is taken for more likely. Pure: no TVM.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from corpus.reduce.strategies import Attempt

E = TypeVar("E")
C = TypeVar("C")
D = TypeVar("D", contravariant=True)
PriorAnswers: TypeAlias = "tuple[bool, ...]"
"""Answers that must be given before the turn of a candidate comes."""


class Awaited(Protocol):
    """What becomes of a candidate that is judged elsewhere. One of the two is called, once."""

    def interesting(self) -> bool:
        """Waits until it is judged."""
        ...

    def drop(self) -> None:
        """Ends the judging."""
        ...


class Elsewhere(Protocol[D]):
    """Begins to judge a candidate in another process. at_once: so many at the same time, two at least."""

    @property
    def at_once(self) -> int: ...

    def __call__(self, candidate: D, /) -> Awaited: ...


@dataclass(slots=True)
class _Begun:
    path: PriorAnswers
    answer: Awaited


class Ahead(Generic[C]):
    """The candidates that are being judged, by key."""

    def __init__(self, elsewhere: Elsewhere[C]) -> None:
        self._elsewhere = elsewhere
        self._begun: dict[Hashable, _Begun] = {}
        self.likely = False
        """The answer that is expected next."""

    def interesting(self, key: Hashable, candidate: C, coming: Iterable[tuple[PriorAnswers, Hashable, C]]) -> bool:
        """Whether a candidate is interesting. coming: what may be next, the most likely first."""
        self._drop_but(lambda other, begun: other == key or bool(begun.path))
        if key not in self._begun:
            self._make_room()
            self._begun[key] = _Begun((), self._elsewhere(candidate))
        self._begin(coming)
        answer = self._begun.pop(key).answer.interesting()
        self._drop_but(lambda _, begun: begun.path[:1] == (answer,))
        for begun in self._begun.values():
            begun.path = begun.path[1:]
        self.likely = answer
        return answer

    def _begin(self, coming: Iterable[tuple[PriorAnswers, Hashable, C]]) -> None:
        if self._is_full():
            return
        for path, key, candidate in coming:
            if key not in self._begun:
                self._begun[key] = _Begun(path, self._elsewhere(candidate))
                if self._is_full():
                    return

    def _is_full(self) -> bool:
        return len(self._begun) >= self._elsewhere.at_once

    def _make_room(self) -> None:
        if self._is_full():
            self._begun.popitem()[1].answer.drop()

    def drop(self) -> None:
        """Ends all that is being judged."""
        self._drop_but(lambda *_: False)

    def _drop_but(self, stays: Callable[[Hashable, _Begun], bool]) -> None:
        for key, begun in list(self._begun.items()):
            if not stays(key, begun):
                begun.answer.drop()
                del self._begun[key]


class _Enough(Exception):
    """Raised and caught in this file."""


def attempts_after(
    strategy: Callable[[Sequence[E], Attempt[E]], bool], edits: Sequence[E], answers: Sequence[bool], most: int
) -> list[Sequence[E]]:
    """The attempts, at most `most`, that a strategy makes after these answers if each of them is refused."""
    given, found = iter(answers), list[Sequence[E]]()

    def attempt(tried: Sequence[E]) -> bool:
        if (answer := next(given, None)) is not None:
            return answer
        if len(found) == most:
            raise _Enough
        found.append(tried)
        return False

    with suppress(_Enough):
        strategy(edits, attempt)
    return found

"""Sources of choices: an echo gives again what was given, where it is allowed."""

from __future__ import annotations

from generators.source import Echo, SeededSource


def drawn(source: Echo) -> list[object]:
    return [source.integer(0, 10**6), source.flip(), source.pick("abcdefgh"), source.real(0.0, 1.0)]


def test_an_echo_of_nothing_gives_what_the_source_gives() -> None:
    plain = SeededSource(1)
    assert drawn(Echo(SeededSource(1))) == [
        plain.integer(0, 10**6),
        plain.flip(),
        plain.pick("abcdefgh"),
        plain.real(0.0, 1.0),
    ]


def test_most_choices_come_again() -> None:
    """All but those made anew and the one that becomes another. The range is wide: none comes again by chance."""
    seeds, each = range(100), 10
    same = 0
    for seed in seeds:
        first = Echo(SeededSource(2, seed))
        before = [first.integer(0, 10**9) for _ in range(each)]
        echo = Echo(SeededSource(3, seed), first.given, 0.15)
        same += sum(echo.integer(0, 10**9) == number for number in before)
    assert abs(same / (len(seeds) * (each - 1)) - 0.85) < 0.05


def test_a_choice_that_is_not_allowed_any_more_is_made_anew() -> None:
    for seed in range(50):
        echo = Echo(SeededSource(4, seed), [17, 5, True], 0.15)
        assert 0 <= echo.integer(0, 3) <= 3
        assert isinstance(echo.flip(), bool)
        assert echo.pick(("x", "y")) in ("x", "y")
        assert len(echo.given) == 3


def test_an_echo_of_few_choices_is_not_the_same() -> None:
    """With a share of nothing one choice becomes another all the same, wherever it stands."""
    places = set()
    for seed in range(40):
        echo = Echo(SeededSource(5, seed), [3, True, 7], 1e-9)
        again = [echo.integer(0, 9), echo.flip(), echo.integer(0, 9)]
        places.update(place for place, (one, other) in enumerate(zip([3, True, 7], again, strict=True)) if one != other)
        assert sum(one != other for one, other in zip([3, True, 7], again, strict=True)) == 1
    assert places == {0, 1, 2}

"""Where the values of a piece of TOML end."""

from __future__ import annotations

import pytest

from corpus.toml_text import without_comments_below

ENTRY = '[[cause]]\ntitle = "a"\n'
TEXT = '[[cause]]\nnote = """\n# no comment\n\n"""\n'


@pytest.mark.parametrize("values", [ENTRY, TEXT])
@pytest.mark.parametrize("below", ["", "\n", "\n# of the next entry\n\n"])
def test_comments_below_are_cut_off(values: str, below: str) -> None:
    assert without_comments_below(values + below) == values


@pytest.mark.parametrize("broken", ["[[cause]]\na = 1\na = 2\n", '[[cause]]\nnote = """\n# begun\n'])
def test_what_is_no_toml_stays_whole(broken: str) -> None:
    assert without_comments_below(broken) == broken

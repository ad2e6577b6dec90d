"""What a case folder says of its passes is an expression of Python, or the folder is corrupt. Nothing is evaluated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus.store import CorruptCase, read_case, write_case
from tests.corpus.test_store import stored_case

CSE = {"name": "CSE", "source": "relax.transform.CSE()"}


def changed(folder: Path, entry: dict[str, str], where: str) -> Path:
    write_case(folder, stored_case(), "repro", "readme", made_here=True)
    path = folder / "case.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), where: [entry]}))
    return folder


@pytest.mark.parametrize("where", ["passes", "setup"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"source": "import os"},
        {"source": "relax.transform.CSE("},
        {"source": "relax.transform.CSE(); exit()"},
        {"source": "\0"},
        {"source": "(" * 5000},
        {"options": "x = {}"},
        {"options": "{"},
    ],
    ids=["a statement", "half a call", "two statements", "null", "too deep", "options", "half a dict"],
)
def test_what_is_no_expression_is_corrupt(tmp_path: Path, wrong: dict[str, str], where: str) -> None:
    folder = changed(tmp_path / "case", {**CSE, **wrong}, where)
    with pytest.raises(CorruptCase, match="no expression of Python") as raised:
        read_case(folder)
    assert raised.value.path == folder


@pytest.mark.parametrize("source", ["__import__('os').system('id')", "PASSES['Mine']()", "x", ""])
def test_any_expression_is_read_and_not_run(tmp_path: Path, source: str) -> None:
    """Whether it may be evaluated is said where it would be (`fuzzer.trust`)."""
    folder = changed(tmp_path / "case", {**CSE, "source": source}, "passes")
    assert [call.source for call in read_case(folder).case.passes] == [source]

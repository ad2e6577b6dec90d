"""The baseline of known findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.signature_baseline import add_known, read_known, read_notes, write_known
from corpus.store import CorruptCase


def test_what_is_written_is_known(tmp_path: Path) -> None:
    write_known(tmp_path / "known.json", {"b": "", "a": "apache/tvm#1"})
    assert read_known(tmp_path / "known.json") == {"a", "b"}


def test_what_is_added_joins_what_is_there_and_notes_stay(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    assert add_known(path, {"a": "found"}) == (1, 1)
    write_known(path, {"a": "apache/tvm#1"})
    assert add_known(path, {"b": "found", "a": "found again"}) == (1, 2)
    assert read_notes(path) == {"a": "apache/tvm#1", "b": "found"}


def test_what_is_no_baseline_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text("[]")
    with pytest.raises(CorruptCase):
        add_known(path, {"a": ""})
    assert path.read_text() == "[]"


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": 2, "known": []}', '{"schema": 1}', '{"schema": 1, "known": ["a"]}']
)
def test_anything_else_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "known.json"
    path.write_text(text)
    with pytest.raises(CorruptCase):
        read_known(path)

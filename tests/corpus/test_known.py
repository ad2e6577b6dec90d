"""The baseline of known findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.known import read_known, write_known
from corpus.store import CorruptCase


def test_what_is_written_is_known(tmp_path: Path) -> None:
    write_known(tmp_path / "known.json", ["b", "a", "b"], {"a": "apache/tvm#1"})
    assert read_known(tmp_path / "known.json") == {"a", "b"}


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": 2, "known": []}', '{"schema": 1}', '{"schema": 1, "known": ["a"]}']
)
def test_anything_else_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "known.json"
    path.write_text(text)
    with pytest.raises(CorruptCase):
        read_known(path)

"""The end of a file that a process has written into."""

from __future__ import annotations

import os
import tempfile

import pytest

from oracles.tail import tail


@pytest.mark.parametrize(
    ("written", "most", "end"),
    [
        (b"one\ntwo\n", 4, "two\n"),
        (b"one", 100, "one"),
        (b"", 4, ""),
        ("aé".encode(), 1, "\ufffd"),
        (b"\xffa", 2, "\ufffda"),
    ],
)
def test_the_last_bytes_are_text(written: bytes, most: int, end: str) -> None:
    with tempfile.TemporaryFile() as file:
        os.write(file.fileno(), written)
        assert tail(file.fileno(), most) == end
        assert file.tell() == len(written)

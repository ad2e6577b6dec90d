"""Which folders of a corpus are cases: what cannot be looked into is among them, and says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.replayable import case_folders, replayable
from corpus.store import CorruptCase, StoredCase, write_case
from tests.corpus.test_store import stored_case


def test_what_cannot_be_read_is_named_and_stops_no_other(tmp_path: Path) -> None:
    for name in ("a", "z"):
        write_case(tmp_path / name, stored_case(), "repro", "readme")
    (tmp_path / "README.md").write_text("no case")
    (tmp_path / "empty").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "\x1b[31m").mkdir()
    (tmp_path / ".hidden").mkdir()
    found = {one.slug: one.case for one in replayable(tmp_path)}
    assert [slug for slug, case in found.items() if isinstance(case, StoredCase)] == ["a", "z"]
    corrupt = {slug: str(case) for slug, case in found.items() if isinstance(case, CorruptCase)}
    assert sorted(corrupt) == ["\x1b[31m", "dangling", "empty", "loop"]
    assert all(text.isprintable() and str(tmp_path) in text for text in corrupt.values())


def test_a_case_whose_file_is_a_broken_link_is_a_case(tmp_path: Path) -> None:
    (tmp_path / "case.json").symlink_to("nowhere")
    assert case_folders(tmp_path) == [tmp_path]
    (only,) = replayable(tmp_path)
    assert isinstance(only.case, CorruptCase)


def _absent(folder: Path) -> Path:
    return folder / "absent"


def _file(folder: Path) -> Path:
    (folder / "file").write_text("")
    return folder / "file"


def _loop(folder: Path) -> Path:
    (folder / "loop").symlink_to("loop")
    return folder / "loop"


def _long(folder: Path) -> Path:
    return folder / ("x" * 300)


@pytest.mark.parametrize("corpus", [_absent, _file, _loop, _long], ids=lambda f: f.__name__)
def test_what_is_no_corpus(tmp_path: Path, corpus: object) -> None:
    assert callable(corpus)
    with pytest.raises(NotADirectoryError):
        case_folders(corpus(tmp_path))

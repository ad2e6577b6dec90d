"""What `check` and `reduce` are pointed at: any file is read to its end, or refused in words that name it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.replayable import CORPUS
from fuzzer.errors import UsageError
from fuzzer.given_paths import FILE_BYTES, read_load
from fuzzer.oneshot.read_case import read_subject
from fuzzer.replaying.journal import key_of
from fuzzer.settings import read_settings
from tests.corruption import SPECIAL, put

CASE = CORPUS / "17340-kill-after-last-use-in-dataflow"
MODULE = "import tvm\n\n\nclass Module:\n    x = 1\n"


def refusal(path: Path) -> str:
    with pytest.raises(UsageError) as refused:
        read_subject(path, None)
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"\xff\xfe\x00", "neither TVMScript nor TVM JSON"),
        (MODULE.encode("utf-16"), "neither TVMScript nor TVM JSON"),
        (MODULE.replace("1", "\0").encode(), "null byte"),
        (b'{"a": "\0"}', "Invalid control character"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a":' + b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "neither TVMScript nor TVM JSON"),
        (b"x = " + b"(" * 100_000, "neither TVMScript nor TVM JSON"),
        (b"x = " + b"-" * 100_000 + b"1", "neither TVMScript nor TVM JSON"),
    ],
)
def test_text_that_no_parser_takes(tmp_path: Path, text: bytes, words: str) -> None:
    path = tmp_path / "module"
    path.write_bytes(text)
    said = refusal(path)
    assert said.startswith(f"{path}: neither TVMScript nor TVM JSON: ")
    assert words in said


@pytest.mark.parametrize("text", [f"\ufeff{MODULE}", "\ufeff" + MODULE.replace("\n", "\r\n"), '\ufeff{"a": 1}'])
def test_a_byte_order_mark_is_no_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "module"
    path.write_bytes(text.encode())
    module = read_subject(path, None).module
    assert "class Module" in module.script or module.json == '{"a": 1}'


@pytest.mark.parametrize("name", ["case.json", "repro.py"])
@pytest.mark.parametrize("what", SPECIAL)
def test_whatever_stands_in_place_of_a_file_a_replay_does_not_wait_for_it(name: str, what: str, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    shutil.copytree(CASE, folder)
    before = key_of(folder, "build")
    put(folder / name, what)
    assert key_of(folder, "build") != before or (os.getuid() == 0 and what == "unreadable")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _large(path: Path) -> None:
    path.touch()
    os.truncate(path, FILE_BYTES + 1)


TEXT_FILES = ("module.py", "case/case.json", "case/module.py")
ENDLESS = [
    *((name, make, "not a regular file") for name in (*TEXT_FILES, "case/inputs.npz") for make in (_pipe, _device)),
    *((name, _large, "larger than 64 MiB") for name in TEXT_FILES),
]


@pytest.mark.parametrize(("name", "make", "words"), ENDLESS)
def test_files_without_end(tmp_path: Path, name: str, make: Callable[[Path], None], words: str) -> None:
    shutil.copytree(CASE, tmp_path / "case")
    path = tmp_path / name
    path.unlink(missing_ok=True)
    make(path)
    said = refusal(path if path.name == name else path.parent)
    assert f"{path}: " in said
    assert words in said


@pytest.mark.parametrize(
    ("make", "words"), [(_pipe, "not a regular file"), (_device, "not a regular file"), (_large, "larger than 64 MiB")]
)
def test_options_that_name_a_file(tmp_path: Path, make: Callable[[Path], None], words: str) -> None:
    path = tmp_path / "mine.py"
    with pytest.raises(UsageError, match=f"--known {path}: no such file"):
        read_settings(known=path, out=tmp_path)
    make(path)
    with pytest.raises(UsageError, match=f"--load {path}: {words}"):
        read_load(path)
    with pytest.raises(UsageError, match=f"--known {path}: {words}"):
        read_settings(known=path, out=tmp_path)

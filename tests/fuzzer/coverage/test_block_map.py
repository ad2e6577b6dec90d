"""Which blocks a library has, and of which source files they are; why there can be no map."""

from __future__ import annotations

import ctypes
import platform
import sys
from pathlib import Path

import numpy as np
import pytest

from fuzzer.coverage.block_map import FileRun, _Decoder, map_of
from fuzzer.coverage.compile import library_of
from fuzzer.coverage.elf import functions_in, read_elf
from fuzzer.coverage.ground import Ground, NoCoverage, ground
from tests.fuzzer.coverage import subject

pytestmark = subject.WORKS_HERE


def test_the_blocks_are_told_by_file(known: Ground) -> None:
    assert (known.blocks.library, known.blocks.count) == (subject.NAME, subject.COUNT)
    assert known.blocks.runs == tuple(FileRun(*run) for run in subject.RUNS)


def test_the_places_are_those_of_the_instructions(known: Ground, library: Path) -> None:
    loaded = ctypes.CDLL(str(library))
    data = known.blocks.blocks.read_bytes()
    places = np.frombuffer(data, "<u4", subject.COUNT, 24).astype(np.int64)
    addresses = [ctypes.cast(loaded[name], ctypes.c_void_p).value for name in ("first_file", "choose", "count_down")]
    assert all(addresses)
    first, choose, count_down = (address or 0 for address in addresses)
    assert places[0] + choose - first == places[1] and places[0] + count_down - first == places[6]
    # test; jg: 2 + 2 bytes, then mov and ret: 5 + 1.
    assert (places[2] - places[1], places[3] - places[1]) == (4, 10)
    text = ctypes.string_at(first, int(places[-1] - places[0]) + 1)
    assert data[24 + 4 * subject.COUNT :] == bytes(text[place - places[0]] for place in places)


def test_a_map_is_made_once(library: Path, tmp_path: Path) -> None:
    said: list[str] = []
    first = map_of(library, tmp_path, said.append)
    made = first.blocks.stat().st_mtime_ns
    again = map_of(library, tmp_path, said.append)
    assert again == first and again.blocks.stat().st_mtime_ns == made
    assert len(said) == 1


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("ebffc0c3", id="a jump into itself"),
        pytest.param("06c3", id="no instruction"),
        pytest.param("e900", id="cut off"),
    ],
)
def test_a_function_that_is_not_understood_has_no_blocks(code: str, tmp_path: Path) -> None:
    decoder = _Decoder(library_of("blocks.c", tmp_path))
    assert decoder.blocks(np.frombuffer(bytes.fromhex(code), np.uint8), 0) is None
    understood = decoder.blocks(np.frombuffer(bytes.fromhex("7401c390c3"), np.uint8), 100)
    assert understood is not None and understood.tolist() == [100, 102, 103]


@pytest.mark.parametrize(
    ("code", "blocks"),
    [
        pytest.param("f2 75 00 c3", [0, 3], id="a branch with a prefix"),
        pytest.param("0f 84 01 00 00 00 90 c3", [0, 6, 7], id="a distance of four bytes"),
        pytest.param("eb 01 90 c3", [0, 3], id="what follows a jump is reached in another way"),
        pytest.param("e8 00 00 00 00 c3", [0], id="a call goes on"),
        pytest.param("e9 00 00 00 01", [0], id="a jump to another function"),
        pytest.param("e3 fe c3", [0, 2], id="jrcxz to itself"),
        pytest.param("c5 fb 58 c1 75 fa c3", [0, 6], id="a vector instruction"),
    ],
)
def test_a_block_begins_after_a_branch_and_where_one_goes(code: str, blocks: list[int], tmp_path: Path) -> None:
    decoder = _Decoder(library_of("blocks.c", tmp_path))
    found = decoder.blocks(np.frombuffer(bytes.fromhex(code.replace(" ", "")), np.uint8), 0)
    assert found is not None and found.tolist() == blocks


def test_functions_are_told_by_their_frames(library: Path) -> None:
    elf = read_elf(library)
    functions = functions_in(elf, elf.section(".text"))
    assert len(functions.start) == 5
    # lea, ret: 7 + 1 bytes; at_load is a ret alone.
    assert (functions.end - functions.start)[[0, 3]].tolist() == [8, 1]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["-Wl,--no-eh-frame-hdr"], f"there is no map of {subject.NAME}: it has no section .eh_frame_hdr"),
        (["-Wl,--build-id=none"], f"there is no map of {subject.NAME}: it has no section .note.gnu.build-id"),
    ],
)
def test_a_library_that_tells_too_little(
    options: list[str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    library = subject.build(tmp_path, *options)
    with pytest.raises(NoCoverage) as refused:
        ground(lambda line: None, library)
    assert str(refused.value) == why


@pytest.mark.parametrize("content", [b"", b"no library", b"\x7fELF\x02\x01" + bytes(12) + b"\x3e\0" + bytes(60)])
def test_what_is_no_library(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "some.so").write_bytes(content)
    with pytest.raises(NoCoverage, match=r"^there is no map of some\.so: it "):
        ground(lambda line: None, tmp_path / "some.so")


def test_what_is_lacking_is_said(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> str:
        with pytest.raises(NoCoverage) as error:
            ground(lambda line: None, library)
        return str(error.value)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with monkeypatch.context() as patch:
        patch.setenv("CC", "/nowhere/cc -m64")
        assert refused() == "no C compiler: $CC is /nowhere/cc, which is not there"
    with monkeypatch.context() as patch:
        patch.setenv("CC", "false")
        assert refused().startswith("the C compiler ") and "refuses probes.c" in refused()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "capstone", None)
        assert "pip install 'passfuzz[coverage]'" in refused()
    with monkeypatch.context() as patch:
        patch.setattr(platform, "machine", lambda: "aarch64")
        assert refused() == "it works on x86-64 Linux alone, and this is aarch64 Linux"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert "Not a directory" in refused() or "File exists" in refused()

"""What processes reach is marked, once, whoever reaches it and however they end; and nothing else happens to them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzzer.coverage.command import count_command
from fuzzer.coverage.ground import Ground, NoCoverage
from fuzzer.coverage.hits import read_hits
from fuzzer.errors import UsageError
from tests.fuzzer.coverage import subject

pytestmark = subject.WORKS_HERE

BEGIN = """
import ctypes, os, signal, sys, threading
from fuzzer.coverage.probes import Probes, begin, why_not

probes, path = Probes(*sys.argv[1:5]), sys.argv[5]
"""
LOADED = (
    BEGIN
    + """
assert begin(probes) == ""
library = ctypes.CDLL(path)
assert why_not(probes) == ""
place = ctypes.cast(library.choose, ctypes.c_void_p).value
"""
)
AT_LOAD = {5}
UP_TO_ZERO, ABOVE, LOOP = {1, 2}, {1, 3}, {6, 7, 8}


@pytest.fixture
def reached(known: Ground, library: Path, tmp_path: Path) -> Callable[..., set[int]]:
    """The numbers of the blocks that code reaches, which must end with that status."""
    hits = tmp_path / "hits"

    def run(code: str, status: int = 0, begin: str = LOADED, anew: bool = True) -> set[int]:
        probes = known.probes(hits) if anew else known.counting_into(hits)
        ended = subject.run(begin + code, probes.code, probes.library, probes.blocks, probes.hits, library)
        assert (ended.returncode, ended.stderr if status == 0 else "") == (status, "")
        return set(read_hits(hits).hit.nonzero()[0].tolist())

    return run


def test_what_the_loader_calls_is_marked_and_nothing_else(reached: Callable[..., set[int]]) -> None:
    assert reached("") == AT_LOAD


@pytest.mark.parametrize(
    ("call", "blocks"),
    [
        ("assert library.choose(0) == 1", UP_TO_ZERO),
        ("assert library.choose(1) == 2", ABOVE),
        ("assert [library.choose(x) for x in (1, -1, 7)] == [2, 1, 2]", UP_TO_ZERO | ABOVE),
        ("assert library.count_down(5) == 5", LOOP),
        ("library.first_file()", {0}),
    ],
)
def test_each_block_that_is_reached_is_marked(call: str, blocks: set[int], reached: Callable[..., set[int]]) -> None:
    assert reached(call) == AT_LOAD | blocks


def test_a_library_that_is_there_already(reached: Callable[..., set[int]]) -> None:
    code = "library = ctypes.CDLL(path)\nassert begin(probes) == ''\nassert library.choose(1) == 2"
    assert reached(code, begin=BEGIN) == ABOVE


def test_children_and_theirs_are_counted(reached: Callable[..., set[int]]) -> None:
    code = """
if (child := os.fork()) == 0:
    if (inner := os.fork()) == 0:
        os._exit(library.choose(1))
    assert os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) == 2
    os._exit(library.count_down(3))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
"""
    assert reached(code) == AT_LOAD | ABOVE | LOOP


def test_what_a_child_reached_is_taken_over_before_the_next_fork(reached: Callable[..., set[int]]) -> None:
    code = """
BREAKPOINT = b"\\xcc"
first = lambda: ctypes.string_at(place, 1)
def child(action):
    if (pid := os.fork()) == 0:
        os._exit(action() or 0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert first() == BREAKPOINT
assert child(lambda: library.choose(1)) == 2
assert first() == BREAKPOINT  # in this process
assert child(lambda: first() != BREAKPOINT) == 1 and first() != BREAKPOINT
assert library.choose(0) == 1
"""
    assert reached(code) == AT_LOAD | ABOVE | UP_TO_ZERO


def test_a_kill_loses_nothing(reached: Callable[..., set[int]]) -> None:
    killed = "library.choose(1); os.kill(os.getpid(), signal.SIGKILL)"
    assert reached(killed, status=-signal.SIGKILL) == AT_LOAD | ABOVE


def test_a_run_that_is_gone_on_with_adds_to_what_is_there(reached: Callable[..., set[int]]) -> None:
    assert reached("library.choose(1)") == AT_LOAD | ABOVE
    code = "assert ctypes.string_at(place, 1) != b'\\xcc'; library.choose(0)"
    assert reached(code, anew=False) == AT_LOAD | ABOVE | UP_TO_ZERO


def test_threads(reached: Callable[..., set[int]]) -> None:
    code = """
said = []
work = lambda: said.append([library.choose(1), library.count_down(1000), library.choose(0)])
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert said == [[2, 1000, 1]] * 8
"""
    assert reached(code) == AT_LOAD | ABOVE | UP_TO_ZERO | LOOP


def test_the_traps_of_others_are_theirs(reached: Callable[..., set[int]]) -> None:
    code = "signal.signal(signal.SIGTRAP, lambda *_: seen.append(1)); seen = []\n"
    assert reached("os.kill(os.getpid(), signal.SIGTRAP)", status=-signal.SIGTRAP) == AT_LOAD
    before = BEGIN + code + LOADED.removeprefix(BEGIN)
    raised = "signal.raise_signal(signal.SIGTRAP); assert library.choose(1) == 2; seen[0]"
    assert reached(raised, begin=before) == AT_LOAD | ABOVE


def test_a_breakpoint_of_somebody_else_ends_the_process(reached: Callable[..., set[int]]) -> None:
    code = """
import mmap
memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory[:2] = bytes([0xCC, 0xC3])
library.choose(1)
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
"""
    assert reached(code, status=-signal.SIGTRAP) == AT_LOAD | ABOVE


def test_nothing_is_armed_in_another_build(known: Ground, library: Path, tmp_path: Path) -> None:
    hits, blocks = tmp_path / "hits", tmp_path / "blocks.bin"
    probes = known.probes(hits)
    content = bytearray(known.blocks.blocks.read_bytes())
    content[-1] ^= 1
    blocks.write_bytes(content)
    code = BEGIN + (
        "begin(probes)\nlibrary = ctypes.CDLL(path)\nassert library.choose(1) == 2\nprint(why_not(probes))\n"
    )
    ended = subject.run(code, probes.code, probes.library, blocks, probes.hits, library)
    assert (ended.stdout, ended.stderr) == ("the library that is loaded is not the one that was looked at\n", "")
    assert not read_hits(hits).hit.any()


def test_files_that_do_not_belong_together_are_refused(known: Ground, library: Path, tmp_path: Path) -> None:
    probes = known.probes(tmp_path / "hits")
    (tmp_path / "short").write_bytes(known.blocks.blocks.read_bytes()[:-1])
    code = BEGIN + "print(begin(probes))\nassert ctypes.CDLL(path).choose(1) == 2\n"
    ended = subject.run(code, probes.code, probes.library, tmp_path / "short", probes.hits, library)
    assert (ended.stdout, ended.stderr) == ("the files of blocks and hits do not belong together\n", "")
    ended = subject.run(code, probes.code, probes.library, probes.blocks, tmp_path / "none", library)
    assert (ended.stdout, ended.stderr) == ("the files of blocks and hits cannot be mapped\n", "")


def test_a_command_is_counted_with_what_it_starts(known: Ground, library: Path, tmp_path: Path) -> None:
    code = f"import ctypes; raise SystemExit(ctypes.CDLL({str(library)!r}).choose(1))"
    script = f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {code!r}]).returncode + 1)"
    counted = count_command([sys.executable, "-c", script], tmp_path / "hits", known)
    assert counted.status == 3
    assert set(counted.hits.hit.nonzero()[0].tolist()) == AT_LOAD | ABOVE
    assert "LD_PRELOAD" not in os.environ


def test_what_else_is_to_be_preloaded_stays(known: Ground, tmp_path: Path) -> None:
    probes = known.counting_into(tmp_path / "hits")
    others = {"LD_PRELOAD": "/usr/lib/theirs.so", "HOME": "/home/somebody"}
    made = probes.environment(others)
    assert made["LD_PRELOAD"] == f"{probes.code}:/usr/lib/theirs.so" and made["HOME"] == "/home/somebody"
    assert probes.environment({})["LD_PRELOAD"] == probes.code
    spaced = Ground(tmp_path / "a cache" / "probes.so", known.blocks)
    with pytest.raises(NoCoverage, match="without spaces"):
        count_command([sys.executable, "-c", ""], tmp_path / "hits", spaced)


def test_a_command_that_cannot_be_started(known: Ground, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such program"):
        count_command(["no-such-program-anywhere"], tmp_path / "hits", known)
    assert not (tmp_path / "hits").exists()

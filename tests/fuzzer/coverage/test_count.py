"""Numbers of what was reached: by folder, file and pass, of several runs, beside another, and as a run goes on."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from fuzzer.coverage.block_map import BlockMap, FileRun
from fuzzer.coverage.count import FIRST_S, CoverageRow, Meter, by_file, by_folder, by_pass, rows
from fuzzer.coverage.hits import HITS_FILE, Hits, UnreadableHits, make_hits, read_hits, together
from generators.passes.table import PASSES

FILES = ("src/ir/module.cc", "src/relax/op/op.cc", "src/relax/transform/fuse_ops.cc", "src/sym/analyzer.cc")
RUNS = tuple(FileRun(file, 10 * number, 10 * number + 10) for number, file in enumerate(FILES))


def hits(*reached: int) -> Hits:
    hit = np.zeros(40, np.bool_)
    hit[list(reached)] = True
    return Hits("ab" * 20, "libtvm.so", RUNS, hit)


def written(path: Path, *reached: int, build_id: str = "ab" * 20) -> Path:
    make_hits(path, BlockMap(build_id, "libtvm.so", Path("blocks.bin"), 40, RUNS))
    reach(path, *reached)
    return path


def reach(path: Path, *reached: int) -> None:
    content = bytearray(path.read_bytes())
    for block in reached:
        content[len(content) - 40 + block] = 1
    path.write_bytes(content)


def test_rows_of_folders_files_and_passes() -> None:
    found = hits(0, 10, 20, 21, 22)
    folders = {row.name: (row.blocks, row.reached) for row in rows(found, by_folder(found))}
    assert folders == {"relax": (20, 4), "sym": (10, 0), "all": (40, 5)}
    assert [(row.name, row.reached, row.missed) for row in rows(found, by_file(found))][1:3] == [
        ("relax/op/op.cc", 1, 9),
        ("relax/transform/fuse_ops.cc", 3, 7),
    ]
    reasons = {"FuseOps": "src/relax/transform/fuse_ops.cc, and src/sym/analyzer.cc: groups", "Other": "no file"}
    assert rows(found, by_pass(reasons)) == [CoverageRow("FuseOps", 20, 3)]
    assert rows(found, by_pass({"Gone": "src/relax/gone.cc: not in this library"})) == []


def test_rows_beside_another() -> None:
    relax, *_ = rows(hits(10, 11, 12), by_folder(hits()), hits(12, 13, 14, 15, 30))
    assert relax == CoverageRow("relax", 20, 3, theirs=4, both=1)
    assert relax.missed == 3


def test_most_rows_of_passes_name_their_source() -> None:
    named = by_pass({name: row.why for name, row in PASSES.items()})
    assert len(named) > 0.8 * len(PASSES)
    assert named["CanonicalizeBindings"] == ["src/relax/transform/canonicalize_bindings.cc"]


def test_a_file_of_hits_is_read_as_it_was_made(tmp_path: Path) -> None:
    path = written(tmp_path / HITS_FILE, 0, 39)
    assert read_hits(tmp_path).hit.nonzero()[0].tolist() == [0, 39]
    assert (read_hits(path).runs, read_hits(path).library) == (RUNS, "libtvm.so")
    assert [one.name for one in tmp_path.iterdir()] == [HITS_FILE]


def test_several_runs_reach_what_any_does(tmp_path: Path) -> None:
    paths = [written(tmp_path / "a", 1, 2), written(tmp_path / "b", 2, 3)]
    assert together(paths).hit.nonzero()[0].tolist() == [1, 2, 3]
    other = written(tmp_path / "c", build_id="cd" * 20)
    with pytest.raises(UnreadableHits, match=f"{re.escape(str(other))}: of build cdcdcdcdcdcd, and .* of abababababab"):
        together([*paths, other])


@pytest.mark.parametrize("content", [b"", b"something else" * 9, None, b"passfuzz hits 1\n" + b"\xff" * 16 + b"{}"])
def test_what_is_no_file_of_hits(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / HITS_FILE).write_bytes(content)
    with pytest.raises(UnreadableHits, match=HITS_FILE):
        read_hits(tmp_path)


def test_a_file_of_hits_that_is_not_read_is_named_with_the_reason(tmp_path: Path) -> None:
    large, pipe = tmp_path / "large", tmp_path / "pipe"
    with large.open("wb") as file:
        file.truncate(1 << 29)
    os.mkfifo(pipe)
    for path, why in ((large, "536,870,912 bytes, more than the 268,435,456 that passfuzz reads"), (pipe, "not a reg")):
        with pytest.raises(UnreadableHits, match=f"^{re.escape(str(path))}: {why}"):
            read_hits(path)


def test_names_in_a_file_of_hits_are_within_its_blocks(tmp_path: Path) -> None:
    path = written(tmp_path / "hits")
    path.write_bytes(path.read_bytes().replace(b"30, 40", b"30, 41"))
    with pytest.raises(UnreadableHits, match="not within its blocks"):
        read_hits(path)


def test_growth_is_noted_ever_less_often(tmp_path: Path) -> None:
    meter = Meter(tmp_path / HITS_FILE)
    assert meter(100.0) is None, "nothing is counted yet"
    written(tmp_path / HITS_FILE)
    assert meter(100.0) is None, "TVM was not loaded yet"
    reach(tmp_path / HITS_FILE, 10)
    first = meter(FIRST_S - 1)
    assert first is not None and first.growth == () and first.reached == {"relax": 1, "sym": 0, "all": 1}
    for second in range(int(FIRST_S), 1000):
        if second == 500:
            reach(tmp_path / HITS_FILE, 30)
        last = meter(float(second))
    assert last is not None
    times = [float(grown.at_s) for grown in last.growth]
    assert times[0] == FIRST_S and 10 < len(times) < 20
    assert all(later >= 1.3 * earlier for earlier, later in zip(times, times[1:], strict=False))
    assert [grown.blocks["all"] for grown in last.growth] == [1 if at < 500 else 2 for at in times]
    assert last.line == "reached 5.0% of TVM's basic blocks (relax 5.0%, sym 10.0%)"

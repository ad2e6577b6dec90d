"""What the command has left is read whatever it is: cut, empty, of several processes."""

from __future__ import annotations

import json
from pathlib import Path

from fuzzer.capture.raw import read_spool
from fuzzer.capture.run import CommandEnd, watched_environment

LEVEL = {
    "name": "P",
    "number": 1,
    "tvm": "1",
    "constructor": "",
    "definitions": "",
    "unsaid": [],
    "target": None,
    "target_text": None,
    "config": "",
    "opt_level": 2,
    "test": "",
    "place": "",
    "inside": [],
    "at_s": 5.0,
    "module": "0",
}


def failure(spool: Path, name: str, at_s: float, escaped: bool) -> None:
    folder = spool / name
    folder.mkdir()
    (folder / "0.said").write_text(json.dumps(LEVEL))
    (folder / "0.module").write_text("text")
    (folder / "about").write_text(json.dumps({"kind": "E", "message": "m", "depth": 1, "at_s": at_s}))
    if escaped:
        (folder / "escaped").write_text("")


def test_failures_come_in_the_order_of_time(tmp_path: Path) -> None:
    failure(tmp_path, "failure-1-1", 3.0, False)
    failure(tmp_path, "failure-2-1", 2.0, True)
    found = read_spool(tmp_path)
    assert [(raw.folder.name, raw.escaped) for raw in found.failures] == [
        ("failure-2-1", True),
        ("failure-1-1", False),
    ]
    assert found.failures[0].module(found.failures[0].levels[0]) == "text"
    assert not found.tvm


def test_a_process_that_ended_in_a_pass(tmp_path: Path) -> None:
    for name, depth in (("7-1", b"00000001"), ("8-1", b"00000000"), ("9-1", b"")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "running").write_bytes(depth)
        (tmp_path / name / "0.said").write_text(json.dumps(LEVEL))
    (tmp_path / "tvm-7").write_text("1")
    found = read_spool(tmp_path)
    assert [raw.folder.name for raw in found.unended] == ["7-1"]
    assert found.tvm


def test_what_is_cut_is_a_fault_and_no_end(tmp_path: Path) -> None:
    failure(tmp_path, "failure-1-1", 3.0, False)
    failure(tmp_path, "failure-1-2", 4.0, False)
    (tmp_path / "failure-1-1" / "0.said").write_text('{"name": "P"')
    (tmp_path / "failure-1-2" / "about").write_text("")
    (tmp_path / "fault-1").write_text("one\none\ntwo\n")
    found = read_spool(tmp_path)
    assert found.failures == ()
    assert len(found.faults) == 4
    assert found.faults[-2:] == ("one", "two")


def test_the_environment_keeps_what_the_user_has(tmp_path: Path) -> None:
    made = watched_environment(tmp_path, "all", {"PYTHONPATH": "mine", "PYTEST_PLUGINS": "other", "HOME": "/h"})
    assert made["PYTHONPATH"].endswith(":mine")
    assert made["PYTEST_PLUGINS"].startswith("other,")
    assert (made["HOME"], made["PASSFUZZ_CAPTURE_KEEP"]) == ("/h", "all")


def test_how_a_command_ended_is_said() -> None:
    assert CommandEnd(-11).how == "was killed by SIGSEGV"
    assert CommandEnd(2).how == "ended with status 2"
    assert CommandEnd(-9, late=True).how == "was ended when its time was up"

"""What replay and the server of a TVM tell each other is read by both, and by a Python that has nothing but itself."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fuzzer.replaying.environments import Tvm
from fuzzer.replaying.server import request
from fuzzer.replaying.server_messages import (
    FROM_SERVER,
    FromServer,
    NoTvm,
    RunScript,
    ScriptRan,
    TvmReady,
    line_of,
)
from fuzzer.replaying.warm import SERVER, Job, ServerGone, WarmTvm, from_server
from tests.patience import HANGS_S
from tests.source_trees import ROOT

FROM: list[FromServer] = [
    TvmReady("0.27.0", "/env/tvm/__init__.py", "0.1.14", ("type variables",), True, "libtvm.so:1:2"),
    TvmReady("0.27.0", "/env/tvm/__init__.py", "0.1.14", (), False, ""),
    NoTvm("ImportError: é\n"),
    ScriptRan(3, 139, False, 0.25, 0.125),
]
RUN = RunScript(3, "/case/repro.py", "/said", "/scratch", True, {"A": "b"}, 120.0)


@pytest.mark.parametrize("said", FROM, ids=lambda said: type(said).__name__)
def test_what_the_server_says_is_heard(said: FromServer) -> None:
    assert line_of(said).count(b"\n") == 1
    assert from_server(line_of(said)) == said


def test_what_the_server_is_asked_is_heard() -> None:
    assert request(line_of(RUN)) == RUN


def test_every_record_has_an_example() -> None:
    assert {type(said) for said in FROM} == set(FROM_SERVER)


@pytest.mark.parametrize("said", FROM, ids=lambda said: type(said).__name__)
def test_a_record_that_lacks_a_field_or_has_one_of_another_type_is_none(said: FromServer) -> None:
    data = json.loads(line_of(said))
    for field in dataclasses.fields(said):
        for changed in ({k: v for k, v in data.items() if k != field.name}, {**data, field.name: {}}):
            with pytest.raises(ValueError):
                from_server(json.dumps(changed).encode())


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"{}", b'{"type": 1}', b'{"type": "Ended"}', line_of(RUN)])
def test_what_is_no_record_of_the_server_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):
        from_server(line)


@pytest.mark.parametrize("line", ["nothing that is a record", line_of(FROM[0]).decode().strip()])
def test_a_server_that_says_what_is_no_answer_is_ended(tmp_path: Path, line: str) -> None:
    code = f"import sys\nfor _ in sys.stdin: print({line!r}, flush=True)"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    ready = FROM[0]
    assert isinstance(ready, TvmReady)
    tvm = WarmTvm(Tvm("", Path(sys.executable)), ready, process)
    threading.Thread(target=tvm.listen, daemon=True).start()
    for _ in range(2):
        with pytest.raises(ServerGone):
            tvm.warm(Job(tmp_path / "repro.py", tmp_path, tmp_path, False, ""))
    assert process.poll() is not None


def test_the_server_needs_no_library_but_pythons_own() -> None:
    """Neither of the options finds what is installed, msgspec and TVM included."""
    command = [sys.executable, "-I", "-S", "-c", SERVER, str(ROOT)]
    ended = subprocess.run(command, input=b"", capture_output=True, timeout=HANGS_S, check=False)
    assert from_server(ended.stdout) == NoTvm("ModuleNotFoundError: No module named 'tvm'"), ended.stderr.decode()

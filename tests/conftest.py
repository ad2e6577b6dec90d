"""The option `--sample SEED`: of the deep tests, the tenth that SEED selects. `make test-sample` uses it.

The choice depends on the seed and the name of a test alone, so a failure is repeated by giving the same seed, and each
test comes up in a tenth of the seeds. Tests that are not deep are left to `-m`.

`--hypothesis-profile long` tries many more generated inputs where tests use `tests/hostile.py`.

Tests marked `warm` fork their Python processes (`tests/warm_processes.py`), but for deep ones: so the
scripts of deep tests run in a fresh Python.

`inspect.stack` is cheap: TVM's parser asks for it at each function that it reads, for the line of one frame. To look
for the modules of the sixty frames of pytest takes most of the time of reading a small decorated module (8 ms
instead of 47 ms); `tvm.script.from_source` is as before.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import linecache
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from types import FrameType

import pytest

from tests import hostile, warm_processes

ONE_IN = 10


def stack(context: int = 1) -> list[inspect.FrameInfo]:
    """As `inspect.stack`, with one source line of each frame, and no search for the module of a frame."""
    frame: FrameType | None = sys._getframe(1)
    found: list[inspect.FrameInfo] = []
    while frame is not None:
        code, number = frame.f_code, frame.f_lineno
        line = linecache.getline(code.co_filename, number)
        found.append(inspect.FrameInfo(frame, code.co_filename, number, code.co_name, [line] if line else None, 0))
        frame = frame.f_back
    return found


inspect.stack = stack
subprocess.Popen = warm_processes.Popen
hostile.register_profiles()
gc.disable()  # while tests are collected: nothing of them is garbage


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    marks = {mark.name for mark in item.iter_markers()}
    warm_processes.Popen.warm = "warm" in marks and "deep" not in marks


@pytest.fixture(scope="session", autouse=True)
def state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The key that marks case folders as one's own (`corpus.own`) is not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def few_other_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the other builds for a CPU, all of which `check` tries, two are made: `tests/oracles/test_cpu_builds.py` and
    `tests/fuzzer/test_other_builds.py` make the others. For tests marked `warm`: their processes see the patch."""
    building = import_module("fuzzer.trial.build")
    every = building._other_builds
    monkeypatch.setattr(building, "_other_builds", lambda *given: every(*given)[:2])


def is_chosen(nodeid: str, seed: str) -> bool:
    """Whether a deep test belongs to the sample of this seed."""
    digest = hashlib.sha256(f"{seed}\0{nodeid}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % ONE_IN == 0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sample", metavar="SEED", help=f"run one in {ONE_IN} of the deep tests, chosen by SEED")


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("--sample")
    return None if seed is None else f"one in {ONE_IN} of the deep tests; the same again: make test-sample SEED={seed}"


def pytest_collection_finish() -> None:
    """What is there by now stays, and is not looked at again."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("--sample")
    if seed is None:
        return
    left_out = [item for item in items if item.get_closest_marker("deep") and not is_chosen(item.nodeid, seed)]
    config.hook.pytest_deselected(items=left_out)
    gone = set(map(id, left_out))
    items[:] = [item for item in items if id(item) not in gone]

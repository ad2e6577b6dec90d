"""A plugin of pytest for `passfuzz capture`: which test runs, and which exceptions end one. It changes neither."""

from __future__ import annotations

import sys
from typing import Any

import pytest

_SEEN = "passfuzz_capture_seen"
"""What `fuzzer.capture.inside.seen` is called in `sys.modules`, from the import of TVM on."""
_test = ""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid: str) -> None:
    global _test
    _test = nodeid


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    _tell_the_test()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    _tell_the_test()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: Any) -> None:
    seen, ended = sys.modules.get(_SEEN), call.excinfo
    if seen is not None and ended is not None and not isinstance(ended.value, pytest.skip.Exception):
        seen.ended_by(ended.value)


def _tell_the_test() -> None:
    """Before anything else of the test: it, or its fixtures, may be what imports TVM first."""
    seen = sys.modules.get(_SEEN)
    if seen is not None:
        seen.WHERE.test = _test

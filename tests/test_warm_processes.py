"""Forked Python processes of the tests begin as those that are started anew."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.patience import HANGS_S

SAYS = """
import signal
print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@pytest.mark.parametrize("warm", [pytest.param(True, marks=pytest.mark.warm), False])
def test_a_handler_of_the_tests_is_none_of_a_process_that_they_start(warm: bool) -> None:
    """And a signal that is ignored stays so."""
    handlers = {signal.SIGTERM: lambda *_: None, signal.SIGHUP: signal.SIG_IGN, signal.SIGINT: lambda *_: None}
    old = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        command = [sys.executable, "-c", SAYS]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, check=False)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
    assert ended.stdout.split() == ["True"] * 3, ended.stderr

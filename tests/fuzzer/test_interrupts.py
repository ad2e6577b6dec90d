"""Signals that a campaign notes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from fuzzer.campaign.interrupts import Interrupts


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def number(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    old = signal.getsignal(request.param)
    yield request.param
    assert signal.getsignal(request.param) == old


def test_a_signal_is_noted_and_the_second_one_ends(number: signal.Signals) -> None:
    standard = [os.dup(descriptor) for descriptor in (0, 1, 2)]
    kept_before = signal.signal(number, signal.SIG_DFL)  # nohup ignores one, and what is ignored stays so
    try:
        with Interrupts() as interrupts:
            assert not interrupts.happened
            signal.raise_signal(number)  # to this thread, so that it is noted before the next line
            assert interrupts.happened
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
    finally:
        signal.signal(number, kept_before)
        for descriptor, kept in enumerate(standard):
            os.dup2(kept, descriptor)
            os.close(kept)


def test_what_is_ignored_stays_ignored() -> None:
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not interrupts.happened
    finally:
        signal.signal(signal.SIGHUP, old)

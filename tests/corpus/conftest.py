"""Limits on the clock, raised for every test of this folder: on a busy machine they must end only what hangs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.patience import OF_JUDGING, raise_limits


@pytest.fixture(scope="session", autouse=True)
def generous_limits() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        raise_limits(patch, *OF_JUDGING)
        yield

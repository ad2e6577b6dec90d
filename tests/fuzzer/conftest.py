"""Limits on the clock, raised for every test of this folder: on a busy machine they must end only what hangs.

Those of judging reach the processes that are forked (`warm`). A test of such a limit sets it back for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fuzzer.campaign import loop
from fuzzer.worker import confirm
from tests.patience import HANGS_S, OF_JUDGING, raise_limits


@pytest.fixture(scope="session", autouse=True)
def generous_limits() -> Iterator[None]:
    plan_of = loop.plan_of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "REDUCE_S", HANGS_S)
        patch.setattr(loop, "GRACE_S", 2 * HANGS_S)  # half of it bounds a reduction
        patch.setattr(loop, "plan_of", lambda *given: replace(plan_of(*given), deadline_s=HANGS_S))
        patch.setattr(confirm, "DEADLINE_S", HANGS_S)
        raise_limits(patch, *OF_JUDGING, "fuzzer.oneshot.prepare.STAGE_S")
        yield

"""Limits on the clock, raised for every test of this folder: on a busy machine they must end only what hangs.

Those of judging reach the processes that are forked (`warm`). A test of such a limit sets it back for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from fuzzer import cli
from fuzzer.campaign import begin, loop
from tests.patience import HANGS_S, OF_COMMANDS, OF_JUDGING, raise_limits


@pytest.fixture(scope="session", autouse=True)
def generous_limits() -> Iterator[None]:
    plan_of = begin.plan_of
    with pytest.MonkeyPatch.context() as patch:
        raise_limits(patch, *OF_JUDGING, *OF_COMMANDS)
        patch.setattr(loop, "GRACE_S", 2 * HANGS_S)  # half of it bounds a reduction
        patch.setattr(begin, "plan_of", lambda *given: replace(plan_of(*given), deadline_s=HANGS_S))
        yield


@pytest.fixture
def passfuzz(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command line in this process: (exit status, stdout, stderr)."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err

    return run

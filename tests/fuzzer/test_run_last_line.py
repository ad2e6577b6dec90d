"""What the last line of `passfuzz run` says of failures that nobody has reduced yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fuzzer.commands import run
from tests.fuzzer.test_cli import campaign


@pytest.mark.parametrize(("number", "failures"), [(1, "1 failure was"), (14, "14 failures were")])
def test_a_run_that_has_not_reduced_all_says_so_last(
    passfuzz: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    number: int,
    failures: str,
) -> None:
    """After "0 new causes", and with status 0, what nobody has looked at must not be missed."""
    monkeypatch.setattr(run, "run_campaign", campaign(unreduced=number, interrupted=True))
    out = tmp_path / "out"
    status, stdout, _ = passfuzz("run", "--out", out)
    said = f"{failures} seen and not reduced, and may be new: see {out / 'unreduced.jsonl'}; "
    assert (status, stdout.splitlines()[-1]) == (0, f"{said}`passfuzz run --resume --out {out}` goes on")

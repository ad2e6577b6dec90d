"""What the last line of `passfuzz run` says of failures that nobody has reduced yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fuzzer.commands import run
from tests.fuzzer.test_cli import campaign


@pytest.mark.parametrize(
    ("number", "known", "failures"),
    [
        (1, 0, "1 failure was seen and not reduced, and may be new"),
        (14, 0, "14 failures were seen and not reduced, and may be new"),
        (14, 3, "14 failures were seen and not reduced, of which 11 may be new"),
        (14, 14, "14 failures were seen and not reduced, and look like known causes"),
        (1, 1, "1 failure was seen and not reduced, and looks like known causes"),
    ],
)
def test_a_run_that_has_not_reduced_all_says_so_last(
    passfuzz: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    number: int,
    known: int,
    failures: str,
) -> None:
    """After "0 new causes", and with status 0, what nobody has looked at must not be missed."""
    monkeypatch.setattr(run, "run_campaign", campaign(unreduced=number, unreduced_known=known, interrupted=True))
    out = tmp_path / "out"
    status, stdout, _ = passfuzz("run", "--out", out)
    said = f"{failures}: see {out / 'unreduced.jsonl'}; "
    assert (status, stdout.splitlines()[-1]) == (0, f"{said}`passfuzz run --resume --out {out}` goes on")

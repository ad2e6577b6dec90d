"""What `triage` and `report --update` do of a run in which the case of one cause cannot be read: all the rest."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from corpus.registry import KnownCause, add_entries, read_registry
from tests.corpus.stored_cases import found
from tests.fuzzer.triage_data import FINDINGS, A, B, left_by_a_run, titles

BROKEN = found("aa", "FuseTIR", "its case.json is empty", tier="A", at_s=0.5)


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "mine" / "known.toml"


@pytest.fixture
def half_broken(tmp_path: Path) -> Path:
    """What a run leaves of three causes, where the case of the first is an empty file."""
    out = left_by_a_run(tmp_path / "half", BROKEN, *FINDINGS)
    (out / "findings" / BROKEN.signature.slug / "case.json").write_text("", encoding="utf-8")
    return out


def test_a_case_that_cannot_be_read_keeps_no_other_from_promotion(
    passfuzz: Any, half_broken: Path, known: Path
) -> None:
    status, stdout, err = passfuzz("triage", half_broken, "--known", known, "--promote", "all")
    assert (status, [line.split(":")[0] for line in stdout.splitlines()]) == (2, [A, B])
    _, said, count = err.splitlines()
    assert f"{BROKEN.signature.slug}" in said and "case.json" in said
    assert count == "passfuzz: error: 1 of 3 causes left out; the others are written"
    assert titles(known) == {"a": "open", "b": "open"}
    told = json.loads(
        passfuzz("triage", half_broken, "--known", known, "--promote", A, "--mark", f"{B}=wont-fix", "--json")[1]
    )
    assert (len(told["done"]), len(told["refused"])) == (1, 1)


def test_a_case_that_cannot_be_read_keeps_no_other_from_a_registry(
    passfuzz: Any, half_broken: Path, known: Path
) -> None:
    add_entries(known, [KnownCause("b", "By hand", seen="2026-01-01")])
    status, stdout, err = passfuzz("report", half_broken, "--update", known)
    assert (status, stdout) == (2, "")
    assert err.endswith("error: 1 of 3 causes left out; the others are written\n")
    assert {entry.cause: entry.seen for entry in read_registry(known).entries} == dict.fromkeys(
        "ab", date.today().isoformat()
    )

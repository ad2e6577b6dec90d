"""Findings in words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import oracles.reference
from corpus.number_of import number_of
from oracles.evidence import ReferenceTrap, TrapKind
from oracles.reference.errors import symptom_of
from reports.causes import causes_of
from reports.tally import Tally
from reports.words import progress_line, title
from tests.reports.reports_data import finding, row

RAISED = re.compile(r"\bTrap\(\s*[\"']([a-z0-9-]+)[\"']")


def test_a_title_says_what_is_wrong_at_the_place_that_a_trap_names() -> None:
    trap = ReferenceTrap("out-of-bounds")
    of_trap = finding(message="f, block b: A[0]", symptom=symptom_of(trap.kind), evidence=trap)
    (cause,) = causes_of([row(of_trap)])
    assert title(cause) == "reference trap: out-of-bounds: f, block b: A[0]"
    (cause,) = causes_of([row(finding(message="Var x is not defined"))])
    assert title(cause) == "Var x is not defined"


def test_every_kind_of_trap_that_is_raised_is_listed() -> None:
    folder = Path(next(iter(oracles.reference.__path__)))
    raised = {kind for file in folder.rglob("*.py") for kind in RAISED.findall(file.read_text(encoding="utf-8"))}
    assert len(raised) > 12
    assert raised <= set(get_args(TrapKind))


@pytest.mark.parametrize(("number", "said"), [(0, "0 cases"), (1, "1 case"), (2, "2 cases"), (11, "11 cases")])
def test_one_is_singular(number: int, said: str) -> None:
    assert number_of(number, "case") == said
    assert number_of(number, "pass", "passes") == f"{number} {'pass' if number == 1 else 'passes'}"
    assert progress_line(Tally(cases=number, generated=number), 10.0).startswith(f"{said}, ")

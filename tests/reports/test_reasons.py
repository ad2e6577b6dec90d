"""Why something was not judged, for a reader: explained by how it begins."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reports.reasons import MEANINGS, grouped

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("generators", "oracles", "fuzzer")


def test_reasons_that_begin_alike_are_together_and_explained() -> None:
    counts = {"reference: sort of int8": 3, "reference: If": 5, "too large": 9, "rejected: FuseOps: ValueError": 2}
    reference, rejected, others = grouped(counts)
    assert (reference.head, reference.total, reference.reasons) == ("reference", 8, (("If", 5), ("sort of int8", 3)))
    assert reference.meaning and rejected.meaning
    assert rejected.reasons == (("FuseOps: ValueError", 2),)
    assert (others.head, others.meaning, others.reasons) == ("others", "", (("too large", 9),))


def test_nothing_is_lost() -> None:
    counts = {f"{head}: x{number}": number for number, head in enumerate((*MEANINGS, "unknown", "x"), 1)}
    groups = grouped({**counts, "reference": 7, ": x": 1, "": 2})
    assert sum(group.total for group in groups) == sum(counts.values()) + 10
    assert sum(number for group in groups for _, number in group.reasons) == sum(group.total for group in groups)


@pytest.mark.parametrize("head", MEANINGS)
def test_every_beginning_is_one_that_the_code_has(head: str) -> None:
    written = re.compile(rf"""f?["']{re.escape(head)}(?::| )""")
    assert any(written.search(path.read_text()) for room in ROOMS for path in (ROOT / room).rglob("*.py"))

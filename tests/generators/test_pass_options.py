"""Every option of a PassContext that a Relax pass of this TVM reads is drawn, or is left out with a reason."""

from __future__ import annotations

import os

from generators.passes.row import PassRow
from generators.passes.table import with_trait
from generators.passes.traits import ActsWith

os.environ.setdefault("TVM_NUM_THREADS", "1")

import pytest
import tvm

from generators.passes.constructors import options_of
from generators.passes.excluded import EXCLUDED_RELAX_OPTIONS
from generators.passes.table import PASSES
from generators.source import SeededSource

REGISTERED = sorted(name for name in tvm.transform.PassContext.list_configs() if name.startswith("relax."))


def drawn() -> set[str]:
    return {name for row in PASSES.values() for text in row.fires.options for name in options_of(text)}


@pytest.mark.parametrize("name", REGISTERED)
def test_an_option_of_relax_is_drawn_or_left_out_with_a_reason(name: str) -> None:
    assert (name in drawn()) != (name in EXCLUDED_RELAX_OPTIONS)


def test_what_is_drawn_is_registered() -> None:
    assert {name for name in drawn() if name.startswith("relax.")} <= set(REGISTERED)


@pytest.mark.parametrize(("row", "acts_with"), with_trait(ActsWith))
def test_a_pass_that_acts_with_an_option_alone_always_gets_it(row: PassRow, acts_with: ActsWith) -> None:
    for index in range(20):
        assert acts_with.option in options_of(row.draw_options(SeededSource(5, index)))

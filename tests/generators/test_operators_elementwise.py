"""Corner cases of elementwise operators, by hand; test_operators_independent.py has the rest."""

from __future__ import annotations

import numpy as np

from generators.operators.table import OPERATORS


def test_clip_of_an_empty_interval_gives_its_lower_end() -> None:
    """As tvm.topi.clip writes it: max(min(x, a_max), a_min)."""
    got = OPERATORS["relax.clip"].meaning(np.array([-5.0, 1.0, 5.0]), 2, 0)
    assert got.tolist() == [2.0, 2.0, 2.0]

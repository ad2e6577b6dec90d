"""What a repro script is made of: its imports, and how short it is."""

from __future__ import annotations

import pytest

from corpus.repro import repro_text
from tests.corpus.test_repro import ADD, stored


def test_only_tvm_and_numpy_are_imported() -> None:
    text = repro_text(stored("numeric", "ToNonDataflow", None))
    lines = [line for line in text.splitlines() if line.strip().startswith(("import ", "from "))]
    imports = [line.split()[1].split(".")[0].rstrip(",") for line in lines]
    assert set(imports) <= {"mmap", "os", "signal", "sys", "typing", "numpy", "tvm", "__future__"}


SHORT = {"purity": 25, "definedness": 28, "well_formed": 24, "survives": 27, "input_unchanged": 19, "numeric": 39}
"""Lines of a script besides its module (what is found comes back small)."""


@pytest.mark.parametrize("oracle", list(SHORT))
def test_the_frame_is_short(oracle: str) -> None:
    text = repro_text(stored(oracle, "ToNonDataflow", None))
    assert len(text.splitlines()) - len(ADD.strip().splitlines()) <= SHORT[oracle]
    assert max(len(line) for line in text.splitlines()) <= 120

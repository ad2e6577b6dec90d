"""A script for a finding in a pass that no line of Python constructs: it runs the test that applies the pass again.

Scripts for all other findings are `corpus.scripts.repro`'s, and need tvm and numpy only.
"""

from __future__ import annotations

from corpus.frames import FRAMES
from corpus.scripts.repro import title_of
from corpus.store import StoredCase
from fuzzer.versions import MISSING, passfuzz_version


def script_that_runs_the_test(stored: StoredCase, folder: str) -> str:
    """The text of `repro.py`. folder: where pytest was called."""
    return FRAMES.get_template("pytest.py.j2").render(
        title=title_of(stored),
        test=stored.case.origin.file,
        folder=folder,
        signature=stored.signature,
        installed=passfuzz_version() != MISSING,
    )

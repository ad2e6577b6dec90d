"""Repro scripts on a TVM that cannot run them: exit status 2, and one line of why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from generators.case import ModuleText, PassCall
from tests.corpus.test_repro import ADD, run, stored, written

pytestmark = pytest.mark.warm

CANNOT_RUN = {
    "unknown pass": lambda case: replace(case, passes=(PassCall("Gone", "relax.transform.GoneInThisVersion()"),)),
    "script of another version": lambda case: replace(case, module=ModuleText(ADD.replace("R.add", "R.no_such_op"))),
    "set-up pass that fails": lambda case: replace(
        case, setup=(PassCall("Gone", "relax.transform.FuseOpsByPattern(3)"),)
    ),
    "loaded file that is gone": lambda case: replace(case, load="/nonexistent.py"),
}


CANNOT_SAYS = {
    "unknown pass": "GoneInThisVersion",
    "script of another version": "DiagnosticError",
    "set-up pass that fails": "Error",
    "loaded file that is gone": "put beside this script",
}


@pytest.mark.parametrize(
    "why", [pytest.param(why, marks=[pytest.mark.deep] * (why != "unknown pass")) for why in CANNOT_RUN]
)
def test_what_this_tvm_cannot_run_is_said(tmp_path: Path, why: str) -> None:
    base = stored("survives", "ToNonDataflow", None)
    status, line = run(written(tmp_path, replace(base, case=CANNOT_RUN[why](base.case))))
    assert status == 2
    assert len(line.splitlines()) == 1
    assert CANNOT_SAYS[why] in line

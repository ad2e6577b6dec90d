"""A pass of a user's own: found by name in the files that are loaded, made small, and shown by a script of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tvm

from corpus.finding import Finding
from corpus.findings import save_finding
from corpus.scripts.module_text import live_module, text_of
from fuzzer.plugin.ending import _reduced
from fuzzer.plugin.suite_watch import Ledger, Sighting
from fuzzer.protocol import Failure
from fuzzer.trial.foreign.pass_origin import PassOrigin, is_of_tvm, names_in, origin_of
from generators import tvm_api
from generators.case import Case, ModuleText, PassCall
from oracles.oracle import StepOracle
from oracles.table import ORACLES
from oracles.verdict import Failed
from tests.fuzzer.foreign_suites import FAULTY
from tests.patience import HANGS_S

pytestmark = pytest.mark.warm

NAME = "suite_of_passes"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A loaded file with passes of a user's own."""
    file = tmp_path_factory.mktemp("suite") / "passes.py"
    file.write_text(FAULTY)
    spec = importlib.util.spec_from_file_location(NAME, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[NAME]


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("LosesABinding", "Loses()"),
        ("Nowhere", None),
        *(
            pytest.param(*row, marks=pytest.mark.deep)
            for row in (("SwapsOperators", "swaps"), ("SwapsInPlace", "swaps_in_place"))
        ),
    ],
)
def test_the_constructor_is_a_name_of_the_file(suite: Any, name: str, expression: str | None) -> None:
    found = origin_of(name, lambda make: str(make().info.name) == name)
    assert (found and found.expression) == expression
    if found is not None:
        made = eval(found.expression, dict(names_in(found)))
        assert isinstance(made, tvm.ir.transform.Pass)
        assert found.file == Path(suite.__file__)


def test_a_pass_that_gives_something_else_is_another_one(suite: Any) -> None:
    assert origin_of("SwapsOperators", lambda make: False) is None


def test_names_of_a_file_that_is_not_loaded_are_read_anew(suite: Any, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("LIMIT = 3\n")
    assert names_in(PassOrigin(tmp_path / "other.py", "LIMIT"))["LIMIT"] == 3


@pytest.mark.parametrize(
    ("name", "of_tvm"),
    [
        ("FuseOps", True),
        ("tirx.Simplify", True),
        ("sequential", True),
        ("ApplyDefaultSchedule", True),
        ("SwapsOperators", False),
        ("mine.Rewrite", False),
    ],
)
def test_tvms_passes_are_no_users_own(name: str, of_tvm: bool) -> None:
    assert is_of_tvm(name) is of_tvm


def test_a_users_pass_is_made_small_and_its_script_needs_no_test(suite: Any, tmp_path: Path) -> None:
    module = ModuleText(text_of(suite.Module).script)
    case = Case(module, (PassCall("LosesABinding", "Loses()"),), load=suite.__file__)
    row = ORACLES["definedness"]
    assert isinstance(row, StepOracle)
    failure = Failure(0, row.name, "undefined", "undefined variable", "", "LosesABinding", "B")
    made = _reduced(Sighting(failure, 0, case, 0.0), tmp_path, float("inf"), Ledger())
    assert isinstance(made, Finding)
    assert isinstance(made.verdict, Failed)
    assert "nowhere" in made.verdict.detail and "nowhere" in made.verdict.difference
    assert len(live_module(made.case.module)["main"].body.blocks) < len(suite.Module["main"].body.blocks) + 1
    assert len(made.case.module.script) < len(module.script)
    script = save_finding(tmp_path, made) / "repro.py"
    assert "Loses = loaded.Loses" in script.read_text()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    shown = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False
    )
    assert (shown.returncode, "undefined" in shown.stdout) == (1, True)


def test_a_pass_object_is_kept_with_the_module_that_shows_it(suite: Any) -> None:
    given = suite.Module.clone()
    after = suite.swaps_in_place(given)
    again = origin_of(
        "SwapsInPlace", lambda make: bool(tvm_api.structural_equal(after, make()(suite.Module.clone()), True))
    )
    assert again is not None and again.expression == "swaps_in_place"

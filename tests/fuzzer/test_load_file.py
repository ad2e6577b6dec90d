"""What is said of a `--load` file that can be read: what takes long, and what in it is ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer import cli
from fuzzer.trial.load_file import complaint_about
from fuzzer.trial.repertoire import Repertoire, load_passes
from generators.passes.loaded import ignored, rows_from_contracts
from tests.fuzzer.module_files import GOOD

pytestmark = [pytest.mark.warm, pytest.mark.usefixtures("few_other_builds")]


def test_a_loaded_file_without_end(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("while True: pass")
    told: list[str] = []
    assert complaint_about(path, 0.3, told.append, slow_s=0.0) == "is not read to its end within 0.3 s"
    assert told == [f"{path}: still reading it, for up to 0.3 s"]


IGNORED = "import tvm\nPASSES = {'Mine': lambda: tvm.transform.PrintIR()}\n"
IGNORED += "CONTRACTS = {'Mime': {}, 'Mine': {'phse': 'tir', 'colour': 1}}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "good.py", "--load", "mine.py"),
        pytest.param(
            ("run", "--cases", "2", "--jobs", "2", "--load", "mine.py", "--oracles", "survives", "--out", "out"),
            marks=pytest.mark.deep,
        ),
    ],
)
def test_what_is_ignored_of_a_loaded_file_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_text(GOOD)
    Path("mine.py").write_text(IGNORED)
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    assert ended.value.code == 0
    ours = [line for line in capsys.readouterr().err.splitlines() if "mine.py: ignored: " in line]
    assert [line.partition("ignored: ")[2] for line in ours] == [
        "CONTRACTS['Mime']: no such pass in PASSES; did you mean Mine?",
        "CONTRACTS['Mine']['phse']: no such field; did you mean phase?",
    ]


@pytest.mark.parametrize(
    ("field", "meant"), [("fase", "phase"), ("phases", "phase"), ("idempotence", "idempotent"), ("base", None)]
)
def test_a_field_that_looks_or_sounds_like_a_known_one_is_told(field: str, meant: str | None) -> None:
    told = ignored(("Mine",), {"Mine": {field: 1}})
    assert told == ((f"CONTRACTS['Mine'][{field!r}]: no such field; did you mean {meant}?",) if meant else ())


OF_TIR = """
import tvm
from tvm import tirx
PASSES = {
    "OfRelax": lambda: tvm.relax.transform.FuseTIR(),
    "OfTir": lambda: tirx.transform.prim_func_pass(lambda f, mod, ctx: f, opt_level=0),
    "OfModules": lambda: tvm.transform.module_pass(lambda mod, ctx: mod, opt_level=0),
    "OfBlocks": lambda: tirx.transform.prim_func_pass(lambda f, mod, ctx: f, opt_level=0),
    "OfLoops": lambda: tirx.transform.StmtSimplify(),
}
CONTRACTS = {"OfModules": {"phase": "tir"}, "OfBlocks": {"phase": "tir", "form": "sblock"}}
CONTRACTS |= {"OfRelax": {"phase": "legalized"}, "OfLoops": {"phase": "tir", "form": "loops"}}
"""


def test_a_loaded_pass_over_prim_funcs_is_one_of_tir_without_a_contract_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OF_TIR)
    repertoire = Repertoire(load_passes(path)[0])
    spaces = {
        "OfRelax": "",
        "OfTir": "tirx",
        "OfModules": "tirx",
        "OfBlocks": "s_tir",
        "OfLoops": "tirx",
        "codegen": "",
    }
    assert {name: repertoire.space_of(name) for name in spaces} == spaces


def test_notes_of_the_file_s_own_and_unset_fields_are_taken_as_they_are() -> None:
    """Files of seeded faults hold None for what does not matter, a target's name, and what they are about."""
    contract = {"phase": "tir", "form": None, "needs_target": "cuda", "idempotent": None, "preserves_signature": None}
    notes = {"oracle": "numeric", "feature": "x", "symptom": "y", "upstream": "z"}
    assert ignored(("Mine",), {"Mine": {**contract, **notes}}) == ()
    row = rows_from_contracts(("Mine",), {"Mine": {**contract, **notes}})["Mine"]
    plain = rows_from_contracts(("Mine",), {"Mine": {"phase": "tir", "needs_target": True}})["Mine"]
    assert row == plain
    assert row.place.needs_target and not row.promise.idempotent
    unset = rows_from_contracts(("Mine",), {"Mine": {"needs_target": None}})["Mine"]
    assert unset == rows_from_contracts(("Mine",), {})["Mine"]

"""`passfuzz harvest`: kept modules become case folders that read back; what is of no use is counted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus import own
from corpus.escapes import is_slug
from corpus.store import read_case
from fuzzer.cli import app
from fuzzer.commands.harvest import HarvestResult, harvest, show_harvest
from fuzzer.errors import UsageError
from fuzzer.trust import admit

pytestmark = [pytest.mark.warm, pytest.mark.usefixtures("few_other_builds")]

SCRIPTS = {
    "a": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            y: R.Tensor((2, 3), "float32") = R.nn.relu(x)
            R.output(y)
        return y
""",
    "unknown": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = R.call_dps_packed("nobody_knows_this", x, out_ty=R.Tensor((2, 3), "float32"))
        return y
""",
}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder as `pytest --passfuzz-out` leaves it: a module, the same under other names, one of no use."""
    from generators import tvm_api

    texts = {**SCRIPTS, "b": SCRIPTS["a"].replace("y", "renamed")}
    folder = tmp_path / "out" / "modules"
    folder.mkdir(parents=True)
    for name, text in texts.items():
        module = tvm_api.json_of(tvm_api.module_from_script(text))
        entry = {"pass": "Normalize", "test": f"test_{name}", "module": module}
        (folder / f"{name}.json").write_text(json.dumps(entry))
    return tmp_path / "out"


def test_a_seed_is_a_case_that_reads_back(kept: Path, tmp_path: Path) -> None:
    result = harvest(kept, tmp_path / "seeds")
    assert (result.modules, len(result.seeds)) == (3, 1)
    case = read_case(tmp_path / "seeds" / result.seeds[0]).case
    assert [call.name for call in case.passes] == ["Normalize"]
    assert {argument.shape for call in case.calls for argument in call.arguments} == {(2, 3)}
    assert case.origin.file == "test_a"


def test_a_seed_is_as_strange_as_the_folder_that_it_comes_from(kept: Path, tmp_path: Path) -> None:
    """And still fit to start from: what TVM prints is plain."""
    result = harvest(kept, tmp_path / "seeds")
    folder = tmp_path / "seeds" / result.seeds[0]
    assert not own.is_own(folder)
    admit(folder, read_case(folder).case, None)


def test_what_is_left_out_is_counted(kept: Path, tmp_path: Path) -> None:
    result = harvest(kept, tmp_path / "seeds")
    assert result.left_out["the same as another but for names of variables"] == 1
    assert sum(result.left_out.values()) == 2


def test_a_seed_can_be_checked(kept: Path, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds"
    told = CliRunner().invoke(app, ["harvest", str(kept), "-o", str(seeds), "--json"])
    assert told.exit_code == 0
    seed = json.loads(told.stdout)["seeds"][0]
    checked = CliRunner().invoke(app, ["check", str(seeds / seed), "--json"])
    rows = json.loads(checked.stdout)["rows"]
    assert ("numeric", "passed") in [(row["oracle"], row["verdict"]) for row in rows]


def test_one_is_singular(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_harvest(HarvestResult(1, ("a",), {}), tmp_path, as_json=False)
    show_harvest(HarvestResult(2, (), {}), tmp_path, as_json=False)
    assert capsys.readouterr().out == f"1 seed of 1 module in {tmp_path}\n0 seeds of 2 modules in {tmp_path}\n"


def test_a_folder_without_modules_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder modules"):
        harvest(tmp_path, tmp_path / "seeds")


def test_a_hostile_name_is_no_path_and_a_corrupt_file_stops_no_other(kept: Path, tmp_path: Path) -> None:
    folder = kept / "modules"
    entry = json.loads((folder / "a.json").read_text())
    for name in ("b", "unknown"):
        (folder / f"{name}.json").unlink()
    hostile = str(tmp_path / "elsewhere" / "\x1b[31m")
    (folder / "a.json").write_text(json.dumps({**entry, "pass": hostile, "test": "\ud800 ](x) @user\n# head"}))
    (folder / "b.json").write_text("[" * 100_000)
    (folder / "c.json").write_text(json.dumps({**entry, "module": 5}))
    (folder / "d.json").write_text(json.dumps({**entry, "module": "{}"}))
    (folder / "e.json").mkdir()
    os.mkfifo(folder / "f.json")
    seeds = tmp_path / "seeds"
    result = harvest(kept, seeds)
    assert (result.modules, len(result.seeds), sum(result.left_out.values())) == (6, 0, 6)
    (folder / "a.json").write_text(json.dumps({**entry, "pass": hostile, "test": "](x) @user\n# head"}))
    result = harvest(kept, seeds)
    assert (result.modules, len(result.seeds)) == (6, 1)
    assert not (tmp_path / "elsewhere").exists()
    assert [path.name for path in seeds.iterdir()] == list(result.seeds)
    assert all(map(is_slug, result.seeds))
    readme = (seeds / result.seeds[0] / "README.md").read_text()
    assert "\x1b" not in readme and "\n# head" not in readme
    for file in ("b", "c", "e", "f"):
        assert any(f"{file}.json cannot be read" in reason for reason in result.left_out)
    assert not [reason for reason in result.left_out if "own fault" in reason]

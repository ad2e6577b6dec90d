"""`--tvm` of `run`, `check` and `reduce`: which Python goes on, what is lent to it, and what is refused in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from fuzzer import under_test
from fuzzer.processes import lent, start
from fuzzer.replaying import environments
from fuzzer.versions import ffi_version, passfuzz_version, tvm_version
from tests.fuzzer.test_replay import fake_build
from tests.patience import HANGS_S
from tests.quick import one_in

ROOT = Path(__file__).resolve().parents[2]
MODULE = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y
"""
COMMANDS = ("run", "check", "reduce")
Passfuzz = Callable[..., tuple[int, str, str]]
Executed = list[tuple[list[str], dict[str, str]]]


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "module.py").write_text(MODULE)
    return tmp_path / "module.py"


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> Executed:
    """Commands and environments that this process would have become."""
    found: Executed = []

    def become(_program: str, command: list[str], environment: dict[str, str]) -> None:
        found.append((command, environment))
        raise SystemExit(0)

    monkeypatch.setattr(under_test.os, "execve", become)
    return found


def arguments(command: str, module: Path) -> list[str]:
    return (
        [command, "--cases", "1", "--out", str(module.parent / "out")] if command == "run" else [command, str(module)]
    )


# --- which Python -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", one_in(3, COMMANDS))
def test_the_command_begins_again_with_the_build(
    command: str, module: Path, passfuzz: Passfuzz, executed: Executed
) -> None:
    tree = fake_build(module.parent / "tree", "0.28.dev0")
    given = [*arguments(command, module), "--tvm", str(tree)]
    assert passfuzz(*given)[0] == 0
    ((words, environment),) = executed
    assert (words[0], words[1], words[3:]) == (sys.executable, "-c", given)
    assert environment["PYTHONPATH"].split(os.pathsep)[0] == str(tree / "python")
    assert environment["TVM_LIBRARY_PATH"] == str(tree / "build" / "lib")


def test_a_version_is_installed_once_and_its_python_goes_on(
    module: Path, passfuzz: Passfuzz, executed: Executed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.setattr(environments, "python_with", lambda version: Path(sys.executable))
    version = tvm_version()
    assert passfuzz("check", module, f"--tvm={version}")[0] == 0
    ((_, environment),) = executed
    assert "PYTHONPATH" not in environment


SAYS = """
import sys
from fuzzer.versions import ffi_version, passfuzz_version, tvm_version
from fuzzer.processes.start import module_command
print(tvm_version(), ffi_version(), passfuzz_version(), "PYTHONPATH" in __import__("os").environ)
if len(sys.argv) < 2:
    import subprocess
    subprocess.run(module_command("says", "again"), check=True)
"""


def test_versions_are_those_of_the_tvm_under_test_in_children_as_well(tmp_path: Path) -> None:
    (tmp_path / "says.py").write_text(SAYS)
    lend = lent.to_lend(str(ROOT), "0.28.dev0", "0.1.99", "9.9")
    command = start.lending_command(sys.executable, lend, "says", [])
    ended = run(command, PYTHONPATH=str(tmp_path))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == ["0.28.dev0 0.1.99 9.9 True"] * 2


def run(command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    return subprocess.run(
        command, capture_output=True, text=True, timeout=HANGS_S, check=False, env=environment, cwd="/"
    )


# --- what is lent -----------------------------------------------------------------------------------------


def top_levels(name: str, left_out: tuple[str, ...]) -> set[str]:
    """The packages and modules of a distribution that is installed, and of all that it depends on."""
    found: set[str] = set()
    seen, left = set(left_out), [name]
    while left:
        one = left.pop().lower().replace("_", "-")
        if one in seen:
            continue
        seen.add(one)
        try:
            there = distribution(one)
        except PackageNotFoundError:
            continue  # for another Python or system
        paths = [path for path in there.files or () if path.suffix == ".py" and path.parts[0] != ".."]
        found |= {path.parts[0].removesuffix(".py") for path in paths}
        needs = [Requirement(text) for text in there.requires or ()]
        left += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return found


def test_all_that_passfuzz_imports_is_lent_and_no_tvm() -> None:
    wanted = top_levels("passfuzz", ("numpy", "ml-dtypes")) - set(lent.ROOMS)
    assert wanted - set(lent.IMPORTED) == set()
    assert len(wanted) > 10
    assert not {"tvm", "tvm_ffi", "numpy", "ml_dtypes", "scipy"} & set(lent.IMPORTED)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds TVM and what TVM imports, and nothing of passfuzz."""
    folder = tmp_path_factory.mktemp("environment") / "bare"
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in ("apache-tvm", "apache-tvm-ffi", "numpy", "ml_dtypes", "typing_extensions"):
        there = distribution(name)
        for top in {path.parts[0] for path in there.files or () if path.parts[0] not in ("..", "__pycache__")}:
            (site / top).symlink_to(Path(str(there.locate_file(top))))
    return folder


def passfuzz_of(*words: object) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, "-m", "fuzzer.cli", *map(str, words)], PYTHONPATH=str(ROOT))


def installed(environment: Path) -> set[str]:
    """What lies among the packages, without the bytecode that Python keeps of those that it has read."""
    return {path.name for path in environment.glob("lib/python*/site-packages/*")} - {"__pycache__"}


@pytest.mark.deep
def test_an_environment_without_passfuzz_judges_and_stays_as_it_is(bare: Path, module: Path) -> None:
    before = installed(bare)
    ended = passfuzz_of("check", module, "--passes", "FuseOps", "--tvm", bare, "--json")
    assert ended.returncode == 0, ended.stderr
    assert {row["verdict"] for row in json.loads(ended.stdout)["rows"]} >= {"passed"}
    assert installed(bare) == before
    own = run([str(bare / "bin/python"), "-c", "import msgspec"])
    assert "No module named 'msgspec'" in own.stderr


@pytest.mark.deep
def test_a_campaign_says_which_tvm_it_judged(bare: Path, tmp_path: Path) -> None:
    ended = passfuzz_of("run", "--cases", "2", "--jobs", "1", "--seed", "1", "--out", tmp_path / "out", "--tvm", bare)
    assert ended.returncode in (0, 1), ended.stderr
    summary: dict[str, Any] = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["tvm"], summary["passfuzz"], summary["cases"]) == (tvm_version(), passfuzz_version(), 2)
    assert ffi_version() in (tmp_path / "out" / "resume.json").read_text()


# --- what is refused --------------------------------------------------------------------------------------


def taking(bare: Path, tmp_path: Path, **files: str) -> subprocess.CompletedProcess[str]:
    """How the Python of `bare` takes what is lent, with these modules of its own."""
    for name, text in files.items():
        (tmp_path / name).with_suffix(".py").write_text(text)
    lend = lent.to_lend(str(ROOT), "0.28", "0.1", "0.1")
    command = start.lending_command(str(bare / "bin/python"), lend, "fuzzer.cli", ["list", "targets"])
    return run(command, PYTHONPATH=str(tmp_path))


def test_what_is_lent_to_another_python_works(bare: Path, tmp_path: Path) -> None:
    ended = taking(bare, tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "llvm" in ended.stdout


def test_a_compiled_package_for_another_python_is_asked_for_in_a_line(bare: Path, tmp_path: Path) -> None:
    ended = taking(bare, tmp_path, msgspec="raise ImportError('compiled for another Python')")
    assert (ended.returncode, ended.stdout) == (3, "")
    (line,) = ended.stderr.splitlines()
    assert "cannot import msgspec" in line
    assert line.endswith(f"{bare / 'bin/python'} -m pip install msgspec")


def test_an_older_package_than_passfuzz_needs_is_named(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "rich-1.0.dist-info").mkdir()
    (tmp_path / "rich-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: rich\nVersion: 1.0\n")
    ended = taking(bare, tmp_path)
    assert ended.returncode == 3
    (line,) = ended.stderr.splitlines()
    assert "has rich 1.0, and passfuzz needs rich>=" in line
    assert "-m pip install 'rich>=" in line


def test_a_python_that_is_too_old_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lent.sys, "version_info", (3, 9, 1))
    with pytest.raises(SystemExit) as ended:
        lent.take("[]", True)
    assert ended.value.code == 3
    assert "is Python 3.9; passfuzz needs 3.10 or newer" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        (("--tvm", "0.27.0.post1", "--tvm", "0.26.0"), 2, "--tvm 0.26.0: one TVM for one command"),
        (("--tvm", "../0.27.0"), 2, "no version of TVM, no Python and no folder of TVM"),
        (("--tvm", "0.27.0/.."), 2, "no version of TVM, no Python and no folder of TVM"),
        (("--tvm", "latest"), 2, "no version of TVM, no Python and no folder of TVM"),
        (("--tvm", ""), 2, "--tvm: is empty"),
        (("--tvm", "FILE"), 2, "a file that is no Python interpreter"),
        (("--tvm", "EMPTY"), 3, "no Python package tvm in it"),
        (("--tvm", "BARE"), 3, "no library of TVM in it"),
        (("--tvm", "RAISES"), 3, "cannot be imported: ImportError: libtvm.so is gone"),
        (("--tvm", "DIES"), 3, "cannot be imported: killed by SIGABRT"),
        (("--tvm", "PROGRAM"), 3, "cannot be imported: "),
        (("--tvm", "9.9"), 3, "TVM 9.9 cannot be installed: ERROR"),
    ],
)
def test_what_is_no_tvm_is_one_line(
    command: str,
    given: tuple[str, ...],
    status: int,
    said: str,
    module: Path,
    passfuzz: Passfuzz,
    executed: Executed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = module.parent
    made: dict[str, Callable[[], object]] = {
        "FILE": lambda: (folder / "FILE").write_text("no interpreter"),
        "EMPTY": lambda: (folder / "EMPTY").mkdir(),
        "BARE": lambda: (fake_build(folder / "BARE", "0.28") / "build/lib/libtvm_compiler.so").unlink(),
        "RAISES": lambda: fake_build(folder / "RAISES", "0.28", "raise ImportError('libtvm.so is gone')"),
        "DIES": lambda: fake_build(folder / "DIES", "0.28", "import os; os.abort()"),
        "PROGRAM": lambda: ((folder / "PROGRAM").write_text("#!/bin/sh\nexit 3\n"), (folder / "PROGRAM").chmod(0o755)),
    }
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setattr(environments.venv, "create", lambda *_args, **_named: None)
    monkeypatch.setattr(
        environments, "_install", lambda _python, version: (_ for _ in ()).throw(cannot_install(version))
    )
    for word in given:
        if word in made:
            made[word]()
    words = [str(folder / word) if word in made else word for word in given]
    found, out, err = passfuzz(*arguments(command, module), *words)
    (*_, line) = err.splitlines()
    assert (found, out, executed) == (status, "", [])
    assert line.startswith("passfuzz: error: ")
    assert said in line
    assert not (folder / "out").exists()


def cannot_install(version: str) -> Exception:
    return environments.EnvironmentFault(f"TVM {version} cannot be installed: ERROR: No matching distribution found")


def test_a_cluster_has_a_tvm_of_its_own(passfuzz: Passfuzz, tmp_path: Path, executed: Executed) -> None:
    status, _, err = passfuzz("run", "--cases", 1, "--on", "dask", "--out", tmp_path / "out", "--tvm", "0.26.0")
    assert (status, executed) == (2, [])
    assert "--tvm 0.26.0: is for workers of this machine" in err


def test_other_options_are_read_before_anything_is_installed(
    passfuzz: Passfuzz, module: Path, executed: Executed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "find_tvm", lambda given: pytest.fail("looked for"))
    for words in (
        ["run", "--time", "soon"],
        ["check", module.parent / "none.py"],
        ["reduce", module, "--time", "soon"],
    ):
        status, _, err = passfuzz(*words, "--tvm", "0.26.0")
        assert (status, len(err.splitlines())) == (2, 1)
    assert executed == []


# --- with a real one --------------------------------------------------------------------------------------


@pytest.mark.deep
@pytest.mark.parametrize("release", ["0.26.0", "0.25.0.post1"])
def test_another_release_is_judged_by_each_command(module: Path, release: str) -> None:
    """On TVMs that pip installs into the user's cache."""
    folder = module.parent
    campaign = passfuzz_of(
        *("run", "--cases", 12, "--jobs", 1, "--seed", 3, "--known", "none", "--fail-on", "none"),
        *("--out", folder / "out", "--tvm", release),
    )
    assert campaign.returncode == 0, campaign.stderr
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert (summary["tvm"], summary["cases"], summary["invalid"]) == (release, 12, 0)
    (folder / "mine.py").write_text(DROPS)
    words = (module, "--load", folder / "mine.py", "--passes", "Drops", "--tvm", release)
    assert passfuzz_of("check", *words).returncode == 1
    reduced = passfuzz_of("reduce", *words, "-o", folder / "repro.py")
    assert reduced.returncode == 0, reduced.stderr
    shown = run([str(environments.python_with(release)), str(folder / "repro.py")])
    assert shown.returncode == 1, shown.stderr


DROPS = """
import tvm

@tvm.transform.module_pass(opt_level=0, name="Drops")
def drops(module, context):
    return tvm.IRModule({})

PASSES = {"Drops": lambda: drops}
"""

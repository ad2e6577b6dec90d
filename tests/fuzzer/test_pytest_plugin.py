"""`pytest --passfuzz` in a foreign suite: finds planted faults, keeps quiet on a clean suite, harms none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tvm

from corpus.registry import read_registry
from fuzzer.trial.foreign.contracts import Contract, Knowledge, no_numbers, row_of_no_table
from generators.passes.table import PASSES, rows_named, with_trait
from generators.passes.traits import FollowsArguments, ObjectNamed
from tests.fuzzer.foreign_suites import CLEAN, CONSTRUCTORS, ENDS_THE_JUDGE, FAULTY, LOCAL, OUTCOMES, ROOT, run, summary
from tests.patience import HANGS_S

pytestmark = pytest.mark.warm

JUDGES = ("--passfuzz", "--passfuzz-deadline", str(HANGS_S))
"""With a limit that ends only what hangs."""
BRIEF = ("--passfuzz", "--passfuzz-deadline", "3")


def judged(folder: Path, tests: str) -> tuple[Path, int, str]:
    ini = "passfuzz_same_meaning =\n    SwapsOperators\n    SwapsInPlace\n    PartsInPlace\n    LosesABinding Mine\n"
    status, text, _ = run(folder, FAULTY, *JUDGES, "--passfuzz-out", "out", "-k", tests, ini=ini)
    assert "passfuzz: own fault" not in text, text.partition("passfuzz: own fault")[2]
    return folder, status, text


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, str]:
    return judged(tmp_path_factory.mktemp("faulty"), "not rewrite")


@pytest.mark.parametrize(
    ("culprit", "oracle"),
    [("SwapsOperators", "numeric"), ("LosesABinding", "definedness"), ("WritesIntoItsInput", "input_unchanged")],
)
def test_a_planted_fault_is_found(faulty: tuple[Path, int, str], culprit: str, oracle: str) -> None:
    assert oracles_that_tell_of(culprit, faulty) == oracle.split()


@pytest.mark.deep
def test_wrong_numbers_of_a_pass_that_works_in_place_are_found(tmp_path: Path) -> None:
    told = judged(tmp_path, "rewrite")
    for culprit in ("SwapsInPlace", "PartsInPlace"):
        assert oracles_that_tell_of(culprit, told) == ["input_unchanged", "numeric"]


def oracles_that_tell_of(culprit: str, told: tuple[Path, int, str]) -> list[str]:
    """The oracles by which a session tells of a fault, sorted; asserts that it keeps what shows it."""
    folder, _, text = told
    rows = [row for row in summary(folder / "out")["findings"] if row["culprit"] == culprit]
    assert f"{culprit}: {rows[0]['symptom']}" in text
    kept = {path.name for path in (folder / "out" / rows[0]["case"]).iterdir()}
    assert {"repro.py", "module.py", "case.json", "README.md"} <= kept
    readme = (folder / "out" / rows[0]["case"] / "README.md").read_text()
    assert "- seen in: `test_suite.py::" in readme
    assert f"- sequence: `{CONSTRUCTORS[culprit]}`" in readme
    assert "## What" in readme and "```diff" in readme
    return sorted(row["oracle"] for row in rows)


def test_a_pass_compared_by_structure_alone_is_named(faulty: tuple[Path, int, str]) -> None:
    assert "your pass WritesIntoItsInput was not compared by numbers: add it to passfuzz_same_meaning" in faulty[2]
    assert "nowhere in main" in faulty[2], "the variable that is undefined"


def test_entries_that_name_no_judged_pass_are_told(faulty: tuple[Path, int, str]) -> None:
    """Two names on one line are one entry, which had no effect and no warning."""
    (line,) = (line for line in faulty[2].splitlines() if "passfuzz_same_meaning: no pass was judged" in line)
    assert line.endswith("with the name 'SwapsInPlace', 'PartsInPlace', 'LosesABinding Mine' (one name a line)")


def test_findings_do_not_fail_the_tests(faulty: tuple[Path, int, str]) -> None:
    assert faulty[1] == 0


@pytest.mark.deep
def test_the_repro_of_a_local_pass_runs_the_test_again(tmp_path: Path) -> None:
    run(tmp_path, LOCAL, *JUDGES, "--passfuzz-out", "out", ini="passfuzz_same_meaning =\n    SwapsLocally\n")
    (row,) = summary(tmp_path / "out")["findings"]
    assert "```diff" in (tmp_path / "out" / row["case"] / "README.md").read_text()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(tmp_path / "out" / row["repro"])]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert (shown.returncode, shown.stdout.split(":")[0]) == (1, "SwapsLocally")
    suite = tmp_path / "test_suite.py"
    suite.write_text(suite.read_text().replace("relax.op.add(*call.args)", "relax.op.subtract(*call.args)"))
    gone = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert (gone.returncode, gone.stdout.strip()) == (0, "the bug is gone")


def test_an_empty_folder_is_not_the_current_one(tmp_path: Path) -> None:
    status, _, outcomes = run(tmp_path, CLEAN, *JUDGES, "--passfuzz-out", "")
    assert (status, outcomes) == (pytest.ExitCode.USAGE_ERROR, {})
    assert not (tmp_path / "summary.json").exists()


@pytest.mark.deep
def test_known_causes_do_not_fail_a_strict_session(faulty: tuple[Path, int, str], tmp_path: Path) -> None:
    out, known = faulty[0] / "out", tmp_path / "known.toml"
    command = [sys.executable, "-m", "fuzzer.cli", "report", str(out), "--update", str(known)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=HANGS_S)
    options = (*JUDGES, "--passfuzz-strict", "--passfuzz-out", "out", "-k", "loses")
    status, text, _ = run(tmp_path, FAULTY, *options, "--passfuzz-known", str(known))
    (row,) = summary(tmp_path / "out")["findings"]
    assert (status, row["known"], row["standing"]) == (0, True, "known")
    assert row["cause"] in {entry.cause for entry in read_registry(known).entries}
    assert "0 new causes, 1 known" in text


@pytest.mark.parametrize(
    ("file", "reason"), [("", "is empty"), ("no-such.toml", "no such file"), ("bad.toml", "bad.toml, line 2: ")]
)
def test_a_bad_registry_is_wrong_usage(tmp_path: Path, file: str, reason: str) -> None:
    (tmp_path / "bad.toml").write_text("schema = 1\n[[cause]]\n")
    status, text, outcomes = run(tmp_path, CLEAN, *JUDGES, "--passfuzz-known", file)
    assert (status, outcomes) == (pytest.ExitCode.USAGE_ERROR, {})
    assert "--passfuzz-known" in text and reason in text


@pytest.mark.deep
def test_strict_fails_the_session(tmp_path: Path) -> None:
    status, _, outcomes = run(tmp_path, FAULTY, *JUDGES, "--passfuzz-strict", "-k", "loses")
    assert (status, set(outcomes.values())) == (1, {"PASSED"})


def test_a_clean_suite_is_silent(tmp_path: Path) -> None:
    status, text, _ = run(tmp_path, CLEAN, *JUDGES, "--passfuzz-out", "out")
    found = summary(tmp_path / "out")
    assert status == 0
    assert (found["findings"], found.get("own_fault")) == ([], None)
    assert "0 new causes, 0 known" in text
    assert found["oracles"]["well_formed"]["passed"] >= 10
    assert found["passes"]["AnnotateTIROpPattern"]["applied"] == 1, "a part of the Sequential is judged on its own"
    assert found["oracles"]["numeric"]["passed"] >= 5
    assert len(list((tmp_path / "out" / "modules").glob("*.json"))) >= 3
    pairs = json.loads((tmp_path / "out" / "pairs.json").read_text())
    assert pairs["interpreted"] >= 10
    others = sum(pairs["missing"].values()) + sum(pairs["by_nature"].values())
    assert pairs["interpreted"] + others == pairs["pairs"]
    assert f"interpreted before and after: {pairs['interpreted']}" in text


@pytest.mark.deep
def test_an_earlier_session_is_not_mixed_in_and_a_session_has_a_limit(tmp_path: Path) -> None:
    run(tmp_path, FAULTY, *JUDGES, "--passfuzz-out", "out", "-k", "loses")
    assert len(list((tmp_path / "out" / "findings").iterdir())) == 1
    modules = {path.name for path in (tmp_path / "out" / "modules").iterdir()}
    status, text, outcomes = run(tmp_path, FAULTY, *JUDGES, "--passfuzz-out", "out", "--passfuzz-time", "0.001")
    found = summary(tmp_path / "out")
    assert (status, set(outcomes.values()), found["findings"]) == (0, {"PASSED"}, []) or len(found["findings"]) == 1
    assert found["skipped"]["the time for judging this session was up"] >= 3
    assert len(list((tmp_path / "out").glob("findings/*"))) == len(found["findings"])
    assert {path.name for path in (tmp_path / "out" / "modules").iterdir()} <= modules, (
        "a digest is that of any process"
    )
    assert "the time for judging this session was up" in text


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan"])
def test_a_limit_that_is_no_time_is_wrong_usage(tmp_path: Path, seconds: str) -> None:
    status, text, _ = run(tmp_path, CLEAN, *JUDGES, "--passfuzz-time", seconds)
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "--passfuzz-time" in text


def test_outcomes_are_the_same_with_and_without(tmp_path: Path) -> None:
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    with_it = run(tmp_path / "with", OUTCOMES, *JUDGES)
    without = run(tmp_path / "without", OUTCOMES)
    assert with_it[2] == without[2]
    assert with_it[0] == without[0] == 1
    assert {"PASSED", "FAILED", "ERROR", "XFAIL", "XPASS", "SKIPPED"} == set(without[2].values())
    assert "passfuzz: judged" in with_it[1]
    assert "passfuzz: judged" not in without[1]


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        pytest.param("os.kill(os.getpid(), 11)", "SIGSEGV", marks=pytest.mark.deep),
        pytest.param("time.sleep(60)", "hang", marks=pytest.mark.deep),
        pytest.param("os.kill(os.getpid(), 9)", "SIGKILL", marks=pytest.mark.deep),
        pytest.param("os._exit(5)", "exit 5 in parts", marks=pytest.mark.deep),
    ],
)
def test_the_end_of_the_judge_is_none_of_the_test(tmp_path: Path, harm: str, told: str) -> None:
    limit = BRIEF if told == "hang" else JUDGES  # a busy machine may take longer to get to the other two
    status, text, outcomes = run(tmp_path, ENDS_THE_JUDGE.replace("HARM", harm), *limit, "--passfuzz-out", "out")
    found = summary(tmp_path / "out")
    assert (status, set(outcomes.values()), found["findings"]) == (0, {"PASSED"}, [])
    assert found["skipped"]["the judge did not finish"] == 1
    assert any(told in reason for reason in found["skipped"]), found["skipped"]
    assert "judged 0 pass calls" in text


@pytest.mark.deep
def test_workers_of_xdist_report_to_one_summary(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    _, text, _ = run(tmp_path, FAULTY, *JUDGES, "--passfuzz-out", "out", "-n", "2")
    culprits = {row["culprit"] for row in summary(tmp_path / "out")["findings"]}
    assert culprits == {"LosesABinding", "WritesIntoItsInput", "SwapsInPlace", "PartsInPlace"}
    assert text.count("passfuzz: judged") == 1


# --- what a pass is held to -------------------------------------------------------------------------------------


def test_names_of_passes_lead_to_their_rows() -> None:
    from generators import tvm_api

    firsts = {name: row.sources[0] for name, row in PASSES.items() if row.sources}
    sources = {name: text for name, text in firsts.items() if "_pass(lambda" not in text}  # those are our own
    with tvm.target.Target("llvm"):
        made = {name: eval(source, dict(tvm_api.PASS_NAMES)) for name, source in sources.items()}
    names = {name: transform.info.name for name, transform in made.items()}
    lost = {name: told for name, told in names.items() if name not in [row.name for row in rows_named(told)]}
    assert lost == {"ConvertToDataflow": "sequential"}, "a Sequential is judged by its parts"
    aliases = {trait.name for _, trait in with_trait(ObjectNamed)}
    assert aliases and aliases <= set(names.values())


@pytest.mark.parametrize("name", sorted(row.name for row, _ in with_trait(FollowsArguments)))
def test_numbers_are_left_alone_where_arguments_say_the_meaning(name: str) -> None:
    row = PASSES[name]
    assert (
        no_numbers(Contract(row, Knowledge.NAME), tvm.IRModule({}))
        == "numbers: what the pass keeps follows from its arguments"
    )


def test_a_pass_of_no_row_is_compared_only_where_the_user_says_that_it_keeps_the_meaning() -> None:
    for same_meaning in (frozenset[str](), frozenset({"Mine"})):
        contract = Contract(row_of_no_table("Mine", same_meaning), Knowledge.NOTHING)
        assert (no_numbers(contract, tvm.IRModule({})) is None) is bool(same_meaning)

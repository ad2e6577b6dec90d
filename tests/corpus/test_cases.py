"""The corpus that comes with passfuzz: readable, and each repro says what is expected on the installed TVM."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

os.environ.setdefault("TVM_NUM_THREADS", "1")

import tvm
from markdown_it import MarkdownIt

from corpus.escapes import Markdown
from corpus.replayable import CORPUS, replayable
from corpus.scripts.module_text import live_module, text_of
from corpus.scripts.repro import builds_kernels, repro_text, runs_kernels
from corpus.store import CorruptCase, StoredCase, read_case
from fuzzer.trial.cause.stored_cause import cause_of_case
from oracles.forked import forked
from tests.patience import HANGS_S

pytestmark = pytest.mark.warm

QUICK = ("17340-kill-after-last-use-in-dataflow", "17205-realize-vdevice-input", "narrow-data-type-sblock")
SLUGS = [entry.slug for entry in replayable()]
STARTING_BUGS = ("17340", "17231", "17205", "17175", "17245")


@pytest.mark.parametrize("number", STARTING_BUGS)
def test_the_starting_bugs_are_there(number: str) -> None:
    assert any(slug.startswith(number) for slug in SLUGS)


AS_JSON = {
    "canonicalize-bindings-makes-a-dataflow-var-of-a-variable": "the parser refuses a match_cast that cannot hold",
    "expr-mutator-gives-the-result-variable-of-an-if-another-type": "a variable is of a wider type than its `if`",
    "fold-constant-leaves-bindings-of-a-legalisation-that-it": "the type of the body names a parameter",
    "legalize-ops-offset-of-a-tensor-is-int64": "the parser knows no R.inspect",
    "tvmscript-buffer-partition": "the parser knows no Buffer.partition",
    "tvmscript-or-in-a-comm-reducer": "the parser gives a lambda to Python, `or` and all",
    "tvmscript-undef-without-its-dtype": "T.undef() is of int32",
}
"""Cases of which the module is read from JSON, and what of it TVMScript cannot say."""


def test_a_module_is_kept_as_json_where_tvmscript_cannot_say_it() -> None:
    kept = [path.parent.name for path in CORPUS.glob("*/module.json")]
    assert sorted(kept) == sorted(AS_JSON)
    said = [slug for slug in kept if text_of(live_module(read_whole(slug).case.module)).json is None]
    assert not said


def read_whole(slug: str) -> StoredCase:
    case = read_case(CORPUS / slug)
    assert isinstance(case, StoredCase)
    return case


@pytest.mark.parametrize("slug", SLUGS)
def test_a_case_is_whole(slug: str) -> None:
    case = read_whole(slug)
    assert case.outcome_on("0.27.0.post1") in ("fails", "passes")
    assert (CORPUS / slug / "repro.py").read_text() == repro_text(case)
    readme = (CORPUS / slug / "README.md").read_text()
    assert readme.startswith((Markdown.of("# {}\n", case.title), f"# {case.title}\n"))  # The latter by hand.


@pytest.mark.parametrize("slug", SLUGS)
def test_a_script_is_for_people(slug: str) -> None:
    """TVMScript stands in no string, and each step of a schedule is a statement."""
    nodes = [*ast.walk(ast.parse((CORPUS / slug / "repro.py").read_text()))]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert not [text for text in texts if "@T.prim_func" in text or "@R.function" in text]
    assert not [node for node in nodes if isinstance(node, ast.Lambda) and ast.unparse(node).endswith("sch.mod)[-1]")]


@pytest.mark.parametrize("slug", SLUGS)
def test_the_report_of_a_case_holds_its_script(slug: str) -> None:
    blocks = [block for block in MarkdownIt().parse((CORPUS / slug / "README.md").read_text()) if block.type == "fence"]
    scripts = [block.content for block in blocks if block.info == "python"]
    assert scripts == [(CORPUS / slug / "repro.py").read_text()]


BY_CHANCE = 20
"""Runs of a script that shows its bug in two runs of three: one time in 10 ** 9 none of them does."""


@pytest.mark.parametrize("slug", [s if s in QUICK else pytest.param(s, marks=pytest.mark.deep) for s in SLUGS])
def test_a_repro_says_what_is_expected(slug: str) -> None:
    case = read_whole(slug)
    expected = case.outcome_on(importlib.metadata.version("apache-tvm"))
    command = [sys.executable, str(CORPUS / slug / "repro.py")]
    for _ in range(1 if case.rate is None else BY_CHANCE):
        ended = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, check=False)
        if ended.returncode == 1:
            break
    if runs_kernels(case) and not tvm.cuda().exist:
        assert (ended.returncode, ended.stdout.strip()) == (2, "this needs a CUDA device and nvcc")
    else:
        wanted = 2 if case.setting.by_reference else {"fails": 1, "passes": 0}[expected or ""]
        assert ended.returncode == wanted, ended.stdout


@pytest.mark.deep
@pytest.mark.parametrize("slug", [slug for slug in SLUGS if builds_kernels(read_whole(slug))])
def test_a_case_for_a_device_is_shown_by_the_reference(slug: str, tmp_path: Path) -> None:
    case = read_whole(slug)
    assert case.outcome_on("0.27.0.post1") == "fails"
    assert str(forked(lambda: cause_of_case(CORPUS / slug, tmp_path), HANGS_S)) == case.cause


def test_a_corrupt_case_does_not_stop_the_others(tmp_path: pytest.TempPathFactory) -> None:
    import shutil

    corpus = Path(str(tmp_path)) / "corpus"
    for name in QUICK:
        shutil.copytree(CORPUS / name, corpus / name)
    (corpus / QUICK[0] / "case.json").write_text("{")
    (corpus / "empty").mkdir()
    entries = {entry.slug: entry.case for entry in replayable(corpus)}
    assert {slug for slug, case in entries.items() if isinstance(case, CorruptCase)} == {QUICK[0], "empty"}
    assert len(entries) == len(QUICK) + 1


def test_a_case_folder_is_a_corpus_of_one() -> None:
    assert [entry.slug for entry in replayable(CORPUS / QUICK[0])] == [QUICK[0]]

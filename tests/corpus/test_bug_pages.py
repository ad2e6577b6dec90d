"""The pages of docs/bugs are what the registry and the corpus say, whoever wrote these, and the index leads to all."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from corpus.bug_pages import INDEX, PAGES, AmbiguousPage, Bug, of_registry, pages, slug, write
from corpus.causes.severity import SEVERITIES, Severity
from corpus.registry import SHIPPED, KnownCause, Registry, cause_id, read_registry
from tests.corpus.markdown_shape import shape, words
from tests.hostile import HOSTILE

MADE_ANEW = "run `make docs-bugs`"
CASES = SHIPPED.parent / "cases"


@dataclass(frozen=True)
class Made:
    """A bug of a test."""

    title: str = "[Relax] Inline forgets a variable"
    severity: Severity | Literal[""] = "documented phase"
    status: str = "open"
    passes: tuple[str, ...] = ("Inline",)
    versions: tuple[str, ...] = ("0.27",)
    root: str = "src/relax/inline.cc:Inline"
    why: str = "It forgets `x`."
    fix: str = "Remember it."
    link: str = ""
    case: str = ""
    quote: str = ""
    fixed_in: str = ""
    identity: str = "a cause"
    read: bool = False


def page_of(bug: Made, cases: Path = CASES) -> str:
    return pages([bug], cases)[f"{slug(bug.title)}.md"]


@pytest.fixture(scope="module")
def bugs() -> tuple[Bug, ...]:
    return of_registry(read_registry(SHIPPED))


# --- what the repository holds --------------------------------------------------------------------------


def test_the_pages_are_what_the_registry_and_the_corpus_say(bugs: tuple[Bug, ...]) -> None:
    made = pages(bugs, CASES)
    assert {path.name for path in PAGES.glob("*.md")} == set(made), MADE_ANEW
    stale = [name for name, text in made.items() if (PAGES / name).read_text(encoding="utf-8") != text]
    assert stale == [], MADE_ANEW


def test_there_are_150_and_the_worst_have_been_read(bugs: tuple[Bug, ...]) -> None:
    """Of silent wrong results and crashes of official pipelines, at least 40."""
    assert len([bug for bug in bugs if bug.why]) >= 150
    assert sum(bug.read for bug in bugs if bug.severity in SEVERITIES[:3]) >= 40


# --- a page ---------------------------------------------------------------------------------------------


def test_a_page_says_what_why_and_what_to_do() -> None:
    text = page_of(Made(link="apache/tvm#17231"))
    assert text.startswith("# \\[Relax\\] Inline forgets a variable\n")
    for said in ("documented phase", "open", "`Inline`", "0.27", "`src/relax/inline.cc:Inline`", "apache/tvm#17231"):
        assert said in text
    assert "## Why it is TVM's fault\n\nIt forgets `x`.\n" in text
    assert text.endswith("## Suggested fix\n\nRemember it.\n")


def test_a_page_shows_the_module_of_its_case_and_leads_there() -> None:
    text = page_of(Made(case="fast-math-transform-global-call"))
    assert "`relax.transform.FastMathTransform()`" in text
    assert "def main" in text.split("```python")[1].split("```")[0]
    assert "(../../corpus/cases/fast-math-transform-global-call)" in text
    assert "0.26 fails, 0.27 fails" in text


def test_a_page_shows_what_the_pass_did(tmp_path: Path) -> None:
    source = CASES / "fast-math-transform-global-call"
    folder = tmp_path / "case"
    folder.mkdir()
    for file in source.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "README.md").write_text("# x\n\n````diff\n-a\n+```\n````\n", encoding="utf-8")
    assert "````diff\n-a\n+```\n````" in page_of(Made(case="case"), tmp_path)


def test_a_limit_is_quoted_and_called_no_bug() -> None:
    text = page_of(Made(status="limitation", severity="limitation", quote="cannot be legalized"))
    assert "## Why it is no bug" in text
    assert "> cannot be legalized" in text


def test_a_fixed_bug_says_where() -> None:
    assert "- status: fixed in 0.28\n" in page_of(Made(status="fixed-in", fixed_in="0.28"))


@pytest.mark.parametrize("field", ["root", "why", "fix", "quote", "fixed_in", "link"])
def test_text_from_elsewhere_is_only_text(field: str) -> None:
    """And code, where text between backticks is code."""
    harmless, hostile = (page_of(Made(**{"quote": "q", "link": "l", field: text})) for text in ("word", HOSTILE))
    assert _around_code(hostile) == _around_code(harmless)
    assert words(hostile)[1] == words(harmless)[1]


def _around_code(page: str) -> list[str]:
    """The kinds of nodes of a page, but of text and of code in it."""
    return [kind for kind, _, _ in shape(page) if kind not in ("text", "code_inline")]


def test_a_title_from_elsewhere_is_only_text() -> None:
    made = [pages([Made(title=title)], CASES) for title in ("word", HOSTILE)]
    (harmless_index, harmless), (hostile_index, hostile) = (tuple(texts.values()) for texts in made)
    assert shape(hostile) == shape(harmless)
    assert shape(hostile_index) == shape(harmless_index)
    assert all(re.fullmatch(r"[a-z0-9-]+\.md|README\.md", name) for texts in made for name in texts)


def test_code_stands_between_backticks_and_is_text_if_one_is_missing() -> None:
    assert "Take `a*b*c` or\n" in page_of(Made(why="Take `a*b*c` or"))
    assert "Take \\`a\\*b\n" in page_of(Made(why="Take `a*b"))


# --- all pages ------------------------------------------------------------------------------------------


def test_the_index_leads_to_each_bug_by_severity_and_by_pass() -> None:
    crash, silent = Made("a dies", "native crash", passes=("B", "A")), Made("b is wrong", "silent wrong result")
    index = pages([crash, silent], CASES)[INDEX]
    assert index.index("## silent wrong result (1)") < index.index("## native crash (1)")
    assert re.findall(r"^- \[(.*?)\]\((.*?)\)", index, re.MULTILINE) == [
        ("b is wrong", "b-is-wrong.md"),
        ("a dies", "a-dies.md"),
    ]
    rows = [row for row in index.splitlines() if row.startswith("| ")][1:]
    assert rows == ["| A | 1 | [1](a-dies.md) |", "| B | 1 | [1](a-dies.md) |", "| Inline | 1 | [1](b-is-wrong.md) |"]


def test_two_bugs_with_the_same_words_have_two_pages() -> None:
    made = pages([Made("x dies"), Made("X dies!", identity="b")], CASES)
    second = f"x-dies-{cause_id('b')}.md"
    assert list(made) == [INDEX, "x-dies.md", second]
    assert made[second].startswith("# X dies!\n")
    assert re.findall(r"^- \[(.*?)\]\((.*?)\)", made[INDEX], re.MULTILINE) == [
        ("X dies!", second),
        ("x dies", "x-dies.md"),
    ]


def test_two_bugs_with_one_title_and_one_identity_are_an_error() -> None:
    with pytest.raises(AmbiguousPage, match="x dies"):
        pages([Made("x dies"), Made("x dies"), Made("x dies")], CASES)


def test_entries_that_say_why_or_have_a_case_have_a_page() -> None:
    told, shown = KnownCause("a", "A", why="It does."), KnownCause("b", "B", case="c")
    assert of_registry(Registry((told, KnownCause("c", "C", note="n"), shown))) == (told, shown)


def test_an_entry_that_nobody_has_read_says_so() -> None:
    entry = KnownCause("a", "A dies", case="fast-math-transform-global-call", versions=("0.27",))
    made = pages([entry], CASES)
    page = made["a-dies.md"]
    assert "- severity: not known\n" in page
    assert "## Whose fault it is\n\nNot read yet.\n\n## Module" in page
    assert "passes:" not in page
    assert "Suggested fix" not in page
    assert "## severity not known (1)\n\n- [A dies](a-dies.md)" in made[INDEX]


def test_a_page_of_a_bug_that_is_gone_goes(tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text("old")
    (tmp_path / "kept.toml").write_text("kept")
    write(tmp_path, {"here.md": "new"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here.md", "kept.toml"]
    assert (tmp_path / "here.md").read_text() == "new"


def test_the_module_on_a_page_says_what_it_imports() -> None:
    """Whatever names it uses: a reader can paste it."""
    texts = pages(of_registry(read_registry(SHIPPED)), CASES)
    shown = [re.search(r"^## Module$.*?^```python\n(.*?)^```$", text, re.M | re.S) for text in texts.values()]
    programs = [match[1] for match in shown if match]
    assert len(programs) > 100
    for program in programs:
        tree = ast.parse(program)
        imported = {(name.asname or name.name) for node in ast.walk(tree)
                    if isinstance(node, (ast.Import, ast.ImportFrom)) for name in node.names}  # fmt: skip
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert {"I", "R", "T", "np", "tvm", "TypeVar"} & used <= imported, program

"""The pages of docs/bugs are what the notes and the corpus say, whoever wrote these, and the index leads to all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from corpus.bug_notes import CASES, NOTES, BadNotes, BugNote, read_notes
from corpus.bug_pages import INDEX, SEVERITIES, AmbiguousPage, Severity, pages, slug, write
from tests.corpus.markdown_shape import shape, words
from tests.hostile import HOSTILE

MADE_ANEW = "run `make docs-bugs`"


@dataclass(frozen=True)
class Made:
    """A bug of a test."""

    title: str = "[Relax] Inline forgets a variable"
    severity: Severity = "documented phase"
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


def page_of(bug: Made, cases: Path = CASES) -> str:
    return pages([bug], cases)[f"{slug(bug.title)}.md"]


@pytest.fixture(scope="module")
def notes() -> tuple[BugNote, ...]:
    return read_notes(NOTES)


# --- what the repository holds --------------------------------------------------------------------------


def test_the_pages_are_what_the_notes_and_the_corpus_say(notes: tuple[BugNote, ...]) -> None:
    made = pages(notes, CASES)
    assert {path.name for path in NOTES.parent.glob("*.md")} == set(made), MADE_ANEW
    stale = [name for name, text in made.items() if (NOTES.parent / name).read_text(encoding="utf-8") != text]
    assert stale == [], MADE_ANEW


def test_every_case_shows_one_bug_and_no_finding_shows_two(notes: tuple[BugNote, ...]) -> None:
    shown = [case for note in notes for case in note.cases]
    assert sorted(shown) == sorted(path.name for path in CASES.iterdir())
    found = [signature for note in notes for signature in note.signatures]
    assert len(found) == len(set(found))


def test_notes_say_whose_fault_it_is_and_what_to_do(notes: tuple[BugNote, ...]) -> None:
    assert [note.title for note in notes if not (note.why and note.fix and note.root and note.passes)] == []
    assert [note.title for note in notes if note.status == "limitation" and not note.quote] == []
    assert [note.title for note in notes if (note.status == "fixed-in") != bool(note.fixed_in)] == []
    assert [note.title for note in notes if not (note.signatures or note.cases or note.read)] == []
    assert [note.title for note in notes if (note.severity == "limitation") != (note.status in LIMITS)] == []


LIMITS = ("limitation", "wont-fix")


def test_the_worst_have_been_read(notes: tuple[BugNote, ...]) -> None:
    """Of silent wrong results and crashes of official pipelines, all but a few, each of which says what is missing."""
    worst = [note for note in notes if note.severity in SEVERITIES[:3]]
    assert sum(note.read for note in worst) >= 40


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


def test_two_bugs_of_one_name_are_an_error() -> None:
    with pytest.raises(AmbiguousPage, match="x dies and "):
        pages([Made("x dies"), Made("X dies!")], CASES)


def test_a_page_of_a_bug_that_is_gone_goes(tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text("old")
    (tmp_path / "notes.toml").write_text("kept")
    write(tmp_path, {"here.md": "new"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here.md", "notes.toml"]
    assert (tmp_path / "here.md").read_text() == "new"


# --- notes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[bug]\n", "notes.toml: "),
        ('[[bug]]\ntitle = "t"\n', "missing required field"),
        ('[[bug]]\ntitle = "t"\nseverity = "bad"\n', "severity"),
        ('[[bug]]\ntitle = "t"\ncolour = "red"\n', "colour"),
    ],
)
def test_bad_notes_say_what_is_bad(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "notes.toml"
    path.write_text(text)
    with pytest.raises(BadNotes, match=re.escape(str(path))) as error:
        read_notes(path)
    assert reason in str(error.value)

"""Text from elsewhere in every language: it is shown and does nothing, and formats build text in no other way."""

from __future__ import annotations

import ast
import os
import re
import sys
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from corpus.causes.signature import Signature
from corpus.escapes import (
    Markdown,
    Written,
    fenced_in,
    is_finding_folder,
    is_finding_script,
    is_slug,
    issue_url,
    one_line,
    slug_of,
    visible,
)
from corpus.finding import Aftermath, Finding
from corpus.issue import issue_text
from corpus.readme import readme_text, seed_text
from corpus.store import StoredCase
from generators.case import Case, EntryCall, ModuleText, Origin, PassCall
from oracles.verdict import CRASH, HANG, WRONG_RESULT, Failed
from tests.corpus.markdown_shape import shape, words
from tests.hostile import FRAGMENTS, HOSTILE, examples, texts
from tests.quick import one_in

ROOT = Path(__file__).resolve().parents[2]
WRITERS = ("corpus/bug_pages.py", "corpus/issue.py", "corpus/readme.py", "reports/markdown.py")
"""Files that write a language in which text from elsewhere could be more than text."""
ON_TERMINAL = ("fuzzer/render.py", "reports/live.py", "reports/view.py")
"""Files that print through `reports.terminal.Terminal`."""


# --- characters -----------------------------------------------------------------------------------------


def test_nothing_that_acts_or_hides_is_left() -> None:
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    left = [
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in unseen and chr(code) not in "\n\t" and visible(chr(code)) == chr(code)
    ]
    assert [hex(code) for code in left] == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", r"\x1b[31m"),
        ("a\u202eb", r"a\u202eb"),
        ("\x9b", r"\x9b"),
        ("\ud800", r"\ud800"),
        ("\ufffe", r"\ufffe"),
        ("\U000e0041", r"\U000e0041"),
        ("\r\n", "\\r\n"),
        ("é \t x\n", "é \t x\n"),
    ],
)
def test_what_is_invisible_becomes_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@examples(60)
@given(texts)
def test_a_line_is_one_line_that_any_file_can_hold(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert one_line(text).isprintable() or not one_line(text).isascii()
    one_line(text).encode()


# --- Markdown -------------------------------------------------------------------------------------------


PLACES = ("x {} y", "{}", "- {}", "> {}", "## {}", "| a |\n|---|\n| {} |", "| {} | b |\n|---|---|\n| c | d |", "**{}**")


@pytest.mark.parametrize("place", PLACES)
@examples(60)
@given(text=texts)
@example(text=HOSTILE)
def test_text_in_markdown_is_only_text(place: str, text: str) -> None:
    written = Markdown.of(place, text)
    harmless = Markdown.of(place, "word" if one_line(text) else "")
    assert shape(written) == shape(harmless)
    assert not words(written)[1]


@examples(60)
@given(text=texts)
@example(text=HOSTILE)
@example(text="`" * 50)
def test_code_in_markdown_ends_where_it_should(text: str) -> None:
    if one_line(text):
        assert shape(Markdown.of("- {}: x", Markdown.code(text))) == shape(Markdown("- `x`: x"))
    assert shape(Markdown.of("{}\n\nafter\n", Markdown.fenced(text, "sh"))) == shape("```sh\nx\n```\n\nafter\n")


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_the_text_is_still_there(fragment: str) -> None:
    shown = words(Markdown.of("x{}", fragment))[0].replace("\u200b", "")
    assert "".join(shown.split()) == "".join(f"x{one_line(fragment)}".split())


def test_names_in_code_stay_readable() -> None:
    assert Markdown.escaped("call_tir of x86_64 -> T.int32(3)") == "call_tir of x86_64 -&gt; T.int32(3)"


def test_an_issue_stays_a_link_and_nothing_else_does() -> None:
    assert Markdown.issue("apache/tvm#1") == "apache/tvm#1"
    assert Markdown.issue("https://github.com/apache/tvm/issues/1") == "https://github.com/apache/tvm/issues/1"
    for text in ("https://evil.org", "apache/tvm#1 @user", "javascript:x", "a/b#1\n# x"):
        assert Markdown.issue(text) == Markdown.escaped(text)


def _stored(text: str) -> StoredCase:
    """A case all of whose texts are one; a target is a row of ours."""
    call = PassCall(text, text, text)
    case = Case(ModuleText("class M: 1"), (call,), (EntryCall(text, ()),), "llvm", (call,), Origin(1, 2, text), text)
    return StoredCase(case, text, text, text, text, text, text, ((text, "fails"), (text, "passes")), text)


def _finding(text: str) -> Finding:
    """A finding all of whose texts are one."""
    stored = _stored(text)
    failed = Failed(text, text, text, text, None, text)
    signature = Signature("survives", text, text, text)
    return Finding(
        stored.case,
        failed,
        "survives",
        signature,
        "A",
        0.0,
        text,
        fault=(text, text),
        promise=text,
        cause=text,
        aftermath=Aftermath(text, text, text, (text, text)),
        environment=((text, text),),
    )


def issue_of(text: str, oracle: str, symptom: str, detail: str) -> str:
    found = _finding(text)
    found = replace(found, oracle=oracle, verdict=replace(found.verdict, symptom=symptom, detail=detail))
    stored = replace(_stored(text), case=replace(found.case, load=None), oracle=oracle, symptom=symptom)
    similar = ((text, text), (text, f"https://{text}"), (text, ""))
    return issue_text(found, stored, similar, script=text)


@pytest.mark.parametrize("oracle", ["definedness", "numeric"])
@pytest.mark.parametrize("symptom", one_in(2, [WRONG_RESULT, HANG, CRASH, "undefined"]))
@examples(4)
@given(text=texts)
@example(text=HOSTILE)
@example(text="1. x")
@example(text="](https://evil.org)")
def test_an_issue_keeps_its_shape(oracle: str, symptom: str, text: str) -> None:
    if not one_line(text):
        return
    for around in ("{}", OF_A_FRAME, '!!!!!!! Segfault encountered !!!!!!!\n  File "<unknown>", line 0, in tvm::{}'):
        hostile = issue_of(text, oracle, symptom, around.replace("{}", text))
        harmless = issue_of("word", oracle, symptom, around.replace("{}", "word"))
        if around == "{}":
            assert shape(hostile) == shape(harmless)
        assert [node for node in shape(hostile) if node[0] in ("html_inline", "html_block", "image")] == []
        assert not words(hostile)[1]
        assert set(re.findall(r"\]\(([^)]*)\)", words_with_links(hostile))) <= {FRAME_LINK}


OF_A_FRAME = 'Traceback (most recent call last):\n  File "/project/src/a.cc", line 7, in tvm::{}\nKeyError: {}'
FRAME_LINK = "https://github.com/apache/tvm/blob/main/src/a.cc#L7"


def words_with_links(text: str) -> str:
    """The links of a page as `[](address)`."""
    inside = [child for token in MarkdownIt("commonmark").parse(text) for child in token.children or ()]
    return " ".join(f"[]({child.attrs['href']})" for child in inside if child.type == "link_open")


def test_a_link_leads_to_github_alone() -> None:
    good = "https://github.com/apache/tvm/blob/v0.27.0/src/a.cc#L7"
    assert Markdown.link("a:7", good) == f"[a:7]({good})"
    assert Markdown.link("[x](y)", good) == rf"[\[x\](y)]({good})"
    for bad in ("https://evil.org/a", "https://github.com/a/b) [x](https://evil.org", "https://github.com/../a b", "x"):
        assert Markdown.link("a", bad) == "a"


@examples(30)
@given(text=texts)
@example(text=HOSTILE)
@example(text="1. x")
def test_the_report_of_a_case_keeps_its_shape(text: str) -> None:
    def report(of: str) -> str:
        return readme_text(_stored(of), of, of, of, (of, of), of, of)

    if one_line(text):
        assert shape(report(text)) == shape(report("word"))
        assert shape(seed_text(text, text, text)) == shape(seed_text("word", "word", "word"))


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("apache/tvm#1", "https://github.com/apache/tvm/issues/1"),
        ("https://github.com/apache/tvm/pull/2", "https://github.com/apache/tvm/pull/2"),
        *(
            (text, "")
            for text in ("", "https://evil.org/a/b/issues/1", "javascript:x", "a/b#1\n", "x a/b#1", "a/b#1?x")
        ),
    ],
)
def test_only_an_issue_has_an_address(text: str, address: str) -> None:
    assert issue_url(text) == address


def test_templates_are_ours_and_values_are_not() -> None:
    assert Markdown.of("*{}*{}", "*x*", Markdown("**")) == r"*\*x\****"
    assert Markdown.of("{}", "{0}") == r"\{0\}"
    assert isinstance(Markdown.joined("", [Markdown.of("{}", 1)]), Markdown)
    with pytest.raises(NotImplementedError):
        Written.of("{}", "x")


# --- names ----------------------------------------------------------------------------------------------


@examples(60)
@given(texts)
@example("")
@example("x" * 5000)
def test_a_slug_is_a_name_of_one_file(text: str) -> None:
    slug = slug_of(text)
    assert is_slug(slug)
    assert os.path.basename(slug) == slug
    assert len(slug.encode()) <= 130
    assert slug == text or slug[-9] in "-_"


@pytest.mark.parametrize(
    "name",
    ["..", ".", "", ".x", "x.", "a/b", "/a", "a\\b", "a\0", "con", "NUL.txt", "é", "a b", "-x", "a" * 241, "a\n"],
)
def test_what_is_no_slug(name: str) -> None:
    assert not is_slug(name)
    assert is_slug(slug_of(name))


@pytest.mark.parametrize("name", ["FuseOps", "tirx.Simplify", "relax_transform-3", "_x", "17175-ewise-fma", "a" * 240])
def test_what_passfuzz_writes_is_a_slug(name: str) -> None:
    assert is_slug(name)
    assert is_finding_folder(f"findings/{name}")
    assert is_finding_script(f"findings/{name}/repro.py")


def test_different_texts_have_different_slugs() -> None:
    assert len({slug_of(text) for text in ("a b", "a  b", "a/b", "a\\b", "", " ", "\ud800")}) == 7


@pytest.mark.parametrize("path", ["", "/findings/a/repro.py", "findings/../repro.py", "findings/a/../b/repro.py",
                                  "findings/a/repro.py\n", "javascript:findings/a/repro.py", "findings/a/repro.py?x",
                                  "findings/a b/repro.py", "findings//repro.py", "x/findings/a/repro.py"])  # fmt: skip
def test_other_paths_are_no_scripts_of_findings(path: str) -> None:
    assert not is_finding_script(path)


# --- nothing else writes --------------------------------------------------------------------------------


@pytest.mark.parametrize("file", WRITERS)
def test_a_format_builds_its_text_from_templates_of_its_own(file: str) -> None:
    """No f-string, `%` or str.format; a template, and what is taken as it stands, is a literal."""
    wrong = [
        f"{file}:{node.lineno}: {ast.unparse(node)[:80]}"
        for node in ast.walk(ast.parse((ROOT / file).read_text()))
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod))
        or (isinstance(node, ast.Call) and not _takes_literals(node))
    ]
    assert wrong == []


def _takes_literals(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(attr="format"):
            return False
        case ast.Attribute(value=ast.Name(id="Markdown"), attr="of" | "joined") | ast.Name(id="of"):
            return _is_literal(call.args[0])
        case ast.Name(id="Markdown"):
            return _is_literal(call.args[0])
        case _:
            return True


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_literal(node.body) and _is_literal(node.orelse)
    return isinstance(node, ast.Constant)


def test_the_lint_sees_what_it_is_for() -> None:
    for text in ("Markdown(x)", "Markdown.of(x, 1)", 'of(f"{x}")', '"{}".format(x)', "Markdown.joined(x, y)"):
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call) and not _takes_literals(call)


@pytest.mark.parametrize("file", ON_TERMINAL)
def test_nothing_goes_to_the_terminal_past_its_guard(file: str) -> None:
    """No console of rich's own, no markup, and `print` for JSON alone."""
    tree = ast.parse((ROOT / file).read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert not names & {"Console", "escape"}
    printed = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "print"]
    assert all("json.dumps" in ast.unparse(node) for node in printed)


def test_markdown_of_the_tests_is_that_of_github() -> None:
    """The parser of these tests knows the extensions that matter."""
    tokens: list[Token] = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse("| a |\n|---|\n| ~~b~~ |\n")
    assert {"table_open", "inline"} <= {token.type for token in tokens}


@examples(40)
@given(texts)
@example(HOSTILE)
@example("- `````x\n+ ```")
def test_what_was_fenced_is_found_again(text: str) -> None:
    block = Markdown.fenced(text, "diff")
    before = Markdown.fenced("```diff", "python")
    assert fenced_in(f"{before}\n\n{block}\n\nmore\n```diff\nno\n```\n", "diff") == visible(text).rstrip("\n")


def test_where_nothing_was_fenced_nothing_is_found() -> None:
    assert [fenced_in(text, "diff") for text in ("", "```python\nx\n```\n", "```diff\nnever closed\n")] == ["", "", ""]

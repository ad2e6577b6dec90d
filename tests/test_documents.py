"""What documents, docstrings and comments name exists: files, folders and modules of the repository."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from oracles.oracle import Knowledge
from oracles.table import ORACLES
from tests.source_trees import ROOT, name_of, tree_of

ROOMS = ("fuzzer", "generators", "oracles", "corpus", "reports", "tests", "docs", "benchmarks")
OF_TVM = ("tests/python", "docs/reference")
"""Paths of TVM's own repository that begin like ours."""

PATH = re.compile(rf"(?<![\w/.-])((?:{'|'.join(ROOMS)})/[\w./*-]+)")
RELATIVE = re.compile(r"`([\w-]+/[\w/-]+\.py)`")
"""The end of a path, as in `tir/decode.py`."""
MODULE = re.compile(rf"`((?:{'|'.join(ROOMS)})(?:\.\w+)+)`")
CODE = re.compile(r"^```(?:python|jinja)\n.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<!\\)\]\((?!https?://|#)([^)#]+)\)")
PRIVATE = re.compile(r"\b(DESIGN|TRIAGE|STYLE|KNOWN_BUGS|faults_a|CLEAN twins?)\b")
"""Papers of the makers that are not in the repository."""


def files(*patterns: str) -> list[Path]:
    """Files of the repository, and those that git does not know yet; not what a corpus case holds."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    names = listed.stdout.splitlines() if listed.returncode == 0 else map(str, _walked(patterns))
    return [ROOT / name for name in names if not name.startswith("corpus/cases/") and (ROOT / name).is_file()]


def _walked(patterns: tuple[str, ...]) -> list[Path]:
    """The same in a copy without git, such as an unpacked source distribution."""
    found = (path.relative_to(ROOT) for pattern in patterns for path in ROOT.rglob(pattern))
    return [path for path in found if path.parts[0] in ROOMS or len(path.parts) == 1]


DOCUMENTS = files("*.md")
SOURCES = files("*.py")
KNOWN = {path.relative_to(ROOT).as_posix() for path in files("*")}


FOLDERS = sorted({path.parent.relative_to(ROOT).as_posix() for path in (*DOCUMENTS, *SOURCES)})


def prose(path: Path) -> str:
    """What a person reads: a document without its code, the docstrings and comments of a source."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return CODE.sub("", text)
    strings = (node.value for node in statements_of(tree_of(path)) if isinstance(node, ast.Expr))
    docs = [node.value for node in strings if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    remarks = "\n".join(line for line in text.splitlines() if "#" in line)
    names_something = any(pattern.search(remarks) for pattern in (PATH, MODULE, PRIVATE))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline) if names_something else ()
    return "\n".join([*docs, *(token.string for token in tokens if token.type == tokenize.COMMENT)])


def statements_of(tree: ast.Module) -> Iterator[ast.AST]:
    """Every statement of a tree."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, ())
            left.extend(inner if isinstance(inner, list) else ())


def missing_paths(text: str) -> set[str]:
    """The paths of ours in a text that lead nowhere."""
    named = {found.rstrip(".") for found in PATH.findall(text)}
    ours = {path for path in named if not path.startswith(OF_TVM)}
    return {
        path for path in ours if not any((ROOT / f"{path}{end}").exists() for end in ("", ".py")) and not globbed(path)
    }


def globbed(pattern: str) -> list[Path]:
    return list(ROOT.glob(pattern.rstrip("/"))) if "*" in pattern else []


def missing_modules(text: str) -> set[str]:
    """Dotted names in backticks that are neither a module of ours nor something that one defines."""
    return {name for name in MODULE.findall(text) if not _defined(name)}


def _defined(name: str) -> bool:
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        stem = ROOT.joinpath(*parts[:end])
        module = stem.with_suffix(".py") if stem.with_suffix(".py").is_file() else stem / "__init__.py"
        if module.is_file():
            text = module.read_text(encoding="utf-8")
            return all(re.search(rf"\b{part}\b", text) for part in parts[end:])
    return False


def test_the_checks_see_what_is_missing() -> None:
    assert missing_paths("as `oracles/no_such.py` and oracles/oracle.py say, tests/python/relax too") == {
        "oracles/no_such.py"
    }
    assert missing_modules("`oracles.verdict`, `oracles.verdict.Failed`, `oracles.verdict.Lost`, `oracles.no.x`") == {
        "oracles.verdict.Lost",
        "oracles.no.x",
    }
    assert len(DOCUMENTS) > 5 and len(SOURCES) > 300


def links_of(text: str) -> list[str]:
    """Where the links of a document lead; brackets in code and escaped ones are none."""
    return LINK.findall(re.sub(r"`[^`\n]*`", "", text))


def test_links_are_seen_and_code_and_escaped_brackets_are_none() -> None:
    assert links_of(r"[a](x.md) `operator[](i)` \[\](j) [`b`](y.md)") == ["x.md", "y.md"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_the_texts_of_a_folder_name_is_there(folder: str) -> None:
    """One test for a folder: each text is read once."""
    paths = [path for path in (*DOCUMENTS, *SOURCES) if path.parent == ROOT / folder]
    assert {name_of(path): wrong for path in paths if (wrong := wrong_in(path))} == {}


def wrong_in(path: Path) -> list[str]:
    """Files and modules that a text names and that are not there, links and ends of paths that lead nowhere, and papers
    that are not in the repository."""
    text = prose(path)
    wrong = [*missing_paths(text), *missing_modules(text), *PRIVATE.findall(text)]
    if path.suffix != ".py":
        wrong += [link for link in links_of(text) if not (path.parent / link).exists()]
        wrong += [end for end in RELATIVE.findall(text) if not any(f"/{name}".endswith(f"/{end}") for name in KNOWN)]
    return wrong


def test_what_is_wrong_in_a_text_is_told(tmp_path: Path) -> None:
    text = "`oracles.no.x`, DESIGN, [a](no_such.md), `no_such/decode.py`, `tir/decode/views.py`, oracles/no_such.py\n"
    (tmp_path / "a.md").write_text(text)
    wrong = ["oracles/no_such.py", "oracles.no.x", "DESIGN", "no_such.md", "no_such/decode.py"]
    assert wrong_in(tmp_path / "a.md") == wrong


def test_what_passes_of_tests_are_held_to() -> None:
    """The rows of a table in docs/pytest-plugin.md, from most that is known to least, name its oracles."""
    table = (ROOT / "docs" / "pytest-plugin.md").read_text(encoding="utf-8").split("| held to |")[1]
    rows = [line.replace("-", " ") for line in table.splitlines()[2:5]]
    for known, row in zip(sorted(Knowledge, reverse=True), rows, strict=True):
        asked, every = _asked(known), _asked(Knowledge.ROW)
        assert {name for name in every if name in row} == asked


def _asked(known: Knowledge) -> set[str]:
    """The words of the table for the oracles."""
    words = {"well_formed": "well_formedness", "numeric": "numbers"}
    return {words.get(name, name).replace("_", " ") for name, oracle in ORACLES.items() if oracle.holds_at(known)}

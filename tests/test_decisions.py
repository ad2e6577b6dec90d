"""No decision depends on the wording of a message of ours: what a text says to a person is a field or a record too.

A lint of the common forms: `==`, `in`, methods such as `startswith`, `re`, and `get` of a table, with literals or
constants, and `match` of a text. It does not see aliases and other tables of texts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.source_trees import name_of, nodes_of, product_files, tree_of

TESTS = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "find", "index"}
PATTERNS = {"search", "match", "fullmatch", "findall", "finditer", "sub", "get"}
"""Methods that decide by a text that they are given: regular expressions, and look-ups in a table."""
SAID = {"symptom", "reason", "message", "detail", "how", "title"}
"""Names of texts for people."""

READ = {
    "corpus/blamed.py": (1, "causes in a registry of an older version, or that a person has written"),
    "corpus/cause.py": (3, "what TVM raises"),
    "corpus/cause_message.py": (3, "what TVM and Python raise"),
    "corpus/migration.py": (16, "messages in case folders of old schemas, which lack evidence"),
    "corpus/statements.py": (1, "constructors of passes"),
    "corpus/store.py": (1, "scripts of modules"),
    "corpus/tracebacks.py": (5, "what Python and TVM print"),
    "corpus/wording.py": (2, "kinds of errors that TVM raised"),
    "fuzzer/commands/doctor.py": (1, "names of probes"),
    "fuzzer/coverage/count.py": (1, "the source files that rows of passes name"),
    "fuzzer/oneshot/keep.py": (1, "any message, by the regular expression of a user"),
    "fuzzer/oneshot/prepare.py": (1, "what TVM's parser says"),
    "fuzzer/replaying/comparison.py": (2, "what TVM has raised, in this version and in the one of the record"),
    "fuzzer/replaying/ending.py": (1, "what Python and TVM print"),
    "oracles/builds/cpu_trial.py": (3, "what LLVM and the C++ compiler say"),
    "oracles/builds/cuda_cpu/program.py": (1, "the answer of a compiled kernel, which is C++"),
    "oracles/builds/cuda_device.py": (2, "what nvcc and the driver say"),
    "oracles/checks/round_trip.py": (2, "what TVM's parser says, and paths of its nodes"),
    "oracles/checks/survives.py": (4, "what TVM says"),
    "oracles/ir/difference.py": (1, "scripts as TVM prints them"),
    "oracles/tvm_errors.py": (4, "what TVM says"),
    "oracles/tvm_frames.py": (1, "what TVM prints"),
    "reports/reasons.py": (1, "reasons, to put those that begin alike together for a reader"),
}
"""Files that test texts, how often, and whose."""


def constants(tree: ast.Module) -> dict[str, ast.expr]:
    """The values of the names that a file binds at its top."""
    bound = [node for node in tree.body if isinstance(node, ast.Assign)]
    return {target.id: node.value for node in bound for target in node.targets if isinstance(target, ast.Name)}


def texts(node: ast.AST, names: dict[str, ast.expr]) -> list[str]:
    """The string literals in an expression, and in the constants that it names."""
    named = [names[part.id] for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in names]
    parts = [part for whole in (node, *named) for part in ast.walk(whole)]
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def is_said(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in SAID) or (isinstance(node, ast.Name) and node.id in SAID)


def is_sentence(text: str) -> bool:
    """Names of things have no space."""
    return " " in text and bool(text.strip())


def is_composed(node: ast.AST, names: dict[str, ast.expr]) -> bool:
    """Whether a node names a text made of parts. The symptoms of `oracles.verdict`, which all may ask for, are not."""
    return isinstance(node, ast.Name) and isinstance(names.get(node.id), ast.JoinedStr)


def decisions(tree: ast.Module, elsewhere: dict[str, ast.expr]) -> Iterator[ast.expr]:
    """Tests for a sentence, and of what is said to a person. elsewhere: constants of other files."""
    names = {**elsewhere, **constants(tree)}
    for node in nodes_of(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            literals = [text for side in sides for text in texts(side, {})]
            composed = any(is_composed(part, names) for side in sides for part in ast.walk(side))
            if any(map(is_sentence, literals)) or ((any(literals) or composed) and any(map(is_said, sides))):
                yield node
        elif isinstance(node, ast.Match) and matches_text(node):
            yield node.subject
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            sentence = any(is_sentence(text) for part in node.args for text in texts(part, names))
            tested = sentence or (bool(node.args) and is_said(node.func.value))
            matched = any(map(is_said, node.args))
            if (node.func.attr in TESTS and tested) or (node.func.attr in PATTERNS and matched):
                yield node


def matches_text(node: ast.Match) -> bool:
    """Whether a `match` of what is said to a person has a case with a text."""
    return is_said(node.subject) and any(texts(case.pattern, {}) for case in node.cases)


def judging() -> list[Path]:
    """The files of the rooms, generators apart."""
    return [path for path in product_files() if not name_of(path).startswith("generators/")]


@cache
def deciding() -> dict[str, list[str]]:
    """The files of the rooms with such tests, and where."""
    trees = {name_of(path): tree_of(path) for path in judging()}
    known = {name: value for tree in trees.values() for name, value in constants(tree).items() if name.isupper()}
    found = {path: list(decisions(tree, known)) for path, tree in trees.items()}
    return {path: [f"{node.lineno}: {ast.unparse(node)}" for node in nodes] for path, nodes in found.items() if nodes}


def test_no_text_of_ours_decides() -> None:
    assert {path: nodes for path, nodes in deciding().items() if len(nodes) > READ.get(path, (0, ""))[0]} == {}


def test_what_is_excused_is_there() -> None:
    found = deciding()
    assert {path: number for path, (number, _) in READ.items() if number > len(found.get(path, ()))} == {}


def test_blocks_of_reports_are_read_back_of_older_folders_alone() -> None:
    """What stands in a report is a field of `case.json` too."""
    reading = [path.name for path in judging() if "fenced_in(" in path.read_text(encoding="utf-8")]
    assert sorted(reading) == ["escapes.py", "migration.py"]


CONSTANTS = constants(ast.parse('CRASH = "crash"\nEMPTY = f"{CUDA}launch"\nUSELESS = "seed left out: "'))


@pytest.mark.parametrize(
    "line",
    [
        'verdict.symptom == "crash"',
        'failure.symptom in ("crash", "hang")',
        '" after a pass" not in said',
        "reason.startswith(start)",
        "name.startswith(USELESS)",
        'name.startswith(f"build {label}")',
        'flaw.removeprefix("input: ")',
        'what == "a call that cannot be typed"',
        "verdict.symptom in (CRASH, EMPTY)",
        "same.get(symptom, message)",
        're.search(r"bytes", failed.message)',
        'match failure.symptom:\n    case "crash" | "hang":\n        pass',
    ],
)
def test_a_decision_by_a_text_is_seen(line: str) -> None:
    assert list(decisions(ast.parse(line), CONSTANTS))


@pytest.mark.parametrize(
    "line", ['name.startswith("relax.")', "failure.symptom == CRASH", '" ".join(row.message.split())', 'kind == "type"']
)
def test_names_of_things_may_be_compared(line: str) -> None:
    assert not list(decisions(ast.parse(line), CONSTANTS))

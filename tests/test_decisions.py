"""No decision depends on the wording of a message of ours: what a text says to a person is a field or a record too.

A lint of the common forms: `==`, `in`, methods such as `startswith`, `re`, and `get` of a table, with literals or
constants, sets of phrases, and `match` of a text. No regular expression quotes three words in a row of a message of
ours, whatever it is applied to. It does not see aliases and other tables of texts.
"""

from __future__ import annotations

import ast
import re
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

CLASSES = {"kind", "what", "said", "told"}
"""Names of what is asked for its class, and never for how it begins or ends."""
ENDS = {"startswith", "endswith", "removeprefix", "removesuffix"}
COLLECTIONS = {"frozenset", "set", "tuple"}

READ = {
    "corpus/causes/blamed.py": (1, "causes in a registry of an older version, or that a person has written"),
    "corpus/causes/cause.py": (3, "what TVM raises"),
    "corpus/causes/cause_message.py": (3, "what TVM and Python raise"),
    "corpus/migration.py": (17, "messages and symptoms in case folders of old schemas"),
    "corpus/scripts/statements.py": (1, "constructors of passes"),
    "corpus/store.py": (1, "scripts of modules"),
    "corpus/causes/tracebacks.py": (7, "what Python and TVM print"),
    "corpus/wording.py": (2, "kinds of errors that TVM raised"),
    "fuzzer/commands/doctor.py": (1, "names of probes"),
    "fuzzer/coverage/count.py": (1, "the source files that rows of passes name"),
    "fuzzer/oneshot/keep.py": (1, "any message, by the regular expression of a user"),
    "fuzzer/oneshot/prepare.py": (1, "what TVM's parser says"),
    "fuzzer/replaying/case.py": (1, "outcomes of a replay: the words of a type"),
    "fuzzer/replaying/comparison.py": (2, "what TVM has raised, in this version and in the one of the record"),
    "fuzzer/replaying/ending.py": (1, "what Python and TVM print"),
    "generators/passes/constructors.py": (2, "constructors of passes, of a stranger too"),
    "generators/recipes/schedulable.py": (1, "kinds of its own table"),
    "generators/recipes/unused_outputs.py": (1, "kinds of its own table"),
    "generators/script_shape.py": (2, "the syntax of TVMScript"),
    "generators/tir/relax_caller.py": (1, "how TVM prints sums"),
    "generators/tir/schedules.py": (1, "what TVM says"),
    "oracles/reference/calls.py": (1, "names of TVM's builtins"),
    "oracles/reference/vm_builtins.py": (1, "a number; another file has a text by this name"),
    "oracles/builds/cpu_trial.py": (4, "what LLVM and the C++ compiler say"),
    "oracles/builds/cuda_cpu/program.py": (1, "the answer of a compiled kernel, which is C++"),
    "oracles/builds/cuda_device.py": (2, "what nvcc and the driver say"),
    "oracles/checks/pipelines.py": (2, "what TVM says, and the name of a culprit"),
    "oracles/checks/round_trip.py": (2, "what TVM's parser says, and paths of its nodes"),
    "oracles/checks/survives.py": (4, "what TVM says"),
    "oracles/ir/difference.py": (1, "scripts as TVM prints them"),
    "oracles/reference/tir/libraries.py": (1, "names of TVM's intrinsics"),
    "oracles/tvm_errors.py": (4, "what TVM says"),
    "oracles/tvm_frames.py": (1, "what TVM prints"),
    "reports/reasons.py": (1, "reasons, to put those that begin alike together for a reader"),
}
"""Files that test texts, how often, and whose."""
QUOTED = {
    "corpus/migration.py": {"script does not parse", "killed by signal"},  # messages in case folders of old schemas
    "oracles/builds/cuda_device.py": {"out of memory"},  # the driver says so, too
    "oracles/tvm_frames.py": {"out of memory"},  # allocators say so, too
}
"""Files with patterns that hold words of a message of ours."""


def constants(tree: ast.Module) -> dict[str, ast.expr]:
    """The values of the names that a file binds at its top."""
    bound = [node for node in tree.body if isinstance(node, ast.Assign)]
    return {target.id: node.value for node in bound for target in node.targets if isinstance(target, ast.Name)}


def typed(tree: ast.Module) -> dict[str, ast.expr]:
    """The types of the names that a file binds at its top with a type."""
    bound = [node for node in tree.body if isinstance(node, ast.AnnAssign)]
    return {node.target.id: node.annotation for node in bound if isinstance(node.target, ast.Name)}


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
    """Whether a node names a text made of parts, or texts that something makes. The symptoms of `oracles.verdict` are
    none: all may ask for them."""
    if not (isinstance(node, ast.Name) and node.id in names):
        return False
    value = names[node.id]
    calls = (part.func for part in ast.walk(value) if isinstance(part, ast.Call))
    return isinstance(value, ast.JoinedStr) or any(
        not (isinstance(func, ast.Name) and func.id in COLLECTIONS) for func in calls
    )


def is_phrases(node: ast.expr, phrases: dict[str, ast.expr]) -> bool:
    """Whether a node names a text of several words, or a collection of such; of a table its keys count."""
    if not (isinstance(node, ast.Name) and node.id in phrases):
        return False
    value = phrases[node.id]
    told = value.keys if isinstance(value, ast.Dict) else [value]
    return any(is_sentence(text) for part in told if part is not None for text in texts(part, {}))


def name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def decisions(tree: ast.Module, elsewhere: dict[str, ast.expr]) -> Iterator[ast.expr]:
    """Tests for a sentence, and of what is said to a person. elsewhere: constants of other files."""
    names = {**elsewhere, **constants(tree)}
    phrases = {name: value for name, value in names.items() if name not in of_verdicts() | typed(tree)}
    for node in nodes_of(tree):
        if isinstance(node, ast.Compare | ast.BinOp) and any(is_phrases(side, phrases) for side in sides_of(node)):
            yield node
        elif isinstance(node, ast.Compare):
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
            begins = name(node.func.value) in CLASSES and any(texts(part, names) for part in node.args)
            if (
                (node.func.attr in TESTS and tested)
                or (node.func.attr in PATTERNS and matched)
                or node.func.attr in ENDS
                and begins
            ):
                yield node


def sides_of(node: ast.Compare | ast.BinOp) -> list[ast.expr]:
    """What is compared, or taken from or intersected with each other."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    return [node.left, node.right] if isinstance(node.op, ast.Sub | ast.BitAnd) else []


@cache
def of_verdicts() -> dict[str, ast.expr]:
    """The symptoms of `oracles.verdict`, which all may ask for."""
    return constants(tree_of(next(path for path in judging() if name_of(path) == "oracles/verdict.py")))


def matches_text(node: ast.Match) -> bool:
    """Whether a `match` of what is said to a person has a case with a text."""
    return is_said(node.subject) and any(texts(case.pattern, {}) for case in node.cases)


def judging() -> list[Path]:
    """The files of the rooms."""
    return product_files()


@cache
def deciding() -> dict[str, list[str]]:
    """The files of the rooms with such tests, and where."""
    trees = {name_of(path): tree_of(path) for path in judging()}
    known = {name: value for tree in trees.values() for name, value in constants(tree).items() if name.isupper()}
    found = {path: list(decisions(tree, known)) for path, tree in trees.items()}
    return {path: [f"{node.lineno}: {ast.unparse(node)}" for node in nodes] for path, nodes in found.items() if nodes}


def patterns(tree: ast.Module) -> Iterator[ast.expr]:
    """The patterns of a file's regular expressions."""
    for node in nodes_of(tree):
        match node:
            case ast.Call(
                ast.Attribute(ast.Name("re"), "compile" | "split" | "sub") | ast.Attribute(ast.Name("re")), [p, *_]
            ):
                yield p


def plain_words(pattern: str) -> list[str]:
    """Three words and more in a row that a pattern holds as they are."""
    return re.findall(r"[A-Za-z]+(?: [A-Za-z]+){2,}", re.sub(r"\\.|\(\?[<!=:P]+", "|", pattern))


def told(tree: ast.Module) -> set[str]:
    """The texts of a file with a space, those of f-strings included; docstrings and patterns apart."""
    apart = {id(part) for pattern in patterns(tree) for part in ast.walk(pattern)}
    apart |= {id(node.value) for node in nodes_of(tree) if isinstance(node, ast.Expr)}
    literals = (node for node in nodes_of(tree) if isinstance(node, ast.Constant) and id(node) not in apart)
    return {node.value for node in literals if isinstance(node.value, str) and " " in node.value}


def quoting(tree: ast.Module, messages: set[str]) -> set[str]:
    """The words of messages that the patterns of a file hold."""
    held = {words for pattern in patterns(tree) for text in texts(pattern, {}) for words in plain_words(text)}
    return {words for words in held if any(words in message for message in messages)}


def test_no_pattern_quotes_a_message_of_ours() -> None:
    trees = {name_of(path): tree_of(path) for path in product_files()}
    messages = set[str]().union(*map(told, trees.values()))
    found = {path: quoting(tree, messages) for path, tree in trees.items()}
    assert {path: words for path, words in found.items() if words} == QUOTED


@pytest.mark.parametrize(
    "line",
    [
        'STEPS = ((re.compile(r"(?<=no reason is given at )`(.*)`"), r"\\1"),)',
        're.sub(r"\\bno reason is given\\b", "", text)',
        'found = re.search(f"no reason is given{end}", text)',
    ],
)
def test_a_pattern_that_quotes_is_seen(line: str) -> None:
    message = ast.parse('"""said in a docstring"""\nwhy = f"no reason is given at `{statement}`"')
    assert told(message) == {"no reason is given at `"}
    assert quoting(ast.parse(line), told(message)) and not quoting(ast.parse(line), {"a reason is given"})


def test_no_text_of_ours_decides() -> None:
    assert {path: nodes for path, nodes in deciding().items() if len(nodes) > READ.get(path, (0, ""))[0]} == {}


def test_what_is_excused_is_there() -> None:
    found = deciding()
    assert {path: number for path, (number, _) in READ.items() if number > len(found.get(path, ()))} == {}


def test_blocks_of_reports_are_read_back_of_older_folders_alone() -> None:
    """What stands in a report is a field of `case.json` too."""
    reading = [path.name for path in judging() if "fenced_in(" in path.read_text(encoding="utf-8")]
    assert sorted(reading) == ["escapes.py", "migration.py"]


CONSTANTS = constants(
    ast.parse(
        'CRASH = "crash"\nEMPTY = f"{CUDA}launch"\nUSELESS = "seed left out: "\n'
        'SILENT = frozenset((CRASH, symptom_of("data-race")))\nPLAIN = frozenset({"a variable", "Var"})\n'
        '_MARK = "AttrStmt"\nMEANINGS = {0: "of zeros only"}\nNAMES = frozenset(("add", "sub"))'
    )
)


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
        "symptom in SILENT",
        "change.kind not in PLAIN",
        "{change.kind for change in changes} <= PLAIN",
        "removed - PLAIN",
        "kind.startswith(_MARK)",
        're.search(r"bytes", failed.message)',
        'match failure.symptom:\n    case "crash" | "hang":\n        pass',
    ],
)
def test_a_decision_by_a_text_is_seen(line: str) -> None:
    assert list(decisions(ast.parse(line), CONSTANTS))


@pytest.mark.parametrize(
    "line",
    [
        'name.startswith("relax.")',
        "failure.symptom == CRASH",
        '" ".join(row.message.split())',
        'kind == "type"',
        "byte in MEANINGS",
        "name in NAMES",
        "kind.piece is Piece.MARK",
    ],
)
def test_names_of_things_may_be_compared(line: str) -> None:
    assert not list(decisions(ast.parse(line), CONSTANTS))

"""The words that causes are made of are in the registry: causes are compared with `==`, so a word that changes makes
known bugs new.

Here: the constants of the files that make causes. `tests/fuzzer/trial/test_facts.py` judges every stored case again
and compares the whole cause.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from corpus.registry import SHIPPED, read_registry
from tests.source_trees import ROOT, nodes_of, tree_of

UNSEEN = {
    "corpus/causes/cause.py": {
        "a crash",
        "takes memory without bound",
        "leaves its process with",
        "loses the attribute",
        "a store",
    },
    "corpus/causes/cause_message.py": {"Error in pass:", "Error message:"},
    "fuzzer/trial/cause/folded.py": set(),
    "fuzzer/trial/cause/left_for_vm.py": {", and does not say why"},
    "fuzzer/trial/cause/lowered.py": {"with the number"},
    "fuzzer/trial/cause/of_step.py": set(),
    "fuzzer/trial/cause/primitives.py": set(),
    "oracles/broken.py": {"a variable of the pass's own is out of its scope", "an If in a dataflow block"},
    "oracles/ir/kinds.py": {
        "Mul by a negative constant",
        "a call of a closure",
        "a call of a packed function",
        "a loop that begins at a number",
        "a loop with a step",
        "a shape",
        "another constant",
        "another extent",
        "another order of bindings",
        "another order of statements",
        "another variable",
        "in place of",
        "operands in another order",
        "other types",
        "the same kinds",
        "with a predicate",
    },
    "oracles/ir/rewrite.py": set(),
    "oracles/ir/scheduled.py": {"stores other values"},
}
"""The files, and which of their texts are in no known cause (or are TVM's). Whoever rewords another one changes
`corpus/known.toml` and the stored cases with it."""


def phrases(tree: ast.Module) -> Iterator[str]:
    """Texts of several words, also those in f-strings; docstrings and regular expressions apart."""
    told = {id(node.value) for node in nodes_of(tree) if isinstance(node, ast.Expr)}
    for node in nodes_of(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            text = node.value.strip()
            if len(text.split()) > 1 and not any(mark in text for mark in ("\\", "(?")):
                yield text


@pytest.mark.parametrize("file", UNSEEN)
def test_what_causes_are_made_of_is_in_the_registry(file: str) -> None:
    known = "\n".join(text for entry in read_registry(SHIPPED).entries for text in (entry.cause, *entry.also))
    assert {text for text in phrases(tree_of(ROOT / file)) if text not in known} == UNSEEN[file]


def test_a_word_that_changes_is_seen() -> None:
    code = '"""Told to a reader."""\nCause(who, f"drops the attribute {key}", "one", "a (?:regular) expression")\n'
    assert list(phrases(ast.parse(code))) == ["drops the attribute"]

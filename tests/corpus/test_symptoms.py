"""The words of symptoms, which stored cases hold and which decide what a replay means."""

from __future__ import annotations

import os

os.environ.setdefault("TVM_NUM_THREADS", "1")

import ast

import pytest

from corpus.migration import symptom_of_today
from corpus.store import StoredCase, read_case
from oracles import verdict
from tests.corpus.test_cases import CORPUS, SLUGS
from tests.source_trees import name_of, nodes_of, product_files, tree_of

DECIDING = {
    "CRASH": "crash",
    "HANG": "hang",
    "WRONG_RESULT": "wrong result",
    "INPUT_CHANGED": "input changed",
    "REJECTS": "rejects the module",
    "DOES_NOT_BUILD": "does not build",
    "DOES_NOT_RUN": "does not run",
    "ACROSS_PROCESSES": "not deterministic across processes",
}
"""As cases hold them that somebody may have stored: never another word."""


def said() -> set[str]:
    """The texts of the oracles, of which some are symptoms."""
    trees = [tree_of(path) for path in product_files() if name_of(path).startswith("oracles/")]
    nodes = (node for tree in trees for node in nodes_of(tree))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.parametrize("name", DECIDING)
def test_a_symptom_that_decides_keeps_its_word(name: str) -> None:
    assert getattr(verdict, name) == DECIDING[name]


def test_every_case_has_a_symptom_that_an_oracle_says() -> None:
    cases = [case for slug in SLUGS if isinstance(case := read_case(CORPUS / slug), StoredCase)]
    assert len(cases) == len(SLUGS)
    heads = {case.symptom.partition(": ")[0] for case in cases}
    assert {head for head in heads if not any(text.startswith(head) for text in said())} == set()


def test_an_older_word_is_read_in_the_one_of_today() -> None:
    assert symptom_of_today("build failed") == verdict.DOES_NOT_BUILD
    assert symptom_of_today("crash") == verdict.CRASH

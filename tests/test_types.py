"""What signatures say: no method refuses what its type promises, and no type is left out where there is one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.source_trees import ROOT, name_of, nodes_of, product_files, tree_of

ABSTRACT = {"corpus/escapes.py: Written.escaped"}
"""Of a base class that is never made: each language has its own."""

TYPED = (
    *("fuzzer", "fuzzer/campaign", "fuzzer/capture/inside", "fuzzer/coverage", "fuzzer/oneshot", "fuzzer/plugin"),
    *("fuzzer/trial", "fuzzer/trial/subject", "fuzzer/worker"),
    *("generators/tir", "generators/tir/recipes"),
    *("oracles", "oracles/calls", "oracles/checks", "oracles/ir", "oracles/reference/tir/emit"),
    *("reports",),
)
"""Folders in which nothing is `Any`. `generators.tvm_api` names the types of TVM, `generators.json_values` those of
JSON; a value of which nothing is known is an `object`."""


def refusals(tree: ast.Module) -> Iterator[str]:
    """The methods that do nothing but raise an error of programming."""
    for kind in (node for node in nodes_of(tree) if isinstance(node, ast.ClassDef)):
        for method in (node for node in kind.body if isinstance(node, ast.FunctionDef)):
            match method.body[ast.get_docstring(method) is not None :]:
                case [ast.Raise(exc=error)] if error is not None and _is_refusal(error):
                    yield f"{kind.name}.{method.name}"


def _is_refusal(error: ast.expr) -> bool:
    raised = error.func if isinstance(error, ast.Call) else error
    return ast.unparse(raised) in ("AssertionError", "NotImplementedError", "TypeError")


def test_no_method_refuses_what_its_class_promises() -> None:
    found = {f"{name_of(path)}: {name}" for path in product_files() for name in refusals(tree_of(path))}
    assert found == ABSTRACT, "split the protocol: who cannot do it does not have it"


@pytest.mark.parametrize("error", ["AssertionError('not here')", "NotImplementedError"])
def test_a_refusal_is_found(error: str) -> None:
    text = f'class Bench:\n    def all(self):\n        """All."""\n        raise {error}'
    assert list(refusals(ast.parse(text))) == ["Bench.all"]


def untyped(tree: ast.Module) -> list[int]:
    """The lines that say `Any`."""
    return sorted(node.lineno for node in nodes_of(tree) if isinstance(node, ast.Name) and node.id == "Any")


@pytest.mark.parametrize("folder", TYPED)
def test_nothing_is_any(folder: str) -> None:
    files = sorted((ROOT / folder).glob("*.py"))
    assert files
    said = {path.name: untyped(tree_of(path)) for path in files}
    assert {name: lines for name, lines in said.items() if lines} == {}


def test_any_is_seen() -> None:
    assert untyped(ast.parse("def f(module: Any) -> dict[str, Any]:\n    found: list[Any] = []")) == [1, 1, 2]

"""The decoder's tables: each name has one rule, and no family's rule is lost when they are joined."""

from __future__ import annotations

from dataclasses import fields

import pytest

from generators import tvm_api
from generators.tvm_api import KINDS
from oracles.reference.tir.decode import table
from oracles.reference.tir.decode.state import EMPTY, DecodeState, Rules
from oracles.reference.tir.nodes import Stmt


def nothing(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    return EMPTY


def also_nothing(state: DecodeState, node: tvm_api.Stmt) -> Stmt:
    return EMPTY


def test_two_rules_for_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"two rules for \['For'\] among the statements"):
        table.joined((Rules(statements={"For": nothing}), Rules(statements={"For": also_nothing})))


def test_one_name_may_have_rules_of_several_kinds() -> None:
    whole = table.joined((Rules(statements={"x": nothing}), Rules(effects={"x": also_nothing})))
    assert (whole.statements, whole.effects) == ({"x": nothing}, {"x": also_nothing})


def test_joining_leaves_the_families_as_they_are() -> None:
    one, other = Rules(statements={"a": nothing}), Rules(statements={"b": nothing})
    table.joined((one, other))
    assert (list(one.statements), list(other.statements)) == (["a"], ["b"])


@pytest.mark.parametrize("kind", [kind.name for kind in fields(Rules)])
def test_each_kind_of_rule_has_several_families(kind: str) -> None:
    having = [family.__name__ for family in table._FAMILIES if getattr(family.RULES, kind)]
    assert len(having) >= 2
    joined = getattr(table.RULES, kind).keys() - KINDS.keys()  # an older TVM's names of the same rules
    assert sum(len(getattr(family.RULES, kind)) for family in table._FAMILIES) == len(joined)

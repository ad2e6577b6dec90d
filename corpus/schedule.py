"""The steps of a random schedule inside of the expression that constructs it (`generators.passes.tir_others`)."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from generators.case import PassCall
from generators.passes.row import Role
from generators.passes.table import the

_PRIMITIVE = re.compile(r"\bsch\.(\w+)\(")
_LOOKS = re.compile(r"get_|work_on$")


def schedule_steps(source: str) -> list[str]:
    """The texts of the steps, in order; [] for any other expression."""
    return _parts(source)[2:-1]


def _parts(source: str) -> list[str]:
    """The texts of the schedule, of where it works, of its steps and of its module."""
    made = ast.parse(source, mode="eval").body
    if not isinstance(made, ast.Call) or not made.args or not isinstance(made.args[0], ast.Lambda):
        return []
    last = made.args[0].body
    if not isinstance(last, ast.Subscript) or not isinstance(last.value, ast.Tuple):
        return []
    parts = last.value.elts
    if not isinstance(parts[0], ast.NamedExpr) or parts[0].target.id != "sch":  # another pass that is one expression
        return []
    return [str(ast.get_source_segment(source, part)) for part in parts]


def schedule_lines(source: str, given: str) -> list[str]:
    """The schedule `sch` of the module `given` and its steps as statements; [] for any other expression."""
    steps = schedule_steps(source)
    if not steps:
        return []
    return [f"sch = tvm.s_tir.Schedule({given})", _parts(source)[1], *steps]


def culprit_named(culprit: str, passes: Sequence[PassCall]) -> str:
    """A schedule to blame with the primitives that are left of it; any other culprit as it is."""
    calls = [call for call in passes if call.name == culprit == the(Role.SCHEDULES).name]
    return f"{culprit}[{'+'.join(primitives_of(calls[0].source))}]" if calls else culprit


def primitives_of(source: str) -> tuple[str, ...]:
    """The primitives that the steps apply, each once, in order."""
    names = [name for step in schedule_steps(source) for name in _PRIMITIVE.findall(step)]
    return tuple(dict.fromkeys(name for name in names if not _LOOKS.match(name)))

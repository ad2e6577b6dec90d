"""The steps of a random schedule inside of the expression that constructs it (`generators.passes.tir_others`)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from corpus.scripts.statements import steps_of

_PRIMITIVE = re.compile(r"\bsch\.(\w+)\(")
_LOOKS = re.compile(r"get_|work_on$")


def schedule_steps(source: str) -> list[str]:
    """The texts of the steps, in order; [] for any other expression."""
    steps = steps_of(source)
    if not steps or not isinstance(steps[0], ast.NamedExpr) or steps[0].target.id != "sch":
        return []
    return [str(ast.get_source_segment(source, step)) for step in steps[2:-1]]


def grown(source: str) -> Iterator[tuple[str, str]]:
    """The schedule with its first primitive, with its first two, and so on to the whole of it; each by the name of the
    primitive that was added last. Nothing for any other expression."""
    made = ast.parse(source, mode="eval").body
    if not schedule_steps(source) or not isinstance(made, ast.Call) or not isinstance(made.args[0], ast.Lambda):
        return
    first, second, *steps, last = map(ast.unparse, _flat(steps_of(source)))
    around = ast.unparse(made).partition(ast.unparse(made.args[0].body))
    for end, step in enumerate(steps, 1):
        if found := [name for name in _PRIMITIVE.findall(step) if not _LOOKS.match(name)]:
            yield found[-1], f"{around[0]}({', '.join((first, second, *steps[:end], last))})[-1]{around[2]}"


def _flat(steps: Sequence[ast.expr]) -> Iterator[ast.expr]:
    """Steps without the tuples that hold several of them."""
    for step in steps:
        yield from _flat(step.elts) if isinstance(step, ast.Tuple) else (step,)


def primitives_of(source: str) -> tuple[str, ...]:
    """The primitives that the steps apply, each once, in order."""
    names = [name for step in schedule_steps(source) for name in _PRIMITIVE.findall(step)]
    return tuple(dict.fromkeys(name for name in names if not _LOOKS.match(name)))

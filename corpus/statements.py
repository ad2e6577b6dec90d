"""A pass that is one expression of several steps, as the statements that a person would write.

TVM's passes are constructed by one expression each. Where a row applies several calls one after another, such as the
steps of a schedule or a search of MetaSchedule, its expression is
`module_pass(lambda mod, ctx: (name := value, call, ..., result)[-1])`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

WIDTH = 118
"""Characters of a line, where it can be broken."""


def steps_of(source: str) -> list[ast.expr]:
    """The steps of such an expression, in order, the result last; [] for any other expression."""
    made = ast.parse(source, mode="eval").body
    if not isinstance(made, ast.Call) or not made.args or not isinstance(made.args[0], ast.Lambda):
        return []
    last = made.args[0].body
    return last.value.elts if isinstance(last, ast.Subscript) and isinstance(last.value, ast.Tuple) else []


def statements_of(source: str, given: str) -> tuple[list[str], str]:
    """Lines that apply the pass to the module `given`, and what comes out; ([], "") for any other expression."""
    steps, written = steps_of(source), _Written(source, given)
    if not steps:
        return [], ""
    return [line for step in steps[:-1] for line in written.lines(step)], written.text(steps[-1])


@dataclass(frozen=True, slots=True)
class _Written:
    """How the parts of an expression are written. given: what the module `mod` of its lambda is called there."""

    source: str
    given: str

    def text(self, node: ast.expr) -> str:
        """An expression in a line, as the source has it where it does not read the module."""
        names = [one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == "mod"]
        if not names:
            return str(ast.get_source_segment(self.source, node))
        for name in names:
            name.id = self.given
        return ast.unparse(node)

    def lines(self, step: ast.expr) -> Iterator[str]:
        """The statements of a step whose value nobody reads."""
        match step:
            case ast.NamedExpr(target=target, value=value):
                yield from _broken(f"{target.id} = {self.text(value)}")
            case ast.Tuple(elts=parts):
                for part in parts:
                    yield from self.lines(part)
            case ast.ListComp(elt=body, generators=loops):
                heads = [head for loop in loops for head in self._heads(loop)]
                for depth, head in enumerate(heads):
                    yield from _indented(head, depth)
                yield from _indented(list(self.lines(body)), len(heads))
            case _:
                yield from _broken(self.text(step))

    def _heads(self, loop: ast.comprehension) -> Iterator[list[str]]:
        """The `for` of a comprehension and its `if`s, each the lines of one."""
        target = ast.unparse(loop.target)
        if isinstance(loop.target, ast.Tuple):
            target = target.removeprefix("(").removesuffix(")")
        yield _broken(f"for {target} in {self.text(loop.iter)}:")
        for condition in loop.ifs:
            line = f"if {self.text(condition)}:"
            if len(line) <= WIDTH or not isinstance(condition, ast.BoolOp):
                yield _broken(line)
                continue
            word = "and" if isinstance(condition.op, ast.And) else "or"
            first, *rest = (self.text(part) for part in condition.values)
            parts = [*_broken(first), *(line for part in rest for line in _broken(f"{word} {part}"))]
            yield ["if (", *_indented(parts, 1), "):"]


def _indented(lines: Sequence[str], depth: int) -> Iterator[str]:
    yield from (f"{'    ' * depth}{line}" for line in lines)


def _broken(line: str) -> list[str]:
    """The line over as many as it needs."""
    return folded(line).split("\n")


def folded(line: str) -> str:
    """The line over as many as it needs, broken after commas; as it is where that would change it."""
    if len(line) <= WIDTH:
        return line
    first, *rest = line.split(", ")
    lines = [first]
    for part in rest:
        lines[-1] += ","
        if len(lines[-1]) + len(part) + 2 <= WIDTH:  # a space before it, a comma after it
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}")
    text = "\n".join(lines)
    try:
        same = _parsed(text) == _parsed(line)
    except SyntaxError:
        return line  # a comma inside of a string, or the head of a loop
    return text if same else line


def _parsed(text: str) -> str:
    """The syntax of a statement, or of an operand after `and` or `or`."""
    operand = re.sub(r"^(?:and|or) ", "", text)
    return ast.dump(ast.parse(text if operand == text else f"({operand})"))

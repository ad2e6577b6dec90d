"""A pass that is one expression of several steps, as the statements that a person would write.

TVM's passes are constructed by one expression each. Where a row applies several calls one after another, such as the
steps of a schedule or a search of MetaSchedule, its expression is
`module_pass(lambda mod, ctx: (name := value, call, ..., result)[-1])`. A PrimFunc that stands in it as the text of
`tvm.script.from_source` is written as a function before the step that names it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from corpus.scripts.rewrites import replaced

WIDTH = 118
"""Characters of a line, where it can be broken."""


def steps_of(source: str) -> list[ast.expr]:
    """The steps of such an expression, in order, the result last; [] for any other expression."""
    return _steps(ast.parse(source, mode="eval").body)


def _steps(made: ast.expr) -> list[ast.expr]:
    if not isinstance(made, ast.Call) or not made.args or not isinstance(made.args[0], ast.Lambda):
        return []
    last = made.args[0].body
    return last.value.elts if isinstance(last, ast.Subscript) and isinstance(last.value, ast.Tuple) else []


def statements_of(source: str, given: str) -> tuple[list[str], str]:
    """Lines that apply the pass to the module `given`, and what comes out; ([], "") for any other expression, and for
    one in which `mod` is not always the module."""
    made = ast.parse(source, mode="eval").body
    steps = _steps(made)
    if not steps or not _is_plain(made):
        return [], ""
    names = {node.id for node in ast.walk(made) if isinstance(node, ast.Name)}
    written = _Written(source, given, frozenset({*names, given}))
    return [line for step in steps[:-1] for line in written.lines(step)], written.text(steps[-1])


def _is_plain(made: ast.expr) -> bool:
    """Whether an expression with steps is a module pass that gives its last one, and binds `mod` nowhere else."""
    if not isinstance(made, ast.Call) or not ast.unparse(made.func).endswith(".module_pass"):
        return False
    arguments = [node.arg for node in ast.walk(made) if isinstance(node, ast.arg)]
    stored = [node.id for node in ast.walk(made) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return (
        ast.unparse(made.args[0]).endswith("[-1]")
        and arguments[:2] == ["mod", "ctx"]
        and "mod" not in (*arguments[2:], *stored)
    )


@dataclass(frozen=True, slots=True)
class _Written:
    """How the parts of an expression are written. given: what the module `mod` of its lambda is called there. taken:
    names that have a meaning in it."""

    source: str
    given: str
    taken: frozenset[str]

    def text(self, node: ast.expr) -> str:
        """An expression in a line, as the source has it where it does not read the module."""
        names = [one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == "mod"]
        if not names:
            return str(ast.get_source_segment(self.source, node))
        for name in names:
            name.id = self.given
        return ast.unparse(node)

    def lines(self, step: ast.expr, depth: int = 0) -> Iterator[str]:
        """The statements of a step whose value nothing reads, so many levels in."""
        match step:
            case ast.NamedExpr(target=target, value=value):
                yield from _indented(f"{target.id} = {self.text(value)}", depth)
            case ast.Tuple(elts=parts):
                for part in parts:
                    yield from self.lines(part, depth)
            case ast.ListComp(elt=body, generators=loops):
                for loop in loops:
                    names = ast.unparse(loop.target)
                    if isinstance(loop.target, ast.Tuple):
                        names = names.removeprefix("(").removesuffix(")")
                    yield from _indented(f"for {names} in {self.text(loop.iter)}:", depth)
                    depth += 1
                    for condition in loop.ifs:
                        yield from self._condition(condition, depth)
                        depth += 1
                yield from self.lines(body, depth)
            case _:
                functions, line = self._functions_apart(self.text(step))
                if functions:
                    around = "\n".join(["", *functions]).split("\n")
                    yield from ("    " * depth + part if part else "" for part in around)
                yield from _indented(line, depth)

    def _functions_apart(self, line: str) -> tuple[list[str], str]:
        """The texts of functions in a step, and the step with their names."""
        if "from_source(" not in line:
            return [], line
        calls = [node for node in ast.walk(ast.parse(line, mode="eval")) if isinstance(node, ast.Call)]
        found = [(call, function) for call in calls if (function := _function_in(call)) is not None]
        names = [function.name for _, function in found]
        if len({*names}) < len(names) or self.taken & {*names}:
            return [], line
        texts = [str(ast.literal_eval(call.args[0])) for call, _ in found]
        return texts, replaced(line, [(call, function.name) for call, function in found])

    def _condition(self, condition: ast.expr, depth: int) -> Iterator[str]:
        line = f"if {self.text(condition)}:"
        if len(line) + 4 * depth <= WIDTH or not isinstance(condition, ast.BoolOp):
            yield from _indented(line, depth)
            return
        word = "and" if isinstance(condition.op, ast.And) else "or"
        first, *rest = map(self._operand, condition.values)
        yield from _indented("if (", depth)
        for part in (first, *(f"{word} {part}" for part in rest)):
            yield from _indented(part, depth + 1)
        yield from _indented("):", depth)

    def _operand(self, node: ast.expr) -> str:
        """An operand of `and` or `or`: the source of a node is without the brackets around it."""
        text = self.text(node)
        return f"({text})" if isinstance(node, ast.BoolOp | ast.IfExp | ast.Lambda | ast.NamedExpr) else text


def _function_in(call: ast.Call) -> ast.FunctionDef | None:
    """The PrimFunc that a call makes of its text; None where it makes something else."""
    match call:
        case ast.Call(func=ast.Attribute(attr="from_source"), args=[ast.Constant(value=str(text))], keywords=[]):
            statements = ast.parse(text).body
        case _:
            return None
    match statements:
        case [ast.FunctionDef(decorator_list=[decorator]) as function] if "T.prim_func" in ast.unparse(decorator):
            return function
        case _:
            return None


def _indented(line: str, depth: int) -> Iterator[str]:
    """The line so many levels in, over as many as it needs."""
    yield from (f"{'    ' * depth}{part}" for part in folded(line, WIDTH - 4 * depth).split("\n"))


def folded(line: str, width: int = WIDTH) -> str:
    """The line over as many as it needs, broken after commas; as it is where that would change it."""
    if len(line) <= width:
        return line
    first, *rest = re.split(r"(?<!lambda mod), ", line)
    lines = [first]
    for part in rest:
        lines[-1] += ","
        if len(lines[-1]) + len(part) + 2 <= width:  # a space before it, a comma after it
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

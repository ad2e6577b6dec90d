"""The lines of a repro script that apply passes. No TVM is imported here."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from corpus.module_text import indented
from corpus.schedule import schedule_lines
from generators.case import PassCall
from generators.passes.table import PASSES

WIDTH = 118
"""Characters of a line that constructs a pass, where it can be broken."""


@dataclass(frozen=True, slots=True)
class PassLines:
    """How passes are applied in one script. target: the name or the expression of the case's target.

    always: passes that the table does not know, those of a loaded file, want the target too. plain: for a script that
    people read, in which the steps of a schedule are statements.
    """

    target: str
    always: bool
    plain: bool = False

    def lines(self, calls: Sequence[PassCall], given: str) -> tuple[str, str]:
        """The lines that apply the passes one after another, and the name of what comes out."""
        text = ""
        for call in calls:
            text += self.line(call, "mod", given)
            given = "mod"
        return text, given

    def line(self, call: PassCall, name: str, given: str) -> str:
        """The line that applies one pass and names its result."""
        if self.plain and (steps := schedule_lines(call.source, given)):
            return self.under_target(call, "".join(f"{step}\n" for step in [*steps, f"{name} = sch.mod"]))
        return self.under_target(call, folded(f"{name} = {call.source}({given})\n"))

    def alone(self, call: PassCall, given: str) -> str:
        """The line that applies one pass, whose result nothing needs."""
        steps = schedule_lines(call.source, given)
        return self.under_target(call, "".join(f"{step}\n" for step in steps or [folded(f"{call.source}({given})")]))

    def under_target(self, call: PassCall, line: str) -> str:
        """The line under the target and the options that the pass wants."""
        contexts = [self.target] if self.wants_target(call) else []
        contexts += [f"tvm.transform.PassContext(config={call.options})"] if call.options else []
        return f"with {', '.join(contexts)}:\n{indented(line)}" if contexts else line

    def wants_target(self, call: PassCall) -> bool:
        """Whether a pass is applied under the target of its case."""
        row = PASSES.get(call.name)
        return row.place.needs_target if row is not None else self.always


def folded(line: str) -> str:
    """The line over as many as it needs, broken after commas; as it is where that would change it."""
    if len(line) <= WIDTH:
        return line
    first, *rest = re.split(r"(?<=,) ", line)
    lines = [first]
    for part in rest:
        if len(lines[-1]) + len(part) < WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}")
    text = "\n".join(lines)
    try:
        same = ast.dump(ast.parse(text)) == ast.dump(ast.parse(line))
    except SyntaxError:
        return line  # a comma inside of a string
    return text if same else line

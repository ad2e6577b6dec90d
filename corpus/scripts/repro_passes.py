"""The lines of a repro script that apply passes. No TVM is imported here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from corpus.scripts.module_text import indented
from corpus.scripts.statements import folded, statements_of
from generators.case import PassCall
from generators.passes.table import PASSES


@dataclass(frozen=True, slots=True)
class PassLines:
    """How passes are applied in one script. target: the name or the expression of the case's target.

    always: passes that the table does not know, those of a loaded file, want the target too.
    """

    target: str
    always: bool

    def lines(self, calls: Sequence[PassCall], given: str) -> tuple[str, str]:
        """The lines that apply the passes one after another, and the name of what comes out."""
        text = ""
        for call in calls:
            text += self.line(call, "mod", given)
            given = "mod"
        return text, given

    def line(self, call: PassCall, name: str, given: str) -> str:
        """The line that applies one pass and names its result."""
        steps, made = statements_of(call.source, given)
        return self.under_target(call, _text([*steps, folded(f"{name} = {made or f'{call.source}({given})'}")]))

    def alone(self, call: PassCall, given: str) -> str:
        """The line that applies one pass, whose result nothing needs."""
        steps, made = statements_of(call.source, given)
        if made and not re.fullmatch(r"[\w.]+", made):  # It does something.
            steps.append(folded(made))
        return self.under_target(call, _text(steps or [folded(f"{call.source}({given})")]))

    def has_steps(self, call: PassCall) -> bool:
        """Whether a pass is several statements."""
        return bool(statements_of(call.source, "mod")[0])

    def under_target(self, call: PassCall, line: str) -> str:
        """The line under the target and the options that the pass wants."""
        contexts = [self.target] if self.wants_target(call) else []
        contexts += [f"tvm.transform.PassContext(config={call.options})"] if call.options else []
        return f"with {', '.join(contexts)}:\n{indented(line)}" if contexts else line

    def wants_target(self, call: PassCall) -> bool:
        """Whether a pass is applied under the target of its case."""
        row = PASSES.get(call.name)
        return row.place.needs_target if row is not None else self.always


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)

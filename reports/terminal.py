"""The terminal as reports see it: text from elsewhere is shown and never obeyed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from corpus.escapes import inert, one_line, visible


class Terminal(Console):
    """A console of rich on which only rich's own styles have an effect.

    Strings are no markup. Control characters, bidi controls, commands to a CI job and the like come out as escapes,
    whichever way they came in; give tables `cell`, so that their columns have room for the escapes.
    """

    def __init__(
        self,
        file: IO[str] | None = None,
        stderr: bool = False,
        width: int | None = None,
        force_terminal: bool | None = None,
    ) -> None:
        super().__init__(
            file=file,
            stderr=stderr,
            width=width,
            force_terminal=force_terminal,
            markup=False,
            emoji=False,
            highlight=False,
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(inert(visible(segment.text)), segment.style)

    def say(self, line: str, style: str = "", soft_wrap: bool = True) -> None:
        """Prints a line, which a soft wrap leaves to the terminal to break. A line break in it becomes a blank: text
        from elsewhere makes no line that reads as one of ours."""
        self.print(Text(visible(line).replace("\n", " "), style), soft_wrap=soft_wrap)


def cell(text: object, style: str = "") -> Text:
    """A cell of a table: one line."""
    return Text(inert(one_line(text)), style)

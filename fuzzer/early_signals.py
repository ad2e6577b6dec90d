"""What a signal does that comes before a command is under way: it interrupts like Ctrl-C, and leaves a note of it.

What a handler raises is lost where the code that it interrupts catches all, or clears errors, as some imports and
some C code do: who begins something asks afterwards.
"""

from __future__ import annotations

from types import FrameType


class Interrupting:
    """A handler of signals. came: whether one has come."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        self.came = True
        raise KeyboardInterrupt

    def ask(self) -> None:
        """Raises KeyboardInterrupt if one has come."""
        if self.came:
            raise KeyboardInterrupt

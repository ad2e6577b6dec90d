"""How each pass object was made: the constructor and its arguments, kept while the pass may still be applied.

A pass is found again by its PassInfo, the only thing of a pass that TVM shows an instrument. The oldest are forgotten.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tvm.ir.transform import Pass, PassInfo

MOST = 4096
"""Passes that are remembered."""
Describe: TypeAlias = Callable[[object], str]
Text: TypeAlias = tuple[str, str, list[str]]
"""An expression, what it needs besides, and what of it could not be said."""


@dataclass(slots=True)
class Construction:
    """constructor: what was called: a dotted name, or a class or function of the user's own, which is said.

    cached: what `fuzzer.capture.inside.seen` has made of it.
    """

    info: PassInfo
    constructor: object
    arguments: Sequence[object]
    keywords: Mapping[str, object]
    cached: Text | None = None

    def said(self, say: Describe) -> str:
        """The expression that makes the pass again. `say` gives it for a value, or raises."""
        head = self.constructor if isinstance(self.constructor, str) else say(self.constructor)
        return f"{head}({given_text(self.arguments, self.keywords, say)})"


def given_text(arguments: Sequence[object], keywords: Mapping[str, object], say: Describe) -> str:
    """The text between the brackets of a call."""
    return ", ".join([*map(say, arguments), *(f"{name}={say(value)}" for name, value in keywords.items())])


_MADE: OrderedDict[int, Construction] = OrderedDict()


def note(transform: Pass, constructor: object, arguments: Sequence[object], keywords: Mapping[str, object]) -> None:
    """Remembers how a pass was made; of several calls inside of each other the last, which is the outermost."""
    info = transform.info
    _MADE.pop(hash(info), None)
    _MADE[hash(info)] = Construction(info, constructor, tuple(arguments), dict(keywords))
    while len(_MADE) > MOST:
        _MADE.popitem(last=False)


def made_by(info: PassInfo) -> Construction | None:
    """How the pass with this PassInfo was made; None where that was not seen."""
    found = _MADE.get(hash(info))
    return found if found is not None and found.info.same_as(info) else None

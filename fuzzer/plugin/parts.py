"""The passes inside a pass: applied again under an instrument, so that each part is judged on its own.

A Sequential, or a pipeline written in Python, says nothing of what it did. In the judging child it is applied once
more, under the test's own options, and what is seen is a list of Parts. Worker processes only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import tvm

from oracles.ir.fingerprint import fingerprint
from oracles.survives import raised_from
from oracles.trace import Raised


@dataclass(slots=True)
class Part:
    """A pass that ran inside another: its name, copies of its module before and after, and the passes inside it.

    Copies, because inside a Sequential nobody else holds the module, and the next pass may change it in place.
    """

    name: str
    before: Any
    hash_before: int
    after: Any = None
    parts: list[Part] = field(default_factory=list)


@tvm.ir.instrument.pass_instrument
class _Recorder:
    """Keeps a stack: passes nest, and one that raises is never ended."""

    def __init__(self) -> None:
        self.root = Part("", None, 0)
        self.stack = [self.root]

    def run_before_pass(self, module: Any, info: Any) -> None:
        part = Part(str(info.name), module.clone(), fingerprint(module))
        self.stack[-1].parts.append(part)
        self.stack.append(part)

    def run_after_pass(self, module: Any, info: Any) -> None:
        while len(self.stack) > 1:
            part = self.stack.pop()
            if part.name == str(info.name):
                part.after = module.clone()
                return


def own_context(instruments: tuple[Any, ...] = ()) -> Any:
    """A PassContext with the options of the current one, and these instruments in the place of the test's."""
    current = tvm.transform.PassContext.current()
    return tvm.transform.PassContext(
        opt_level=current.opt_level,
        required_pass=current.required_pass,
        disabled_pass=current.disabled_pass,
        instruments=list(instruments),
        config=dict(current.config.items()),
    )


def guarded(action: Callable[[], Any]) -> Any | Raised:
    """What `action` gives in the test's target and pass options, without the test's instruments; or what it raised."""
    try:
        with own_context():
            return action()
    except Exception as error:  # noqa: BLE001 - the boundary to TVM: whatever it raises is a value here
        return raised_from(error)


def parts_of(transform: Any, module: Any, is_whole: Callable[[str], bool]) -> list[Part]:
    """The passes inside `transform` on this module, in order, that ended; [] where it is one pass, or raises.

    is_whole: whether a pass of this name is looked at as a whole, whatever runs inside it.
    """
    recorder = _Recorder()
    try:
        with own_context((recorder,)):
            transform(module)
    except Exception:  # noqa: BLE001 - it went well in the test: that it does not here is no verdict
        return []
    found: list[Part] = []
    for part in recorder.root.parts:
        _leaves(part, is_whole, found)
    return [part for part in found if part.after is not None] if len(found) > 1 or not _is(recorder, found) else []


def _is(recorder: Any, found: list[Part]) -> bool:
    """Whether the one pass found is the outermost one."""
    return bool(found == recorder.root.parts)


def _leaves(part: Part, is_whole: Callable[[str], bool], found: list[Part]) -> None:
    if not part.parts or is_whole(part.name):
        found.append(part)
        return
    for inner in part.parts:
        _leaves(inner, is_whole, found)

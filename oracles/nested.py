"""The passes inside a pass, seen by an instrument: a Sequential, or a pipeline written in Python, says nothing of them.

A list of Parts, each with copies of its module before and after: inside a Sequential nothing else holds the module, and
the next pass may change it in place.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import tvm

from generators.tvm_api import IRModule, Node
from oracles.ir.fingerprint import fingerprint

R = TypeVar("R")


@dataclass(slots=True)
class Part:
    """A pass that ran inside another: its name, its module before and after, and the passes inside it.

    after: None until it ends.
    """

    name: str
    before: IRModule
    hash_before: int
    after: IRModule = None
    parts: list[Part] = field(default_factory=list)


@tvm.ir.instrument.pass_instrument
class _Recorder:
    """Keeps a stack: passes nest, and one that raises is never ended."""

    def __init__(self) -> None:
        self.root = Part("", None, 0)
        self.stack = [self.root]

    def run_before_pass(self, module: IRModule, info: Node) -> None:
        part = Part(str(info.name), module.clone(), fingerprint(module))
        self.stack[-1].parts.append(part)
        self.stack.append(part)

    def run_after_pass(self, module: IRModule, info: Node) -> None:
        while len(self.stack) > 1:
            part = self.stack.pop()
            if part.name == str(info.name):
                part.after = module.clone()
                return


def parts_of(apply: Callable[[_Recorder], object], is_whole: Callable[[str], bool]) -> list[Part]:
    """The passes inside of one that `apply` applies under the instrument it is given: in order, those that ended.

    [] where it is one pass. is_whole: whether a pass of this name is looked at as a whole, with all inside it.
    """
    recorder = _Recorder()
    apply(recorder)
    found: list[Part] = []
    for part in recorder.root.parts:
        _leaves(part, is_whole, found)
    alone = len(found) == 1 and found == recorder.root.parts
    return [] if alone else [part for part in found if part.after is not None]


def _leaves(part: Part, is_whole: Callable[[str], bool], found: list[Part]) -> None:
    if not part.parts or is_whole(part.name):
        found.append(part)
        return
    for inner in part.parts:
        _leaves(inner, is_whole, found)


def _unheard(names: Sequence[str]) -> None:
    """For callers who want the end alone."""


@tvm.ir.instrument.pass_instrument
class _Running:
    """Keeps the names of the passes that have begun and not ended. Those around one that raised are never ended."""

    def __init__(self, note: Callable[[Sequence[str]], None]) -> None:
        self.names: list[str] = []
        self.note = note

    def run_before_pass(self, module: IRModule, info: Node) -> None:
        self.names.append(str(info.name))
        self.note(self.names)

    def run_after_pass(self, module: IRModule, info: Node) -> None:
        while self.names and self.names.pop() != str(info.name):
            continue
        self.note(self.names)


def innermost(names: Sequence[str], known: Container[str]) -> str:
    """The last of these passes that is known; "" where none is."""
    return next((name for name in reversed(names) if name in known), "")


def announcing(note: Callable[[Sequence[str]], None], action: Callable[[], R]) -> R:
    """What an action gives under the current pass context. note: called with the passes that are running, outermost
    first, whenever they change."""
    tvm.transform.PassContext.current().override_instruments([_Running(note)])
    return action()


def running_at_end(
    apply: Callable[[_Running], object], note: Callable[[Sequence[str]], None] = _unheard
) -> tuple[str, ...]:
    """The passes that were running when what `apply` does raised, outermost first; () where it did not, or raised in
    none. note: called with them whenever they change, for what ends its process."""
    recorder = _Running(note)
    apply(recorder)
    return tuple(recorder.names)

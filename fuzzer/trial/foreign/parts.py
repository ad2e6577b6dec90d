"""The passes inside a pass: applied again under an instrument, so that each part is judged on its own.

A Sequential, or a pipeline written in Python, says nothing of what it did. In the judging child it is applied once
more, under the test's own options, and what is seen is a list of Parts. Worker processes only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import tvm

from generators.tvm_api import IRModule, Pass, PassContext
from oracles import nested
from oracles.nested import Part
from oracles.trace import Raised
from oracles.tvm_errors import raised_from

R = TypeVar("R")


def own_context(instruments: Sequence[object] = ()) -> PassContext:
    """A PassContext with the options of the current one, and these instruments in place of the test's."""
    current = tvm.transform.PassContext.current()
    return tvm.transform.PassContext(
        opt_level=current.opt_level,
        required_pass=current.required_pass,
        disabled_pass=current.disabled_pass,
        instruments=list(instruments),
        config=dict(current.config.items()),
    )


def guarded(action: Callable[[], R]) -> R | Raised:
    """What `action` gives in the test's target and pass options, without the test's instruments; or what it raised."""
    try:
        with own_context():
            return action()
    except Exception as error:  # noqa: BLE001 - the boundary to TVM: what it raises is a value here
        return raised_from(error)


def parts_of(transform: Pass, module: IRModule, is_whole: Callable[[str], bool]) -> list[Part]:
    """The passes inside `transform` on this module, in order, that ended; [] where it is one pass, or raises.

    is_whole: whether a pass of this name is looked at as a whole, with all that runs inside it.
    """

    def apply(recorder: object) -> None:
        with own_context((recorder,)):
            transform(module.clone())

    try:
        return nested.parts_of(apply, is_whole)
    except Exception:  # noqa: BLE001 - it went well in the test: that it does not here is no verdict
        return []

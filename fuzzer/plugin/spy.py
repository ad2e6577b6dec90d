"""Sees every outermost call of a pass in this process, and hands it on when it has ended. Changes nothing of it.

`tvm.ir.transform.Pass.__call__` is wrapped, because tests make their own PassContexts and an instrument sits in one of
them. What a pass calls inside is part of it; calls of child processes that tests fork are not seen.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import tvm

from fuzzer.trial.foreign.application import Application
from generators import tvm_api as T
from generators.tvm_api import IRModule, Pass
from oracles.ir.fingerprint import fingerprint

Applies: TypeAlias = Callable[[Pass, IRModule], object]
"""`Pass.__call__`."""
_LONG_S = 0.02
"""A module whose hash takes longer than this holds large constants, and is not written out before every pass."""


@dataclass(frozen=True, slots=True)
class Missed:
    """Why a call is not to be judged. raised: the pass itself raised."""

    reason: str
    raised: bool = False


class Spy:
    """Wraps `Pass.__call__` between `install` and `remove`.

    applied: called with every outermost call that gave a module. missed: called with the reason why one is not judged,
    and the name of its pass. Neither may raise.
    """

    def __init__(self, applied: Callable[[Application], None], missed: Callable[[Missed, str], None]) -> None:
        self._applied = applied
        self._missed = missed
        self._inside = threading.local()
        self._process = os.getpid()
        self._original: Applies | None = None

    def install(self) -> None:
        """From now on calls are seen."""
        original: Applies = tvm.ir.transform.Pass.__call__
        self._original = original

        @functools.wraps(original)
        def call(transform: Pass, mod: object) -> object:
            if self._is_deaf() or not isinstance(mod, tvm.ir.IRModule):
                return original(transform, mod)
            return self._watched(original, transform, mod)

        tvm.ir.transform.Pass.__call__ = call

    def remove(self) -> None:
        """Puts the original back."""
        tvm.ir.transform.Pass.__call__ = self._original

    def _is_deaf(self) -> bool:
        return getattr(self._inside, "call", False) or os.getpid() != self._process

    def _watched(self, original: Applies, transform: Pass, mod: IRModule) -> object:
        self._inside.call = True
        try:
            noted = self._note(transform, mod)
            try:
                after = original(transform, mod)
            except BaseException:
                self._missed(Missed("the pass raised", raised=True), "" if noted is None else noted.name)
                raise
            if noted is not None:
                self._hand_on(noted, after)
            return after
        finally:
            self._inside.call = False

    def _note(self, transform: Pass, mod: IRModule) -> Application | None:
        """What is known before the pass runs; None where the module cannot be distinguished from others."""
        name = ""
        try:
            name = str(transform.info.name)
            start = time.perf_counter()
            code = fingerprint(mod)
            small = time.perf_counter() - start < _LONG_S
            return Application(transform, name, mod, mod.clone(), code, None, T.json_of(mod) if small else None)
        except Exception as error:  # noqa: BLE001 - what TVM says of an odd module, the test must go on
            self._missed(Missed(f"no hash of the input: {type(error).__name__}"), name)
            return None

    def _hand_on(self, noted: Application, after: object) -> None:
        if not isinstance(after, tvm.ir.IRModule):
            self._missed(Missed("the pass gave no module"), noted.name)
            return
        self._applied(replace(noted, after=after))

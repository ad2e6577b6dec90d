"""A pass call of a test that gave a module."""

from __future__ import annotations

from dataclasses import dataclass

from generators.tvm_api import IRModule, Pass


@dataclass(frozen=True, slots=True)
class Application:
    """A pass call that gave a module.

    given: the module that the test handed over, which the pass may have changed in place. before: what it was: a copy
    that shares its functions, as they are now. hash_before: fingerprint of `given` before the pass. text: TVM's JSON of
    the module before the pass, None for large modules: a pass may change what `before` shares.
    """

    transform: Pass
    name: str
    given: IRModule
    before: IRModule
    hash_before: int
    after: IRModule | None
    text: str | None = None

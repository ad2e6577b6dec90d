"""What the passes of one case change: told by fingerprints, which are also what `input_unchanged` looks at.

Passes hand on most of what they were given, and looking after each whether it has changed anything in place is looking
at the same functions again and again. A trusting court looks at each function twice: when it is met first and when the
passes are through, at modules (which functions they hold) after every pass. Where a function is not what it was, nobody
can say which pass did it, and the case is judged again without trust.
"""

from __future__ import annotations

from typing import Any

from oracles.ir.fingerprint import FINGERPRINTS, Sealed, fingerprint, same_parts, same_program


class Changes:
    """Follows the module of one case. trusting: as said above."""

    def __init__(self, trusting: bool) -> None:
        self.trusting = trusting
        self._sealed = Sealed()
        self.module: Any = None
        """What the next pass is given."""
        self._known = 0

    def _fingerprint(self, module: Any) -> int:
        return self._sealed.fingerprint(module) if self.trusting else fingerprint(module)

    def before(self, module: Any, applied_again: bool) -> int:
        """The fingerprint of the next pass's input. applied_again: oracles have applied passes to it meanwhile, and
        what these have changed in place is none of the next pass's doing."""
        if self.module is None or (applied_again and not self.trusting):
            self._known = self._fingerprint(module)
        self.module = module
        return self._known

    def after(self, module: Any | None) -> bool:
        """Whether the pass has changed anything: what it gave back (None where it raised) is another program. Where it
        is made of the very objects that it was given, what the next pass gets is `module` as it was."""
        if module is None:
            return False
        before, given = self._known, self.module
        # Where the input itself came back, a pass that changed it in place changed its result.
        as_it_was = (self.trusting or not module.same_as(given)) and same_parts(given, module)
        if as_it_was:
            return False
        self.module = module
        self._known = FINGERPRINTS.put(module, self._fingerprint(module))
        return self._known != before and not same_program(given, module)

    def kept(self, module: Any, known: int) -> bool:
        """Whether the module that was given to a pass holds the functions that it held."""
        return self._fingerprint(module) == known

    def altered(self) -> bool:
        """Whether trust was misplaced."""
        if not self.trusting or self.module is None:
            return False
        return self._sealed.broken() or not self.kept(self.module, self._known)

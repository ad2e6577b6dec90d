"""What the passes of one case change: told by fingerprints, which are also what `input_unchanged` looks at.

Two thirds of the passes hand on what they were given, as they found it. A trusting court does not look at once whether
one of these has changed it in place: the change would still be there at the next fingerprint, taken when a pass gives
back something else or the case ends. Where that is not what it was, nobody can say which pass did it, and the case is
judged again without trust. Without `input_unchanged`, which looks before every change, there is no trust.
"""

from __future__ import annotations

from typing import Any

from oracles.ir.fingerprint import FINGERPRINTS, fingerprint, same_parts


class Changes:
    """Follows the module of one case. handed_on: the last pass gave back an object made of the same parts."""

    def __init__(self, trusting: bool) -> None:
        self.handed_on = False
        self.trusting = trusting
        self._module: Any = None
        self._known = 0

    @property
    def trusted(self) -> bool:
        """Whether the last pass is trusted not to have changed its input in place."""
        return self.trusting and self.handed_on

    def before(self, module: Any, applied_again: bool) -> int:
        """The fingerprint of the next pass's input. applied_again: oracles have applied passes to it meanwhile, and
        what these have changed in place is none of the next pass's doing."""
        if self._module is None or (applied_again and not self.trusting):
            self._known = fingerprint(module)
        self._module = module
        return self._known

    def after(self, module: Any | None) -> bool:
        """Whether the pass has changed anything: what it gave back (None where it raised) is another program."""
        self.handed_on = module is not None and same_parts(self._module, module)
        if module is None:
            return False
        before, given = self._known, self._module
        # Where the input itself came back, a pass that changed it in place changed its result.
        as_it_was = self.handed_on and (self.trusting or not module.same_as(given))
        self._module = module
        self._known = FINGERPRINTS.put(module, before) if as_it_was else FINGERPRINTS.fresh(module)
        return self._known != before

    def altered(self) -> bool:
        """Whether trust was misplaced: the module is not what it was when it was looked at."""
        return self.trusting and self._module is not None and fingerprint(self._module) != self._known

"""Whether names of passes that a user typed exist, said before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from fuzzer.errors import UsageError
from fuzzer.settings import PASS_GROUPS
from generators.passes.table import PASSES


def check_pass_names(names: Sequence[str], loaded: bool) -> None:
    """Raises UsageError for a name that is neither a pass nor a group.

    With a `--load` file (`loaded`) other names may be its own, which only a worker can tell, so nothing is refused.
    """
    if loaded:
        return
    for name in names:
        if name not in PASSES and name not in PASS_GROUPS:
            close = get_close_matches(name, PASSES, n=1)
            hint = f"did you mean {close[0]}?" if close else "`passfuzz list passes` shows them all"
            raise UsageError(f"--passes {name}: unknown pass; {hint}")

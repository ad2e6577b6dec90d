"""Whether names of passes and oracles that a user typed exist, said before anything runs. No TVM here."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from fuzzer.errors import UsageError
from fuzzer.settings import PASS_GROUPS
from generators.passes.table import PASSES, TIR_PASSES
from oracles import scripts
from oracles.builds.cpu_builds import CPU_BUILDS, GROUPS


def named_passes(names: Sequence[str]) -> tuple[str, ...]:
    """The passes that names and groups ask for; none where everything is under test."""
    chosen: dict[str, None] = {}
    for name in names:
        if name == "@relax":
            chosen.update(
                dict.fromkeys(n for n, row in PASSES.items() if row.fires.in_repertoire and n not in TIR_PASSES)
            )
        elif name == "@tir":
            chosen.update(dict.fromkeys(TIR_PASSES))
        elif not name.startswith("@"):
            chosen[name] = None
    return tuple(chosen)


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


def check_oracle_names(names: Sequence[str], option: str) -> None:
    """Raises UsageError for a name that is neither an oracle nor a group of them.

    The table of oracles needs TVM; every oracle has a script, or is one of the other builds.
    """
    known = scripts.named() | CPU_BUILDS.keys() | GROUPS.keys()
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else "`passfuzz list oracles` shows them all"
            raise UsageError(f"{option} {name}: unknown oracle; {hint}")

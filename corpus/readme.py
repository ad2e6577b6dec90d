"""Writes the `README.md` of a case folder: a bug report that is ready to file. No TVM is imported here."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.repro import runs_kernels, shown_by_script
from corpus.store import StoredCase

_KERNELS = "The script runs kernels, for which it needs a CUDA device and nvcc (2 without them)."
_WITHOUT_A_DEVICE = f"{_KERNELS} `passfuzz check` on this folder needs none, and has shown the same in a fresh process."


def readme_text(
    stored: StoredCase,
    repro: str,
    tvm: str,
    count: int | None = None,
    difference: str = "",
    fault: Sequence[str] = (),
    promise: str = "",
) -> str:
    """The report: what, where, since when, and the smallest script. `tvm` is the version that it was seen on.

    difference: what the pass did to the functions, as a unified diff. fault: lines on whose fault it is.
    promise: what the oracle's row says that must hold; "" where there is none.
    """
    return "".join(
        (
            f"# {stored.title}\n\n",
            f"{stored.message}\n\n" if stored.message else "",
            _facts(stored, tvm, count),
            f"\n## Expected\n\n{promise[0].upper()}{promise[1:]}.\n" if promise else "",
            f"\n## Actual\n\n{stored.symptom}: {stored.message or stored.title}\n",
            f"\n## What `{stored.culprit}` did\n\n```diff\n{difference.rstrip()}\n```\n" if difference else "",
            "\n## Whose fault\n\n" + "".join(f"- {line}\n" for line in fault) if fault else "",
            _versions(stored),
            "\n## To reproduce\n\nExit status 1: the bug is there. 0: it is gone. 2: this TVM cannot run it.\n",
            f"{_of_kernels(stored)}\n",
            f"```python\n{repro.rstrip()}\n```\n",
        )
    )


def _of_kernels(stored: StoredCase) -> str:
    """A line on what a script needs that runs kernels; none for others."""
    if not runs_kernels(stored):
        return ""
    return f"{_KERNELS if shown_by_script(stored) else _WITHOUT_A_DEVICE}\n"


def _facts(stored: StoredCase, tvm: str, count: int | None) -> str:
    passes = " ; ".join(f"`{call}`" for call in stored.case.passes)
    setup = " ; ".join(f"`{call}`" for call in stored.case.setup)
    rows = [
        ("pass", f"`{stored.culprit}`"),
        ("sequence", f"{setup} ; {passes}" if setup else passes),
        ("target", stored.case.target),
        ("TVM", tvm),
        ("found by", f"oracle `{stored.oracle}`" + (f", seen {count} times" if count else "")),
    ]
    if stored.issue:
        rows.append(("issue", stored.issue))
    origin = stored.case.origin
    if origin.seed is not None:
        start = f", which starts from {origin.file}" if origin.file else ""
        rows.append(("drawn from", f"seed {origin.seed}, case {origin.index}{start}"))
    return "".join(f"- {name}: {value}\n" for name, value in rows if value)


def _versions(stored: StoredCase) -> str:
    if not stored.expected:
        return ""
    rows = "".join(f"| {prefix} | {outcome} |\n" for prefix, outcome in stored.expected)
    return f"\n## Versions\n\n| TVM | |\n|---|---|\n{rows}"

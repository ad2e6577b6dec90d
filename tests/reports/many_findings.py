"""Results of a run with many findings whose folders hold texts of ordinary length, for what takes long."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from corpus.escapes import Markdown
from generators.case import Tier
from reports.finding_row import FindingRow
from reports.summary import Report, write_out
from tests.reports.reports_data import facts, tally

PASSES = 60
STEPS = 8
"""Bindings of a module; scripts of real findings have 2,100 characters in the mean, and these have a few more."""
TIERS: tuple[Tier, ...] = ("A", "B", "C")
SYMPTOMS = ("wrong result", "crash", "ill-formed", "undefined")


def write_many(out: Path, number: int) -> None:
    """An OUT folder with so many findings, each of a cause of its own, every tenth known."""
    rows = tuple(_row(index) for index in range(number))
    write_out(out, Report(replace(facts(wall_s=2700.0), ended="done"), tally(), rows))
    for row in rows:
        folder = out / row.case
        folder.mkdir(parents=True)
        script, issue = _script(row), _issue(row)
        (folder / "repro.py").write_text(script)
        (folder / "issue.md").write_text(issue)
        (folder / "README.md").write_text(f"{issue}\n{Markdown.fenced(script, 'python')}\n")


def _row(index: int) -> FindingRow:
    slug = f"numeric-Pass{index % PASSES}-{index:08x}"
    known = index % 10 == 0
    return FindingRow(
        slug,
        "numeric",
        f"Pass{index % PASSES}",
        SYMPTOMS[index % len(SYMPTOMS)],
        f"output 0[{index}, 1, 0, 0] is 6.999969959259033, not 3.999985000112499 within 2.4e-05 (2 of 4 elements)",
        tier=TIERS[index % len(TIERS)],
        at_s=index * 5.0,
        case=f"findings/{slug}",
        repro=f"findings/{slug}/repro.py",
        known=known,
        standing="known" if known else "new",
        cause=f"src/relax/transform/pass_{index}.cc:Mutate: Check failed: x{index} == y",
    )


def _module(name: str) -> str:
    steps = "".join(
        f'        v{step}: R.Tensor((1, 2, 1, 2), "float32") = R.nn.conv2d(x, w, strides=[1, 1], dilation=[1, 1])\n'
        for step in range(STEPS)
    )
    return f'@I.ir_module\nclass Module:\n    @R.function\n    def {name}(x: R.Tensor((1, 2), "float32")):\n{steps}'


def _script(row: FindingRow) -> str:
    head = f'"""{row.culprit}: {row.symptom}: {row.message}\n\nExit status: 1 the bug is there, 0 it is gone.\n"""\n'
    tail = "if child := os.fork():  # The parent waits: a native crash or a hang is an answer too.\n" + 8 * (
        '    assert not wrong.any(), f"the output is {got[wrong][0]} instead of {want[wrong][0]}"\n'
    )
    return f"{head}import os, signal, sys\nimport numpy as np\nimport tvm\n\n{_module('main')}\n{tail}"


def _issue(row: FindingRow) -> str:
    lines = [line for step in range(6) for line in (f"-    v{step} = R.add(x, y)", f"+    v{step} = R.multiply(x, y)")]
    difference = "\n".join(("--- before", "+++ after", "@@ main @@", " def main(x):", *lines, "     return v5"))
    trace = "".join(f'  File "/project/src/relax/transform/f.cc", line {line}, in tvm::Mutate\n' for line in range(12))
    return (
        f"# [Relax] {row.culprit} gives a wrong result: {row.message}\n\n## To reproduce\n\n"
        f"{Markdown.fenced(_module('main'), 'python')}\n\n## What it did\n\n{Markdown.fenced(difference, 'diff')}\n\n"
        "## Whose fault\n\n- The pass is wrong: the reference and the builds say so.\n\n"
        f"{Markdown.fenced(trace, 'text')}\n"
    )

"""Faults for the modules of `benchmarks.decided_modules`, as a wrong pass would make them: edits of the script."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tvm
from tvm import relax

Edit = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class SeededFault:
    """edit: of the script. legal: whether it is one of the PrimFuncs that LegalizeOps makes."""

    edit: Edit
    legal: bool = False


def _sub(pattern: str, by: str) -> Edit:
    return lambda script: re.sub(pattern, by, script)


def _without_residuals(script: str) -> str:
    """Sums of two values of one type are their second operand."""
    types = dict(re.findall(r"\b(\w+): (R\.Tensor\(\([^)]*\), dtype=\"\w+\"\))", script))

    def dropped(found: re.Match[str]) -> str:
        one, other = found.groups()
        same = types.get(one) == types.get(other) is not None
        return f"R.negative(R.negative({other}))\n" if same else found.group()

    return re.sub(r"R\.add\((\w+), (\w+)\)\n", dropped, script)


FAULTS: dict[str, SeededFault] = {
    "softmax along another axis": SeededFault(_sub(r"(R\.nn\.softmax\(.*), axis=-1\)", r"\1, axis=-2)")),
    "relu is abs": SeededFault(_sub(r"R\.nn\.relu\(", "R.abs(")),
    "gelu is silu": SeededFault(_sub(r"R\.nn\.gelu\(", "R.nn.silu(")),
    "a weight not transposed": SeededFault(
        _sub(r'(\w+): R\.Tensor\(\((\d+), \2\), dtype="(\w+)"\) = R\.permute_dims\((\w+), axes=None\)',
             r'\1: R.Tensor((\2, \2), dtype="\3") = R.negative(R.negative(\4))')
    ),
    "a residual dropped": SeededFault(_without_residuals),
    "a large epsilon": SeededFault(_sub(r"epsilon=[\d.e-]+", "epsilon=0.01")),
    "attention not scaled": SeededFault(
        _sub(r"R\.divide\((\w+), R\.const\(2\.\d+, .*\)\)", r"R.negative(R.negative(\1))")
    ),
    "exp is exp2": SeededFault(_sub(r"T\.exp\(", "T.exp2("), legal=True),
    "a maximum is a minimum": SeededFault(_sub(r"T\.max\(", "T.min("), legal=True),
}  # fmt: skip


def planted(fault: SeededFault, module: Any) -> Any | None:
    """The module with the fault everywhere; None where it has no place for it."""
    if fault.legal:
        module = relax.transform.LegalizeOps()(module)
    script = module.script(show_meta=True)
    edited = fault.edit(script)
    return None if edited == script else tvm.script.from_source(edited)

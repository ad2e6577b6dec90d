"""What nvcc says against the kernels that TVM prints."""

from __future__ import annotations

import re
from dataclasses import dataclass

from oracles.evidence import RefusedByNvcc
from oracles.tvm_errors import headline

_COMPLAINT = re.compile(r"\b(?:error|fatal)\s*: ([^\n]*)")
_UNDEFINED = re.compile(r'identifier "(\w+)" is undefined')


@dataclass(frozen=True, slots=True)
class NvccRefusal:
    """nvcc's no. message: in a line."""

    message: str
    evidence: RefusedByNvcc


def refusal_in(complaints: str) -> NvccRefusal:
    """The first complaint of nvcc. A function that the code generator calls and nvcc does not know is named without
    quotes, as no name of the program is: which one it is, is the bug."""
    found = _COMPLAINT.search(complaints)
    said = found[1] if found else headline(complaints)
    unknown = _UNDEFINED.match(said)
    if unknown and re.search(rf"\b{unknown[1]}\(", complaints[found.end() :] if found else ""):
        return NvccRefusal(f"nvcc: knows no function {unknown[1]}", RefusedByNvcc(unknown[1]))
    return NvccRefusal(f"nvcc: {headline(said)}", RefusedByNvcc())

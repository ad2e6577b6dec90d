"""What nvcc says against the kernels that TVM prints, in a line."""

from __future__ import annotations

import re

from oracles.tvm_errors import headline
from oracles.verdict import NO_SUCH_FUNCTION, NVCC_SAYS

_COMPLAINT = re.compile(r"\b(?:error|fatal)\s*: ([^\n]*)")
_UNDEFINED = re.compile(r'identifier "(\w+)" is undefined')


def said_by_nvcc(complaints: str) -> str:
    """The first complaint of nvcc, a line. A function that the code generator calls and that CUDA does not have is
    named without quotes, as no name of the program is: which one is missing is the bug."""
    found = _COMPLAINT.search(complaints)
    said = found[1] if found else headline(complaints)
    missing = _UNDEFINED.match(said)
    if missing and re.search(rf"\b{missing[1]}\(", complaints[found.end() :] if found else ""):
        return f"{NO_SUCH_FUNCTION}{missing[1]}"
    return f"{NVCC_SAYS}{headline(said)}"

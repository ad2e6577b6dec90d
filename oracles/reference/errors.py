"""The two ways in which the reference interpreter stops: it does not know a construct, or the program does
something undefined.
"""

from __future__ import annotations

from oracles.evidence import InKernel, KernelTrapKind, NotInterpreted, ReferenceTrap, TrapKind


class Unsupported(Exception):
    """The interpreter does not know a construct; the case is skipped. `node` names it, e.g.
    "tirx.call_llvm_intrin". `outside`: it is no part of the IR, but of a device or of a library that is not TVM's.
    """

    def __init__(self, node: str, outside: bool = False) -> None:
        super().__init__(node)
        self.node = node
        self.stop = NotInterpreted(node, outside)


class TrapSite(str):
    """A place in a PrimFunc, as messages name it. block: the innermost block. what: usually the name of a buffer."""

    block: str
    what: str

    def __new__(cls, function: str, block: str, what: str) -> TrapSite:
        site = super().__new__(cls, f"{function}, block {block}: {what}")
        site.block, site.what = block, what
        return site


class Trap(Exception):
    """The program does something that has no defined result.

    what: the kind of trap, or all that is known as data. `detail` names the function, the block and the buffer, or the
    variable. For a caller that judges a pass, "integer-overflow", "float8-range" and "domain" mean that the inputs are
    to be discarded, not that the pass is wrong.
    """

    def __init__(self, what: TrapKind | ReferenceTrap | InKernel, detail: str) -> None:
        self.evidence = ReferenceTrap(what) if isinstance(what, str) else what
        self.kind: TrapKind | KernelTrapKind = self.evidence.kind
        super().__init__(f"{self.kind}: {detail}")
        self.detail = detail


def symptom_of(kind: TrapKind | KernelTrapKind) -> str:
    """The symptom of a verdict for a trap of this kind."""
    return f"reference trap: {kind}"


UNWRITTEN = symptom_of("uninitialised")

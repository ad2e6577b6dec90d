"""The two ways in which the reference interpreter stops: it does not know a construct, or the program does
something undefined.
"""

from __future__ import annotations

from oracles.evidence import Evidence, NotInterpreted, ReferenceTrap


class Unsupported(Exception):
    """The interpreter does not know a construct; the case is skipped. `node` names it, e.g.
    "tirx.call_llvm_intrin". `outside`: it is no part of the IR, but of a device or of a library that is not TVM's.
    """

    def __init__(self, node: str, outside: bool = False) -> None:
        super().__init__(node)
        self.node = node
        self.stop = NotInterpreted(node, outside)


class TrapSite(str):
    """A place in a PrimFunc, as messages name it. block: the innermost block. what: mostly the name of a buffer."""

    block: str
    what: str

    def __new__(cls, function: str, block: str, what: str) -> TrapSite:
        site = super().__new__(cls, f"{function}, block {block}: {what}")
        site.block, site.what = block, what
        return site


KINDS = (
    *("uninitialised", "out-of-bounds", "use-after-kill", "double-free", "storage-overlap", "integer-overflow"),
    *("division-by-zero", "type", "match-cast", "operand", "domain", "undefined-variable", "aliasing", "assertion"),
    *("data-race", "divergent-barrier", "host-memory", "float8-range", "fuel"),
)
"""What is undefined."""


class Trap(Exception):
    """The program does something that has no defined result.

    `kind` is one of KINDS; `detail` names the function, the block and the buffer, or the variable. For a caller that
    judges a pass, "integer-overflow", "float8-range" and "domain" mean that the inputs are to be discarded, not that
    the pass is wrong. `evidence` says the same as data.
    """

    def __init__(self, kind: str, detail: str, evidence: Evidence | None = None) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.evidence: Evidence = evidence or ReferenceTrap(kind)


def symptom_of(kind: str) -> str:
    """The symptom of a verdict for a trap of this kind."""
    return f"reference trap: {kind}"


UNWRITTEN = symptom_of("uninitialised")
TRAPS = frozenset(map(symptom_of, KINDS))
"""The symptoms of all traps, whose messages say where and not what."""

"""What is known of a reduced failure besides its verdict, of which causes are made. No TVM here."""

from __future__ import annotations

from dataclasses import dataclass

from oracles.ir.kinds import IRKind
from oracles.verdict import Failed


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What a pass did whose result is wrong: the kinds of bindings and nodes that it removed and added, in order.

    everywhere: all of them stand in most modules (`oracles.ir.rewrite`).
    """

    removed: tuple[IRKind, ...] = ()
    added: tuple[IRKind, ...] = ()
    everywhere: bool = False

    def __str__(self) -> str:
        return " -> ".join(", ".join(map(str, kinds)) or "nothing" for kinds in (self.removed, self.added))


@dataclass(frozen=True, slots=True)
class FailureFacts:
    """What is known of a reduced failure besides its verdict (`fuzzer.trial.cause.facts`); "" and None for unknown.

    running: the innermost pass that was running, if the verdict names a pipeline or a build. broken: the kind of
    binding that breaks, and how; broken_by: the pass or class inside the culprit that does it. retyped: the kind of
    binding to which the pass `retyped_by` gives another type. left: why `left_by` leaves an operator for the VM;
    logged: what its log says of that. stored: kinds of nodes in the values that PrimFuncs store. operators: kinds of
    the Relax operators in the module; each: the culprit has code for each operator. holds: kinds of everything in the
    module. called: the kind of the operator whose call cannot be typed. ends_lives: the module ends lives of values,
    and the pass is not documented for such modules. rule: the one that does it, where the culprit applies several, or
    the primitive; misdone: what a wrong one did that none may do, or that a pass left the program as it was.
    changes_input: the pass changed the module that it was given. earlier: for built code that ends its process, the
    wrong result that the reference finds after the pass `running`. floats: dtypes of the module's floats other than
    float32, to which reduction changes all that it can. threads: it is built for CUDA.
    """

    running: str = ""
    broken: str = ""
    broken_by: str = ""
    retyped: str = ""
    retyped_by: str = ""
    left: str = ""
    left_by: str = ""
    rewrite: Rewrite | None = None
    stored: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    each: bool = False
    holds: tuple[str, ...] = ()
    called: str = ""
    logged: str = ""
    ends_lives: bool = False
    rule: str = ""
    changes_input: bool = False
    earlier: Failed | None = None
    floats: tuple[str, ...] = ()
    misdone: str = ""
    threads: bool = False

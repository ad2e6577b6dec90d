"""A live generated program: an IRModule with exact inputs and the facts that the pass table asks for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from generators.case import EntryCall
from generators.program_facts import ProgramFacts
from generators.tvm_api import IRModule


@dataclass(frozen=True, slots=True)
class Program:
    """`module` has a public function `main`; `calls` are its entry calls with exact inputs.

    operators counts the operator rows drawn; features names the language features planted; rejected counts
    rows whose drawn call TVM's type inference refused, with what it said (ours to mend, so it is counted).
    """

    module: IRModule
    calls: tuple[EntryCall, ...]
    facts: ProgramFacts
    operators: Counter[str] = field(default_factory=Counter)
    features: frozenset[str] = frozenset()
    rejected: Counter[tuple[str, str]] = field(default_factory=Counter)

"""What the rules for Relax expressions and calls work on: the frame of one activation, and the running interpreter.

`Machine` lists what a rule may ask of the interpreter. The interpreter itself is in `engine.py`, which imports the
rules.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from generators.dtypes import Scalar
from generators.tvm_api import BaseFunc, Expr, GlobalVar, Var
from oracles.reference.sampling import Sampling
from oracles.reference.tir import Context
from oracles.reference.values import Callback, Runtime, Tensor


@dataclass(slots=True)
class Activation:
    """Variables and symbols of one function activation.

    killed: variables whose lifetime has ended. binding: the variable that is being bound. inputs: the arguments that
    are no weights, by the attribute `num_input`.
    """

    variables: dict[Var, Runtime] = field(default_factory=dict)
    symbols: dict[Var, int] = field(default_factory=dict)
    function: str = ""
    killed: set[Var] = field(default_factory=set)
    binding: Var | None = None
    inputs: tuple[Runtime, ...] = ()


class Machine(Protocol):
    """A running interpreter, as rules see it; `engine.Interpreter` says what the fields mean."""

    bounded: bool
    floor: str | None
    sampling: Sampling | None
    packed: Mapping[str, Callback]
    context: Context
    constants: dict[Hashable, Tensor]
    overwritten: dict[int, tuple[Tensor, Tensor]]

    def lookup(self, gvar: GlobalVar) -> BaseFunc:
        """The function that a GlobalVar names. Trap when the module has none."""

    def activate(
        self, function: BaseFunc, arguments: list[Runtime], name: str, environment: Activation | None = None
    ) -> Runtime:
        """The result of a Relax function on these arguments."""

    def sequence(self, body: Expr, frame: Activation) -> Runtime:
        """Evaluates the bindings of a SeqExpr in order, then its result."""

    def value(self, expr: Expr, frame: Activation) -> Runtime:
        """The value of any expression."""

    def prim(self, expr: Expr, frame: Activation) -> Scalar:
        """The value of a scalar expression over symbols and scalar variables."""

    def current(self, value: Runtime) -> Runtime:
        """A value after calls in place have changed it."""

    def overwrite(self, operand: Tensor, result: Tensor) -> None:
        """Every holder of `operand` holds `result` from now on."""


Evaluator: TypeAlias = Callable[[Machine, Expr, Activation], Runtime]
"""Evaluates one kind of expression or call."""

"""Compiling PrimFuncs to Python, the cache of compiled ones, and the call.

A PrimFunc is compiled once for each binding of its shape variables and integer parameters. Decoding is in
`decode/prim_func.py`, generated code in `program.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from tvm_ffi import StructuralKey

from generators import tvm_api
from generators.tvm_api import PrimFunc
from oracles.ir.cache import Cache, Key
from oracles.ir.walk import prim_func_parts
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.context import ALONE, Context
from oracles.reference.tir.decode.callees import LAUNCH_PARAMS
from oracles.reference.tir.decode.pointer_kinds import Described
from oracles.reference.tir.decode.prim_func import decode_function
from oracles.reference.tir.equality import program_key
from oracles.reference.tir.memory import InitMask
from oracles.reference.tir.nodes import Function
from oracles.reference.tir.poison import carrying
from oracles.reference.tir.program import FUEL, PythonProgram, program_of, refuel
from oracles.reference.tir.recorded import RecordedCall, copied, full_of
from oracles.reference.tir.signature import PackedSignature, PrimFuncSignature, is_packed
from oracles.reference.tir.threads_to_loops import without_threads
from oracles.reference.tir.widened import as_declared, widened

CACHED_FUNCTIONS = 1024
CACHED_SHAPES = 32
SHARED_PROGRAMS = 128
TOO_DEEP = {
    "too many nested parentheses": "expression too deep",
    "too many statically nested blocks": "loops too deep",
    "too many levels of indentation": "loops too deep",
}
"""What Python's compiler says of generated code that is nested too deep, and the reason for which it is skipped."""


class Binding(NamedTuple):
    """A way to call a PrimFunc. values: of its symbols. full: numbers of the arguments of which all elements are
    initialised. shared: whether arguments may share memory, so that each statement runs in its turn."""

    values: tuple[Described, ...]
    full: frozenset[int]
    context: Context
    shared: bool = False


class Compiled:
    """One PrimFunc: its signature and a program for each binding of its symbols that has occurred."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.signature = PackedSignature(func) if is_packed(func) else PrimFuncSignature(func)
        self.launches: frozenset[str] = frozenset()
        self.calls: frozenset[str] = frozenset()
        self.programs: Cache[Binding, PythonProgram] = Cache(self._compiled, self._key, CACHED_SHAPES)

    def program(
        self,
        args: Sequence[object],
        context: Context = ALONE,
        full: frozenset[int] = frozenset(),
        *,
        shared: bool = False,
    ) -> PythonProgram:
        """The program for these arguments, compiled if it is new. full: numbers of those of which all elements are
        initialised. shared: whether some share memory. Raises Trap("type") if they do not fit the signature.
        """
        binding = Binding(self.signature.bind(args), full, context, shared)
        known = self.programs.get(binding)
        # Compiling changes the key: it finds the callees. `fresh` asks for the key afterwards.
        return self.programs.fresh(binding) if known is None else known

    def described(self, args: Sequence[object]) -> list[object]:
        """Arguments in float64 as the signature declares them; see `widened.py`."""
        if isinstance(self.signature, PackedSignature):
            raise Unsupported("packed call in float64")
        params = self.signature.params
        if len(params) != len(args):
            raise Trap("type", f"{self.signature.name}: {len(args)} arguments for {len(params)} parameters")
        return [as_declared(arg, param.dtype) for param, arg in zip(params, args, strict=True)]

    def _compiled(self, binding: Binding) -> PythonProgram:
        found = compile_function(
            self.signature, self.func, binding.values, not binding.shared, binding.context, binding.full
        )
        self.launches |= found.launches
        self.calls |= found.calls
        return found

    def _key(self, binding: Binding) -> Key:
        """All that a program is made from. Compiling finds the functions that it calls, which are a part of that."""
        context = binding.context
        callees = [context.kernels.get(name) for name in sorted(self.launches)]
        callees += [context.functions.get(name) for name in sorted(self.calls)]
        keys = tuple([StructuralKey(_without_notes(callee)) for callee in callees if callee is not None])
        asked = (context.synchronised, context.carrying, context.widened)
        return (binding.values, binding.full, binding.shared, *asked, keys), None


def compile_function(
    signature: PrimFuncSignature | PackedSignature,
    func: PrimFunc,
    values: tuple[Described, ...],
    vectorise: bool = True,
    context: Context = ALONE,
    full: frozenset[int] = frozenset(),
) -> PythonProgram:
    """Decodes and compiles. Raises Unsupported for what the interpreter does not know.

    `vectorise` False gives the plain loops: slow, and the same result bit for bit. Whether elements of arguments that
    are not in `full` are initialised is asked by the generated code.
    """
    try:
        function = without_threads(decode_function(signature, func, values, context), context.synchronised)
        function = carrying(function) if context.carrying else function
        function = widened(function) if context.widened else function
        return _PROGRAMS.of((function, full)) if vectorise else program_of(function, vectorise, full)
    except RecursionError as error:
        raise Unsupported("expression too deep") from error
    except SyntaxError as error:
        reason = next((reason for said, reason in TOO_DEEP.items() if said in str(error)), None)
        if reason is None:
            raise
        raise Unsupported(reason) from error


def _program_key(compiled: tuple[Function, frozenset[int]]) -> Key:
    function, full = compiled
    return (program_key(function), full), None


_PROGRAMS: Cache[tuple[Function, frozenset[int]], PythonProgram] = Cache(
    lambda compiled: program_of(compiled[0], full=compiled[1]), _program_key, SHARED_PROGRAMS
)

READ_ATTRIBUTES = ("global_symbol", "calling_conv", LAUNCH_PARAMS)
"""The attributes of a function that the interpreter reads: functions that differ in others alone are one program."""


def _without_notes(func: PrimFunc) -> PrimFunc:
    for key in list(func.attrs.keys()) if func.attrs is not None else ():
        if key not in READ_ATTRIBUTES:
            func = func.without_attr(key)
    return func


def compiled(func: PrimFunc, before: Compiled | None = None) -> Compiled:
    """The compiled form of a PrimFunc, that of an equal one where the cache holds it.

    before: the form of the function that a pass made this one from. A quarter of these are equal to it (475 of 1,933:
    the pass changed another attribute, or made the same statements anew), and hardly one equals any other function, so
    that only these two are compared.
    """
    found = _BY_PARTS.get(func)
    return _BY_PARTS.put(func, _of_equal(func, before)) if found is None else found


def _of_equal(func: PrimFunc, before: Compiled | None) -> Compiled:
    bare = _without_notes(func)
    if before is None:
        return _BY_STRUCTURE.of(bare)
    return before if tvm_api.structural_equal(before.func, bare) else Compiled(bare)


_BY_STRUCTURE = Cache(Compiled, lambda bare: (StructuralKey(bare), None), CACHED_FUNCTIONS)
_BY_PARTS = Cache(compiled, prim_func_parts, CACHED_FUNCTIONS)


def run_tracked(
    func: PrimFunc, args: Sequence[object], known: Sequence[InitMask], steps: int = FUEL, context: Context = ALONE
) -> tuple[InitMask, ...]:
    """Runs a PrimFunc on its arguments in place.

    `known` has for each argument None (all initialised; also for scalars) or a bool array of its shape, which
    is updated in place. Returns, for each buffer argument in order, None (now all initialised) or that array.
    """
    return run_returning(func, args, known, steps, context)[0]


def run_returning(
    func: PrimFunc, args: Sequence[object], known: Sequence[InitMask], steps: int = FUEL, context: Context = ALONE
) -> tuple[tuple[InitMask, ...], float | None]:
    """What `run_tracked` gives, and the number that the PrimFunc returns as a Python number (None for most)."""
    found = compiled(func)
    described = found.described(args) if context.widened else args
    program = found.program(described, context, full_of(known))
    if len(args) != len(known):
        raise Trap("type", f"{program.name}: {len(args)} arguments, {len(known)} initialisation masks")
    alone: list[object] | None = None
    if program.shares(args, known):
        if func.attrs is not None and "tirx.noalias" in func.attrs:
            alone = copied(args)
            run_program(program, alone, copied(known), steps)
        program = found.program(described, context, full_of(known), shared=True)
        if not program.ordered:
            raise Unsupported("aliased arguments of vectors or threads")
    call = None
    if context.record is not None:
        call = RecordedCall.begun(func, found, program, args, known, len(context.record))
    masks, number = run_program(program, args, known, steps)
    # TVM leaves open what a function does that promises that nothing is shared: but where that makes no difference.
    if alone is not None and any(_bits(alone[target]) != _bits(args[target]) for target in program.written):
        raise Unsupported("aliased arguments")
    if call is not None and context.record is not None:
        call.ended(args, masks, number)
        context.record.append(call)
    return masks, number


def _bits(array: object) -> bytes:
    assert isinstance(array, np.ndarray), "what is written is a buffer"
    return array.tobytes()


def gives_again(call: RecordedCall, func: PrimFunc, context: Context) -> bool:
    """Whether another PrimFunc, called in the same way, gives the same bits. Raises what a run raises."""
    call.compiled = compiled(func, call.compiled)
    program = call.compiled.program(call.given, context, call.full)
    if program is call.program:
        return True
    if call.arguments is None:
        return False
    args, known = copied(call.arguments), copied(call.known)
    program.shares(args, known)  # None do, as they are copies: this raises what a run raises.
    masks, number = run_program(program, args, known)
    if not call.gave(args, masks, number):
        return False
    call.program = program
    return True


def run_program(
    program: PythonProgram, args: Sequence[object], known: Sequence[InitMask], steps: int = FUEL
) -> tuple[tuple[InitMask, ...], float | None]:
    """Runs generated code; see `run_tracked`. The second result is the number that it returns."""
    passed: list[object] = []
    for value, mask in zip(args, known, strict=True):
        passed.append(value)
        if isinstance(value, np.ndarray):
            passed.append(mask)
    refuel(steps)
    with np.errstate(all="ignore"):
        masks, number = program.run(*passed)
    return masks, number.item() if isinstance(number, np.generic) else number


def run_prim_func(
    func: PrimFunc, args: Sequence[object], initialised: Sequence[bool] | None = None, steps: int = FUEL
) -> float | None:
    """Runs a PrimFunc: `args` in parameter order, arrays for buffers (changed in place), Python numbers for
    scalars. Gives the number that it returns, or None.

    `initialised[i]` False says that the array `args[i]` is uninitialised: reading an element before it is
    written is a Trap("uninitialised"). `steps` bounds the iterations of loops that run one by one. Raises
    Unsupported for a construct that the interpreter does not know and Trap for what has no defined result,
    with kind "type" where an argument does not fit the declared type or shape.
    """
    if initialised is None:
        known: list[InitMask] = [None] * len(args)
    else:
        known = [
            None if ready or not isinstance(value, np.ndarray) else np.zeros(value.shape, np.bool_)
            for value, ready in zip(args, initialised, strict=True)
        ]
    return run_returning(func, args, known, steps)[1]

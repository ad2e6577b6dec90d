"""Compiling PrimFuncs to Python, the cache of compiled ones, and the call.

A PrimFunc is compiled once for each binding of its shape variables and integer parameters. Decoding is in
`decode/prim_func.py`, generated code in `program.py`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from generators import tvm_api
from oracles.ir.memo import ByParts
from oracles.reference.errors import Trap, Unsupported
from oracles.reference.tir.carried import carrying
from oracles.reference.tir.context import ALONE, Context
from oracles.reference.tir.decode.functions import LAUNCH_PARAMS
from oracles.reference.tir.decode.prim_func import decode_function
from oracles.reference.tir.equality import Key, program_key
from oracles.reference.tir.fission import without_threads
from oracles.reference.tir.nodes import Function
from oracles.reference.tir.program import FUEL, Program, program_of, refuel
from oracles.reference.tir.recorded import Known, RecordedCall, copied, full_of
from oracles.reference.tir.signature import PackedSignature, Signature, is_packed

CACHED_FUNCTIONS = 1024
CACHED_SHAPES = 32
SHARED_PROGRAMS = 128
TOO_DEEP = {
    "too many nested parentheses": "expression too deep",
    "too many statically nested blocks": "loops too deep",
    "too many levels of indentation": "loops too deep",
}
"""What Python's compiler says of generated code that is nested deeper than it goes, and why it is skipped then."""


class Compiled:
    """One PrimFunc: its signature and a program for each binding of its symbols that has occurred."""

    def __init__(self, func: Any) -> None:
        self.func = func
        self.signature = PackedSignature(func) if is_packed(func) else Signature(func)
        self.programs: OrderedDict[tuple[Any, ...], Program] = OrderedDict()
        self.launches: frozenset[str] = frozenset()
        self.calls: frozenset[str] = frozenset()

    def program(self, args: Sequence[object], context: Context = ALONE, full: frozenset[int] = frozenset()) -> Program:
        """The program for these arguments, compiled if it is new. full: numbers of those of which all elements are
        initialised. Raises Trap("type") if they do not fit the signature.
        """
        values = self.signature.bind(args)
        found = self.programs.get(self._key(values, full, context))
        if found is None:
            found = compile_function(self.signature, self.func, values, context=context, full=full)
            self.launches |= found.launches
            self.calls |= found.calls
            self.programs[self._key(values, full, context)] = found
            if len(self.programs) > CACHED_SHAPES:
                self.programs.popitem(last=False)
        return found

    def _key(self, values: tuple[Any, ...], full: frozenset[int], context: Context) -> tuple[Any, ...]:
        callees = [context.kernels.get(name) for name in sorted(self.launches)]
        callees += [context.functions.get(name) for name in sorted(self.calls)]
        return (
            values,
            full,
            context.synchronised,
            context.carrying,
            *(_callee_keys.of(callee) for callee in callees if callee is not None),
        )


def compile_function(
    signature: Signature | PackedSignature,
    func: Any,
    values: tuple[Any, ...],
    vectorise: bool = True,
    context: Context = ALONE,
    full: frozenset[int] = frozenset(),
) -> Program:
    """Decodes and compiles. Raises Unsupported for what the interpreter does not know.

    `vectorise` False gives the plain loops: slow, and the same result bit for bit. Whether elements of arguments that
    are not in `full` are initialised is asked by the generated code.
    """
    try:
        function = without_threads(decode_function(signature, func, values, context), context.synchronised)
        function = carrying(function) if context.carrying else function
        return _shared(function, full) if vectorise else program_of(function, vectorise, full)
    except RecursionError as error:
        raise Unsupported("expression too deep") from error
    except SyntaxError as error:
        reason = next((reason for said, reason in TOO_DEEP.items() if said in str(error)), None)
        if reason is None:
            raise
        raise Unsupported(reason) from error


_shared_programs: OrderedDict[tuple[Key, frozenset[int]], Program] = OrderedDict()


def _shared(function: Function, full: frozenset[int]) -> Program:
    """The program of an equal function that was compiled lately, or a new one."""
    key = program_key(function), full
    found = _shared_programs.get(key)
    if found is None:
        found = _shared_programs[key] = program_of(function, full=full)
        if len(_shared_programs) > SHARED_PROGRAMS:
            _shared_programs.popitem(last=False)
    return found


_by_structure: OrderedDict[int, list[Compiled]] = OrderedDict()
READ_ATTRIBUTES = ("global_symbol", "tirx.noalias", "calling_conv", LAUNCH_PARAMS)
"""The attributes of a function that the interpreter looks at: with others alone changed, it is the same program."""


def _without_notes(func: Any) -> Any:
    for key in list(func.attrs.keys()) if func.attrs is not None else ():
        if key not in READ_ATTRIBUTES:
            func = func.without_attr(key)
    return func


_callees: dict[int, list[Any]] = {}


def _numbered(func: Any) -> tuple[int, int]:
    """The same for equal functions."""
    bare = _without_notes(func)
    code = tvm_api.structural_hash(bare)
    equal = _callees.setdefault(code, [])
    number = next((n for n, known in enumerate(equal) if tvm_api.structural_equal(known, bare)), len(equal))
    if number == len(equal):
        equal.append(bare)
    return code, number


_callee_keys = ByParts(_numbered, CACHED_FUNCTIONS)


def compiled(func: Any, before: Compiled | None = None) -> Compiled:
    """The compiled form of a PrimFunc, from the cache if an equal one was seen. before: that of what a pass rewrote. A
    quarter of these are as they were (475 of 1,933: another attribute, the same statements made anew), and hardly one
    equals any other, so that it is compared with nothing else."""
    return _by_parts.of(func, before)


def _compiled(func: Any, before: Compiled | None = None) -> Compiled:
    bare = _without_notes(func)
    if before is not None:
        return before if tvm_api.structural_equal(before.func, bare) else Compiled(bare)
    candidates = _by_structure.setdefault(tvm_api.structural_hash(bare), [])
    for candidate in candidates:
        if tvm_api.structural_equal(candidate.func, bare):
            return candidate
    found = Compiled(bare)
    candidates.append(found)
    if len(_by_structure) > CACHED_FUNCTIONS:
        _by_structure.popitem(last=False)
    return found


_by_parts = ByParts(_compiled, CACHED_FUNCTIONS)


def run_tracked(
    func: Any, args: Sequence[object], known: Sequence[Known], steps: int = FUEL, context: Context = ALONE
) -> tuple[Known, ...]:
    """Runs a PrimFunc on its arguments in place.

    `known` has for each argument None (all initialised; also for scalars) or a bool array of its shape, which
    is updated in place. Returns, for each buffer argument in order, None (now all initialised) or that array.
    """
    return run_returning(func, args, known, steps, context)[0]


def run_returning(
    func: Any, args: Sequence[object], known: Sequence[Known], steps: int = FUEL, context: Context = ALONE
) -> tuple[tuple[Known, ...], Any]:
    """What `run_tracked` gives, and the number that the PrimFunc returns as a Python number (None for most)."""
    found = compiled(func)
    program = found.program(args, context, full_of(known))
    if len(args) != len(known):
        raise Trap("type", f"{program.name}: {len(args)} arguments, {len(known)} initialisation masks")
    program.check_memory(args)
    if context.record is None:
        return _run(program, args, known, steps)
    call = RecordedCall.begun(func, found, program, args, known, len(context.record))
    masks, number = _run(program, args, known, steps)
    call.ended(args, masks, number)
    context.record.append(call)
    return masks, number


def gives_again(call: RecordedCall, func: Any, context: Context) -> bool:
    """Whether a PrimFunc in the place of the one that was called gives the same bits. Raises what a run does."""
    call.compiled = compiled(func, call.compiled)
    program = call.compiled.program(call.given, context, call.full)
    if program is call.program:
        return True
    if call.arguments is None:
        return False
    args, known = copied(call.arguments), copied(call.known)
    program.check_memory(args)
    masks, number = _run(program, args, known, FUEL)
    if not call.gave(args, masks, number):
        return False
    call.program = program
    return True


def run_program(
    program: Program, args: Sequence[object], known: Sequence[Known], steps: int = FUEL
) -> tuple[Known, ...]:
    """Runs generated code; see `run_tracked`."""
    return _run(program, args, known, steps)[0]


def _run(program: Program, args: Sequence[object], known: Sequence[Known], steps: int) -> tuple[tuple[Known, ...], Any]:
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
    func: Any, args: Sequence[object], initialised: Sequence[bool] | None = None, steps: int = FUEL
) -> Any:
    """Runs a PrimFunc: `args` in parameter order, arrays for buffers (changed in place), Python numbers for
    scalars. Gives the number that it returns, or None.

    `initialised[i]` False says that the array `args[i]` holds nothing yet: reading an element before it is
    written is a Trap("uninitialised"). `steps` bounds the iterations of loops that run one by one. Raises
    Unsupported for a construct that the interpreter does not know and Trap for what has no defined result,
    with kind "type" where an argument does not fit the declared type or shape.
    """
    if initialised is None:
        known: list[Known] = [None] * len(args)
    else:
        known = [
            None if ready or not isinstance(value, np.ndarray) else np.zeros(value.shape, np.bool_)
            for value, ready in zip(args, initialised, strict=True)
        ]
    return run_returning(func, args, known, steps)[1]

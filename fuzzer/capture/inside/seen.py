"""The passes that run in this process, as a stack: what each was given is on disk before it runs.

Nothing that happens here is raised into the command. What fails is moved into a folder of its own; what is on the stack
when the process ends did not end itself.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

import tvm

from fuzzer.capture.inside import made
from fuzzer.capture.inside.definitions import Definitions, Unsayable
from fuzzer.capture.inside.say import said
from fuzzer.capture.inside.spool import Spool, StackedPass

if TYPE_CHECKING:
    from tvm.ir.instrument import PassInstrument
    from tvm.ir.transform import Pass, PassContext, PassInfo
    from typing_extensions import ParamSpec

    P = ParamSpec("P")

note = made.note
_HERE = os.path.dirname(__file__)
_MARK = "_passfuzz_failure"
"""An exception has it that a failing pass raised: the number of the failure."""


class Where(threading.local):
    """What is going on: the test that runs, and the passes that do."""

    test = ""

    def __init__(self) -> None:
        self.stack: list[StackedPass] = []
        self.busy = False


WHERE = Where()
_CONFIGURATIONS: dict[int, dict[str, object]] = {}
_COUNT: dict[str, itertools.count[int]] = {}
_ORIGINAL = tvm.ir.transform.Pass.__call__


class _First:
    """Hears that a pass has ended before any instrument of the command, which may raise."""

    def run_after_pass(self, module: tvm.IRModule, info: PassInfo) -> None:
        _quietly(_after, info)


class _Last:
    """Hears of a pass once no instrument of the command keeps it from running."""

    def run_before_pass(self, module: tvm.IRModule, info: PassInfo) -> None:
        _quietly(_before, module, info)


FIRST, LAST = (tvm.ir.instrument.pass_instrument(one)() for one in (_First, _Last))


def begin() -> None:
    """From now on passes are seen."""
    _watch_contexts()
    tvm.ir.transform.Pass.__call__ = functools.wraps(_ORIGINAL)(_call)
    hook = sys.excepthook
    Spool.here().begin()

    @functools.wraps(hook)
    def last_words(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> object:
        ended_by(value)
        return hook(kind, value, trace)

    sys.excepthook = last_words
    atexit.register(_end)


def ended_by(error: BaseException) -> None:
    """An exception has ended the command, or a test. Its traceback is shown without the lines of this folder."""
    for one in _chain(error):
        _quietly(_without_ours, one.__traceback__)
    for number in {number for one in _chain(error) if (number := getattr(one, _MARK, None)) is not None}:
        _quietly(Spool.here().escaped, number)


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _without_ours(trace: TracebackType | None) -> None:
    while trace is not None:
        following = trace.tb_next
        while following is not None and os.path.dirname(following.tb_frame.f_code.co_filename) == _HERE:
            following = following.tb_next
        trace.tb_next = following
        trace = following


def _quietly(action: Callable[P, object], *given: P.args, **named: P.kwargs) -> None:
    """What goes wrong here is noted for passfuzz, and is nothing to the command."""
    if WHERE.busy:  # what is done for a pass applies one itself
        return
    WHERE.busy = True
    try:
        action(*given, **named)
    except Exception as error:  # noqa: BLE001 - the command must go on as it would
        Spool.here().fault(f"{type(error).__name__}: {error}")
    finally:
        WHERE.busy = False


# --- calls ------------------------------------------------------------------------------------------------


def _call(transform: Pass, mod: tvm.IRModule) -> object:
    """In place of `Pass.__call__`."""
    stack, depth = WHERE.stack, len(WHERE.stack)
    failures = Spool.here().failures
    _quietly(_be_heard, transform, mod)
    try:
        return _ORIGINAL(transform, mod)
    except Exception as error:
        _quietly(_failed, error, depth, failures)
        raise
    finally:
        if len(stack) > depth:
            _quietly(_cut, depth)


def _be_heard(transform: Pass, mod: tvm.IRModule) -> None:
    """The context of this call has the instruments, or the call is noted without them."""
    context = tvm.ir.transform.PassContext.current()
    instruments = list(context.instruments or ())
    if not instruments:
        context.override_instruments([FIRST, LAST])
    elif not any(one.same_as(LAST) for one in instruments):
        _before(mod, transform.info)


def _failed(error: Exception, depth: int, failures: int) -> None:
    spool = Spool.here()
    last = spool.last_failure
    if last is not None and spool.failures > failures and last.said == _text(error):
        setattr(error, _MARK, last.number)  # the same, as TVM raises it again on its way up
        return
    if len(WHERE.stack) > depth:
        setattr(error, _MARK, spool.fail(WHERE.stack, type(error).__name__, _text(error)))


def _text(error: BaseException) -> str:
    return str(error)[:4000]


def _cut(depth: int) -> None:
    del WHERE.stack[depth:]
    Spool.here().running(depth)


# --- instruments ------------------------------------------------------------------------------------------


def _before(module: tvm.IRModule, info: PassInfo) -> None:
    name = str(info.name)
    number = next(_COUNT.setdefault(name, itertools.count(1)))
    stack, spool = WHERE.stack, Spool.here()
    context = tvm.ir.transform.PassContext.current()
    config, left_out = _configuration(context)
    text = _constructor(info)
    target = tvm.target.Target.current(allow_none=True)
    level = StackedPass(
        name=name,
        number=number,
        module=hash(module),
        said={
            "name": name,
            "number": number,
            "tvm": str(tvm.__version__),
            "constructor": text[0],
            "definitions": text[1],
            "unsaid": [*text[2], *left_out],
            "target": None if target is None else str(target.kind.name),
            "target_text": None if target is None else str(target),
            "config": config,
            "opt_level": int(context.opt_level),
            "test": WHERE.test,
            "place": _place(),
            "inside": [one.name for one in stack],
            "at_s": time.time(),
        },
    )
    if stack and stack[-1].module == level.module:
        level.file = stack[-1].file
    spool.write(len(stack), level, None if level.file else module)
    stack.append(level)
    spool.running(len(stack))
    spool.keep(stack)


def _after(info: PassInfo) -> None:
    stack, name = WHERE.stack, str(info.name)
    while stack and stack.pop().name != name:
        continue
    Spool.here().running(len(stack))


def _constructor(info: PassInfo) -> made.Text:
    """The expression, what it needs besides, and what of it could not be said; ("", "", [why]) where it cannot be."""
    known = made.made_by(info)
    if known is None:
        return "", "", []
    if known.cached is None:
        definitions = Definitions(said)
        try:
            text = known.said(lambda value: said(value, definitions))
            known.cached = text, definitions.text, definitions.left_out
        except (Unsayable, RecursionError) as error:
            known.cached = "", "", [f"{info.name} is made with {error}"]
    return known.cached


def _configuration(context: PassContext) -> tuple[str, list[str]]:
    """The options of a context as a dict in Python text, and which are left out, as they are no literals."""
    given = _CONFIGURATIONS.get(hash(context), {})
    names = {str(name) for name in (context.config or {})}
    if names != set(given):
        given = {name: context.config[name] for name in names}
    literals = {name: value for name, value in given.items() if _is_literal(value)}
    return repr(literals) if literals else "", [f"option {name}" for name in given if name not in literals]


def _is_literal(value: object) -> bool:
    match value:
        case dict():
            return all(isinstance(key, str) and _is_literal(one) for key, one in value.items())
        case list() | tuple():
            return all(map(_is_literal, value))
        case _:
            return value is None or type(value) in (bool, int, float, str)


def _watch_contexts() -> None:
    context = tvm.ir.transform.PassContext
    original, override = context.__init__, context.override_instruments

    @functools.wraps(original)
    def construct(
        self: PassContext,
        opt_level: int = 2,
        required_pass: Sequence[str] | None = None,
        disabled_pass: Sequence[str] | None = None,
        instruments: Sequence[PassInstrument] | None = None,
        config: Mapping[str, object] | None = None,
    ) -> None:
        original(self, opt_level, required_pass, disabled_pass, [FIRST, *(instruments or ()), LAST], config)
        _CONFIGURATIONS.pop(hash(self), None)  # of one that is gone
        if config:
            _CONFIGURATIONS[hash(self)] = dict(config)

    @functools.wraps(override)
    def replace(self: PassContext, instruments: Sequence[PassInstrument] | None) -> object:
        theirs = [one for one in instruments or () if not (one.same_as(FIRST) or one.same_as(LAST))]
        return override(self, [FIRST, *theirs, LAST])

    context.__init__, context.override_instruments = construct, replace


def _place() -> str:
    """The line of the command's own file that is being run."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        file, name = frame.f_code.co_filename, str(frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] not in ("tvm", "tvm_ffi", "fuzzer", "functools") and os.path.isfile(file):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _end() -> None:
    """Nothing of ours is left in TVM's context when it ends."""
    _quietly(lambda: tvm.ir.transform.PassContext.current().override_instruments([]))
    Spool.here().end()

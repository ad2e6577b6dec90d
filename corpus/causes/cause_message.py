"""What an error says, without what differs between two sightings of one bug: for causes.

`corpus.causes.signature` strips names and numbers; here also go classes of nodes, printed IR and expressions,
instructions of LLVM, and the ends of sentences that only some versions of Python have.
"""

from __future__ import annotations

import re

from corpus.causes.signature import message_of_failure, normalise
from corpus.causes.throw_site import operators_printed, without_operators
from oracles.tvm_frames import FRAME
from oracles.verdict import Failed

_RAISED = re.compile(r"^(?:\w+\.)*(\w+)(?:: ?(.*))?$", re.MULTILINE)
_TYPES = re.compile(r"\b(?:ir|prim|relax|tirx|s_tir)\.(?:\w+\.)*[A-Z]\w*|'[A-Z]\w*'(?= object)")
"""Classes of TVM's nodes: they say what was found there, not what is wrong."""
_OF_A_VERSION = re.compile(r"(?<=^UnboundLocalError).*|(?<=^RecursionError).*|\. Did you mean.*|(?<=to unpack) \(.*")
"""Parts of Python's own messages that only some versions have."""
_OF_LLVM = re.compile(r"\s[%@][^\s=]+ = .*", re.DOTALL)
"""Instructions that LLVM's verifier quotes after each of its sentences."""

_OF_A_CALL = re.compile(r"\b(?:function|intrinsic)\b[^!%@]*!.*?@(llvm(?:\.[a-z_]+\b)+)", re.DOTALL | re.IGNORECASE)
"""A sentence of LLVM's verifier about what a call gives or gets, and the intrinsic that is called without its types."""


def message_of(failed: Failed) -> str:
    """The message of an error, for any oracle: the first paragraph after the traceback. A printed operator becomes its
    name, which is TVM's and not the program's."""
    end = max((match.end() for match in FRAME.finditer(failed.detail)), default=None)
    lines = [] if end is None else failed.detail[end:].split("\n")
    raised = next((i for i, line in enumerate(lines) if line[:1].strip() and _RAISED.match(line)), None)
    if raised is None:
        return without_names(message_of_failure(failed))
    text = "\n".join(lines[raised:])
    text = text.rpartition("\nError message: ")[2].split("\n\n")[0].split("\nError in pass:")[0]
    return without_names(re.sub(r"^(?:\w+\.)+(?=\w+)", "", text))


_TOPI = re.compile(r"\bTOPI (?!at\b)\w+|\bConv[123]D(?= where\b)")
"""An operator as a legalisation names it in its log: the same sentence about several operators is one limit."""


def of_any_operator(logged: str) -> str:
    """What a legalisation logs, without the operator."""
    return _TOPI.sub("TOPI's operator", logged)


_MARK = "\ue000"  # stands for a printed operator while a message is normalised: no message has it
_PRINTED = re.compile(r"(?<=:)(?:\n {4,}.*)+")
"""The body of a block, a loop or a function that a message prints."""


_EXPRESSION = re.compile(r"(?:[\w<>#]+ (?:[+*%-]|//?) )*<ir>(?: (?:[+*%-]|//?) [\w<>#]+)*")
"""Printed IR with what is added to it: Python prints `n + T.int64(1)` of an extent."""


def without_names(text: str) -> str:
    """A text without names of the program; a printed operator becomes its name, and so does an intrinsic of LLVM of
    which its verifier says that it is called wrongly."""
    called = _OF_A_CALL.search(text)
    text = _PRINTED.sub("", text)
    names = iter(operators_printed(text))
    text = without_types(normalise(without_operators(text, _MARK), in_order=True))
    text = re.sub(_MARK, lambda _: next(names, ""), _EXPRESSION.sub("<ir>", text))
    return text if called is None else f"{called[1]}: {text}"


def without_types(text: str) -> str:
    """A message without classes of nodes and without what only some versions say."""
    return _OF_LLVM.sub("", _OF_A_VERSION.sub("", _TYPES.sub("<type>", text))).strip(" .:")

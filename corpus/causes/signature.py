"""When two failures are one bug: (oracle, symptom, culprit pass, normalised message), and a slug for folder names.

Pure text. Stack traces take no part: their tops are FFI and visitor frames and merge different bugs.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from corpus.answers import child_end
from corpus.escapes import is_slug
from oracles.evidence import Evidence, NotReadBack, ReferenceTrap, TrapKind
from oracles.verdict import WRONG_RESULT, Failed

LONGEST_MESSAGE = 200
LONGEST_ORACLE, LONGEST_CULPRIT = 50, 150
"""Characters of each in a slug: a file name has at most 255 bytes."""

PLACES: frozenset[TrapKind] = frozenset(
    ("uninitialised", "out-of-bounds", "use-after-kill", "double-free", "storage-overlap", "data-race")
)
"""Kinds of traps whose message says where, by names that the program gave."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The identity of a bug. Two failures are one bug iff their signatures are equal."""

    oracle: str
    symptom: str
    culprit: str
    message: str

    @property
    def slug(self) -> str:
        """`<oracle>-<culprit>-<8 hex>`: a folder name, the same on every machine and Python version.

        `corpus.escapes.is_slug` holds for it, whatever the words are.
        """
        text = "\0".join((self.oracle, self.symptom, self.culprit, self.message))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        slug = f"{_folder_word(self.oracle, LONGEST_ORACLE)}-{_folder_word(self.culprit, LONGEST_CULPRIT)}-{digest}"
        return slug if is_slug(slug) else f"_{slug}"


def names_culprit(slug: str, culprit: str) -> bool:
    """Whether the slug of a signature is one of this culprit's."""
    return f"-{_folder_word(culprit, LONGEST_CULPRIT)}-" in slug


def signature_of(oracle: str, failed: Failed, culprit: str | None = None, operators: Iterable[str] = ()) -> Signature:
    """The signature of a failed verdict.

    `culprit` names the pass of the judged step, for verdicts that name none; `operators` are those of the
    *reduced* module (see `operators_in`) and count for wrong results only.
    """
    if failed.symptom == WRONG_RESULT:  # its numbers say nothing
        message = " ".join(sorted(set(operators)))
    else:
        message = "" if _says_where(failed.evidence) else normalise(message_of_failure(failed))
    return Signature(oracle, failed.symptom, failed.culprit or culprit or "none", message)


def message_of_failure(failed: Failed) -> str:
    """The message of a verdict, as `normalise` is to be given it: what it quotes is a name of the program, but for the
    statement at which TVM's parser stops without a reason, which is all that tells this failure from others."""
    match failed.evidence:
        case NotReadBack(statement=str(statement)) if statement:
            return failed.message.replace(f"`{statement}`", statement)
        case _:
            return failed.message


def _says_where(evidence: Evidence | None) -> bool:
    return isinstance(evidence, ReferenceTrap) and evidence.kind in PLACES


def _folder_word(word: str, longest: int) -> str:
    return re.sub(r"[^A-Za-z0-9_.]+", "_", word).strip("_.")[:longest] or "none"


# --- messages -------------------------------------------------------------------------------------------

_CHECK = re.compile(r"(?:Check failed|InternalError: Check failed|Assert fail(?:ed)?): *(?=\()")
_IR_CALL = re.compile(r"\b(?:[RTIX]|cls|Module|relax|tirx|tir|ir|metadata)(?:\.[A-Za-z_]\w*)*(?:\.\w+)?(?=[(\[])")
_IR_LINE = re.compile(
    r"^\s*(?:#|@[IRT]\.|def \w+\(|class \w+:|metadata ?=|with [RT]\.|R\.output\(|for \w+(?:, \w+)* in [TR(]"
    r"|\w+: [RT]\.|\w+ = [RT]\.|cls = )|^ +return "
)
_FRAME_LINE = re.compile(r'^\s*(?:File ".*", line \d+|\d+: .*|Traceback .*|Stack trace:.*|-->.*|\d* *\|.*|~+\^*~*)')
_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<root>(?:\.\w+(?:\[\d*\]?)*)+"), "<place>"),
    (re.compile(r"\[\d\d:\d\d:\d\d\] *"), ""),
    (re.compile(r"(?<=function call )\S.*?(?= occurs\b)"), "<ir>"),
    (re.compile(r"(?<=impure call: )\S.*"), "<ir>"),
    (re.compile(r"(?<=[Bb]uffers )\w+ and \w+"), "<name> and <name>"),
    (re.compile(r"(?<=same relax var: )\w+"), "<name>"),
    (re.compile(r"(?<=between the groups )\w+ and \w+(?= are in)"), "<name> and <name>"),
    (re.compile(r"(?<=input buffer )\w+(?= is not allocated)"), "<name>"),
    (re.compile(r"(?<=for new iter value )\w+"), "<name>"),
    (re.compile(r"(?<=[Ii]nvalid layout )\S+"), "<layout>"),
    (re.compile(r"(?<=but got )[^.;\n]+(?:\.\w[^.;\n]*)*"), "<it>"),
    (
        re.compile(r"(?:[\w./~+-]*/)?[\w.+-]+\.(?:cc|cpp|h|hpp|py|pyx|pxi|so|cu|c)(?!\w)(?::\d+)*(?:, line \d+)?:?"),
        "<file>",
    ),
    (re.compile(r"(?<![\w.])(?:/[\w.+-]+){2,}"), "<file>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<address>"),
    (re.compile(r"\b(?:u?int|float|bfloat)\d+(?:_e\dm\d\w*)?(?:x\d+)?\b|\bbool\b"), "<dtype>"),
    (re.compile(r"\b[a-z]{1,8}_?\d+\b"), "<name>"),
)
_SPECIES = (
    "I.GlobalVar GlobalVar DataflowVar TypeVar SizeVar Var variable variables Variable Variables buffer buffers "
    "Buffer function functions Function PrimFunc parameter parameters Parameter symbol symbols Symbol binding bindings "
    "Binding name Name global_symbol KeyError:"
)
"""Words after which TVM's messages name something of the program."""
_ENGLISH = (
    "object is are was has have does do of in that with and or not to for from must should can cannot which the a an "
    "at on as but call calls named name attribute type types struct argument arguments contain contains expect expects "
    "expected defined undefined found used inside outside already appear appears being it its this body block"
)
"""Words that may follow and are no names."""
_NAMED = re.compile(
    rf"\b({'|'.join(map(re.escape, _SPECIES.split()))}|call to|[Ss]ymbolic vars?)"
    rf"[ :=]+[\"'`(]?(?!(?:{'|'.join(_ENGLISH.split())}|[A-Z][A-Za-z]\w*)\b)"
    rf"[A-Za-z_<]\w*>?(?:\.(?:\w+|<name>))*[\"'`)]?"
)
_PYTHON_QUOTE = re.compile(
    r"object has no attribute|unexpected keyword|has no attribute|object is not|required positional|operand type"
)
_LATER_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<![A-Za-z_])(?<!signal )(?<!\d)[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\w*"), "#"),
    (re.compile(r"(?<=[A-Za-z_])\d+\b"), "#"),
    (re.compile(r"#(?:\s*[,xX]\s*#)+"), "#"),
    (re.compile(r"#,(?=[)\]])"), "#"),
    (re.compile(r"(<\w+>)(?:\s*,\s*\1)+"), r"\1"),
    (re.compile(r"\s+"), " "),
)


def normalise(message: str, in_order: bool = False) -> str:
    """The message without what differs between two sightings of one bug.

    in_order: the condition of a failed check stands where it was, for a reader; in a signature it comes first.

    Stripped: addresses, numbers, variable and function names, dtypes, file paths and lines, stack frames,
    quoted IR and whole functions. Kept: the text of the failed check, words, class and attribute names.
    """
    lines = [line for line in message.splitlines() if not _IR_LINE.match(line) and not _FRAME_LINE.match(line)]
    text = "\n".join(lines) or message
    before, check, after = _split_check(text)
    if not in_order:
        return (check + _normalise_words(before + after)).strip(" .:")[:LONGEST_MESSAGE]
    head = _normalise_words(before)[: max(LONGEST_MESSAGE - len(check), 0)]  # What is cut is not the condition.
    return (head + check + _normalise_words(after)).strip(" .:")[:LONGEST_MESSAGE]


def told_by(line: str) -> str:
    """What the last line of a repro script, whole, says in each run that shows the same: how the child ended, or the
    exception without names and numbers."""
    if child_end(line) is not None:
        return line
    kind, begins, text = line.partition("(")
    try:
        said = ast.literal_eval(begins + text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return normalise(line)
    return normalise(f"{kind}: {said}" if isinstance(said, str) else line)


def _normalise_words(text: str) -> str:
    text = _cut_calls(text)
    for pattern, replacement in _STEPS:
        text = pattern.sub(replacement, text)
    if not _PYTHON_QUOTE.search(text):
        text = re.sub(r"\"[^\"\n]*\"|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)", "<name>", text)
    text = _NAMED.sub(lambda match: f"{match[1]} <name>", text)
    for pattern, replacement in _LATER_STEPS:
        text = pattern.sub(replacement, text)
    return text


def _split_check(text: str) -> tuple[str, str, str]:
    """What stands before, "Check failed: (C++ expression)", and what after it: the expression is the identity of the
    check, so it is kept."""
    match = _CHECK.search(text)
    if match is None:
        return "", "", text
    end = _closing(text, match.end())
    return text[: match.start()], re.sub(r"\s+", " ", text[match.start() : end]), text[end:]


def _cut_calls(text: str) -> str:
    """Replaces printed IR such as `R.add(x, metadata["..."][0])` or `ir.Op(span=None, ...)` by <ir>."""
    done = ""
    while match := _IR_CALL.search(text):
        end = _closing(text, match.end())
        while end < len(text) and text[end] in "([":
            end = _closing(text, end)
        done, text = done + text[: match.start()] + "<ir>", text[end:]
    return done + text


_CLOSING = {"(": ")", "[": "]", "{": "}"}


def _closing(text: str, start: int) -> int:
    """The index after the bracket that closes the one at `start`; the end of the text when none does."""
    expected: list[str] = []
    for index in range(start, len(text)):
        character = text[index]
        if character in _CLOSING:
            expected.append(_CLOSING[character])
        elif expected and character == expected[-1]:
            expected.pop()
            if not expected:
                return index + 1
    return len(text)


# --- operators ------------------------------------------------------------------------------------------

_RELAX_WORD = re.compile(r"\bR\.([a-zA-Z_][\w.]*)\(")
_TIR_WORD = re.compile(r"\bT\.([a-zA-Z_][\w.]*)\(")
_RELAX_FRAME = (
    "Tensor Shape Tuple Callable Any Object Prim function dataflow output func_attr const shape tuple str dtype "
    "prim_value device func_ret_ty func_ret_struct_info ty_args"
)
_TIR_FRAME = (
    "Buffer handle match_buffer func_attr sblock block reads writes axis.remap axis.spatial axis.reduce grid serial "
    "prim_func alloc_buffer sblock_alloc_buffer sblock_attr decl_buffer TypeVar init where evaluate Range ptr Tuple "
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "float8_e4m3fn float8_e5m2"
)
_NO_OPERATORS = frozenset((*_RELAX_FRAME.split(), *(f"tir.{word}" for word in _TIR_FRAME.split())))


def operators_in(script: str) -> tuple[str, ...]:
    """Sorted names of the Relax operators ("add", "nn.softmax") and TIR intrinsics ("tir.exp") in a TVMScript text."""
    code = "\n".join(line for line in script.splitlines() if not line.lstrip().startswith("#"))
    found = {*_RELAX_WORD.findall(code), *(f"tir.{word}" for word in _TIR_WORD.findall(code))}
    return tuple(sorted(found - _NO_OPERATORS))

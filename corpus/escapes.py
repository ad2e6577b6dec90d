"""Text from elsewhere in every language that passfuzz writes: terminal, Markdown, XML, names of files.

What a compiler prints, a test is called or a stranger's file says may hold anything. A format puts it into a template
of ours with `of`, which escapes each value; by `tests/corpus/test_escapes.py` formats build text in no other way. HTML
is written from templates of `reports/templates/`, whose environment escapes each value.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from typing_extensions import Self

# --- characters -----------------------------------------------------------------------------------------

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and line feed, DEL, C1: what terminals obey
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # line separators, bidi controls, characters of no width
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U0001fffe\U0001ffff]"  # lone surrogates, what is no character
)


def visible(text: object) -> str:
    r"""The text with its control characters, bidi controls, characters of no width and lone surrogates as escapes
    (`\x1b`, `\u202e`). Lines and tabs stay. What is left is fit for a terminal and for XML 1.0 (section 2.2)."""
    return _INVISIBLE.sub(_escape, str(text))


def one_line(text: object) -> str:
    """The same with every run of white space as one blank."""
    return visible(" ".join(str(text).split()))


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "backslashreplace").decode("ascii")


_COMMAND = re.compile(r"(?m)^(?P<before>[^\S\n]*):(?=:)|#(?=#(?:\[|vso\[))", re.IGNORECASE)

IN_JSON, IN_MARKUP = r"\u{:04x}", "&#{};"
"""How JSON, and HTML, XML and Markdown, write a character by its number."""


def inert(text: str, escape: str = r"\x{:02x}") -> str:
    r"""The text without commands to a CI job that shows it: `::error::` at the beginning of a line and `##[error]`
    anywhere in it (actions/runner, ActionCommand.cs), `##vso[...]` (Azure Pipelines). Their first character becomes
    an escape, `\x3a` or `\x23`, or what another language has for one."""
    return _COMMAND.sub(lambda match: f"{match['before'] or ''}{escape.format(ord(match[0][-1]))}", text)


# --- languages ------------------------------------------------------------------------------------------


class Written(str):
    """Text in an output language. Templates are ours and are taken as they stand; values are escaped."""

    __slots__ = ()

    @classmethod
    def escaped(cls, text: object) -> Self:
        """Text from elsewhere in this language: it shows the text and does nothing else."""
        raise NotImplementedError

    @classmethod
    def of(cls, template: str, *values: object) -> Self:
        """The template with a value in place of each `{}`: as it is if it is of this language, escaped if not."""
        return cls(template.format(*(one if isinstance(one, cls) else cls.escaped(one) for one in values)))

    @classmethod
    def joined(cls, between: str, parts: Iterable[Self]) -> Self:
        """The parts with a text of ours between them."""
        return cls(between.join(parts))


_MARKDOWN = re.compile(r"[\\`*{}\[\]|~$^]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
"""An underscore within a word is no emphasis (CommonMark 0.31, section 6.2)."""
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_APART = "&#8203;"
"""A blank of no width: GitHub looks for mentions and addresses in the text that is left after Markdown."""
_LINKED = re.compile(r"@|(?<=:)(?=//)|(?i:(?<=www)(?=\.))|#(?=\d)|(?i:(?<=mailto)(?=:)|(?<=xmpp)(?=:)|(?<=GH)(?=-\d))")
_AT_START = re.compile(r"[-+](?=[ -]|$)|[=#]|\d+(?=[.)](?: |$))")


_ISSUE = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)|https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+", re.ASCII)
_PAGE = re.compile(r"https://github\.com/(?:[\w.+-]+/)*[\w.+-]+(?:#L?\d+)?", re.ASCII)


def issue_url(text: str) -> str:
    """The address of an issue as GitHub names it (`apache/tvm#1`, or its address); "" for any other text."""
    match = _ISSUE.fullmatch(text)
    if match is None:
        return ""
    return f"https://github.com/{match[1]}/issues/{match[2]}" if match[1] else text


class Markdown(Written):
    """GitHub's Markdown, in a line of a paragraph, a list or a table."""

    __slots__ = ()

    @classmethod
    def escaped(cls, text: object) -> Self:
        """One line without emphasis, code, links, images, mentions, formulas, HTML or cells of its own."""
        plain = _MARKDOWN.sub(r"\\\g<0>", one_line(text)).translate(_ENTITIES)
        plain = _LINKED.sub(lambda match: f"{match[0]}{_APART}", plain)
        start = _AT_START.match(plain)
        if start is None:
            return cls(plain)
        end = start.end()
        return cls(f"{plain[:end]}\\{plain[end:]}" if start[0].isdigit() else f"\\{plain}")

    @classmethod
    def code(cls, text: object) -> Self:
        """The text as a code span; nothing for nothing. Not for tables, whose cells end at a bar also in code."""
        plain = one_line(text)
        if not plain:
            return cls("")
        ticks = "`" * (_longest_run(plain) + 1)
        blank = " " if plain.startswith(("`", " ")) or plain.endswith(("`", " ")) else ""
        return cls(f"{ticks}{blank}{plain}{blank}{ticks}")

    @classmethod
    def indented(cls, text: object) -> Self:
        """The text in one line, as a block of code that begins with four blanks and no fence."""
        return cls(f"    {one_line(text).strip()}")

    @classmethod
    def issue(cls, text: str) -> Self:
        """An issue as GitHub names it, which becomes a link; any other text is only shown."""
        return cls(text) if _ISSUE.fullmatch(text) else cls.escaped(text)

    @classmethod
    def link(cls, text: object, address: str) -> Self:
        """The text as a link to a page of GitHub; to any other address it is only shown."""
        shown = cls.escaped(text)
        return cls(f"[{shown}]({address})") if _PAGE.fullmatch(address) else shown

    @classmethod
    def fenced(cls, text: object, language: str) -> Self:
        """The text as a block of code of a language of ours, between fences longer than any in the text."""
        plain = visible(text).rstrip("\n")
        fence = "`" * max(3, _longest_run(plain) + 1)
        return cls(f"{fence}{language}\n{plain}\n{fence}")


_FENCE = re.compile(r"^(`{3,})(\w*)\n", re.MULTILINE)


def fenced_in(text: str, language: str) -> str:
    """What is in the first block of code of this language, as `Markdown.fenced` writes it; "" where there is none."""
    whole, begin = f"{text}\n", 0
    while (start := _FENCE.search(whole, begin)) is not None:
        end = whole.find(f"\n{start[1]}\n", start.end() - 1)
        if end < 0 or start[2] == language:
            return whole[start.end() : end] if end >= 0 else ""
        begin = end + len(start[1]) + 2
    return ""


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


# --- names ----------------------------------------------------------------------------------------------

LONGEST_NAME = 120
_SLUG = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,238}[A-Za-z0-9_-])?", re.ASCII)
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_SCRIPT = re.compile(r"findings/([^/]+)/repro\.py")
_FOLDER = re.compile(r"findings/([^/]+)")


def is_slug(name: str) -> bool:
    """Whether a name can stand in a path on any system: letters, digits, `_`, `.` and `-`, no dot at its ends."""
    return _SLUG.fullmatch(name) is not None and _RESERVED.fullmatch(name) is None


def slug_of(text: str) -> str:
    """A name for a file or folder made of the text; what it leaves out is in 8 digits of a hash."""
    if is_slug(text) and len(text) <= LONGEST_NAME:
        return text
    word = re.sub(r"[^A-Za-z0-9_-]+", "_", text, flags=re.ASCII).strip("_-")[:LONGEST_NAME]
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{word}-{digest}" if word else f"_{digest}"


def is_finding_folder(path: str) -> bool:
    """Whether it is `findings/<slug>`, relative to OUT."""
    match = _FOLDER.fullmatch(path)
    return match is not None and is_slug(match[1])


def is_finding_script(path: str) -> bool:
    """Whether it is `findings/<slug>/repro.py`, relative to OUT."""
    match = _SCRIPT.fullmatch(path)
    return match is not None and is_slug(match[1])

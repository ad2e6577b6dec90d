"""The walk of `passfuzz triage` through new causes, one by one, at a terminal. Each decision is written at once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import typer
from rich.syntax import Syntax

from corpus.case_texts import texts_of
from corpus.escapes import one_line, visible
from corpus.number_of import number_of
from corpus.registry import KnownCause, cause_id
from corpus.regular_files import read_regular
from corpus.store import MOST_TEXT
from fuzzer.commands.promote import Words, made_line
from fuzzer.commands.triage import Actions, Triage, decide, refuse_those, to_json
from fuzzer.errors import PassfuzzError, UsageError, tell
from fuzzer.render import console, print_json
from reports.causes import CauseRow
from reports.terminal import Terminal

Prompt: TypeAlias = Callable[[str], str]
"""Shows a prompt and gives the line that is typed. Raises EOFError where there is none."""

KEYS = "[p]romote as open, [w]ont-fix, [l]imitation, [m]erge, [i]ssue, [v]iew script, [d]iff, [f]older, [s]kip, [q]uit"
SHOWN_LINES = 200
"""Lines of a script or a diff that are shown."""
SHOWN_ENTRIES = 20


def triage_by(triage: Triage, actions: Actions, as_json: bool) -> None:
    """By options, else at the terminal. Raises UsageError where there are no options and no terminal to ask at, and
    for decisions that were not made, when all others are."""
    if not (actions or as_json or sys.stdin.isatty()):
        raise UsageError("triage asks at a terminal; without one: --json, --promote, --mark or --merge")
    if not (actions or as_json):
        ask_about_each(triage, console(), input, lambda folder: typer.launch(str(folder)))
        return
    done, refused, there = list[str](), list[UsageError](), triage.registry is not None and triage.registry.exists()
    for said in decide(triage, actions):
        if isinstance(said, UsageError):
            refused.append(said)
            continue
        done.append(said)
        if not as_json:
            print(said)
    if as_json and (done or not refused):
        print_json(to_json(triage, done, refused))
    if done and not there:
        tell(made_line(triage.file))
    refuse_those(refused, len(done))


def ask_about_each(triage: Triage, terminal: Terminal, ask: Prompt, show: Callable[[Path], object]) -> None:
    """Shows each new cause and asks what it is, until all were seen or the user ends it. show: opens a folder."""
    causes = triage.new()
    new = "" if triage.file.exists() else ", which is not there yet"
    where = f"{one_line(triage.file)}{new}"
    terminal.say(f"{number_of(len(causes), 'new cause')} of {triage.out}; decisions go to {where}")
    for number, cause in enumerate(causes, 1):
        terminal.say("")
        _show(triage, terminal, cause, f"{number}/{len(causes)}")
        try:
            while not _decided(triage, terminal, cause, ask, show):
                pass
        except EOFError:
            return
    terminal.say("no more new causes")


def _decided(triage: Triage, terminal: Terminal, cause: CauseRow, ask: Prompt, show: Callable[[Path], object]) -> bool:
    """Asks once; whether the next cause is to come. Raises EOFError for the end."""
    folder = triage.folder(cause)
    try:
        match ask(f"{KEYS}: ").strip().lower()[:1]:
            case "p":
                terminal.say(triage.promote(cause, Words(title=_title(cause, ask), note=ask("note: "))))
            case "w":
                terminal.say(triage.mark(cause, Words(status="wont-fix", note=ask("why: "))))
            case "l":
                quote = ask("the sentence of TVM's message that states it: ").strip()
                terminal.say(triage.mark(cause, Words(status="limitation", quote=quote, note=ask("note: "))))
            case "m":
                return _merged(triage, terminal, cause, ask)
            case "s":
                return True
            case "q":
                raise EOFError
            case key:
                _look(terminal, folder, key, show)
                return False
    except PassfuzzError as error:
        terminal.say(one_line(error), "red")
        return False
    return True


def _title(cause: CauseRow, ask: Prompt) -> str:
    return ask(f"title (empty: {one_line(cause.title)}): ").strip()


def _look(terminal: Terminal, folder: Path | None, key: str, show: Callable[[Path], object]) -> None:
    """What changes nothing: the issue, the script, the diff, the folder."""
    if key not in ("i", "v", "d", "f"):
        terminal.say("type one of the letters in brackets")
    elif folder is None:
        terminal.say("its folder is not there")
    elif key == "f":
        terminal.say(one_line(folder))
        show(folder.absolute())
    elif key == "i":
        _print(terminal, _read(folder / "issue.md"), "markdown")
    elif key == "v":
        _print(terminal, _read(folder / "repro.py"), "python")
    else:
        found = texts_of(_read(folder / "case.json"), _read(folder / "README.md")).difference
        _print(terminal, found or "no diff: numbers are not what is wrong", "diff")


def _merged(triage: Triage, terminal: Terminal, cause: CauseRow, ask: Prompt) -> bool:
    """Asks for an entry by its ID or by words of its title, until one is chosen or none."""
    typed = ask("ID of the entry, or words of its title (empty: none): ").strip()
    if not typed:
        return False
    found = [entry for entry in triage.known.entries if entry.cause and _is_named(entry, typed)]
    if len(found) == 1:
        terminal.say(triage.merge(cause, found[0]))
        return True
    for entry in found[:SHOWN_ENTRIES]:
        terminal.say(f"{cause_id(entry.identity)}  {one_line(entry.title)}")
    terminal.say(f"{number_of(len(found), 'entry', 'entries')}; type the ID of one")
    return False


def _is_named(entry: KnownCause, typed: str) -> bool:
    text = f"{cause_id(entry.identity)} {entry.title} {entry.cause}".lower()
    return all(word in text for word in typed.lower().split())


def _show(triage: Triage, terminal: Terminal, cause: CauseRow, place: str) -> None:
    first, folder = cause.findings[0], triage.folder(cause)
    terminal.say(f"{place}  {cause.id}  {one_line(cause.title)}", "bold")
    tell = [
        ("cause", cause.cause or "(none: of an older passfuzz)"),
        ("standing", cause.standing),
        ("tier", cause.tier),
        ("seen", f"{number_of(cause.count, 'time')} in {number_of(len(cause.findings), 'finding')}"),
        ("passes", " ; ".join(first.passes)),
        ("message", first.message),
        ("folder", "(not there)" if folder is None else str(folder)),
    ]
    for name, text in tell:
        terminal.say(f"  {name}: {one_line(text)}")


def _print(terminal: Terminal, text: str, language: str) -> None:
    lines = text.splitlines()
    shown = "\n".join(lines[:SHOWN_LINES])
    terminal.print(Syntax(visible(shown), language, background_color="default", word_wrap=True))
    if len(lines) > SHOWN_LINES:
        terminal.say(f"({len(lines) - SHOWN_LINES} more lines)")


def _read(path: Path) -> str:
    """The text of a file of another user, or why it cannot be read."""
    try:
        return read_regular(path, MOST_TEXT, follow=False).decode("utf-8", "replace")
    except OSError as error:
        return f"{path.name}: {error.strerror or error}"

"""What `check` and `reduce` are pointed at, read as text: a module file or a case folder. No TVM here.

Whether this TVM can read the text is found out in `fuzzer.oneshot.main`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from corpus.module_text import UnreadableModule, module_of_file
from corpus.store import CorruptCase, read_case
from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.settings import FILE_BYTES, PASS_GROUPS, read_load, unreadable
from generators.case import Case, Origin
from oracles.builds.needs import missing

TEXTS, ARRAYS = ("case.json", "module.py", "module.json"), "inputs.npz"


def read_subject(path: Path, load: Path | None) -> Case:
    """The case in a folder (or its case.json); a module file as a case without passes and calls.

    `load` is the file of --load; a case that names one of its own is read with that. Raises UsageError.
    """
    folder = path if path.is_dir() else path.parent if path.name == "case.json" else None
    case = _module_case(path) if folder is None else _stored_case(folder)
    if load is None and case.load is not None:
        load = read_load(Path(case.load))
    return replace(case, load=None if load is None else str(load.absolute()))


def judged_on(case: Case, target: str | None, path: Path) -> Case:
    """The case, read from `path`, for a target, None for its own.

    Raises EnvironmentFault where this machine has not what it needs.
    """
    wanted = target or case.target
    if (why := missing(wanted)) is not None:
        whose = f"--target {wanted}" if target else f"{path}: is for target {wanted}"
        raise EnvironmentFault(f"{whose}: {why}")
    return replace(case, target=wanted)


def refuse_groups(names: tuple[str, ...]) -> None:
    """Raises UsageError for a group of passes: one module is judged under passes in the order given."""
    for name in names:
        if name in PASS_GROUPS:
            raise UsageError(f"--passes {name}: groups are for `passfuzz run`; give passes by name, in order")


def _stored_case(folder: Path) -> Case:
    for name in (*TEXTS, ARRAYS):
        if (why := unreadable(folder / name, FILE_BYTES if name in TEXTS else None)) is not None:
            raise UsageError(f"not a case: {folder / name}: {why}")
    try:
        return read_case(folder).case
    except CorruptCase as error:
        raise UsageError(f"not a case: {error}") from error


def _module_case(path: Path) -> Case:
    if (why := unreadable(path, FILE_BYTES)) is not None:
        raise UsageError(f"{path}: {why}")
    try:
        text = module_of_file(path.read_text(encoding="utf-8-sig"))
    except (UnreadableModule, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{path}: neither TVMScript nor TVM JSON: {error}") from error
    return Case(text, (), origin=Origin(file=str(path)))

"""What `check` and `reduce` are pointed at, read as text: a module file or a case folder. No TVM here.

Whether this TVM can read the text is found out in `fuzzer.oneshot.main`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from corpus.scripts.module_text import UnreadableModule, module_of_file
from corpus.scripts.script_modules import alone, lacks_metadata, may_make, modules_in, script_part
from corpus.store import CorruptCase, read_case
from fuzzer.errors import EnvironmentFault, UsageError, of_system
from fuzzer.given_paths import FILE_BYTES, case_folder, picked, read_load, unreadable
from fuzzer.oneshot.front_end import KINDS, imported_module
from fuzzer.settings import PASS_GROUPS
from generators.case import Case, ModuleText, Origin
from oracles.builds.needs import missing

TEXTS, ARRAYS = ("case.json", "module.py", "module.json"), "inputs.npz"


def read_subject(path: Path, load: Path | None, trust: bool = False) -> Case:
    """The case in a folder (or its case.json); a module file or a model as a case without passes and calls.

    path: FILE.py:NAME is a module of a script, or what the script makes. `load` is the file of --load; a case that
    names one of its own is read with that. trust: whether code may run to get a module. Raises UsageError, and
    EnvironmentFault where a package is missing that reads such a model.
    """
    folder = case_folder(path)
    case = _module_case(path, trust) if folder is None else _stored_case(folder)
    if load is None and case.load is not None:
        beside = (folder or path.parent) / case.load  # an absolute path stays what it is
        load = read_load(beside if beside.exists() else Path(case.load))
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


def _module_case(path: Path, trust: bool) -> Case:
    file, name = picked(path)
    most = None if file.suffix in KINDS else FILE_BYTES
    if (why := unreadable(file, most)) is not None:
        raise UsageError(f"{path}: {why}")
    if file.suffix in KINDS:
        text = imported_module(file, KINDS[file.suffix], trust=trust)
    else:
        text = _text_module(file, name, trust)
    return Case(text, (), origin=Origin(file=str(path)))


def _text_module(file: Path, name: str, trust: bool) -> ModuleText:
    """The module in a file of text. name: of the one to take, "" where the file is that module."""
    try:
        text = file.read_text(encoding="utf-8-sig")
        if lacks_metadata(text):
            how = "print it with mod.script(show_meta=True), or write tvm.ir.save_json(mod) into a .json file"
            raise UsageError(f"{file}: the script was printed without its constants (`metadata`); {how}")
        if name:
            part = alone(text, name)
            if part is None and not trust:
                _refuse_name(file, name, text)
            return imported_module(file, "python", name, trust) if part is None else module_of_file(part)
        _refuse_script(file, text)
        return module_of_file(text)
    except UnreadableModule as error:
        hint = _hint(file, modules_in(text))
        raise UsageError(f"{file}: neither TVMScript nor TVM JSON: {error}{hint}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: neither TVMScript nor TVM JSON: {error}") from error
    except OSError as error:
        raise UsageError(of_system(error)) from error


def _refuse_name(file: Path, name: str, text: str) -> None:
    """Raises UsageError for a name that nothing in a script is called."""
    if not may_make(text, name):
        held = modules_in(text)
        raise UsageError(f"{file}: nothing in it is called {name}; its modules are {', '.join(held) or 'none'}")


def _refuse_script(file: Path, text: str) -> None:
    """Raises UsageError for several modules, and for statements that use the module, as only a script has them."""
    names = modules_in(text)
    if len(names) > 1:
        raise UsageError(f"{file}: holds {len(names)} modules{_hint(file, names)}")
    if (part := script_part(text)) is not None:
        line, statement = part
        raise UsageError(f"{file}, line {line}: `{statement}` is no part of a module{_hint(file, names)}")


def _hint(file: Path, names: tuple[str, ...]) -> str:
    """How to take a module of a script, and how to run the script."""
    if not names:
        return ""
    each = ", ".join(f"{file}:{name}" for name in dict.fromkeys(names))
    return f"; {each} takes one alone, and `passfuzz capture -- python {file}` runs the script"

"""The input modules of pass calls, kept under OUT/modules for `passfuzz harvest`: TVM's JSON with pass and test.

Exact and quick to write; turning them into seeds that people read is `fuzzer.plugin.harvester`'s.
"""

from __future__ import annotations

import json
from pathlib import Path

from corpus.store import write_atomically
from fuzzer.trial.foreign.application import Application
from generators import tvm_api as T
from oracles.ir.compare import digest
from oracles.ir.fingerprint import fingerprint

FOLDER = "modules"


def module_file(out: Path, application: Application) -> Path | None:
    """Where the module that a pass was given is kept, the same in every process; None where it is too large to keep."""
    if application.text is None:
        return None
    kept = fingerprint(application.before) == application.hash_before
    before = application.before if kept else T.module_from_json(application.text)
    return out / FOLDER / f"{digest(before)}.json"


def keep_module(path: Path, where: str, application: Application) -> None:
    """Writes the module that a pass was given, with the pass's name and the test's, unless kept already."""
    if path.exists():
        return
    text = json.dumps({"pass": application.name, "test": where, "module": application.text})
    write_atomically(path, text.encode())

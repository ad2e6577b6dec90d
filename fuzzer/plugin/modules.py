"""The input modules of pass calls, kept under OUT/modules for `passfuzz harvest`: TVM's JSON with pass and test.

Exact and quick to write; turning them into seeds that people read is `fuzzer.plugin.harvester`'s.
"""

from __future__ import annotations

import json
from pathlib import Path

from corpus.store import write_atomically
from fuzzer.trial.application import Application

FOLDER = "modules"


def module_file(out: Path, fingerprint: int) -> Path:
    """Where a module with this fingerprint is kept."""
    return out / FOLDER / f"{fingerprint & 0xFFFFFFFFFFFFFFFF:016x}.json"


def keep_module(out: Path, where: str, application: Application) -> None:
    """Writes the module that a pass was given, with the pass's name and the test's, unless kept already, or large."""
    path = module_file(out, application.hash_before)
    if path.exists() or application.text is None:
        return
    text = json.dumps({"pass": application.name, "test": where, "module": application.text})
    write_atomically(path, text.encode())

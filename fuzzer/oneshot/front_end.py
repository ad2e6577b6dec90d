"""Subjects that TVM has to make a module of: ONNX models, exported PyTorch programs, values of Python scripts.

A process that loads TVM does it (`fuzzer.oneshot.import_model`) and gives TVM's JSON. An ONNX file is data: it is read
inside of walls. The others run code, so they want --trust. No TVM here.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Literal, TypeAlias

from fuzzer.errors import EnvironmentFault, UsageError
from fuzzer.processes import sandbox
from fuzzer.processes.guard import end, guarded
from fuzzer.processes.scratch import scratch_folder
from fuzzer.processes.start import module_command, worker_environment
from generators.case import ModuleText

ModelKind: TypeAlias = Literal["onnx", "pt2", "python"]
KINDS: dict[str, ModelKind] = {".onnx": "onnx", ".pt2": "pt2"}
"""By the ending of the file."""
NEEDS: dict[ModelKind, str] = {"onnx": "onnx", "pt2": "torch"}
"""The package that reads a kind, which is also the name of passfuzz's extra."""
LIMIT_S = 600.0
_KEPT = 1 << 16
NOT_INSTALLED, REFUSED = 40, 41
"""Exit statuses of the process: its package is not there; what it was given makes no module, as its last line says."""


def imported_module(path: Path, kind: ModelKind, name: str = "", trust: bool = False) -> ModuleText:
    """The module of a model, or of what the script at `path` calls `name`: an IRModule, or a function that gives one.

    Raises UsageError for what makes no module or runs code without trust, EnvironmentFault for a missing package.
    """
    shown = f"{path}:{name}" if name else str(path)
    if kind != "onnx" and not trust:
        what = "a PyTorch program is unpickled" if kind == "pt2" else "the script is run"
        raise UsageError(f"{shown}: {what} to get its module, which may do anything; --trust does it")
    with scratch_folder() as folder:
        scratch, target = str(folder), folder / "module.json"
        words = module_command("fuzzer.oneshot.import_model", kind, str(path.absolute()), str(target), name)
        ended = _run(words if trust else sandbox.command(words, scratch), scratch, shown)
        last = (ended.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1][:300]
        if ended.returncode == NOT_INSTALLED:
            need = NEEDS[kind]
            raise EnvironmentFault(f"{shown}: wants the package {need}: pip install 'passfuzz[{need}]'")
        if ended.returncode == REFUSED:
            raise UsageError(f"{shown}: {last}")
        if ended.returncode != 0 or not target.exists():
            raise UsageError(f"{shown}: the process that reads it ended with status {ended.returncode}: {last}")
        return ModuleText("", target.read_text(encoding="utf-8"))


def _run(words: list[str], scratch: str, shown: str) -> subprocess.CompletedProcess[bytes]:
    """The process when it has ended, with all that it has started; of what it wrote on stderr, the last."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            guarded(words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=worker_environment(scratch=scratch),
            start_new_session=True,
        )
        try:
            status = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise UsageError(f"{shown}: makes no module within {LIMIT_S:.0f} s") from error
        finally:
            end(process)
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - _KEPT))
        return subprocess.CompletedProcess(words, status, stderr=errors.read())

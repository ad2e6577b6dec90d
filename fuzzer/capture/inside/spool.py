"""The files that are captured, written by the process of the command and read by `passfuzz capture` when it has ended.

SPOOL/P-T/: one folder per process and thread. `running` holds the number of passes on the stack; `D.said` and
`D.module` what the pass at depth D is and was given. A failure is copied to SPOOL/failure-P-N/, a call that was asked
for to SPOOL/kept-P-N/, each with a file `about`.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import tvm

SPOOL, KEEP = "PASSFUZZ_CAPTURE_SPOOL", "PASSFUZZ_CAPTURE_KEEP"
VERSION = "PASSFUZZ_CAPTURE_TVM"
"""The variable with the TVM that will read the modules: TVM's JSON is read by its own version alone."""
MOST_FAILURES, MOST_KEPT = 64, 200


@dataclass(slots=True)
class StackedPass:
    """A pass on the stack. number: how often one of this name has been applied. module: the hash of what it was given.
    said: what is written of it. file: where its module is, which may be that of the pass around it."""

    name: str
    number: int
    module: int
    said: dict[str, object]
    file: str = ""


@dataclass(frozen=True, slots=True)
class LastFailure:
    """The last failure. said: the text of its exception."""

    number: int
    said: str


class Spool:
    """The folder of one thread of this process."""

    _all: dict[tuple[int, int], Spool] = {}

    def __init__(self, process: int, thread: int) -> None:
        self.process = process
        self.root = os.environ[SPOOL]
        self.folder = os.path.join(self.root, f"{process}-{thread}")
        os.makedirs(self.folder, exist_ok=True)
        self.failures = 0
        self.last_failure: LastFailure | None = None
        self.kept = 0
        self.seen: set[tuple[str, int]] = set()
        self._running = os.open(os.path.join(self.folder, "running"), os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC)

    @classmethod
    def here(cls) -> Spool:
        """That of the thread that asks."""
        key = os.getpid(), threading.get_ident()
        if key not in cls._all:
            cls._all[key] = Spool(*key)
        return cls._all[key]

    def begin(self) -> None:
        """This process has imported TVM."""
        self._write(os.path.join(self.root, f"tvm-{self.process}"), str(tvm.__version__))

    def end(self) -> None:
        """This process ends by itself."""
        self._write(os.path.join(self.root, f"ended-{self.process}"), "")

    def fault(self, what: str) -> None:
        """Something of ours went wrong; the command goes on."""
        with open(os.path.join(self.root, f"fault-{self.process}"), "a", encoding="utf-8") as file:
            file.write(what.replace("\n", " ")[:500] + "\n")

    def running(self, depth: int) -> None:
        """So many passes are on the stack."""
        os.pwrite(self._running, b"%08d" % depth, 0)

    def write(self, depth: int, level: StackedPass, module: tvm.IRModule | None) -> None:
        """What a pass is and is given. module: None where it is that of the pass around it."""
        if module is not None:
            level.file = str(depth)
            self._write(os.path.join(self.folder, f"{depth}.module"), _text_of(module))
        self._write(os.path.join(self.folder, f"{depth}.said"), json.dumps({**level.said, "module": level.file}))

    def fail(self, stack: Sequence[StackedPass], kind: str, said: str) -> int:
        """The passes on the stack have failed: the innermost with this exception. The number of the failure."""
        self.failures += 1
        self.last_failure = LastFailure(self.failures, said)
        if self.failures <= MOST_FAILURES:
            about = {"kind": kind, "message": said, "depth": len(stack), "at_s": time.time()}
            self._copy(os.path.join(self.root, f"failure-{self.process}-{self.failures}"), len(stack), about)
        return self.failures

    def escaped(self, number: int) -> None:
        """A failure has ended the command, or a test."""
        if number <= MOST_FAILURES:
            self._write(os.path.join(self.root, f"failure-{self.process}-{number}", "escaped"), "")

    def keep(self, stack: Sequence[StackedPass]) -> None:
        """Copies the call that has just begun where it was asked for: all outermost calls, or one by its name."""
        asked, level = os.environ.get(KEEP, ""), stack[-1]
        if not asked or self.kept >= MOST_KEPT:
            return
        name, _, number = asked.rpartition(":")
        if asked == "all":
            wanted = len(stack) == 1 and (level.name, level.module) not in self.seen
            self.seen.add((level.name, level.module))
        else:
            wanted = (level.name, str(level.number)) == (name, number)
        if wanted:
            self.kept += 1
            about = {"kind": "", "message": "", "depth": len(stack), "at_s": time.time()}
            self._copy(os.path.join(self.root, f"kept-{self.process}-{self.kept}"), len(stack), about)

    def _copy(self, folder: str, depth: int, about: dict[str, object]) -> None:
        os.makedirs(folder, exist_ok=True)
        for level in range(depth):
            for ending in ("said", "module"):
                source = os.path.join(self.folder, f"{level}.{ending}")
                if os.path.exists(source):
                    shutil.copyfile(source, os.path.join(folder, f"{level}.{ending}"))
        self._write(os.path.join(folder, "about"), json.dumps(about))

    @staticmethod
    def _write(path: str, text: str) -> None:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)


def _text_of(module: tvm.IRModule) -> str:
    """TVM's JSON for the TVM that is going to read it; for another version a script, in Python that 3.10 reads too."""
    if os.environ.get(VERSION) == str(tvm.__version__):
        return str(tvm.ir.save_json(module))
    return str(module.script(show_meta=True, extra_config={"script.use_pep695": False}))

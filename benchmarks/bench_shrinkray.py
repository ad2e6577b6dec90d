"""Side by side with shrinkray, a reducer of text: the same file, the same predicate, one after the other.

The predicate is a shell command that asks a server: TVM is imported there once, and every question is answered in a
copy of that process. So both tools pay some 30 ms a call, not the second that `import tvm` takes; what a command that
imports TVM would cost can be read from the calls. passfuzz is also measured with the same predicate as a function.

Seconds are CPU seconds of the tool, the command and the copies; wall where no control group can be made. shrinkray ends
after --times the seconds of passfuzz with the command, at most after --limit. The first run in a checkout compiles
the sources of passfuzz, too.

    python -m benchmarks.bench_shrinkray --shrinkray VENV/bin/shrinkray [--only "encoder 1"] [--times 50] [--limit 300]
                                         [--keep DIR]
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("TVM_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tvm

from benchmarks.bench_reduce_models import PASSES, shown_on
from benchmarks.cpu_account import Account, account, joining
from benchmarks.reduce_families import FAMILIES
from benchmarks.reduce_models import MODELS, candidate_of_model
from corpus.reduce import Candidate
from corpus.reduce.candidate import count_bindings, count_statements
from generators import tvm_api as T
from oracles.forked import forked

CASES = (
    ("encoder 1", "wrong"),
    ("mlp 20", "crash"),
    ("encoder 2", "crash"),
    ("recurrent 5", "wrong"),
    ("tuples 8", "ill-formed"),
    ("symbolic 12", "wrong"),
    ("decoder 2", "ill-formed"),
    ("chain 1", "wrong"),
)
SEED = 1
CALL_S = 10.0
"""Seconds after which a question is answered with no."""
TIME = "600s"
"""What passfuzz may take; far more than it does."""
ROOT = Path(__file__).resolve().parents[1]


# --- the predicate --------------------------------------------------------------------------------------


def candidate(module: T.IRModule) -> Candidate:
    """The module with a call of its entry and the passes of the benchmark. Raises StopIteration where it has none."""
    return replace(candidate_of_model(module), passes=PASSES)


def fails(model: str, fault: str) -> Callable[[T.IRModule], bool]:
    """Whether a module fails as this model does. Raises LookupError where the fault does not show on it."""
    start = candidate((MODELS | FAMILIES)[model]())
    interesting = shown_on(start, model, fault, SEED)
    if interesting is None:
        raise LookupError(f"{model}: {fault} does not show")
    return lambda module: interesting(candidate(module))


FUNCTION = """import sys

sys.path.insert(0, {root!r})
from benchmarks.bench_shrinkray import fails

accepted = fails({model!r}, {fault!r})


def still_bad(module):
    with open({calls!r}, "a") as notes:
        notes.write("1")
    return accepted(module)
"""
COMMAND = """#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/{port} || exit 2
echo "$1" >&3
read -r status <&3
exit "$status"
"""


def serve(listening: socket.socket, accepted: Callable[[T.IRModule], bool], calls: Path) -> None:
    """Answers 0 or 1 to each path of a file, and notes the question in `calls`. Does not return."""

    def bad(file: str) -> bool:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the parser's words on text that it refuses
        try:
            return accepted(tvm.script.from_source(Path(file).read_text(encoding="utf-8")))
        except Exception:  # noqa: BLE001 - any text is asked about: what raises is refused, as by a script that ends
            return False

    while True:
        connection, _ = listening.accept()
        with connection, connection.makefile("rw", encoding="utf-8") as stream:
            file = stream.readline().strip()
            with calls.open("a") as notes:
                notes.write("1")
            stream.write("0\n" if forked(lambda file=file: bad(file), CALL_S) is True else "1\n")  # type: ignore[misc]


# --- a run ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReducerRow:
    """What a tool did. bytes: of the file as it left it. through: it had nothing left to try."""

    tool: str
    seconds: float
    calls: int
    bindings: int
    statements: int
    bytes: int
    through: bool

    @property
    def line(self) -> str:
        through = "" if self.through else "  not through"
        return (
            f"  {self.tool:18}{self.seconds:9.2f}{self.calls:7}{self.bindings:10}{self.statements:12}"
            f"{self.bytes:8}{through}"
        )


@dataclass(frozen=True, slots=True)
class ReductionTask:
    """A folder with the file that is reduced, and the predicate."""

    folder: Path
    text: str
    accepted: Callable[[T.IRModule], bool]

    def run(self, tool: str, command: list[str], result: Path, limit_s: float) -> ReducerRow:
        """The command's last word is the file, which is written first. `result`: what it leaves."""
        calls = self.folder / "calls"
        calls.write_text("")
        Path(command[-1]).write_text(self.text, encoding="utf-8")
        with account() as there, socket.create_server(("127.0.0.1", 0)) as listening:
            ask = self.folder / "ask.sh"
            ask.write_text(COMMAND.format(port=listening.getsockname()[1]), encoding="utf-8")
            ask.chmod(0o755)
            server = self._served(listening, calls, there)
            try:
                seconds, status = _ended(command, self.folder / f"{tool}.log", limit_s, there)
            finally:
                os.kill(server, signal.SIGTERM)
                os.waitpid(server, 0)
            time.sleep(0.5)  # what was ended is gone when its account is closed
        module = tvm.script.from_source(result.read_text(encoding="utf-8"))
        bindings, statements = count_bindings(module), count_statements(module)
        return ReducerRow(
            tool, seconds, len(calls.read_text()), bindings, statements, len(result.read_bytes()), status is not None
        )

    def _served(self, listening: socket.socket, calls: Path, there: Account | None) -> int:
        """The process id of a server."""
        pid = os.fork()
        if pid:
            return pid
        if there is not None:
            there.join()
        serve(listening, self.accepted, calls)
        os._exit(1)


def _ended(command: list[str], log: Path, limit_s: float, there: Account | None) -> tuple[float, int | None]:
    """Seconds, and the exit status: None where it was ended. Raises RuntimeError where it fails."""
    began = time.monotonic()

    def used_s() -> float:
        return time.monotonic() - began if there is None else there.used_s

    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=log.parent,
            env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=joining(there),
        )
        try:
            while process.poll() is None and used_s() < limit_s:
                time.sleep(0.05)
            seconds = used_s()
        finally:
            status = process.poll()
            if status is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if status:
        raise RuntimeError(f"{command[0]} ended with {status}: {log.read_text(errors='replace')[-500:]}")
    return seconds, status


def compared(model: str, fault: str, shrinkray: Path, times: float, longest: float, folder: Path) -> list[ReducerRow]:
    """passfuzz with the command, with the function, and shrinkray with the command, in this order."""
    module = (MODELS | FAMILIES)[model]()
    task = ReductionTask(folder, module.script(show_meta=True), fails(model, fault))
    function = FUNCTION.format(root=str(ROOT), model=model, fault=fault, calls=str(folder / "calls"))
    (folder / "check.py").write_text(function, encoding="utf-8")
    print(f"{model}, {fault}: {count_bindings(module)} bindings, {count_statements(module)} statements", flush=True)
    ask, small, given = folder / "ask.sh", folder / "small.py", folder / "module.py"
    rows = list[ReducerRow]()
    for tool, predicate in (("passfuzz command", str(ask)), ("passfuzz function", f"{folder / 'check.py'}:still_bad")):
        command = [str(Path(sys.executable).with_name("passfuzz")), "reduce", "--interesting", predicate]
        command += ["--time", TIME, "-o", str(small), str(given)]
        rows.append(task.run(tool, command, small, float("inf")))
        print(rows[-1].line, flush=True)
        shutil.move(small, folder / f"{tool.replace(' ', '-')}.py")
    command = [str(shrinkray), "--parallelism", "1", "--ui", "basic", "--input-type", "arg", "--no-history"]
    command += ["--timeout", str(CALL_S), "--seed", str(SEED), str(ask), str(given)]
    rows.append(task.run("shrinkray", command, given, min(longest, times * rows[0].seconds)))
    print(rows[-1].line, flush=True)
    return rows


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shrinkray", type=Path, required=True)
    parser.add_argument("--only", default="", help="part of a model's name")
    parser.add_argument("--times", type=float, default=50)
    parser.add_argument("--limit", type=float, default=300, metavar="SECONDS")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where files and logs stay, a folder for each model")
    options = parser.parse_args()
    print(f"  {'':18}{'seconds':>9}{'calls':>7}{'bindings':>10}{'statements':>12}{'bytes':>8}")
    all_rows = list[list[ReducerRow]]()
    for model, fault in CASES:
        if options.only not in model:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) if options.keep is None else options.keep.absolute() / model.replace(" ", "-")
            folder.mkdir(parents=True, exist_ok=True)
            rows = compared(model, fault, options.shrinkray.absolute(), options.times, options.limit, folder)
        all_rows.append(rows)
        ours, _, theirs = rows
        larger = _size(ours) > _size(theirs)
        print(
            f"  shrinkray by passfuzz: seconds {_ratio(theirs.seconds, ours.seconds, theirs)}, calls "
            f"{_ratio(theirs.calls, ours.calls, theirs)}{'; passfuzz is LARGER' if larger else ''}",
            flush=True,
        )
    for number, tool in enumerate(("passfuzz command", "passfuzz function", "shrinkray")):
        each = [rows[number] for rows in all_rows]
        seconds, calls, sizes = ([of(row) for row in each] for of in (lambda r: r.seconds, lambda r: r.calls, _size))
        through = sum(row.through for row in each)
        print(
            f"{tool:18} median: {statistics.median(seconds):.2f} s, {statistics.median(calls):g} calls, "
            f"{statistics.median(sizes):g} bindings and statements; through: {through} of {len(each)}"
        )


def _size(row: ReducerRow) -> int:
    return row.bindings + row.statements


def _ratio(theirs: float, ours: float, row: ReducerRow) -> str:
    """A lower bound where shrinkray was not through."""
    return f"{'' if row.through else '>= '}{theirs / ours:.1f}"


if __name__ == "__main__":
    main()

"""A worker that judges nothing and speaks like one: for tests of what a campaign does about workers. No TVM.

Case `index` fails where `index % 5 == 0`, in one of four passes; each failure reduces to one finding per pass.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import msgspec

from corpus.causes.signature import signature_of
from corpus.finding_bytes import from_bytes, to_bytes
from fuzzer.processes.lines import Lines, send
from fuzzer.protocol import (
    Command,
    Confirm,
    Confirmed,
    Done,
    Failure,
    JudgeCases,
    Judged,
    Ready,
    Reduce,
    Reduced,
    Resemble,
    TriedDraws,
    TryDraws,
)
from oracles.forked import die_with_parent
from oracles.verdict import Failed
from reports.tally import Tally
from tests.reports.reports_data import finding

CASE_S = 0.002
OWN_FAULT = "PASSFUZZ_FAKE_FAULT"
"""The variable that says what raised in passfuzz while more was asked of the findings."""
PASSES = ("FuseOps", "CSE", "LegalizeOps", "ToNonDataflow")


RAVES = "PASSFUZZ_TEST_RAVES"
"""The variable that holds a line which a worker says before what it is asked for, where case 7 is in a batch."""
UNSHOWN = "PASSFUZZ_TEST_UNSHOWN"
"""The culprit in the environment whose failures do not show again."""
CUT = "PASSFUZZ_TEST_CUT"
"""The variable that says how often the process that shows the finding of a pass is killed from outside."""
TRIES = "PASSFUZZ_TEST_TRIES"
"""The variable with the folder in which a worker leaves a file when it tries draws, and one for each that it tells."""
TRIED = "PASSFUZZ_TEST_TRIED"
"""The variable that says how many draws are tried; "dies" for a worker that ends meanwhile, the first time, and
"always dies"; "says nothing" for one that says that it is done, and not what it found."""
LOADED = "PASSFUZZ_TEST_LOADED"
"""The variable that holds the one pass of --load."""


def failures_of(index: int) -> tuple[Failure, ...]:
    """The failed verdicts of a case."""
    culprit = PASSES[index % len(PASSES)]
    return (Failure(index, "survives", "crash", "it crashed", "", culprit, "B"),) if index % 5 == 0 else ()


def cause_in(culprit: str) -> str:
    """The cause of the failures in a pass: two passes have one."""
    return "one.cc:f: it crashed" if culprit in PASSES[:2] else f"{culprit}.cc:f: it crashed"


_confirmed: Counter[str] = Counter()
"""How often each was to be confirmed."""


_noted: Counter[str] = Counter()
"""What this worker was told of draws, and how often."""


def note(what: str) -> None:
    _noted[what] += 1
    Path(os.environ[TRIES], f"{what}-{os.getpid()}-{_noted[what]}").touch()


def say(message: msgspec.Struct) -> None:
    send(1, message)


def obey(command: Command) -> None:
    """Carries out one command."""
    match command:
        case TryDraws(most):
            note("tries")
            tried = os.environ.get(TRIED, str(most))
            if tried == "always dies" or (tried == "dies" and len(list(Path(os.environ[TRIES]).iterdir())) == 1):
                os.kill(os.getpid(), signal.SIGKILL)
            if tried == "says nothing":
                say(Done())
                return
            say(TriedDraws({"llvm": ((1, 0.5, True),)}, most if tried == "dies" else int(tried), most))
        case Resemble(kin):
            assert kin == {"llvm": ((1, 0.5, True),)}
            note("resembles")
        case JudgeCases(indices):
            without = os.environ.get(TRIED) in ("always dies", "says nothing")
            assert TRIES not in os.environ or _noted["resembles"] or without
            for index in indices:
                time.sleep(CASE_S)
                if index == 7:
                    os.write(1, os.environ.get(RAVES, "").encode() + b"\n")
                say(Judged(index, Tally(generated=1, cases=1, ops={f"op{index}": 1}), failures_of(index)))
        case Reduce(failure, token):
            time.sleep(10 * CASE_S)
            failed = Failed(failure.symptom, failure.message, culprit=failure.culprit)
            found = replace(finding(failure.culprit), verdict=failed, signature=signature_of("survives", failed))
            found = replace(found, cause=cause_in(failure.culprit), own_fault=os.environ.get(OWN_FAULT, ""))
            unshown = failure.culprit == os.environ.get(UNSHOWN)
            say(Reduced(token, None if unshown else to_bytes(found)))
        case Confirm(tried, token):
            time.sleep(10 * CASE_S)
            culprit = from_bytes(tried).signature.culprit
            _confirmed[culprit] += 1
            cut = _confirmed[culprit] <= int(os.environ.get(CUT, "0"))
            say(Confirmed(token, tried, shown=not cut, ended="SIGKILL" if cut else ""))
        case _:
            raise AssertionError(command)
    say(Done())


def main() -> None:
    """Obeys until standard input closes."""
    die_with_parent(int(sys.argv[1]))
    lines = Lines[Command](Command)
    begun = False
    while data := os.read(0, 1 << 16):
        for command in lines.take(data):
            if begun:
                obey(command)
            else:
                begun = True
                loaded = os.environ.get(LOADED)
                say(Ready("0.27", "0.1", "0.1.0", loaded=(loaded,) if loaded else (), tries=TRIES in os.environ))


if __name__ == "__main__":
    main()

"""The one-shot process (see `fuzzer.oneshot.ask`): imports TVM, then checks or reduces, and answers."""

from __future__ import annotations

import os
import pickle
import sys

import msgspec

from fuzzer.oneshot.messages import Request
from fuzzer.processes import sandbox
from fuzzer.processes.lines import send
from fuzzer.processes.tvm_alone import without_torch
from fuzzer.protocol import Done, Ready, Refused
from oracles.family import go_on_guarded
from oracles.forked import ChildRaised


def main() -> None:
    """Reads one pickled Request and answers; the last answer is Done or Refused."""
    go_on_guarded(int(sys.argv[1]))
    request: Request = pickle.load(sys.stdin.buffer)
    if not request.trust:
        sandbox.enter(request.scratch)
    answers = os.dup(1)
    os.dup2(2, 1)  # what TVM or the user's file prints is not an answer

    def say(message: msgspec.Struct) -> None:
        send(answers, message)

    with without_torch():
        import tvm

    from generators import externs

    externs.register()
    say(Ready(str(tvm.__version__)))
    from fuzzer.oneshot.carry_out import carry_out
    from fuzzer.oneshot.prepare import NotCarriedOut
    from fuzzer.trial.rejudge import NotJudged

    try:
        carry_out(request, say)
    except NotCarriedOut as refusal:
        say(Refused(str(refusal), refusal.usage))
    except ChildRaised as fault:
        say(Refused(f"internal error: {fault}", usage=False))
    except NotJudged as kill:
        say(Refused(f"the process that judged was killed from outside, again and again: {kill}", usage=False))
    except SystemExit as end:  # None of ours is raised; a child has read the same without it.
        say(Refused(f"{request.case.origin.file or 'the case'}: code in it ends the process: exit {end.code or 0}"))
    else:
        say(Done())


if __name__ == "__main__":
    main()

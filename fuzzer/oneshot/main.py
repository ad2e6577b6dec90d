"""The one-shot process (see `fuzzer.oneshot.ask`): imports TVM, then checks or reduces, and answers."""

from __future__ import annotations

import os
import pickle
import sys

import msgspec

from fuzzer.oneshot.messages import Request
from fuzzer.processes import sandbox
from fuzzer.processes.lines import send
from fuzzer.protocol import Done, Ready, Refused
from oracles.forked import die_with_parent


def main() -> None:
    """Reads one pickled Request and answers; the last answer is Done or Refused."""
    die_with_parent(int(sys.argv[1]))
    request: Request = pickle.load(sys.stdin.buffer)
    if not request.trust:
        sandbox.enter(request.scratch)
    answers = os.dup(1)
    os.dup2(2, 1)  # what TVM or the user's file prints is not an answer

    def say(message: msgspec.Struct) -> None:
        send(answers, message)

    import tvm

    from generators import externs

    externs.register()
    say(Ready(str(tvm.__version__)))
    from fuzzer.oneshot.carry_out import carry_out
    from fuzzer.oneshot.prepare import NotCarriedOut

    try:
        carry_out(request, say)
    except NotCarriedOut as refusal:
        say(Refused(str(refusal), refusal.usage))
    else:
        say(Done())


if __name__ == "__main__":
    main()

"""The process of one errand (see `fuzzer.oneshot.ask`): imports TVM, then checks or reduces, and answers."""

from __future__ import annotations

import json
import os
import pickle
import sys
from typing import Any

from fuzzer.oneshot.ask import Errand
from fuzzer.processes.fork import die_with_parent


def main() -> None:
    """Reads one pickled Errand and answers with one JSON object per line; the last is "done" or "refused"."""
    die_with_parent(int(sys.argv[1]))
    errand: Errand = pickle.load(sys.stdin.buffer)
    answers = os.dup(1)
    os.dup2(2, 1)  # what TVM or the user's file prints is not an answer

    def say(kind: str, **payload: Any) -> None:
        data = (json.dumps({"kind": kind, **payload}) + "\n").encode()
        while data:
            data = data[os.write(answers, data) :]

    import tvm

    from generators import externs

    externs.register()
    say("ready", tvm=str(tvm.__version__))
    from fuzzer.oneshot.prepare import Refused
    from fuzzer.oneshot.reduce import carry_out

    try:
        carry_out(errand, say)
    except Refused as refusal:
        say("refused", message=str(refusal), usage=refusal.usage)
    else:
        say("done")


if __name__ == "__main__":
    main()

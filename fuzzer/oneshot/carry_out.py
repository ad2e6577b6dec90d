"""Which of the two things a one-shot process does."""

from __future__ import annotations

from typing_extensions import assert_never

from fuzzer.oneshot.by_predicate import reduce_by_predicate
from fuzzer.oneshot.check import check
from fuzzer.oneshot.messages import Request
from fuzzer.oneshot.prepare import live_candidate, prepared, recorder_of
from fuzzer.oneshot.reduce import reduce_by_oracle
from fuzzer.processes.lines import Say


def carry_out(request: Request, say: Say) -> None:
    """Does what the request asks for. Raises NotCarriedOut."""
    if request.predicate is not None:
        reduce_by_predicate(request, live_candidate(request, recorder_of(request)), say)
        return
    subject = prepared(request, say)
    match request.what:
        case "check":
            check(subject, say)
        case "reduce":
            reduce_by_oracle(subject, say)
        case _:
            assert_never(request.what)

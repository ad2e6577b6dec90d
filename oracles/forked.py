"""Does something in a forked child, so that a native crash or a hang of it is a value and leaves nothing behind."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended without an answer: "SIGSEGV", "hang", or "exit 1" after an exception of ours."""

    how: str


def apart(action: Callable[[], T], limit_s: int) -> T | Ended:
    """What `action` gives in a child, pickled. It has `limit_s` seconds."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(limit_s)
            os.close(reader)
            with os.fdopen(writer, "wb") as answer:
                answer.write(pickle.dumps(action()))
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        data = answer.read()
    _, code = os.waitpid(pid, 0)
    if os.WIFSIGNALED(code):
        number = os.WTERMSIG(code)
        return Ended("hang" if number == signal.SIGALRM else signal.Signals(number).name)
    if os.WEXITSTATUS(code) != 0:
        return Ended(f"exit {os.WEXITSTATUS(code)}")
    result: T = pickle.loads(data)
    return result

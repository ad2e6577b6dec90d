"""Where the process of a command begins: Ctrl-C is one line and an exit status from here on, and so are SIGTERM and
SIGHUP.

Reading our code and what it imports takes a tenth of a second, in which Python would answer Ctrl-C with a traceback,
and end at the others without a word. Nothing is imported here before that is caught, but what Python itself has loaded
and a few lines.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuzzer.early_signals import Interrupting


def main() -> None:
    """Runs the command line. What interrupts a command that is under way, the command sees."""
    try:
        from fuzzer.early_signals import Interrupting

        handler = Interrupting()
        _take_signals(handler)
        from fuzzer.cli import main as run_command_line

        handler.ask()
        run_command_line()
    except KeyboardInterrupt:
        _end()


def _take_signals(handler: Interrupting) -> None:
    """SIGTERM and SIGHUP interrupt like Ctrl-C; but under nohup SIGHUP stays ignored, and so does what else is."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, handler)


def _end() -> None:
    """Ends the process as `fuzzer.errors` says of an interrupt; a second one cannot disturb that."""
    try:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.write(2, b"passfuzz: interrupted\n")
    finally:  # stderr may be closed
        os._exit(130)


if __name__ == "__main__":
    main()

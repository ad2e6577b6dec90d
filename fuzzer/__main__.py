"""Where the process of a command begins: Ctrl-C is one line and an exit status from here on, and so are SIGTERM and
SIGHUP.

Reading our code and what it imports takes a tenth of a second, in which Python would answer Ctrl-C with a traceback,
and end at the others without a word. Nothing is imported here before that is caught, but what Python itself has loaded.
"""

from __future__ import annotations

import os


def main() -> None:
    """Runs the command line. What interrupts a command that is under way, the command sees."""
    try:
        _take_signals()
        from fuzzer.cli import main as run_command_line

        run_command_line()
    except KeyboardInterrupt:
        _end()


def _take_signals() -> None:
    """SIGTERM and SIGHUP interrupt like Ctrl-C; but under nohup SIGHUP stays ignored."""
    import signal

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


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

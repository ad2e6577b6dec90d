"""Where the process of a command begins: Ctrl-C is one line and an exit status from here on.

Reading our code and what it imports takes a tenth of a second, in which Python would answer Ctrl-C with a traceback.
Nothing is imported here before that is caught, but what Python itself has loaded.
"""

from __future__ import annotations

import os


def main() -> None:
    """Runs the command line. What interrupts a command that is under way, the command sees."""
    try:
        from fuzzer.cli import main as run_command_line

        run_command_line()
    except KeyboardInterrupt:
        _end()


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

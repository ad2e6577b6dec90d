"""`pytest --passfuzz`: hooks of pytest and the options. Every pytest run loads this, so nothing heavy is imported."""

from __future__ import annotations

import argparse
import base64
import math
import os
import pickle
from contextlib import ExitStack
from pathlib import Path

import pytest

GROUP = "passfuzz"
_KEY = "passfuzz-ledger"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup(GROUP, "passfuzz: judge every TVM pass that the tests apply")
    group.addoption("--passfuzz", action="store_true", help="Judge every TVM pass that the tests apply.")
    group.addoption("--passfuzz-out", metavar="DIR", help="Leave findings and the input modules there.")
    group.addoption(
        "--passfuzz-known",
        metavar="FILE",
        help="Registry of known causes, or none. [default: the one in passfuzz]",
    )
    group.addoption(
        "--passfuzz-deadline",
        metavar="SECONDS",
        type=_seconds,
        default=10.0,
        help="How long one stage of judging one call may take. [default: 10]",
    )
    group.addoption(
        "--passfuzz-time",
        metavar="SECONDS",
        type=_seconds,
        default=math.inf,
        help="How long judging may take in all, in each process; later calls are not judged. [default: no limit]",
    )
    group.addoption(
        "--passfuzz-strict", action="store_true", help="Exit with 1 when there is a new cause of tier A or B."
    )
    parser.addini(
        "passfuzz_same_meaning",
        type="linelist",
        default=[],
        help="Names of passes of your own, one a line, that promise to keep meaning and signature, so that numbers are "
        "compared.",
    )


def _seconds(text: str) -> float:
    """Seconds above zero."""
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above zero")
    return value


def pytest_configure(config: pytest.Config) -> None:
    for option in ("--passfuzz-out", "--passfuzz-known"):
        if config.getoption(option) == "":  # an unset variable of a script; it would be the current folder
            raise pytest.UsageError(f"{option}: is empty")
    if config.getoption("--passfuzz") or config.getoption("--passfuzz-out"):
        os.environ.setdefault("TVM_NUM_THREADS", "1")  # before TVM is loaded: a forked child with more would hang
        config.pluginmanager.register(_Session(config), "passfuzz-session")


class _Session:
    """One pytest process: the controller of pytest-xdist only gathers what its workers have seen."""

    def __init__(self, config: pytest.Config) -> None:
        from fuzzer.errors import UsageError
        from fuzzer.given_paths import known_file
        from fuzzer.known_causes import read_known_causes
        from fuzzer.plugin.ending import end
        from fuzzer.plugin.out_folder import clear
        from fuzzer.plugin.suite_watch import Ledger, SuiteWatch
        from fuzzer.processes.scratch import scratch_folder
        from fuzzer.versions import tvm_version

        self._config = config
        option, file = "--passfuzz-known", config.getoption("--passfuzz-known")
        try:
            known = known_file(None if file is None else Path(file), option)
            self._known = read_known_causes(known, tvm_version(), option=option)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from error
        self._ends = ExitStack()
        self._scratch = self._ends.enter_context(scratch_folder())
        out = config.getoption("--passfuzz-out")
        self._out = None if out is None else Path(out).absolute()
        if self._out is not None and not self._is_worker():
            try:
                clear(self._out)
            except UsageError as error:
                raise pytest.UsageError(str(error)) from error
        self._watch: SuiteWatch | None = None
        self._ledger = Ledger()
        self._end = end
        self._lines: list[str] = []
        self._same_meaning = tuple(config.getini("passfuzz_same_meaning"))
        if not self._gathers():
            self._watch = SuiteWatch(
                self._scratch,
                config.getoption("--passfuzz-deadline"),
                frozenset(self._same_meaning),
                self._out,
                session_s=config.getoption("--passfuzz-time"),
            )
            self._ledger = self._watch.ledger
            self._watch.start()

    def _gathers(self) -> bool:
        return bool(self._config.getoption("dist", "no") != "no" and not self._is_worker())

    def _is_worker(self) -> bool:
        return hasattr(self._config, "workeroutput")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self._watch is not None:
            self._watch.enter(nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object, error: object) -> None:
        """A worker of pytest-xdist has ended."""
        packed = getattr(node, "workeroutput", {}).get(_KEY)
        if packed is not None:
            self._ledger.merge(pickle.loads(base64.b64decode(packed)))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._watch is not None:
            self._watch.stop()
        if self._is_worker():
            output: dict[str, object] = self._config.workeroutput  # type: ignore[attr-defined]
            output[_KEY] = base64.b64encode(pickle.dumps(self._ledger)).decode()
            return
        try:
            result = self._end(
                self._ledger,
                self._out,
                self._scratch,
                str(self._config.invocation_params.dir),
                self._known,
                self._same_meaning,
            )
        except Exception as error:  # noqa: BLE001 - a fault of ours must not take the tests' own summary along
            self._lines = [f"passfuzz: own fault after the tests: {type(error).__name__}: {error}"]
            return
        self._lines = result.lines
        if result.failing and self._config.getoption("--passfuzz-strict") and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        from corpus.escapes import inert, visible

        if not self._lines:
            return
        terminalreporter.section("passfuzz")
        for line in self._lines:
            terminalreporter.write_line(inert(visible(line)))

    def pytest_unconfigure(self) -> None:
        self._ends.close()

"""A pytest plugin that writes what became of each test, and the CPU seconds that it took, as JSON lines: `-p
benchmarks.recorded_tests` with PASSFUZZ_RECORD=FILE. What a crash leaves of the file is whole lines."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from fuzzer.plugin.budget import used_s

VARIABLE = "PASSFUZZ_RECORD"
LONGEST = 300
"""Characters of what a failing phase says that are kept."""


class OutcomeRecorder:
    """Writes a line per phase of a test, and one per test."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("a", encoding="utf-8")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        start = used_s()
        result = yield
        self._write(id=item.nodeid, cpu_s=used_s() - start)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._write(
            id=report.nodeid,
            when=report.when,
            outcome=[report.outcome, getattr(report, "wasxfail", None), _failure_text(report)],
        )

    def _write(self, **line: Any) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def _failure_text(report: pytest.TestReport) -> str:
    """The message of what was raised, without its frames."""
    shown = report.longrepr
    crash = getattr(shown, "reprcrash", None)
    return "" if shown is None else str(crash.message if crash else shown)[:LONGEST]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(OutcomeRecorder(Path(os.environ[VARIABLE])))

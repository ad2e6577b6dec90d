"""The option `--sample SEED`: of the deep tests, the tenth that SEED selects. `make test-sample` uses it.

The choice depends on the seed and the name of a test alone, so a failure is repeated by giving the same seed, and each
test comes up in a tenth of the seeds. Tests that are not deep are left to `-m`.
"""

from __future__ import annotations

import hashlib

import pytest

ONE_IN = 10


def is_chosen(nodeid: str, seed: str) -> bool:
    """Whether a deep test belongs to the sample of this seed."""
    digest = hashlib.sha256(f"{seed}\0{nodeid}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % ONE_IN == 0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sample", metavar="SEED", help=f"run one in {ONE_IN} of the deep tests, chosen by SEED")


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("--sample")
    return None if seed is None else f"one in {ONE_IN} of the deep tests; the same again: make test-sample SEED={seed}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("--sample")
    if seed is None:
        return
    left_out = [item for item in items if item.get_closest_marker("deep") and not is_chosen(item.nodeid, seed)]
    config.hook.pytest_deselected(items=left_out)
    gone = set(map(id, left_out))
    items[:] = [item for item in items if id(item) not in gone]

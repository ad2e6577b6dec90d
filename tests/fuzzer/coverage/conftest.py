"""The library of known blocks, with its map, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzer.coverage.ground import Ground, ground
from tests.fuzzer.coverage import subject


@pytest.fixture(scope="session")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the library lies; its cache is beside it."""
    return tmp_path_factory.mktemp("coverage")


@pytest.fixture(scope="session")
def library(room: Path) -> Path:
    return subject.build(room)


@pytest.fixture(scope="session")
def known(room: Path, library: Path) -> Ground:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(room / "cache"))
        return ground(lambda line: None, library)

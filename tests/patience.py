"""How long a test waits before it calls something hung. No test asserts on seconds: work is bounded by counts."""

from __future__ import annotations

import pytest

HANGS_S = 600.0
"""Seconds. What is waited for takes a few seconds on an idle machine; a busy one may take fifty times as long."""
OF_JUDGING = (
    "oracles.builds.agreement.BUILD_S",
    "oracles.builds.cpu_builds._PATIENCE_S",
    "oracles.builds.cpu_trial.LIMIT_S",
    "oracles.builds.cuda_cpu.compiler.KERNELS_S",
    "oracles.builds.cuda_device.BUILD_S",
    "oracles.builds.cuda_device.RUN_S",
    "oracles.builds.cuda_device.TRIAL_S",
    "oracles.checks.pipelines.LIMIT_S",
)
"""Limits of the product on the clock: a test of one sets it back for itself."""


def raise_limits(patch: pytest.MonkeyPatch, *names: str) -> None:
    """Has these limits end only what hangs."""
    for name in names:
        patch.setattr(name, int(HANGS_S))

"""How long a test waits before it calls something hung. No test asserts on seconds: work is bounded by counts."""

from __future__ import annotations

import pytest

HANGS_S = 600.0
"""Seconds. What is waited for takes a few seconds on an idle machine; a busy one may take fifty times as long."""
OF_JUDGING = (
    "fuzzer.trial.cause.failing_operator.LIMIT_S",
    "fuzzer.trial.cause.facts.LIMIT_S",
    "oracles.builds.agreement.BUILD_S",
    "oracles.builds.cpu_builds._PATIENCE_S",
    "oracles.builds.cpu_trial.LIMIT_S",
    "oracles.builds.cuda_cpu.compiler.KERNELS_S",
    "oracles.builds.cuda_device.BUILD_S",
    "oracles.builds.cuda_device.RUN_S",
    "oracles.builds.cuda_device.TRIAL_S",
    "oracles.checks.numeric.PRINT_S",
    "oracles.checks.pipelines.LIMIT_S",
)
"""Limits of the product on the clock: a test of one sets it back for itself."""
OF_COMMANDS = (
    "fuzzer.campaign.aside.CEILING_S",
    "fuzzer.campaign.aside.REDUCE_NEW_S",
    "fuzzer.campaign.aside.REDUCE_S",
    "fuzzer.campaign.loop.GRACE_S",
    "fuzzer.campaign.awaiting.READY_S",
    "fuzzer.campaign.kinship.TRYING_S",
    "fuzzer.commands.doctor.PROBE_TIMEOUT_S",
    "fuzzer.commands.reduce_shown.CONFIRM_S",
    "fuzzer.replaying.warm.CASE_TIMEOUT_S",
    "fuzzer.replaying.warm.IMPORT_TIMEOUT_S",
    "fuzzer.oneshot.ask.READY_S",
    "fuzzer.oneshot.check.STAGE_S",
    "fuzzer.oneshot.front_end.LIMIT_S",
    "fuzzer.oneshot.prepare.STAGE_S",
    "fuzzer.oneshot.by_predicate.CALL_S",
    "fuzzer.oneshot.by_predicate.QUICK_S",
    "fuzzer.oneshot.load_function.IMPORT_S",
    "fuzzer.oneshot.explained_values.STAGE_S",
    "fuzzer.trial.load_file.DEADLINE_S",
    "fuzzer.trial.shrinking.shrink_across.READY_S",
    "fuzzer.worker.confirm.DEADLINE_S",
)
"""The same of commands, their processes and campaigns."""
LEFT = {
    "fuzzer.campaign.aside.FIRST_S": "a share of a worker's time, no limit on work",
    "fuzzer.trial.shrinking.forked_judge.PATIENCE_S": "ten minutes",
    "fuzzer.campaign.kinship.SAID_AFTER_S": "when the user gets a word, no limit on work",
    "fuzzer.trial.load_file.SLOW_S": "when the user gets a word, no limit on work",
    "fuzzer.capture.run._SETTLE_S": "what does not end by itself is ended",
    "fuzzer.capture.settle.APPLY_S": "in a process of its own; a test shows a hang by it",
    "fuzzer.capture.settle.MAKE_S": "in a process of its own, and generous",
    "fuzzer.engines.cluster_workforce.CASES_PER_SEAT_S": "a rate",
    "fuzzer.engines.cluster_workforce.TASKS_PER_S": "a rate",
    "fuzzer.engines.cluster_workforce.SLICE_S": "how long a slice should take, no limit on it",
    "fuzzer.engines.cluster_workforce.LOOK_S": "how often a cluster is looked at",
    "fuzzer.engines.cluster_workforce.EMPTY_S": "tests that wait for a cluster raise it",
    "fuzzer.campaign.interrupts.SAME_S": "two signals within it are one; tests that send two wait for longer",
    "fuzzer.processes.pool.LOOK_S": "how often workers are looked at",
    "fuzzer.processes.pool.STOPPED_S": "only of workers that a signal has stopped",
    "fuzzer.plugin.budget.GRANT_S": "CPU seconds, of which a busy machine takes no more",
    "fuzzer.trial.subject.wide_inputs.SLOW_S": "CPU seconds, of which a busy machine takes no more",
    "oracles.reference.starting_run.SAMPLED_S": "CPU seconds, of which a busy machine takes no more",
    "fuzzer.engines.dask_cluster.CLOSE_S": "what does not end by itself is ended",
    "fuzzer.engines.dask_cluster.CONNECT_S": "tests that wait for a cluster raise it",
    "fuzzer.engines.node.CLOSING_S": "what does not end by itself is ended",
    "fuzzer.engines.node.IDLE_S": "how long a seat without work is kept",
    "fuzzer.engines.node.OPENING_S": "tests that wait for a cluster raise it",
    "fuzzer.engines.node.PATIENCE_S": "ten minutes",
    "fuzzer.engines.node.STREAM_S": "how often answers are sent on",
    "fuzzer.processes.scratch.FRESH_S": "how old what is swept must be",
    "fuzzer.engines.ray_cluster.CLOSE_S": "what does not end by itself is ended",
    "fuzzer.processes.guard._END_S": "what does not end by itself is killed",
    "oracles.checks.pipelines.HANG_CPU_S": "seconds of the CPU",
    "oracles.family._PATIENCE_S": "of killed processes that the kernel does not end",
    "oracles.forked._TERM_S": "what does not end by itself is killed",
    "oracles.pace._LONGEST_S": "how far apart two looks at a child count",
    "corpus.scripts.repro_body.DEADLINE_S": "120 s, written into scripts",
    "corpus.scripts.repro_body.HANG_S": "15 s of the CPU, written into scripts of hangs",
    "corpus.scripts.repro_body.SLEEPS_S": "60 s, written into the same",
    "fuzzer.commands.check.LIMIT_S": "an hour",
    "fuzzer.replaying.environments.INSTALL_TIMEOUT_S": "no test installs anything",
    "fuzzer.replaying.warm.ANSWER_TIMEOUT_S": "beyond a limit that is raised",
    "fuzzer.commands.reduce.SLACK_S": "ten minutes",
    "fuzzer.plugin.ending.REDUCE_S": "ends with what is small by then; no test asks how small",
    "fuzzer.plugin.ending.CEILING_S": "the same",
    "fuzzer.plugin.ending.REDUCE_ALL_S": "the same",
    "fuzzer.plugin.harvester.DEADLINE_S": "in a process of its own, of modules of three bindings",
    "fuzzer.settings.DEFAULT_TIME_S": "a default, no limit on work",
    "fuzzer.trial.candidate_limit.FIRST_S": "of candidates that hang: what is longer takes as much longer to reduce",
    "fuzzer.trial.candidate_limit.PROMPT_S": "of candidates of other failures: one that takes longer is not kept",
    "fuzzer.trial.candidate_limit.SHORTEST_S": "the same; what is kept is judged again with the limit of the first",
    "oracles.builds.builders.LAUNCH_S": "seconds of the CPU",
    "oracles.builds.cpu_trial.HANG_CPU_S": "seconds of the CPU",
    "oracles.builds.cpu_trial.ORDINARY_S": "seconds of the CPU",
    "fuzzer.coverage.compile.TIMEOUT_S": "two minutes for a compiler",
    "fuzzer.coverage.count.FIRST_S": "when a number is noted first",
    "fuzzer.coverage.ground.IMPORT_S": "three minutes for an import",
    "oracles.builds.cuda_cpu.compiler.TIMEOUT_S": "two minutes for a compiler",
    "fuzzer.oneshot.ask.LOOK_S": "how often a caller looks up between replies",
    "fuzzer.oneshot.reduce.AHEAD_S": "how far ahead a clock is put",
    "fuzzer.campaign.disk.CHECKPOINT_S": "how often a campaign is written",
    "fuzzer.campaign.second_process.BATCH_S": "how long samples wait for others",
    "oracles.builds.cuda_cpu.machine.DEADLINE_S": "seconds of the CPU",
    "oracles.builds.cuda_cpu.program.DEADLINE_S": "seconds of the CPU",
    "oracles.builds.cuda_cpu.ptx.TIMEOUT_S": "two minutes for a compiler",
    "reports.live.LINE_S": "how often a line is printed",
    "reports.live.REDRAW_S": "how often the screen is drawn",
    "reports.out_writer.INTERVAL_S": "how often files are written",
}
"""Limits that tests leave as they are, and why."""


def raise_limits(patch: pytest.MonkeyPatch, *names: str) -> None:
    """Has these limits end only what hangs."""
    for name in names:
        patch.setattr(name, int(HANGS_S))

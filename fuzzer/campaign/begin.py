"""Begins a campaign in a folder that nobody else writes to, or goes on with the one that was begun there."""

from __future__ import annotations

from contextlib import ExitStack, closing

from fuzzer.campaign.checkpoint import Checkpoint, read_checkpoint, refuse_other_tvm
from fuzzer.campaign.interrupts import Interrupts
from fuzzer.campaign.loop import CampaignLoop
from fuzzer.campaign.observer import Observer
from fuzzer.campaign.out_folder import held, refused_leaves_nothing
from fuzzer.campaign.plan import MakesPlan, plan_of
from fuzzer.engines.choose import workforce_of
from fuzzer.engines.messages import versions
from fuzzer.errors import tell
from fuzzer.results import CampaignResult
from fuzzer.settings import Settings
from fuzzer.trial.determinism import hash_seeds
from reports.summary import begun_again


def run_campaign(
    settings: Settings, observer: Observer, interrupts: Interrupts | None = None, plan: MakesPlan = plan_of
) -> CampaignResult:
    """Runs a campaign to its end, or goes on with the one that was begun under `settings.out`.

    plan: is called once, when the folder is held. Raises UsageError for settings that this machine cannot carry out and
    for a campaign that another TVM has begun, EnvironmentFault where the folder cannot be held or no worker gets ready,
    OSError where nothing can be written there at its begin.
    """
    if interrupts is None:
        with Interrupts() as own:
            return run_campaign(settings, observer, own, plan)
    with ExitStack() as stack:
        scratch = stack.enter_context(held(settings.out, fresh=settings.fresh, resume=settings.resume))
        checkpoint = _checkpoint(settings) if settings.resume else None
        if checkpoint is not None:
            settings = checkpoint.begun.within(settings)
        with refused_leaves_nothing(settings.out) if checkpoint is None else begun_again(settings.out):
            made = plan(settings, scratch)
            campaign = CampaignLoop(settings, observer, interrupts, made)
            stack.callback(campaign.second.close)
            campaign.begin(checkpoint)
            pool = stack.enter_context(closing(workforce_of(settings, made, hash_seeds(made.seed)[0])))
            campaign.await_worker(pool)
        return campaign.run(pool)


def _checkpoint(settings: Settings) -> Checkpoint:
    """What the campaign under `settings.out` has left."""
    checkpoint = read_checkpoint(settings.out, settings.trust)
    if changed := refuse_other_tvm(settings.out, checkpoint.versions, versions()):
        tell(f"warning: {changed}")
    return checkpoint

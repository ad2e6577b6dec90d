"""Begins a campaign in a folder that nobody else writes to, or goes on with the one that was begun there."""

from __future__ import annotations

from fuzzer.campaign.checkpoint import read_checkpoint, refuse_other_tvm
from fuzzer.campaign.interrupts import Interrupts
from fuzzer.campaign.loop import CampaignLoop
from fuzzer.campaign.observer import Observer
from fuzzer.campaign.out_folder import held, refused_leaves_nothing
from fuzzer.campaign.plan import MakesPlan, plan_of
from fuzzer.engines.messages import versions
from fuzzer.errors import tell
from fuzzer.results import CampaignResult
from fuzzer.settings import Settings
from reports.summary import begun_again


def run_campaign(
    settings: Settings, observer: Observer, interrupts: Interrupts | None = None, plan: MakesPlan = plan_of
) -> CampaignResult:
    """Runs a campaign to its end, or goes on with the one that was begun under `settings.out`.

    plan: is called once, when the folder is held. Raises UsageError for settings that this machine cannot carry out and
    for a campaign that another TVM has begun, EnvironmentFault where the folder cannot be held or no worker gets ready,
    OSError where what is left there cannot be written.
    """
    if interrupts is None:
        with Interrupts() as own:
            return run_campaign(settings, observer, own, plan)
    with held(settings.out, fresh=settings.fresh, resume=settings.resume) as scratch:
        if not settings.resume:
            with refused_leaves_nothing(settings.out):
                campaign = CampaignLoop(settings, observer, interrupts, plan(settings, scratch))
            return campaign.run()
        checkpoint = read_checkpoint(settings.out, settings.trust)
        if changed := refuse_other_tvm(settings.out, checkpoint.versions, versions()):
            tell(f"warning: {changed}")
        settings = checkpoint.begun.within(settings)
        with begun_again(settings.out):
            campaign = CampaignLoop(settings, observer, interrupts, plan(settings, scratch))
            campaign.go_on(checkpoint)
            return campaign.run()

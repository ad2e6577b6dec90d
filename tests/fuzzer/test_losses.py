"""How many workers may end before a campaign does."""

from __future__ import annotations

from fuzzer.campaign.losses import LOST_PER_WORKER, Losses


def test_a_lost_node_with_many_seats_does_not_end_the_campaign() -> None:
    """Its workers are more than may end one after the other where a campaign has only a few."""
    lost = Losses()
    assert not any(lost.another(left) for left in reversed(range(10, 74)))
    lost.worked()
    assert not any(lost.another(9) for _ in range(10))


def test_workers_that_end_one_by_one_do_not_end_a_campaign_that_goes_on() -> None:
    """Nor does any number of them in a long campaign; without an answer meanwhile, so many do."""
    lost = Losses()
    for _ in range(1000):
        assert not lost.another(1)
        lost.worked()
    assert [lost.another(1) for _ in range(2 * LOST_PER_WORKER + 1)] == [False] * 2 * LOST_PER_WORKER + [True]

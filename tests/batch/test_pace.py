"""Ceilings: so many creates in a run, so long a wait for a service that is away."""

from __future__ import annotations

import pytest

from palprep.batch.work.pace import Creates, HeldBack, Outage
from palprep.errors import ServiceUnavailable, ServiceUnreachable
from palprep.workers import WorkStopped


def go_on() -> None:
    """Nobody has stopped the run."""


def test_only_so_many_creates_in_a_run():
    creates = Creates(2)
    creates.take()
    creates.take()
    creates.give_back()
    creates.take()
    with pytest.raises(HeldBack, match="may create 2 at most"):
        creates.take()
    unbounded = Creates(None)
    unbounded.take()
    unbounded.close("The service takes no more")
    unbounded.close("too late")
    with pytest.raises(HeldBack, match="The service takes no more"):
        unbounded.take()


def test_nothing_more_is_asked_for_after_many_doubts_in_a_row():
    creates = Creates(None)
    for in_doubt in [True] * 9 + [False] + [True] * 9:
        creates.take()
        creates.settle(in_doubt=in_doubt)
    creates.take()
    creates.settle(in_doubt=True)
    with pytest.raises(HeldBack, match="the last 10 requests is not known"):
        creates.take()


class Service:
    """It does not answer before ``back_at``, by a clock that moves when somebody sleeps. A
    proxy is there fifty seconds earlier, and says so."""

    def __init__(self, back_at: float) -> None:
        self.now, self.back_at, self.asked = 0.0, back_at, 0

    def probe(self) -> None:
        self.asked += 1
        if self.back_at - 50 <= self.now < self.back_at:
            raise ServiceUnavailable("No server is available.", status=503)
        if self.now < self.back_at:
            raise ServiceUnreachable("Nobody is there.")

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def outage(self, most_s: float) -> Outage:
        return Outage(self.probe, most_s, clock=lambda: self.now, sleep=self.sleep)


def test_a_service_that_comes_back_is_waited_for():
    service = Service(back_at=100)
    service.outage(900).wait_out(ServiceUnreachable("Gone."), go_on)
    assert 100 <= service.now < 130
    assert service.asked < 10


def test_a_service_that_stays_away_is_waited_for_once():
    service = Service(back_at=10_000)
    outage = service.outage(900)
    with pytest.raises(ServiceUnreachable, match="Gone"):
        outage.wait_out(ServiceUnreachable("Gone."), go_on)
    waited = service.now
    assert 900 <= waited < 960
    with pytest.raises(ServiceUnreachable, match="Gone"):
        outage.wait_out(ServiceUnreachable("Gone."), go_on)
    assert service.now == waited


def test_waiting_for_a_service_ends_when_the_run_does():
    def stopped() -> None:
        raise WorkStopped("It is to stop.")

    with pytest.raises(WorkStopped):
        Service(back_at=100).outage(900).wait_out(ServiceUnreachable("Gone."), stopped)


def test_waiting_for_a_service_ends_soon_after_the_run_is_to_stop():
    """Ctrl-C was not heard for half a minute."""
    service = Service(back_at=1000)

    def stopped_later() -> None:
        if service.now > 40:
            raise WorkStopped("It is to stop.")

    with pytest.raises(WorkStopped):
        service.outage(900).wait_out(ServiceUnreachable("Gone."), stopped_later)
    assert service.now < 41

"""Ceilings: so many creates in a run, so many trainings at once."""

from __future__ import annotations

import threading

import pytest

from palprep.batch.work.pace import HeldBack, Outage, Pace, Places
from palprep.errors import ServiceUnreachable
from palprep.workers import WorkStopped


def go_on() -> None:
    """Nobody has stopped the run."""


def create(places: Places, key: str) -> None:
    places.take(key, go_on)


def test_only_so_many_creates_in_a_run():
    places = Places(Pace(max_creates=2))
    create(places, "a")
    create(places, "refused")
    places.give_back("refused")
    create(places, "b")
    with pytest.raises(HeldBack, match="may create 2 at most"):
        create(places, "c")


def test_a_place_is_waited_for_until_a_training_ends():
    places = Places(Pace(max_training=2))
    places.occupy("from before")
    create(places, "a")
    through = threading.Event()

    def third() -> None:
        create(places, "b")
        through.set()

    thread = threading.Thread(target=third)
    thread.start()
    assert not through.wait(0.3)
    assert places.queue == 1
    places.free("of another run")
    assert not through.wait(0.3)
    places.free("from before")
    assert through.wait(5)
    thread.join()
    assert places.queue == 0


class Watched(Places):
    """Tells how long the queue was whenever somebody looked for room."""

    def __init__(self, pace: Pace) -> None:
        super().__init__(pace)
        self.seen: list[int] = []

    def _require_room(self) -> None:
        self.seen.append(self.queue)
        super()._require_room()


def test_nobody_queues_who_can_take_a_place():
    places = Watched(Pace(max_training=1))
    create(places, "a")
    thread = threading.Thread(target=create, args=(places, "b"))
    thread.start()
    while places.queue != 1:
        pass
    with places._changed:  # The other one cannot go on yet.
        places.free("a")
        assert places.queue == 0
    thread.join()
    assert places.seen[0] == 0
    assert 1 in places.seen or len(places.seen) == 2


def test_waiting_for_a_place_ends_when_the_run_does():
    places = Places(Pace(max_training=1))
    create(places, "a")

    def stopped() -> None:
        raise WorkStopped("enough")

    with pytest.raises(WorkStopped):
        places.take("b", stopped)
    places.close("too late")
    places.free("a")
    with pytest.raises(HeldBack, match="too late"):
        create(places, "c")


class Service:
    """It does not answer before ``back_at``, by a clock that moves when somebody sleeps."""

    def __init__(self, back_at: float) -> None:
        self.now, self.back_at, self.asked = 0.0, back_at, 0

    def probe(self) -> None:
        self.asked += 1
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

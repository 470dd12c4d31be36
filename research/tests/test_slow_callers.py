"""The trial of slow callers, with few of them."""

from __future__ import annotations

import asyncio

import pytest

from palprep.callbacks import CallbackServer, Delivery
from research.hostile.slow_callers import ATTACKS, trial


@pytest.mark.parametrize("attack", sorted(ATTACKS))
def test_every_callback_arrives(attack: str) -> None:
    received: list[Delivery] = []
    with CallbackServer(received.append) as server:
        took = asyncio.run(trial(server.url_for("t"), ATTACKS[attack], callers=30, callbacks=3))
    assert len(received) == 3
    assert None not in took

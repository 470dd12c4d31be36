"""How probable wordings are to the first model, and when they are not read to their end."""

from __future__ import annotations

import pytest

from palprep.consent.whisper import Whisper

SAID = "I, Jane Carter, am currently speaking and give my consent to create an AI clone of me."
OTHERS = (
    SAID.replace("give", "don't give"),
    SAID.replace("Jane", "Jayne"),
    f"{SAID} Never.",
    SAID.removesuffix(" of me."),
)


@pytest.fixture(scope="module")
def model() -> Whisper:
    return Whisper.load()


def test_an_unlikely_wording_is_told_as_probable_as_it_can_be(model, speech) -> None:
    heard = model.hear(speech)
    said, *exact = model.weigh(heard, [SAID, *OTHERS], "en")
    known, *most = model.weigh(heard, [SAID], "en", unlikely=OTHERS)
    assert known == pytest.approx(said, abs=1e-3)
    assert len(most) == len(OTHERS)
    for wording, one in zip(most, exact, strict=True):
        assert wording == pytest.approx(one, abs=1e-3) or said - 6 > wording >= one - 1e-3
    assert said - most[0] > 6
    assert most[0] > exact[0] + 1e-3

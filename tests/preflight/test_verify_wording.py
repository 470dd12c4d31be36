"""The wording of the statement, whoever speaks it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from palprep.consent.decoding import Floats
from palprep.consent.whisper import Encoder
from palprep.consent.wording import required_statement
from palprep.preflight.preflight import _why_no_name, verify_wording


def test_the_name_is_what_was_heard(light_people: Path) -> None:
    path = light_people / "jane-carter/consent.mp4"
    heard = verify_wording(path, statement=required_statement())
    assert (heard.outcome, heard.full_name) == ("pass", "Jane Carter")
    changed = required_statement().replace("create an AI clone", "never create an AI clone")
    assert verify_wording(path, statement=changed).outcome == "fail"


def test_each_stretch_is_heard_once_whatever_names_are_tried(
    light_people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[bytes] = []
    encode = Encoder.encode

    def noted(self: Encoder, samples: NDArray[np.float32], *positions: int) -> Floats:
        heard.append(samples.tobytes())
        return encode(self, samples, *positions)

    monkeypatch.setattr(Encoder, "encode", noted)
    changed = required_statement().replace("currently speaking", "never speaking")
    found = verify_wording(light_people / "jane-carter/consent.mp4", statement=changed)
    assert found.outcome == "fail"
    assert len(heard) == len({*heard}) <= 2


@pytest.mark.parametrize(
    ("left_out", "name"),
    [(", am", "Jane Carter, am"), (", am currently", "Jane Carter, am currently")],
)
def test_a_name_can_have_more_words_than_what_stands_in_for_it(
    light_people: Path, left_out: str, name: str
) -> None:
    required = required_statement().replace(f"{{full_name}}{left_out}", "{full_name}")
    heard = verify_wording(light_people / "jane-carter/consent.mp4", statement=required)
    assert (heard.outcome.passed, heard.full_name) == (True, name)


@pytest.mark.parametrize(
    ("heard", "why"),
    [
        ("Jane Carter,", None),
        ("Maria del Carmen Fernandez de la Vega", None),
        ("", "No name is heard"),
        ("...", "No name is heard"),
        ("Jane Carter, do not", "where the full name must be said"),
        ("Jane Carter, who has read all of the following text", "where the full name must be said"),
    ],
)
def test_what_stands_in_the_names_place_must_be_a_name(heard: str, why: str | None) -> None:
    found = _why_no_name(heard)
    assert found is None if why is None else why in str(found)

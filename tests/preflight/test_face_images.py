"""A portrait through the whole loop: it is cropped, and proved."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from palprep.facts import Toolkit
from palprep.preflight import Preflight
from palprep.values import Outcome
from palprep.vision import Models


def test_a_face_at_the_side_is_cropped_and_proved(
    portrait_path: Path, tmp_path: Path, models: Models
) -> None:
    with Image.open(portrait_path) as opened:
        picture = opened.convert("RGB")
    picture.thumbnail((1000, 1000))
    wide = Image.new("RGB", (picture.width * 2 + 200, picture.height), picture.getpixel((2, 2)))
    wide.paste(picture, (0, 0))
    source = tmp_path / "wide.jpg"
    wide.save(source, quality=95)
    preflight = Preflight(toolkit=Toolkit(models))
    before = preflight.check(source)
    assert before.check("person_centered").outcome is Outcome.FAIL
    assert "crops it to" in (before.check("person_centered").advice or "")
    ready = preflight.prepare(source, into=tmp_path / "out")
    assert "crop" in {fix.id for fix in ready.fixes}
    assert ready.report.check("person_centered").outcome is Outcome.PASS

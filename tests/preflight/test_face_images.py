"""A portrait through the whole loop: it is cropped, and proved."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from palprep.preflight import check, prepare
from palprep.values import Outcome


@pytest.fixture
def wide(portrait_path: Path, tmp_path: Path) -> Path:
    """The person stands at the left of a wide picture."""
    with Image.open(portrait_path) as opened:
        picture = opened.convert("RGB")
    picture.thumbnail((1000, 1000))
    wide = Image.new("RGB", (picture.width * 2 + 200, picture.height), picture.getpixel((2, 2)))
    wide.paste(picture, (0, 0))
    source = tmp_path / "wide.jpg"
    wide.save(source, quality=95)
    return source


def test_a_face_at_the_side_is_cropped_and_proved(wide: Path) -> None:
    before = check(wide)
    assert before.check("person_centered").outcome is Outcome.FAIL
    assert "crops it to" in (before.check("person_centered").advice or "")
    ready = prepare(wide, into=wide.parent / "out")
    assert "crop" in {fix.id for fix in ready.fixes}
    assert ready.report.check("person_centered").outcome is Outcome.PASS


@pytest.fixture
def own(wide: Path) -> Path:
    """A profile whose limit a crop of the picture breaks."""
    own = wide.with_name("own.toml")
    own.write_text(
        'name = "own"\nextends = "core-4"\n[[limits.face-image.image_resolution]]\n'
        'min = 1000\nlevel = "fail"\nsource = "ours"\ndate = 2026-11-24\n'
    )
    return own


def test_a_step_that_makes_a_passing_check_fail_is_left_out(wide: Path, own: Path) -> None:
    out = wide.parent / "out"
    ready = prepare(wide, into=out, profile=own)
    assert ready.path.read_bytes() == wide.read_bytes()
    assert ready.report.check("image_resolution").outcome is Outcome.PASS
    assert [fix.id for fix in ready.fixes] == ["left_out"]
    assert "crop" in ready.fixes[0].did
    assert [each.name for each in out.iterdir()] == ["wide.jpg"]


def test_fixes_that_are_only_tried_replace_no_file(wide: Path, own: Path) -> None:
    with Image.open(wide) as opened:
        opened.save(wide, quality=95, comment="with metadata to lose")
    out = wide.parent / "out"
    out.mkdir()
    others = {name: out / name for name in ("wide-tried.jpg", "wide-tried-2.jpg")}
    for name, other in others.items():
        other.write_text(name)
    ready = prepare(wide, into=out, profile=own, overwrite=True)
    assert "left_out" in {fix.id for fix in ready.fixes}
    assert {other.read_text() for other in others.values()} == set(others)
    assert {each.name for each in out.iterdir()} == {"wide.jpg", *others}


def test_what_a_fix_hides_is_told_of_the_output(wide: Path) -> None:
    with Image.open(wide) as opened:
        opened.reduce(3).save(wide, quality=6)
    before = check(wide).facts
    ready = prepare(wide, into=wide.parent / "out").report.facts
    assert before.portrait.quality.blocking > 1.5
    assert ready.portrait.quality.blocking >= before.portrait.quality.blocking

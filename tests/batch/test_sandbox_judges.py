"""palprep's own checks as the sandbox's trainer."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from PIL import ExifTags, Image

from palprep import preflight
from palprep.batch.work.sandbox_judges import apart, judge_image, judging_in, train
from palprep.consent import ConsentFacts
from palprep.consent.wording import required_statement
from palprep.errors import DamagedMedia, UnsupportedMedia, UsageError
from palprep.journal.entries.bodies import SandboxStatement
from palprep.preflight import media_workers
from palprep.values import Outcome
from palprep.workers import Limits, LocalEngine


def test_a_fit_recording_trains(wav: Path) -> None:
    assert train("voice", (wav,)) is None


def test_an_ending_that_lies_fails_as_the_service_says_it(wav: Path, tmp_path: Path) -> None:
    lying = tmp_path / "recording.mp4"
    shutil.copy(wav, lying)
    refused = train("voice", (lying,)) or ""
    assert refused.startswith("voice-audio: The name of the file ends in .mp4. ")


def test_what_is_no_media_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "training.mp4"
    path.write_text("no video")
    with pytest.raises(DamagedMedia, match="text"):
        train("replica-video", (path,))


def test_consent_is_listened_for_and_required(jane: tuple[Path, Path]) -> None:
    assert train("replica-video", jane) is None
    alone = train("replica-video", jane[:1]) or ""
    assert "was not heard in the opening of the training video" in alone
    assert "I, {full_name}, am currently speaking" in alone


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("outcome", ["pass", "warn", "fail", "unknown"])
def test_a_consent_video_and_only_it_is_listened_to(
    jane: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, apart: bool, outcome: str
) -> None:
    listened: list[Path] = []

    def verify(path: Path, **options: object) -> ConsentFacts:
        listened.append(path)
        return ConsentFacts(
            outcome=Outcome(outcome), transcript="", starts_at=None, ends_at=None, words=(),
            reasons=("Because.",), statement="", full_name="", language="en",
        )  # fmt: skip

    monkeypatch.setattr(preflight, "verify_wording", verify)
    heard = train("replica-video", jane if apart else jane[:1])
    assert listened == [jane[apart]]
    if outcome in {"pass", "warn"}:
        assert heard is None
    else:
        where = "the consent video" if apart else "the opening of the training video"
        assert f"was not heard in {where}. Because. Required is: “I, {{full_name}}" in str(heard)


def test_any_one_of_the_required_statements_will_do(jane: tuple[Path, Path]) -> None:
    german = SandboxStatement(text="Ich, {full_name}, stimme zu.", language="de")
    assert "does not know the language 'de'" in str(
        train("replica-video", jane, statements=(german,))
    )
    template = SandboxStatement(text=required_statement())
    assert train("replica-video", jane, statements=(german, template)) is None


def test_a_required_statement_leaves_the_name_open() -> None:
    with pytest.raises(UsageError, match="leaves no place for a name"):
        SandboxStatement(text="I, Jane Carter, agree.")


@pytest.fixture
def awry(light_people: Path, tmp_path: Path) -> Path:
    """A portrait far off the centre of an image that its camera held on the side."""
    with Image.open(light_people / "anna-miller/portrait.png") as opened:
        wide = Image.new("RGB", (2400, 800), "grey")
        wide.paste(opened.convert("RGB").resize((800, 800)), (1600, 0))
    turned = Image.Exif()
    turned[ExifTags.Base.Orientation] = 6
    wide.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "awry.jpg", exif=turned)
    return tmp_path / "awry.jpg"


def test_an_image_that_may_be_fixed_is(awry: Path, tmp_path: Path) -> None:
    assert "too far to the right" in (train("replica-image", (awry,)) or "")
    assert train("replica-image-auto-fix", (awry,)) is None
    # Without the word of the camera it lies on its side.
    with Image.open(awry) as opened:
        opened.save(tmp_path / "lying.png", exif=b"")
    refused = train("replica-image", (tmp_path / "lying.png",))
    assert "too far to the right" in (refused or "")
    assert not judge_image(tmp_path / "lying.png", "core-4")["pose_suitable_for_replica"]
    assert train("replica-image-auto-fix", (tmp_path / "lying.png",)) is None
    (tmp_path / "note.png").write_text("no picture")
    with pytest.raises(UnsupportedMedia, match="text"):
        train("replica-image-auto-fix", (tmp_path / "note.png",))


def test_judges_open_files_in_workers(awry: Path, light_people: Path, tmp_path: Path) -> None:
    """As a run has them judge; what crashes a worker is damaged media to the sandbox."""
    portrait = light_people / "anna-miller/portrait.png"
    with LocalEngine(1, limits=Limits(memory_bytes=2 << 30)) as engine:
        assert apart(judge_image, engine)(portrait, "core-4") == judge_image(portrait, "core-4")
        assert apart(train, engine)("replica-image", (portrait,)) is None
        assert apart(train, engine)("replica-image-auto-fix", (awry,)) is None
        (tmp_path / "note.png").write_text("no picture")
        with pytest.raises(DamagedMedia, match="text"):
            apart(judge_image, engine)(tmp_path / "note.png", "core-4")
        with pytest.raises(DamagedMedia, match=r"died \(exit code 3\)"):
            apart(os._exit, engine)(3)


def test_judges_in_workers_may_open_the_model_of_a_statement(
    jane: tuple[Path, Path], own_model: Path
) -> None:
    required = SandboxStatement(text=required_statement(), model=own_model)
    with media_workers(1) as engine:
        trainer = judging_in(engine, (required,)).keywords["trainer"]
        assert trainer("replica-video", jane) is None

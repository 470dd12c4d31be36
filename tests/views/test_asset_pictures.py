"""What there is to see of a file of a run, and under which name it is kept."""

from __future__ import annotations

from pathlib import Path

from palprep.fixes import FixDone
from palprep.media.sources import sha256_of
from palprep.preflight import Asset, Prepared, check
from palprep.values import Role, Span
from palprep.views.drawings.pictures import AssetPictures, pictures_of


def asset_of(path: Path, role: Role, fixes: tuple[FixDone, ...] | None = None) -> Asset:
    """The file as the source of itself: prepared where there are ``fixes``."""
    report, sha256 = check(path, role=role, quick=role is not Role.VOICE_AUDIO), sha256_of(path)
    given = {"role": role, "source": str(path), "source_sha256": sha256, "seconds": 0.0}
    if fixes is None:
        return Asset(**given, source_report=report)
    prepared = Prepared(
        source=str(path), source_sha256=sha256, path=path, report=report, fixes=fixes,
        sha256=sha256, source_voice=report.facts.voice if report.facts and fixes else None,
    )  # fmt: skip
    return Asset(**given, prepared=prepared)


def test_a_timeline_is_small_and_readable(sample_media: Path) -> None:
    video = sample_media / "people/jane-carter/consent.mp4"
    seen = pictures_of(asset_of(video, Role.CONSENT_VIDEO))
    assert {picture.name.partition(".")[2] for picture in seen.all()} == {"jpg", "svg"}
    assert seen.timeline is not None
    drawn = seen.timeline.draw()
    assert drawn is not None
    assert drawn.mime == "image/svg+xml"
    assert b'width="1400"' in drawn.data
    assert len(drawn.data) < 80_000


def test_before_is_shown_only_of_what_was_changed(sample_media: Path) -> None:
    image = sample_media / "people/jane-carter/portrait.heic"
    fix = FixDone(id="convert", did="converted")
    assert pictures_of(asset_of(image, Role.FACE_IMAGE, (fix,))).before is not None
    assert pictures_of(asset_of(image, Role.FACE_IMAGE, ())).before is None
    assert pictures_of(asset_of(image, Role.FACE_IMAGE)).before is None


def test_a_recording_shows_what_was_chosen_of_it(sample_media: Path) -> None:
    file = sample_media / "people/jane-carter/recording.m4a"
    chosen = FixDone(id="select", did="kept", kept=(Span(start_s=1.0, end_s=3.0),))
    seen = pictures_of(asset_of(file, Role.VOICE_AUDIO, (chosen,)))
    assert seen.chosen is not None
    assert seen.waveform is not None
    # The same file, and not the same picture.
    assert seen.chosen.name != seen.waveform.name
    assert (seen.face, seen.after, seen.timeline) == (None, None, None)


def test_a_recording_that_sounds_as_before_is_drawn_once(sample_media: Path) -> None:
    file = sample_media / "people/jane-carter/recording.m4a"
    rewrapped = FixDone(id="rewrap", did="copied the packets")
    seen = pictures_of(asset_of(file, Role.VOICE_AUDIO, (rewrapped,)))
    assert seen.chosen is None
    assert seen.waveform is not None


def test_equal_files_have_equal_names_wherever_they_lie(sample_media: Path, tmp_path: Path) -> None:
    image = sample_media / "broken/landscape-without-a-face.jpg"
    copy = tmp_path / "copy.jpg"
    copy.write_bytes(image.read_bytes())
    here, there = (pictures_of(asset_of(path, Role.FACE_IMAGE)) for path in (image, copy))
    assert here.after is not None
    assert there.after is not None
    assert here.face is not None
    assert here.after.name == there.after.name != here.face.name


def test_what_could_not_be_read_has_none(tmp_path: Path) -> None:
    report = check(tmp_path / "gone.jpg", quick=True)
    unread = Asset(
        role=Role.FACE_IMAGE, source="gone.jpg", source_sha256=None, source_report=report,
        seconds=0.0,
    )  # fmt: skip
    assert pictures_of(unread) == AssetPictures()

"""Every file of the development corpora, against what others found in it."""

from __future__ import annotations

import contextlib
import csv
import re
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from palprep.errors import MediaError
from palprep.media.facts import AudioFacts, ImageFacts, MediaType, VideoFacts
from palprep.media.images.stills import open_image
from palprep.media.sound.decoding import probe_audio
from palprep.media.sources.source import Source
from palprep.media.video import probe_video, with_sound
from palprep.values import Kind

pytestmark = pytest.mark.corpus


def heard(source: Source) -> VideoFacts:
    video = probe_video(source)
    sound = video.audio and probe_audio(source, sinks=lambda _: ())
    return with_sound(video, sound) if sound else video


PROBES = {
    Kind.IMAGE: lambda source: open_image(source)[0],
    Kind.AUDIO: lambda source: probe_audio(source, sinks=lambda _: ()),
    Kind.VIDEO: heard,
}
STILL = re.compile(r"(\w+) (\S+) (\d+)x(\d+) frames=(\d+) orient=(\d*) icc=(\w) decodes")
SCAN_BOMBS = {"jpg-progressive-1000.jpg"}
"""Files that Pillow decodes scan by scan, of which palprep allows 100."""
LONGEST_S = 20.0

Facts = ImageFacts | AudioFacts | VideoFacts


def manifest(folder: Path) -> Iterator[dict[str, str]]:
    with (folder / "MANIFEST.tsv").open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file, delimiter="\t")


def probed(path: Path) -> tuple[MediaType, Facts | None, float]:
    """What the file is, its facts or None where it is refused, and how long that took."""
    started = time.monotonic()
    source = Source.of(path)
    facts = None
    if source.type.accepted:
        with warnings.catch_warnings(), contextlib.suppress(MediaError):
            warnings.simplefilter("ignore")
            facts = PROBES[source.type.kind](source)
    return source.type, facts, time.monotonic() - started


def test_broken_and_hostile_files_give_facts_or_a_clear_refusal(corpora):
    refused = 0
    for row in manifest(corpora / "malformed"):
        path = corpora / "malformed" / row["path"]
        _, facts, seconds = probed(path)
        assert seconds < LONGEST_S, path
        refused += facts is None
    assert refused > 80


def test_stills_agree_with_pillow(corpora):
    agreed = 0
    for row in manifest(corpora / "images_odd"):
        path = corpora / "images_odd" / row["path"]
        media_type, facts, seconds = probed(path)
        assert seconds < LONGEST_S, path
        found = STILL.match(row["pillow_result"])
        if not found or not media_type.accepted:
            continue
        form, mode, width, height, frames, orientation, icc = found.groups()
        if path.name in SCAN_BOMBS:
            assert facts is None
            continue
        assert isinstance(facts, ImageFacts), path
        assert (facts.mode, facts.icc_profile is not None) == (mode, icc == "y"), path
        size = int(width), int(height)
        shown = facts.width, facts.height
        assert size == (shown[::-1] if facts.orientation >= 5 else shown), path
        # Multi-picture JPEGs hold depth maps and the like beside the one picture.
        assert facts.frames == (1 if form == "MPO" else int(frames)), path
        if media_type.format not in {"heic", "heif"} and orientation in set("12345678"):
            assert facts.orientation == int(orientation), path
        agreed += 1
    assert agreed > 450


def test_videos_agree_with_ffprobe(corpora):
    """Codec, size and nominal rate of every accepted video against the manifest's ffprobe."""
    agreed = 0
    for row in manifest(corpora / "av"):
        path = corpora / "av" / row["path"]
        media_type, facts, seconds = probed(path)
        assert seconds < LONGEST_S, path
        found = re.search(r"v:(\w+) (\d+)x(\d+)@", row["ffprobe"])
        if not found or media_type.kind is not Kind.VIDEO:
            continue
        assert isinstance(facts, VideoFacts), path
        codec, width, height = found.groups()
        assert facts.codec == codec, path
        assert (facts.stored_width, facts.stored_height) == (int(width), int(height)), path
        agreed += 1
    assert agreed > 50

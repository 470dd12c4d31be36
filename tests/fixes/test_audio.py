from __future__ import annotations

import hashlib
import re
from pathlib import Path

import av
import ffmpeg
import numpy as np
import pytest

from palprep.errors import OutputUnwritable, UsageError
from palprep.fixes.carry_out import apply
from palprep.fixes.graph import read
from palprep.media.sources import Source
from palprep.preflight import prepare
from palprep.rules.plans import VoicePlan

COPIED = VoicePlan(reasons=(), mix="keep", copies=True)


def encoded() -> VoicePlan:
    return VoicePlan(reasons=(), mix="keep")


def decoded(path: Path) -> tuple[np.ndarray, int]:
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        resampler = av.AudioResampler(format="fltp")
        blocks = [
            each.to_ndarray()
            for frame in container.decode(stream)
            for each in resampler.resample(frame)
        ]
        return np.concatenate(blocks, axis=1), stream.rate


def strongest_hz(samples: np.ndarray, rate: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum) * rate / len(samples))


@pytest.mark.parametrize(
    ("source", "codec", "container", "suffix"),
    [
        ("a.mp4", ("-c:a", "aac"), "m4a", ".m4a"),
        ("a.mov", ("-c:a", "aac"), "m4a", ".m4a"),
        ("a.mp4", ("-c:a", "libmp3lame"), "mp3", ".mp3"),
        ("a.webm", ("-c:a", "libopus"), "ogg", ".ogg"),
        ("a.webm", ("-c:a", "libvorbis"), "ogg", ".ogg"),
        ("a.mp4", ("-c:a", "flac"), "flac", ".flac"),
        ("a.mov", ("-c:a", "pcm_s16le"), "wav", ".wav"),
        ("a.mov", ("-c:a", "pcm_s24le"), "wav", ".wav"),
    ],
)
def test_the_track_of_a_video_is_copied_packet_by_packet(
    make, picture, tone, packets, tmp_path, *, source, codec, container, suffix
):
    video = ("-c:v", "libvpx", "-deadline", "realtime") if source.endswith("webm") else ()
    made = make(source, *picture, *tone, *video, *codec)
    applied = apply(COPIED, Source.of(made), tmp_path / "ada")
    assert applied.path == str(tmp_path / f"ada{suffix}")
    if codec[1].startswith("pcm"):  # packets of PCM are cut anywhere
        assert np.array_equal(decoded(Path(applied.path))[0], decoded(made)[0])
    else:
        assert packets(Path(applied.path), "audio") == packets(made, "audio")
    assert [each.id for each in applied.fixes] == ["extract", "rewrap", "strip_metadata"]
    with av.open(applied.path) as opened:
        assert not opened.streams.video


def assert_bared(made: Path, into: Path) -> None:
    prepared = prepare(made, into=into / "out")
    assert [each.id for each in prepared.fixes] == ["rewrap", "strip_metadata"]
    assert np.array_equal(decoded(prepared.path)[0], decoded(made)[0])
    with av.open(str(prepared.path)) as opened:
        assert len(opened.streams) == 1
        told = {**opened.metadata, **opened.streams[0].metadata}
    assert not {each.lower() for each in told} & {"artist", "title", "date"}
    assert not prepare(prepared.path, into=into / "again").fixes


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        *(("a.m4a", ("-c:a", "copy")), ("a.mp3", ("-b:a", "128k")), ("a.flac", ())),
        *(("a.ogg", ("-c:a", "libopus", "-b:a", "64k")), ("a.wav", ())),
    ],
)
@pytest.mark.parametrize("tag", ["artist", "title", "date"])
def test_a_recording_that_needs_no_fix_still_loses_what_tells_of_a_person(
    sample_media, make, tmp_path, *, name, codec, tag
):
    good = str(sample_media / "people/jane-carter/recording.m4a")
    made = make(name, "-i", good, "-t", "16", *codec, "-metadata", f"{tag}=2026-03-01")
    assert_bared(made, tmp_path)


@pytest.mark.parametrize(("name", "codec"), [("a.m4a", "copy"), ("a.mp3", "libmp3lame")])
def test_a_recording_that_needs_no_fix_still_loses_its_cover(
    sample_media, make, picture, tmp_path, *, name, codec
):
    good = str(sample_media / "people/jane-carter/recording.m4a")
    cover = str(make("cover.jpg", *picture, "-frames:v", "1"))
    streams = ("-i", good, "-i", cover, "-map", "0:a", "-map", "1:v", "-c:a", codec, "-t", "16")
    assert_bared(make(name, *streams, "-c:v", "copy", "-disposition:v", "attached_pic"), tmp_path)


def test_one_encode_keeps_length_pitch_and_channels(make, tone, tmp_path):
    made = make("a.flac", *tone)
    applied = apply(encoded(), Source.of(made), tmp_path / "ada")
    samples, rate = decoded(Path(applied.path))
    assert (rate, samples.shape) == (44_100, (2, 88_200))
    middle = samples[:, rate // 2 : rate * 3 // 2]
    assert strongest_hz(middle[0], rate) == pytest.approx(440, abs=2)
    assert strongest_hz(middle[1], rate) == pytest.approx(660, abs=2)


def test_surround_is_mixed_down_to_stereo(make, tmp_path):
    made = make("a.mp4", "-f", "lavfi", "-i", "sine=300:duration=1", "-ac", "6", "-c:a", "aac")
    applied = apply(encoded(), Source.of(made), tmp_path / "ada")
    samples, _ = decoded(Path(applied.path))
    assert samples.shape[0] == 2


def test_tags_and_chapters_stay_behind(make, tone, tmp_path):
    secrets = ("-metadata", "artist=Secret Ada", "-metadata", "comment=Secret place")
    codecs = {"mp3": "libmp3lame", "m4a": "aac", "wav": "pcm_s16le", "flac": "flac"}
    for container, codec in {**codecs, "ogg": "libopus"}.items():
        made = make(f"a.{container}", *tone, *secrets, "-c:a", codec, "-flags:a", "+bitexact")
        assert b"Secret" in made.read_bytes()
        plan = COPIED
        applied = apply(plan, Source.of(made), tmp_path / container)
        data = Path(applied.path).read_bytes()
        assert b"Secret" not in data
        assert not re.search(rb"Lav[fc]\d", data)  # no version of the writing library
        with av.open(applied.path) as opened:
            left = set(opened.metadata) - {"major_brand", "minor_version", "compatible_brands"}
            assert not left, left


def test_the_same_plan_gives_the_same_file(make, tone, tmp_path):
    made = make("a.flac", *tone)
    hashes = {
        hashlib.sha256(
            Path(apply(encoded(), Source.of(made), tmp_path / name).path).read_bytes()
        ).hexdigest()
        for name in ("one", "two")
    }
    assert len(hashes) == 1


def test_the_sound_is_taken_that_a_player_plays(make, tone, tmp_path):
    made = make(
        "a.mov",
        *("-f", "lavfi", "-i", "sine=300:duration=1", "-f", "lavfi", "-i", "sine=900:duration=1"),
        *("-map", "0", "-map", "1", "-c:a", "aac"),
        *("-disposition:a:0", "0", "-disposition:a:1", "default"),
    )
    samples, rate = decoded(Path(apply(encoded(), Source.of(made), tmp_path / "ada").path))
    assert strongest_hz(samples[0], rate) == pytest.approx(900, abs=2)


def test_the_source_is_untouched_and_never_the_target(make, tone, tmp_path):
    made = make("a.flac", *tone)
    before = (made.read_bytes(), made.stat().st_mtime_ns)
    with pytest.raises(UsageError, match="is the source itself"):
        apply(COPIED, Source.of(made), made.with_suffix(""))
    apply(encoded(), Source.of(made), tmp_path / "ada")
    assert (made.read_bytes(), made.stat().st_mtime_ns) == before


def test_progress_runs_from_0_to_1_and_never_back(make, tone, tmp_path):
    seen: list[float] = []
    apply(
        encoded(),
        Source.of(make("a.flac", *tone)),
        tmp_path / "ada",
        progress=seen.append,
    )
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    assert seen == sorted(seen)


def test_ctrl_c_leaves_nothing(make, tone, tmp_path):
    def interrupt(done: float) -> None:
        if done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        apply(
            encoded(),
            Source.of(make("a.flac", *tone)),
            tmp_path / "ada",
            progress=interrupt,
        )
    assert not list(tmp_path.iterdir())


def test_an_unwritable_output_is_told_in_words(make, tone, tmp_path):
    (tmp_path / "taken").write_bytes(b"")
    with pytest.raises(OutputUnwritable, match="a file stands where the folder should be"):
        apply(
            encoded(),
            Source.of(make("a.flac", *tone)),
            tmp_path / "taken" / "ada",
        )


@pytest.mark.parametrize(("given", "demuxer"), [(None, "wav"), ("mov", "mov")])
def test_ffmpeg_opens_a_source_as_one_format_and_no_other_file(tmp_path, given, demuxer):
    path = tmp_path / "a.wav"
    path.write_bytes(b"RIFF\x24\0\0\0WAVEfmt ")
    said = ffmpeg.output(read(Source.of(path), demuxer=given), "b.wav").get_args()
    options = said[: said.index("-i")]
    forced = dict(zip(options[::2], options[1::2], strict=True))
    assert (forced["-f"], forced["-protocol_whitelist"]) == (demuxer, "file")


def test_inputs_of_ffmpeg_are_made_in_one_place(checkout):
    sources = [path.read_text("utf-8") for path in (checkout / "src").rglob("*.py")]
    assert sum(text.count("ffmpeg.input(") for text in sources) == 1

"""What is learnt of a file is kept: how often it is parsed, opened, decoded and hashed."""

import hashlib
import subprocess
import sys
from collections import Counter
from pathlib import Path

import av
import pytest

from palprep.facts import Speaker
from palprep.media import ffmpeg_binary
from palprep.media.container import decoded
from palprep.media.sources import Source
from palprep.media.sources.ebml import read_matroska
from palprep.media.sources.isobmff import read_movie
from palprep.preflight import check, prepare, verify_consent
from palprep.speech import SpeakerFacts
from palprep.speech.voiceprint import SpeakerMeter
from palprep.values import Role

SPEAKER = Speaker(full_name="Jane Carter")


@pytest.fixture
def jane(light_people):
    return light_people / "jane-carter"


@pytest.fixture
def counts(monkeypatch):
    """How often each of the costly acts took place, wherever it was called from."""
    counted = Counter()

    def count(function, name):
        def counting(*args, **kwargs):
            counted[name] += 1
            return function(*args, **kwargs)

        everywhere(function, counting)

    def everywhere(function, instead):
        for module in [each for key, each in sys.modules.items() if key.startswith("palprep.")]:
            for name, value in list(vars(module).items()):
                if value is function:
                    monkeypatch.setattr(module, name, instead)

    def decoding(packet):
        counted[f"{packet.stream.type} packets"] += bool(packet.size)
        return decoded(packet)

    def opening(*args, **kwargs):
        counted["opens"] += 1
        return open_with_av(*args, **kwargs)

    def hashing(file, *args):
        # The models are hashed too, when they are loaded.
        counted["hashes"] += Path(file.name).suffix in {".mp4", ".mov", ".m4a"}
        return digest_of(file, *args)

    count(read_movie, "parses")
    count(read_matroska, "parses")
    everywhere(decoded, decoding)
    open_with_av, digest_of = av.open, hashlib.file_digest
    monkeypatch.setattr(av, "open", opening)
    monkeypatch.setattr(hashlib, "file_digest", hashing)
    return counted


def audio_packets(path):
    with av.open(str(path)) as container:
        return sum(bool(packet.size) for packet in container.demux(audio=0))


@pytest.mark.parametrize("role", [Role.TRAINING_VIDEO, Role.CONSENT_VIDEO, Role.VOICE_AUDIO])
def test_a_video_is_parsed_once_and_its_sound_decoded_once(counts, role, jane):
    path = jane / "consent.mp4"
    packets = audio_packets(path)
    counts.clear()
    report = check(path, role=role, speaker=SPEAKER)
    assert report.facts.voice.speech
    assert report.facts.video.audio.levels is not None
    assert counts["parses"] == 1
    # For a frame, the packets, the sound and the frames; and for the lips, in the seconds that are
    # known by then to be spoken.
    assert counts["opens"] == (3 if role is Role.VOICE_AUDIO else 5)
    assert counts["audio packets"] == packets
    assert counts["hashes"] == 0


def test_quick_decodes_no_sound(counts, jane):
    check(jane / "consent.mp4", quick=True)
    assert (counts["parses"], counts["opens"], counts["audio packets"]) == (1, 3, 0)


def test_a_recording_is_decoded_once(counts, jane):
    path = jane / "recording.m4a"
    packets = audio_packets(path)
    counts.clear()
    report = check(path)
    assert report.facts.voice.speech
    assert report.facts.recording.levels is not None
    assert (counts["parses"], counts["opens"], counts["audio packets"]) == (1, 1, packets)


def test_consent_is_verified_in_one_decode(counts, jane):
    path = jane / "consent.mp4"
    packets = audio_packets(path)
    counts.clear()
    facts = verify_consent(path, full_name=SPEAKER.full_name)
    assert facts.outcome == "pass"
    assert (counts["parses"], counts["audio packets"]) == (1, packets)
    # Twice besides for the start of picture and sound: times are those of a player.
    assert counts["opens"] == 3
    assert counts["video packets"] <= 3


def test_a_prepare_parses_the_source_once_and_hashes_it_and_the_output_once(counts, tmp_path, jane):
    path = jane / "training.mp4"
    source = Source.of(path)
    counts.clear()
    prepared = prepare(source, into=tmp_path, speaker=SPEAKER)
    assert prepared.sha256 == hashlib.sha256(Path(prepared.path).read_bytes()).hexdigest()
    assert prepared.source_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    # The copy has the same bytes.
    assert counts["parses"] == 1
    assert counts["hashes"] == 2
    # One hash serves whoever asks the same source again.
    assert source.sha256 == prepared.source_sha256
    assert counts["hashes"] == 2


def test_a_video_that_was_only_packed_anew_is_decoded_once(counts, tmp_path, jane):
    """What is known of it then is what a look at the new file finds."""
    phone = tmp_path / "consent.mov"
    command = [ffmpeg_binary(), "-v", "error", "-i", jane / "consent.mp4", "-c", "copy", phone]
    subprocess.run(command, check=True)
    packets = audio_packets(phone)
    counts.clear()
    ready = prepare(phone, into=tmp_path / "out", role=Role.CONSENT_VIDEO)
    assert "remux" in [fix.id for fix in ready.fixes]
    assert counts["audio packets"] == packets
    assert ready.report == check(ready.path, role=Role.CONSENT_VIDEO)


@pytest.mark.parametrize("several", [False, None])
def test_voices_are_told_apart_once_where_one_person_speaks(
    light_people, tmp_path, monkeypatch, several
):
    """No fix adds another person; where it is open, or several speak, a fix may change that."""
    told = SpeakerFacts(several=several, confidence=0.9)
    asked = []
    monkeypatch.setattr(SpeakerMeter, "facts", lambda _, embed: asked.append(embed) or told)
    ready = prepare(light_people / "anna-miller/recording.mov", into=tmp_path, role="voice-audio")
    assert ready.fixes
    assert len(asked) == (1 if several is False else 2)
    assert ready.report.facts.voice.speakers == told

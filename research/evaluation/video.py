"""How far palprep's facts of video and sound agree with a full ffmpeg's ffprobe.

    python -m research.evaluation.video [FOLDER_OR_FILE]... [--ffprobe PROGRAM] [--json FILE]
    python -m research.evaluation.video --talking [FOLDER]

Without FOLDER the development corpora of video beside the checkout are taken. Compared are,
for every file that palprep accepts: codec, stored and displayed size, rotation, pixel format,
frame rate, number of frames, length of picture (within one frame) and of sound (within one
packet of what is stated, of the time stamps or of what decodes), sample rate and channels.
ffprobe comes from a full ffmpeg (Debian: apt-get install ffmpeg); palprep itself needs none.
ffprobe before 7 does not count Theora's empty packets, each of which repeats a frame, and does
not open Ogg files whose sound lacks its headers.

``--talking`` checks instead the files that a folder's MANIFEST.tsv marks as a talking person:
each must show a moving mouth, and speech where the manifest tells of any.

Exit status 1 when anything disagrees or misses.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from palprep.errors import MediaError
from palprep.media import AudioFacts, VideoFacts, probe_video, with_sound
from palprep.media.sound import probe_audio
from palprep.media.sources import Source
from palprep.media.sources.sniff import DEMUXERS
from palprep.preflight import check
from palprep.values import Kind, Role

CORPORA = Path(__file__).resolve().parents[2].parent / "shared" / "corpora"
DEFAULT = (CORPORA / "av", CORPORA / "malformed" / "derived_av")
PACKET_S = 0.09
"""The longest packet of sound: 4096 samples of FLAC at 48 kHz."""


@dataclass(frozen=True)
class Comparison:
    """One fact of one file, as palprep and as ffprobe have it."""

    path: str
    fact: str
    palprep: Any
    ffprobe: Any
    agrees: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, default=DEFAULT)
    parser.add_argument("--ffprobe", default="ffprobe")
    parser.add_argument("--json", type=Path, help="write every comparison to this file")
    parser.add_argument("--talking", action="store_true", help="look for speech and mouths")
    arguments = parser.parse_args()
    if arguments.talking:
        return _talking(arguments.paths[0])
    if shutil.which(arguments.ffprobe) is None:
        print(f"{arguments.ffprobe} is no program: install ffmpeg, or name an ffprobe")
        return 2
    missing = [path for path in arguments.paths if not path.exists()]
    if missing:
        print(f"{missing[0]} does not exist")
        return 2
    found = [
        comparison
        for path in _files(arguments.paths)
        for comparison in _compare(path, arguments.ffprobe)
    ]
    _print(found)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(each) for each in found], indent=1))
    return 0 if all(each.agrees for each in found) else 1


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.rglob("*")) if path.is_dir() else [path]


def _compare(path: Path, ffprobe: str) -> Iterator[Comparison]:
    if not path.is_file():
        return
    source = Source.of(path)
    if source.type.kind not in {Kind.VIDEO, Kind.AUDIO}:
        return
    theirs = _probe(path, ffprobe, DEMUXERS[source.type.format])
    try:
        if source.type.kind is Kind.VIDEO:
            video = probe_video(source)
            sound = video.audio and probe_audio(source, sinks=lambda _: ())
            if sound:
                video = with_sound(video, sound)
            facts = [*_picture(video, theirs), *_sound(sound, theirs)]
        else:
            facts = list(_sound(probe_audio(source, sinks=lambda _: ()), theirs))
    except MediaError as error:
        # ffprobe describes streams that it cannot decode; palprep decodes before it describes.
        readable = "decodes" if theirs.get("decodes") else "does not decode"
        yield Comparison(str(path), "decodes", error.message, readable, readable != "decodes")
        return
    for fact, ours, other, agrees in facts:
        yield Comparison(str(path), fact, ours, other, agrees)


def _probe(path: Path, ffprobe: str, demuxer: str) -> dict[str, Any]:
    """ffprobe's streams and packets; ``decodes`` tells whether it got one frame of each kind."""
    forced = ["-v", "error", "-protocol_whitelist", "file", "-f", demuxer, f"file:{path}"]
    show = ["-show_streams", "-show_packets", "-show_frames", "-of", "json"]
    entries = (
        "stream:stream_side_data:packet=stream_index,pts_time,dts_time,duration_time,flags"
        ":frame=stream_index,nb_samples"
    )
    printed = subprocess.run(
        [ffprobe, *show, "-show_entries", entries, *forced],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
    ).stdout
    try:
        told: dict[str, Any] = json.loads(printed)
    except json.JSONDecodeError:
        # It gave up on the file in the middle of its own sentence.
        told = {}
    listed = told.get("packets_and_frames", [])
    packets = [each for each in listed if each.get("type") == "packet"]
    decoded: Counter[int] = Counter()
    for each in listed:
        if each.get("type") == "frame":
            decoded[each["stream_index"]] += int(each.get("nb_samples", 1))
    streams = told.get("streams", [])
    pictures = [each for each in streams if _is_moving(each)]
    decodes = any(decoded[each["index"]] for each in pictures or streams)
    return {"streams": streams, "packets": packets, "decoded": decoded, "decodes": decodes}


def _is_moving(stream: dict[str, Any]) -> bool:
    return stream.get("codec_type") == "video" and not stream.get("disposition", {}).get(
        "attached_pic"
    )


def _picture(video: VideoFacts, theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any, bool]]:
    stream = next((each for each in theirs["streams"] if _is_moving(each)), None)
    if stream is None:
        yield "decodes", video.codec, None, False
        return
    yield _same("codec", video.codec, stream.get("codec_name"))
    stored = stream["width"], stream["height"]
    yield _same("stored size", (video.stored_width, video.stored_height), stored)
    turned = next(
        (each["rotation"] for each in stream.get("side_data_list", ()) if "rotation" in each), 0
    )
    yield _same("rotation", video.rotation_deg, -turned % 360)
    yield _same("displayed size", (video.width, video.height), _displayed(stream, turned))
    yield _same("pixel format", video.pixel_format, stream.get("pix_fmt"))
    times, length = _presented(theirs["packets"], stream["index"])
    yield _same("frames", video.frames, len(times))
    if len(times) > 1:
        rate = (len(times) - 1) / (times[-1] - times[0])
        yield "rate", video.frame_rate, rate, abs(video.frame_rate / rate - 1) < 0.001
    frame = 1 / video.frame_rate if video.frame_rate else 0.04
    stated = float(stream["duration"]) if "duration" in stream else length
    near = min(abs(video.duration_s - stated), abs(video.duration_s - length)) <= frame + 0.001
    yield "picture length", video.duration_s, (stated, length), near


def _displayed(stream: dict[str, Any], turned: int) -> tuple[int, int]:
    aspect = stream.get("sample_aspect_ratio", "1:1").replace(":", "/")
    ratio = Fraction(aspect) if not aspect.startswith("0") else Fraction(1)
    width, height = round(stream["width"] * ratio), stream["height"]
    return (height, width) if turned % 180 else (width, height)


def _presented(packets: list[dict[str, Any]], index: int) -> tuple[list[float], float]:
    """Presentation times of a stream's frames, sorted, and the length that they span."""
    shown = [
        (float(each.get("pts_time") or each["dts_time"]), float(each.get("duration_time", 0)))
        for each in packets
        if each["stream_index"] == index
        and "D" not in each.get("flags", "")
        and ("pts_time" in each or "dts_time" in each)
    ]
    times = sorted({at for at, _ in shown})
    end = max((at + lasts for at, lasts in shown), default=0.0)
    return times, end - times[0] if times else 0.0


def _sound(
    sound: AudioFacts | None, theirs: dict[str, Any]
) -> Iterator[tuple[str, Any, Any, bool]]:
    streams = [each for each in theirs["streams"] if each.get("codec_type") == "audio"]
    yield _same("audio streams", len(sound.streams) if sound else 0, len(streams))
    if sound is None or not streams:
        return
    stream = next((each for each in streams if each["index"] == sound.stream.index), streams[0])
    yield _same("sound codec", sound.stream.codec, stream.get("codec_name"))
    yield _same("sample rate", sound.stream.sample_rate_hz, int(stream["sample_rate"]))
    yield _same("channels", sound.stream.channels, stream["channels"])
    _, length = _presented(theirs["packets"], stream["index"])
    stated = float(stream["duration"]) if "duration" in stream else length
    decoded = theirs["decoded"][stream["index"]] / int(stream["sample_rate"])
    lengths = stated, length, decoded
    near = min(abs(sound.duration_s - each) for each in lengths) <= PACKET_S
    yield "sound length", sound.duration_s, lengths, near


def _talking(folder: Path) -> int:
    with (folder / "MANIFEST.tsv").open(newline="") as file:
        listed = list(csv.DictReader(file, delimiter="\t"))
    marked = [row for row in listed if row["talking"] == "1" and row["people"] != "0"]
    misses = []
    for row in marked:
        report = check(folder / row["path"], role=Role.TRAINING_VIDEO)
        line = report.facts.timeline if report.facts else None
        if line is None:
            misses.append(f"{row['path']}: {report.error.message if report.error else 'no facts'}")
            continue
        wanted = {"a moving mouth": any(second.mouth_moves for second in line.seconds)}
        if row["speech"].startswith("en") or "speech" in row["speech"]:
            wanted["speech"] = any(second.speaking for second in line.seconds)
        shows = f"{row['shows']}; {row['people']} people"
        misses += [
            f"{row['path']}: no {what} ({shows})" for what, seen in wanted.items() if not seen
        ]
    print("\n".join(misses))
    print(f"{len(marked)} talking files, {len(misses)} misses")
    return 1 if misses else 0


def _same(fact: str, ours: Any, theirs: Any) -> tuple[str, Any, Any, bool]:
    return fact, ours, theirs, ours == theirs


def _print(found: list[Comparison]) -> None:
    for each in found:
        if not each.agrees:
            print(f"{each.path}\n    {each.fact}: palprep {each.palprep}, ffprobe {each.ffprobe}")
    asked = Counter(each.fact for each in found)
    agreed = Counter(each.fact for each in found if each.agrees)
    print(f"{len({each.path for each in found})} files")
    for fact, count in asked.items():
        print(f"{fact:<16} {agreed[fact]:4} of {count:4} agree")


if __name__ == "__main__":
    sys.exit(main())

"""Make the pictures of the guides: docs/portrait.svg, docs/timeline.svg and docs/waveform.svg.

They are what a notebook shows of the sample person's files.

uv run scripts/picture_findings.py
"""

from __future__ import annotations

from pathlib import Path

import palprep
from palprep.views.drawings.pictures import report_picture, waveform

CHECKOUT = Path(__file__).resolve().parents[1]
DOCS = CHECKOUT / "docs"
SAMPLES = CHECKOUT / "sample_media/people/jane-carter"


def main() -> None:
    """Check the files, and draw what was seen and heard."""
    for name, target in (("portrait.heic", "portrait.svg"), ("consent.mp4", "timeline.svg")):
        speaker = palprep.Speaker(full_name="Jane Carter") if name == "consent.mp4" else None
        report = palprep.check(SAMPLES / name, speaker=speaker)
        picture = report_picture(report, side=720)
        if picture is None:
            raise SystemExit(f"{name} has no picture")
        (DOCS / target).write_bytes(picture.data)
    facts = palprep.check(SAMPLES / "recording.m4a").facts
    if facts is None or facts.voice is None:
        raise SystemExit("recording.m4a was not listened to")
    (DOCS / "waveform.svg").write_bytes(waveform(facts.voice).data)


if __name__ == "__main__":
    main()

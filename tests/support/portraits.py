"""What a flawless portrait shows, made up."""

from __future__ import annotations

from palprep.values import Rect
from palprep.vision import Framing, PortraitFacts, Quality, SubjectFacts
from palprep.vision.facts import Eyes, FaceFacts, Pose, Visibility

FACE = Rect(x=600, y=300, width=320, height=420)

FLAWLESS = PortraitFacts(
    width=1600, height=1200,
    faces=(FaceFacts(box=FACE, score=0.94, presence=1.0),),
    person_share=0.5, fingerprint="0" * 16,
    quality=Quality(
        face_px=420, sharpness=0.62, brightness=0.62, peak=0.85,
        saturated=0.0, clipped_highlights=0.0,
        clipped_shadows=0.0, contrast=0.5, noise=1.0,
        skin_gains=(1.0, 1.0, 1.0), skin_hue_deg=50.0, skin_chroma=25.0, vivid_chroma=35.0,
        blocking=1.1,
    ),
    framing=Framing(
        face=FACE, head=Rect(x=560, y=180, width=400, height=540), centre_x=0.5,
        face_height_share=0.35, margin_top=0.4, margin_side=1.3, margin_bottom=1.1,
    ),
    subject=SubjectFacts(
        pose=Pose(yaw_deg=2, pitch_deg=-3, roll_deg=1),
        eyes=Eyes(distance_px=150, openness=0.9, gaze_yaw_deg=1, gaze_pitch_deg=2),
        mouth_open=0.02, adult=0.97,
        visibility=Visibility(whole=0.97, eyes=0.98, nose=0.99, mouth=0.98),
        human=0.93,
    ),
    others=0.02,
)  # fmt: skip

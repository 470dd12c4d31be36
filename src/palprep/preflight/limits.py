"""How far a file is read: as far as a profile's limits that fail ask for."""

from __future__ import annotations

from palprep.facts.probe import ProbeLimits
from palprep.rules.audio import AudioDuration
from palprep.rules.image import ImageMemory
from palprep.rules.profile import Profile
from palprep.rules.video import VideoDuration
from palprep.values import Outcome, Role


def probe_limits(profile: Profile, role: Role) -> ProbeLimits:
    """What is beyond the profile's limits in that role fails, whatever it holds: it is not read."""
    duration = AudioDuration if role is Role.VOICE_AUDIO else VideoDuration
    return ProbeLimits(
        image_memory_mb=profile.tightest_maximum(role, ImageMemory.id, Outcome.FAIL),
        duration_s=profile.tightest_maximum(role, duration.id, Outcome.FAIL),
    )

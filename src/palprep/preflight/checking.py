"""The first half of the loop that everything else calls: probe and judge.

Media only; nothing here speaks HTTP. It loads no more than an image needs. What prepares a file,
and what measures audio and video, is loaded when it is asked for.
"""

from __future__ import annotations

import functools

from palprep.facts import ProbeLimits, Toolkit, probe
from palprep.media import Source
from palprep.preflight.values import CheckRequest, infer_role, require_kind
from palprep.rules import (
    CONSENT_CHECKS,
    Profile,
    Report,
    audio_duration,
    image_memory,
    report_on,
    video_duration,
)
from palprep.values import Outcome, Role


@functools.cache
def shared_toolkit() -> Toolkit:
    """The networks of this process, for whoever brings none; each loaded when it is first used."""
    return Toolkit()


def check_source(request: CheckRequest, source: Source, toolkit: Toolkit | None) -> Report:
    """Measure and judge a file, with the shared networks where ``toolkit`` is None.

    Raises MediaError for one that cannot be read, or cannot fill the role.
    """
    role = request.role or infer_role(source)
    require_kind(source, role)
    elsewhere = request.consent_apart and role is Role.TRAINING_VIDEO
    facts = probe(
        source,
        role,
        toolkit or shared_toolkit(),
        limits=probe_limits(request.profile, role),
        speaker=None if elsewhere else request.speaker,
        quick=request.quick,
    )
    left_out = CONSENT_CHECKS if elsewhere else ()
    return report_on(source.shown, facts, role, request.profile, left_out=left_out)


def probe_limits(profile: Profile, role: Role) -> ProbeLimits:
    """How far a file is read: what is beyond the profile's limits fails, whatever it holds."""
    duration = audio_duration if role is Role.VOICE_AUDIO else video_duration
    return ProbeLimits(
        image_memory_mb=profile.tightest_maximum(role, image_memory.id, Outcome.FAIL),
        duration_s=profile.tightest_maximum(role, duration.id, Outcome.FAIL),
    )

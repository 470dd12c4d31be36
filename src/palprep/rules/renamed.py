"""Ids that rules had before. A user's profile may still use them; a line says what to write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from palprep.errors import ProfileError

RENAMED: Final[Mapping[str, str]] = {
    "audio_peak": "audio_sample_peak",
    "face_height": "face_size",
    "faces_the_lens": "head_towards_lens",
    "image_colour": "image_srgb",
    "looks_at_the_lens": "gaze_at_lens",
    "skin_colour": "skin_hue",
    "video_index_in_front": "video_faststart",
    "video_sound_drift": "av_sync_drift",
    "video_sound_offset": "av_sync_offset",
    "voice_noise_after_gain": "voice_noise_floor",
}
"""Old id to new id."""


def with_current_ids(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A parsed profile with the ids of today, and under ``notes`` what its owner should change.

    Raises ProfileError where a role has limits under the old and under the new id of a rule.
    """
    limits = data.get("limits", {})
    disabled = data.get("disable", ())
    tables = [rules for rules in limits.values() if isinstance(rules, Mapping)]
    used = {rule for rules in (*tables, disabled) for rule in rules if rule in RENAMED}
    if not used:
        return dict(data)
    for rules in tables:
        for old in used.intersection(rules):
            if RENAMED[old] in rules:
                raise ProfileError(
                    f"Profile {name} has limits for {RENAMED[old]} and for {old}, the old name of "
                    "the same check: keep one of them"
                )
    return {
        **data,
        "limits": {
            role: {RENAMED.get(rule, rule): entries for rule, entries in rules.items()}
            if isinstance(rules, Mapping)
            else rules
            for role, rules in limits.items()
        },
        "disable": [RENAMED.get(rule, rule) for rule in disabled],
        "notes": [_note(used, name)],
    }


def _note(used: Iterable[str], name: str) -> str:
    listed = ", ".join(f"{RENAMED[old]} instead of {old}" for old in sorted(used))
    return (
        f"Profile {name} uses old names of checks, which a later version will refuse: "
        f"write {listed}"
    )

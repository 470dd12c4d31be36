"""Which content can fill which role."""

from __future__ import annotations

from palprep.errors import UnsupportedMedia, UsageError
from palprep.media import Source
from palprep.values import Kind, Role
from palprep.vocabulary import RoleName

_KINDS = {
    Role.FACE_IMAGE: frozenset({Kind.IMAGE}),
    Role.VOICE_AUDIO: frozenset({Kind.AUDIO, Kind.VIDEO}),
    Role.TRAINING_VIDEO: frozenset({Kind.VIDEO}),
    Role.CONSENT_VIDEO: frozenset({Kind.VIDEO}),
}

VIDEOS = "MP4, MOV, WebM, MKV, AVI, MPG, MTS"

_WANTED = {
    Role.FACE_IMAGE: "an image (JPEG, PNG, WebP, HEIC or HEIF)",
    Role.VOICE_AUDIO: "audio, or a video with sound",
    Role.TRAINING_VIDEO: f"a video ({VIDEOS})",
    Role.CONSENT_VIDEO: f"a video ({VIDEOS})",
}


def role_named(role: Role | RoleName) -> Role:
    """The role of that name. Raises UsageError, with the names that there are."""
    try:
        return Role(role)
    except ValueError:
        roles = ", ".join(each.value for each in Role)
        raise UsageError(f"There is no role {role!r}; the roles are {roles}") from None


def infer_role(source: Source) -> Role:
    """The role that content and, among videos, the file's name suggest.

    Raises UnsupportedMedia for content that no role takes.
    """
    match source.type.kind:
        case Kind.IMAGE:
            return Role.FACE_IMAGE
        case Kind.AUDIO:
            return Role.VOICE_AUDIO
        case Kind.VIDEO:
            return Role.CONSENT_VIDEO if "consent" in source.stem.lower() else Role.TRAINING_VIDEO
        case Kind.OTHER:
            raise UnsupportedMedia(
                f"{source.name} is {source.type.description}; palprep takes images (JPEG, PNG, "
                f"WebP, HEIC, HEIF), audio (MP3, WAV, M4A, FLAC, Ogg, WebM) and video ({VIDEOS})"
            )


def require_kind(source: Source, role: Role) -> None:
    """Raise UnsupportedMedia for content that cannot fill the role."""
    if not source.type.accepted or source.type.kind not in _KINDS[role]:
        raise UnsupportedMedia(
            f"{source.name} is {source.type.description}; a {role.value} must be {_WANTED[role]}"
        )

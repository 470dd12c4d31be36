"""Who speaks in the files of a command line, and in which of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from palprep.errors import MediaError, UsageError
from palprep.vocabulary import Role

if TYPE_CHECKING:
    from palprep.facts.speaker import Speaker


def speaker_of(
    name: str | None,
    statement: Path | None,
    language: str,
    model: Path | None,
    *,
    profile: str,
) -> Speaker | None:
    """Whose consent to listen for, and with which model; None without a name.

    Raises ToolMissing for a folder without a model.
    """
    if name is None:
        if statement is not None:
            raise UsageError("--statement needs --name as well: whose consent is it?")
        return None
    # These load all decoders, which a command without a name leaves to its workers.
    from palprep.consent.model_folder import require_model
    from palprep.consent.statements import read_statement
    from palprep.facts.speaker import Speaker

    required = read_statement(statement, profile=profile) if statement else None
    return Speaker(
        full_name=name, statement=required, language=language, model=model and require_model(model)
    )


def folders_with_consent(paths: Iterable[Path], role: Role | None) -> frozenset[Path]:
    """The folders that hold one of the consent videos among these files.

    Other videos in those folders need not hold the statement.
    """
    return frozenset(path.parent for path in paths if role_of(path, role) is Role.CONSENT_VIDEO)


def role_of(path: Path, role: Role | None) -> Role | None:
    """What the file will be judged as; None for one that cannot be read."""
    from palprep.media.source import Source
    from palprep.preflight.roles import infer_role

    try:
        return role or infer_role(Source.of(path))
    except MediaError:
        return None

"""What is made of a person's files, and what is not: decided when all of them are prepared.

A voice needs the recording. A replica needs the files that it is trained from, and the consent to
a video. A file that neither needs may fail: it is left out, and that is said. Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from palprep.batch.requests import Requests
from palprep.rules.report import Report
from palprep.values import Outcome, Role, Value

NOTHING_TO_MAKE = (
    "Nothing can be made of these files: add a recording or a training video; or, for a replica "
    "from the portrait, the name of a stock voice (stock_voice in person.toml or in the manifest)"
)

WITHOUT_CONSENT = (
    "No video is trained from without consent. Record the statement, at the start of the training "
    "video or as a video of its own; or run with --without-consent."
)

_ABOUT_THE_PERSON = "appears_under_18"
"""The check that fails for the person, whichever file shows it: no other file makes up for it."""


class Decision(Value):
    """``requests`` is what to make. ``refused`` says why that is not all, or nothing; ``left_out``
    names the files that the work goes on without, and why.
    """

    requests: Requests
    refused: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


class Unfit(Value):
    """Why a file cannot be used, one sentence each."""

    reasons: tuple[str, ...]
    report: Report


def decide(
    asked: Requests,
    unfit: Mapping[Role, Unfit],
    *,
    missing: Sequence[str] = (),
    voice_from_video: bool,
) -> Decision:
    """What can be made of ``asked``, when these files are ``unfit``.

    ``missing`` says what is missing of the consent. It speaks against the replica, and against a
    voice that is taken from the training video (``voice_from_video``).
    """
    if asked.nothing:
        return Decision(requests=asked, refused=_reasons(unfit, unfit, missing, [NOTHING_TO_MAKE]))
    for_all = {role for role in unfit if _is_about_the_person(unfit[role])}
    for_voice = for_all | ({Role.VOICE_AUDIO} if asked.voice is not None else set())
    for_replica = for_all | (set(asked.replica_roles) if asked.replica is not None else set())
    unheard = bool(missing)
    no_voice = bool(for_voice & unfit.keys()) or (unheard and voice_from_video)
    no_replica = bool(for_replica & unfit.keys()) or unheard
    requests = asked.model_copy(
        update={
            "voice": None if no_voice else asked.voice,
            "replica": None if no_replica else asked.replica,
        }
    )
    stops = unheard and (asked.replica is not None or voice_from_video)
    needed = [role for role in unfit if role in for_voice | for_replica]
    refused = _reasons(unfit, needed, (*missing, WITHOUT_CONSENT) if stops else ())
    if refused and not requests.nothing:
        made = "voice" if requests.voice is not None else "replica"
        refused = (f"Only the {made} is made. {refused[0]}", *refused[1:])
    spare = [role for role in unfit if role not in needed]
    left_out = _reasons(unfit, spare, () if stops else missing)
    return Decision(
        requests=requests,
        refused=refused,
        left_out=tuple(f"Left out: {reason}" for reason in left_out),
    )


def _reasons(
    unfit: Mapping[Role, Unfit], roles: Iterable[Role], *besides: Sequence[str]
) -> tuple[str, ...]:
    """Why the files in these roles cannot be used, then what stands ``besides``; each once."""
    against = (reason for role in roles for reason in unfit[role].reasons)
    return tuple(dict.fromkeys((*against, *(reason for each in besides for reason in each))))


def _is_about_the_person(unfit: Unfit) -> bool:
    return any(check.id == _ABOUT_THE_PERSON for check in unfit.report.having(Outcome.FAIL))

"""What is made of a person's files, and what is not: decided when all of them are prepared.

A voice needs the recording. A replica needs the files that it is trained from, and the consent to
a video. A file that neither needs may fail: it is left out, and that is said. Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from palprep.batch.work.requests import Requests
from palprep.rules import Report
from palprep.values import Outcome, Role, Value

NOTHING_TO_MAKE = (
    "Nothing can be made of these files: add a recording or a training video; or, for a replica "
    "from the portrait, the name of a stock voice (stock_voice in person.toml or in the manifest)"
)

WITHOUT_CONSENT = (
    "No video is trained from without consent. Record the statement, at the start of the training "
    "video or as a video of its own; or run with --without-consent."
)

IN_DOUBT = (
    "Whether consent was given is in doubt, and a person must decide: until then no replica is "
    "made. Record the statement again, clearly and word for word, and run the same command; or, "
    "to go on without it, run with --without-consent."
)

_ABOUT_THE_PERSON = "appears_under_18"
"""The check that fails for the person, whichever file shows it: no other file makes up for it."""


class Decision(Value):
    """``requests`` is what to make. ``refused`` says why that is not all, or nothing; ``left_out``
    names the files that the work goes on without, and why. ``held``: a doubt about the consent
    alone keeps something from being made.
    """

    requests: Requests
    refused: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    held: bool = False


class Unfit(Value):
    """Why a file cannot be used, one sentence each."""

    reasons: tuple[str, ...]
    report: Report


def decide(
    asked: Requests,
    unfit: Mapping[Role, Unfit],
    *,
    missing: Sequence[str] = (),
    doubts: Sequence[str] = (),
    voice_from_video: bool,
) -> Decision:
    """What can be made of ``asked``, when these files are ``unfit``.

    ``missing`` says what is missing of the consent, ``doubts`` what is in doubt where nothing is
    missing. Either speaks against the replica, and against a voice that is taken from the training
    video (``voice_from_video``).
    """
    against = (*missing, *doubts)
    if asked.nothing:
        return Decision(requests=asked, refused=_reasons(unfit, unfit, against, [NOTHING_TO_MAKE]))
    for_all = {role for role in unfit if _is_about_the_person(unfit[role])}
    for_voice = for_all | ({Role.VOICE_AUDIO} if asked.voice is not None else set())
    for_replica = for_all | (set(asked.replica_roles) if asked.replica is not None else set())

    def allowed(*, unheard: bool) -> Requests:
        no_voice = bool(for_voice & unfit.keys()) or (unheard and voice_from_video)
        no_replica = bool(for_replica & unfit.keys()) or unheard
        return asked.model_copy(
            update={
                "voice": None if no_voice else asked.voice,
                "replica": None if no_replica else asked.replica,
            }
        )

    requests = allowed(unheard=bool(against))
    stops = bool(against) and (asked.replica is not None or voice_from_video)
    needed = [role for role in unfit if role in for_voice | for_replica]
    to_do = WITHOUT_CONSENT if missing else IN_DOUBT
    refused = _reasons(unfit, needed, (*against, to_do) if stops else ())
    if refused and not requests.nothing:
        made = "voice" if requests.voice is not None else "replica"
        refused = (f"Only the {made} is made. {refused[0]}", *refused[1:])
    spare = [role for role in unfit if role not in needed]
    left_out = _reasons(unfit, spare, () if stops else against)
    return Decision(
        requests=requests,
        refused=refused,
        left_out=tuple(f"Left out: {reason}" for reason in left_out),
        held=requests != allowed(unheard=bool(missing)),
    )


def _reasons(
    unfit: Mapping[Role, Unfit], roles: Iterable[Role], *besides: Sequence[str]
) -> tuple[str, ...]:
    """Why the files in these roles cannot be used, then what stands ``besides``; each once."""
    against = (reason for role in roles for reason in unfit[role].reasons)
    return tuple(dict.fromkeys((*against, *(reason for each in besides for reason in each))))


def _is_about_the_person(unfit: Unfit) -> bool:
    return any(check.id == _ABOUT_THE_PERSON for check in unfit.report.having(Outcome.FAIL))

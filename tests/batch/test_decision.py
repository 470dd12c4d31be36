"""What is made of a person's files, and what a file that fails stops."""

from __future__ import annotations

import pytest

from palprep.batch.work.decision import (
    NOTHING_TO_MAKE,
    TO_DO,
    Requests,
    Unfit,
    Wanted,
    decide,
    not_asked_for,
)
from palprep.errors import MediaError
from palprep.journal.runs import PersonOutcome
from palprep.pipelines import ReplicaRequest, VoiceRequest
from palprep.rules import Check, Report
from palprep.rules.consent import (
    ConsentDoubt,
    ConsentEvidence,
    ConsentState,
    consent_state,
)
from palprep.values import Outcome, Role

VOICE = Wanted(request=VoiceRequest(voice_name="Ada"), roles=(Role.VOICE_AUDIO,))
REPLICA = Wanted(request=ReplicaRequest(replica_name="Ada"), roles=(Role.TRAINING_VIDEO,))
FROM_VIDEO = (VOICE, REPLICA)
VOICE_ALONE = (VOICE,)
NOTHING = ()


HEARD = ConsentState(state="holds")


def lacking(missing=(), doubts=()) -> ConsentState:
    told = (
        ConsentDoubt(check="mouth_moves", sentence=each, words=each, stretch=None)
        for each in doubts
    )
    return consent_state(ConsentEvidence(missing=missing, doubts=tuple(told)), None)


def unfit(*roles: Role, check: str = "resolution") -> dict[Role, Unfit]:
    failed = Check(id=check, label="x", outcome=Outcome.FAIL)
    return {
        role: Unfit(
            reasons=(f"{role.value} fails",),
            report=Report(path="x", role=role, profile="core-4", checks=(failed,)),
            ids=(check,),
        )
        for role in roles
    }


@pytest.mark.parametrize(
    ("asked", "failing", "made", "refused", "left_out"),
    [
        (FROM_VIDEO, [], "voice replica", [], []),
        (FROM_VIDEO, [Role.FACE_IMAGE], "voice replica", [], ["face-image"]),
        (FROM_VIDEO, [Role.TRAINING_VIDEO], "voice", ["training-video"], []),
        (FROM_VIDEO, [Role.VOICE_AUDIO], "replica", ["voice-audio"], []),
        (FROM_VIDEO, [Role.TRAINING_VIDEO, Role.VOICE_AUDIO], "",
         ["training-video", "voice-audio"], []),
        (VOICE_ALONE, [Role.CONSENT_VIDEO], "voice", [], ["consent-video"]),
    ],
)  # fmt: skip
def test_a_file_stops_what_needs_it(asked, failing, made, refused, left_out):
    requests, so_far = decide(asked, unfit(*failing), HEARD, voice_from_video=False)
    assert _made(requests) == made
    said = "\n".join(f"{role} fails" for role in refused)
    assert "\n".join(_told(requests, so_far)) == said
    only = f"Only the {made} is made. {said}" if made and refused else ""
    assert not made or "\n".join(so_far.not_made) == only
    assert list(so_far.notes) == [f"Left out: {role} fails" for role in left_out]


@pytest.mark.parametrize(("from_video", "made"), [(False, "voice"), (True, "")])
def test_without_consent_nothing_is_made_of_a_video(from_video, made):
    requests, so_far = decide(FROM_VIDEO, {}, lacking(("not heard",)), voice_from_video=from_video)
    assert _made(requests) == made
    assert _told(requests, so_far) == ("not heard", TO_DO["fails"])
    if made:
        assert so_far.not_made == ("Only the voice is made. not heard", TO_DO["fails"])


def test_what_speaks_against_a_file_and_its_consent_is_told_once():
    why = "training-video fails"
    failing = unfit(*REPLICA.roles)
    _, so_far = decide(FROM_VIDEO, failing, lacking((why,)), voice_from_video=False)
    assert so_far.not_made == (f"Only the voice is made. {why}", TO_DO["fails"])


def test_a_video_that_cannot_be_read_is_told_once():
    damaged = {
        role: each.model_copy(
            update={
                "report": Report.of_error("x", MediaError("x is damaged"), role=role, profile="p")
            }
        )
        for role, each in unfit(Role.TRAINING_VIDEO, Role.VOICE_AUDIO).items()
    }
    requests, so_far = decide(FROM_VIDEO, damaged, lacking(("not heard",)), voice_from_video=True)
    assert (requests, _told(requests, so_far)) == ((), ("training-video fails",))
    assert so_far.blocked_by == ("resolution",)
    apart = REPLICA.model_copy(update={"roles": (Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)})
    requests, so_far = decide(
        (VOICE, apart), damaged, lacking(("not heard",)), voice_from_video=True
    )
    assert _told(requests, so_far) == ("training-video fails", "not heard", TO_DO["fails"])


@pytest.mark.parametrize(
    ("voice", "told"),
    [
        ("audio_duration", ["training-video"]),
        ("video_duration", ["training-video"]),
        ("voice_snr", ["training-video", "voice-audio"]),
    ],
)
def test_what_follows_from_a_short_video_is_no_second_thing_to_do(voice, told):
    short = unfit(Role.TRAINING_VIDEO, check="video_duration") | unfit(
        Role.VOICE_AUDIO, check=voice
    )
    requests, so_far = decide(FROM_VIDEO, short, HEARD, voice_from_video=True)
    assert _told(requests, so_far) == tuple(f"{each} fails" for each in told)
    recorded = decide(FROM_VIDEO, short, HEARD, voice_from_video=False)
    assert len(_told(*recorded)) == 2


@pytest.mark.parametrize(("from_video", "made"), [(False, "voice"), (True, "")])
def test_a_doubt_holds_what_is_made_of_a_video(from_video, made):
    requests, so_far = decide(
        FROM_VIDEO, {}, lacking((), ("listen to it",)), voice_from_video=from_video
    )
    assert (_made(requests), so_far.held) == (made, True)
    assert _told(requests, so_far) == ("listen to it", TO_DO["open"])


def test_what_somebody_is_to_decide_leads():
    short, doubt = unfit(Role.TRAINING_VIDEO), lacking((), ("listen to it",))
    requests, so_far = decide(FROM_VIDEO, short, doubt, voice_from_video=True)
    assert _told(requests, so_far) == ("listen to it", TO_DO["open"], "training-video fails")
    assert so_far.blocked_by == ("consent_in_doubt", "resolution")


def test_what_a_person_refused_is_recorded_again() -> None:
    refused = ConsentState(state="refused", reasons=("“No,” said Eve.",))
    requests, so_far = decide(FROM_VIDEO, {}, refused, voice_from_video=True)
    assert (requests, so_far.held) == ((), False)
    assert _told(requests, so_far) == ("“No,” said Eve.", TO_DO["refused"])


@pytest.mark.parametrize(
    ("asked", "failing", "missing", "doubts"),
    [
        (FROM_VIDEO, [], (), ()),
        (FROM_VIDEO, [], ("not heard",), ()),
        (FROM_VIDEO, [Role.TRAINING_VIDEO], (), ("listen to it",)),
        (VOICE_ALONE, [], (), ("listen to it",)),
        (NOTHING, [], (), ("listen to it",)),
    ],
)
def test_where_no_decision_would_make_more_nobody_is_asked_for_one(asked, failing, missing, doubts):
    consent = lacking(missing, doubts)
    requests, so_far = decide(asked, unfit(*failing), consent, voice_from_video=False)
    assert not so_far.held
    said = " ".join((*_told(requests, so_far), *so_far.notes))
    assert all(doubt in said for doubt in doubts)


@pytest.mark.parametrize("alone", [True, False])
def test_a_statement_that_is_recorded_again_anyway_is_nobodys_decision(alone):
    both = REPLICA.model_copy(update={"roles": (Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)})
    asked, doubt = (VOICE, REPLICA if alone else both), lacking((), ("listen to it",))
    requests, so_far = decide(asked, unfit(Role.TRAINING_VIDEO), doubt, voice_from_video=False)
    assert _told(requests, so_far)[:2] == ("training-video fails", "listen to it")
    assert (TO_DO["open"] in _told(requests, so_far)) is not alone


def test_a_consent_that_nothing_needs_is_told():
    requests, so_far = decide(VOICE_ALONE, {}, lacking(("not heard",)), voice_from_video=False)
    assert _made(requests) == "voice"
    assert (_told(requests, so_far), so_far.notes) == ((), ("Left out: not heard",))


def test_who_may_be_a_minor_in_any_file_is_made_nothing_of():
    failing = unfit(Role.FACE_IMAGE, check="appears_under_18")
    requests, so_far = decide(FROM_VIDEO, failing, HEARD, voice_from_video=False)
    assert _made(requests) == ""
    assert (_told(requests, so_far), so_far.notes) == (("face-image fails",), ())


def test_where_nothing_can_be_made_everything_is_told():
    requests, so_far = decide(NOTHING, unfit(Role.FACE_IMAGE), HEARD, voice_from_video=False)
    assert _told(requests, so_far) == ("face-image fails", NOTHING_TO_MAKE)


def _made(requests: Requests) -> str:
    return " ".join(each.request.what for each in requests)


def _told(requests: Requests, so_far: PersonOutcome) -> tuple[str, ...]:
    """Why not everything is made, or nothing."""
    if not requests:
        return so_far.reasons
    only = f"Only the {requests[0].request.what} is made. "
    assert all(each.startswith(only) for each in so_far.not_made[:1])
    return tuple(each.removeprefix(only) for each in so_far.not_made)


def test_a_portrait_without_a_stock_voice_is_told() -> None:
    [told] = not_asked_for(VOICE_ALONE, {Role.FACE_IMAGE, Role.VOICE_AUDIO})
    assert "stock_voice" in told
    assert not_asked_for(VOICE_ALONE, {Role.VOICE_AUDIO}) == ()
    assert not_asked_for(FROM_VIDEO, {Role.FACE_IMAGE, Role.TRAINING_VIDEO}) == ()
    assert not_asked_for(NOTHING, {Role.FACE_IMAGE}) == ()

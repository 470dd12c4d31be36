"""The rules of the statement, from made-up facts."""

from __future__ import annotations

import pytest
from voices import voice_of

from palprep.consent import ConsentFacts, WordRecord
from palprep.media import SignalFacts
from palprep.rules.catalogue import report_on
from palprep.rules.consent.checks import (
    CONSENT_CHECKS,
    consent_doubts,
    consent_first,
    consent_seen,
    consent_spoken,
    lacks_consent,
)
from palprep.rules.profile import load_profile
from palprep.rules.report import Report, ReportError
from palprep.rules.video_person import mouth_moves
from palprep.values import Outcome, Role
from palprep.vision import FootageFacts, FrameSample

PROFILE = load_profile()
STATED = (4.0, 10.0)


def heard(outcome="pass", starts_at=STATED[0], ends_at=STATED[1], **more):
    return ConsentFacts(
        outcome=outcome, transcript="", starts_at=starts_at, ends_at=ends_at, words=(),
        reasons=() if outcome == "pass" else ("Because.",), statement="", full_name="Ada",
        language="en", **more,
    )  # fmt: skip


def footage(talks, people=lambda at_s: 1, every_s=0.25, duration_s=20.0):
    """Samples of a face whose mouth opens and shuts while ``talks`` says so."""
    count = int(duration_s / every_s)
    return FootageFacts(
        every_s=every_s,
        looks=(),
        samples=tuple(
            FrameSample(
                at_s=at_s, people=people(at_s), face_height_share=0.3 if people(at_s) else None,
                mouth_open=0.2 if index % 2 and talks(at_s) else 0.0,
            )
            for index, at_s in ((index, index * every_s) for index in range(count))
        ),
    )  # fmt: skip


@pytest.fixture
def spoken(video_facts):
    """Twenty seconds of speech with the statement in them; ``spoken(footage, consent)``."""

    def build(seen, consent=None, **more):
        return video_facts(duration_s=20.0).model_copy(
            update={
                "footage": seen,
                "voice": voice_of((0.0, 20.0), duration_s=20.0),
                "consent": consent,
                **more,
            }
        )

    return build


def report_of(facts, role=Role.TRAINING_VIDEO, left_out=()):
    return report_on("x.mp4", facts, role, PROFILE, left_out=left_out)


@pytest.mark.parametrize(
    ("reasons", "shown"),
    [((), "warn"), (("One.",), "warn: One."), (("One.", "Two.", "3."), "warn: One. (and 2 more)")],
)
def test_the_first_reason_is_shown_and_the_others_are_counted(spoken, reasons, shown):
    facts = heard("warn").model_copy(update={"reasons": reasons})
    assert consent_spoken.measure.get(spoken(None, facts)).shown == shown


def test_the_mouth_counts_while_the_statement_is_spoken(spoken):
    later = footage(lambda at_s: at_s > 12.0)
    assert mouth_moves.measure.get(spoken(later, heard())).value == 0.0
    assert mouth_moves.measure.get(spoken(later)).value == pytest.approx(0.4, abs=0.06)
    then = footage(lambda at_s: STATED[0] <= at_s <= STATED[1])
    found = mouth_moves.measure.get(spoken(then, heard()))
    assert (found.value, found.shown) == (1.0, "100% of the time while the statement is spoken")


def test_a_silent_person_is_not_measured(spoken, video_facts):
    facts = spoken(footage(lambda at_s: True)).model_copy(
        update={"voice": voice_of(duration_s=20.0)}
    )
    assert "while somebody speaks" in mouth_moves.measure.get(facts).reason
    assert "without --quick" in mouth_moves.measure.get(video_facts()).advice


@pytest.mark.parametrize(
    ("people", "share", "outcome"),
    [
        (lambda at_s: 1, 1.0, Outcome.PASS),
        (lambda at_s: 0 if at_s > 15 else 1, 1.0, Outcome.PASS),
        (lambda at_s: 2 if 5 <= at_s < 7 else 1, 0.68, Outcome.FAIL),
        (lambda at_s: 0 if at_s <= 10 else 1, 0.0, Outcome.FAIL),
    ],
)
def test_one_face_is_seen_while_the_statement_is_spoken(spoken, people, share, outcome):
    facts = spoken(footage(lambda at_s: True, people), heard())
    assert consent_seen.measure.get(facts).value == pytest.approx(share, abs=0.01)
    assert report_of(facts).check("consent_seen").outcome is outcome


@pytest.mark.parametrize(("cut_s", "outcome"), [(3.9, "pass"), (7.0, "warn"), (10.1, "pass")])
def test_a_cut_within_the_statement_is_a_doubt(spoken, cut_s, outcome):
    signal = SignalFacts(frames=500, seconds=(), black=(), cuts=(cut_s,))
    facts = spoken(footage(lambda at_s: True), heard())
    report = report_of(
        facts.model_copy(update={"video": facts.video.model_copy(update={"signal": signal})})
    )
    assert report.check("consent_uncut").outcome == outcome
    doubts = [each.check for each in doubts_of(report)]
    assert ("consent_uncut" in doubts) == (outcome == "warn")


def test_where_the_picture_has_ended_nobody_is_seen(spoken):
    """Spoken over nothing, a statement was told to be in a video that is too long."""
    for ends_s, share in ((2.0, 0.0), (7.0, 0.5)):
        shown = footage(lambda at_s: True)
        kept = tuple(each for each in shown.samples if each.at_s < ends_s)
        facts = spoken(shown.model_copy(update={"samples": kept}), heard())
        video = facts.video.model_copy(update={"duration_s": ends_s})
        found = consent_seen.measure.get(facts.model_copy(update={"video": video}))
        assert found.value == pytest.approx(share, abs=0.04)


def test_frames_far_apart_prove_nothing(spoken):
    rare = footage(lambda at_s: True, every_s=5.0)
    assert "Too few" in consent_seen.measure.get(spoken(rare, heard())).reason
    nowhere = heard("fail", starts_at=None, ends_at=None)
    assert "not found" in consent_seen.measure.get(spoken(rare, nowhere)).reason


@pytest.mark.parametrize("role", [Role.TRAINING_VIDEO, Role.CONSENT_VIDEO])
def test_without_a_name_the_statement_is_unknown_and_apart_it_is_no_question(spoken, role):
    silent = footage(lambda at_s: True)
    unnamed = {check.id: check for check in report_of(spoken(silent), role).checks}
    assert unnamed.keys() >= CONSENT_CHECKS
    assert {unnamed[check].outcome for check in CONSENT_CHECKS} == {Outcome.UNKNOWN}
    apart = report_of(spoken(silent), role, CONSENT_CHECKS)
    assert not CONSENT_CHECKS & {check.id for check in apart.checks}


def doubts_of(report, file=""):
    return consent_doubts(report.checks, report.consent, file)


LACKING = {
    "pass": None,
    "warn": None,
    "fail": "The statement of consent is not in {}. Because.",
    "unknown": "Whether consent is given in {} is not known. Because.",
    "nobody listened": "Whether consent is given in {} is not known. The statement of consent was",
    "profile without it": "was not heard in {}. Profile lenient does not ask for consent_spoken in",
    "profile that lets it pass": "The statement of consent is not in {}. Because.",
    "no sound": "The statement of consent was not heard in {}. It has no audio.",
    "unreadable": "The statement of consent was not heard in {}. It is damaged.",
    "hardly seen": None,
}
"""Why each kind of reading is no consent; None where it is."""


@pytest.fixture
def reading(spoken, tmp_path):
    """``reading(kind, role)``: the report on a video of one of these kinds."""
    seen = footage(lambda at_s: True)

    def build(kind, role):
        silent = spoken(seen)
        silent = silent.model_copy(update={"video": silent.video.model_copy(
            update={"audio": None})})  # fmt: skip
        own = tmp_path / "lenient.toml"
        own.write_text(
            'name = "lenient"\nextends = "core-4"\n'
            + ('disable = ["consent_spoken"]\n' if kind == "profile without it" else "")
            + "".join(
                f'[[limits.{each}.consent_spoken]]\nany_of = ["pass"]\nlevel = "warn"\n'
                'source = "x"\ndate = 2026-01-01\n'
                for each in ("training-video", "consent-video")
            )
        )
        profile = load_profile(own) if kind.startswith("profile") else PROFILE
        match kind:
            case "nobody listened":
                facts = spoken(seen)
            case "no sound":
                facts = silent
            case "unreadable":
                error = ReportError(code="media_damaged", message="It is damaged.")
                return Report(path="x.mp4", role=role, profile="core-4", error=error)
            case "hardly seen":
                facts = spoken(footage(lambda at_s: True, every_s=5.0), heard())
            case "profile without it" | "profile that lets it pass":
                facts = spoken(seen, heard("fail"))
            case _:
                facts = spoken(seen, heard(kind))
        return report_on("x.mp4", facts, role, profile)

    return build


@pytest.mark.parametrize("kind", LACKING)
@pytest.mark.parametrize("apart", [False, True])
def test_only_consent_that_was_heard_and_matches_is_consent(reading, kind, apart):
    stating = reading(kind, Role.CONSENT_VIDEO if apart else Role.TRAINING_VIDEO)
    elsewhere = reading("pass", Role.TRAINING_VIDEO)
    lacking = lacks_consent(elsewhere, stating) if apart else lacks_consent(stating)
    if LACKING[kind] is None:
        assert lacking is None
    else:
        where = "the consent video" if apart else "its opening"
        assert LACKING[kind].format(where) in str(lacking)


def test_a_video_whose_consent_is_elsewhere_is_not_listened_to(spoken, reading):
    video = report_of(spoken(footage(lambda at_s: True)), left_out=CONSENT_CHECKS)
    assert "there is none" in lacks_consent(video)
    assert lacks_consent(video, reading("pass", Role.CONSENT_VIDEO)) is None
    assert "whose consent another video holds" in lacks_consent(video, video)


def word(expected, start, end, outcome="pass"):
    return WordRecord(
        expected=expected, heard=expected, start=start, end=end, probability=0.5, outcome=outcome
    )


DOUBTFUL_WORD = (word("I,", 4.0, 4.5), word("Ada,", 4.5, 5.25, "warn"), word("agree.", 5.25, 10.0))
BEFORE = f"Before the statement of consent, “So” is said. {consent_first.texts.advice}"
FILE = "the prepared file"
AFTER = {"said_after": "Or something.", "reasons": ("A remark is heard. Listen to it.",)}


@pytest.mark.parametrize(
    ("consent", "doubts"),
    [
        ({"starts_at": 0.5}, ()),
        ({"starts_at": 0.5, "outcome": "warn"},
         ("Because. Listen to the prepared file from 0.5 s to 10.0 s.",)),
        ({"starts_at": 0.5, "outcome": "warn", "words": DOUBTFUL_WORD},
         ("Because. Listen to the prepared file from 4.5 s to 5.2 s.",)),
        ({"starts_at": 0.5, "outcome": "warn", **AFTER},
         (f"A remark is heard. Listen to {FILE} from 0.5 s to 10.0 s, and to what follows.",)),
        ({"starts_at": 0.5, "said_before": "So"}, ()),
        ({"starts_at": 0.5, "said_before": "So", "before": Outcome.WARN},
         (f"{BEFORE} Watch {FILE} from 0.0 s to 10.0 s.",)),
        ({"starts_at": 0.5, "outcome": "fail"}, ()),
        ({"starts_at": 0.5, "outcome": "unknown"}, ()),
        (None, ()),
    ],
)  # fmt: skip
def test_a_doubt_says_what_to_listen_to(spoken, consent, doubts):
    facts = consent and heard(consent.get("outcome", "pass")).model_copy(
        update={**consent, "outcome": Outcome(consent.get("outcome", "pass"))}
    )
    report = report_of(spoken(footage(lambda at_s: True), facts), Role.CONSENT_VIDEO)
    told = doubts_of(report)
    assert tuple(each.words for each in told) == doubts
    for each in told:
        stretch = each.stretch
        assert f"from {stretch.start_s:.1f} s to {stretch.end_s:.1f} s" in each.words


def test_what_could_not_be_looked_at_is_a_doubt_and_what_was_not_heard_is_none(spoken):
    hardly = footage(lambda at_s: True, every_s=5.0)
    unseen = report_of(spoken(hardly, heard("warn", starts_at=0.5)), Role.CONSENT_VIDEO)
    assert lacks_consent(unseen) is None
    words, seen = doubts_of(unseen, "x.mp4")
    assert (words.check, words.sentence) == ("consent_spoken", "Because.")
    assert seen.check == "consent_seen"
    assert seen.words.startswith("x.mp4: Too few frames")
    assert seen.words.endswith("Watch the prepared file from 0.5 s to 10.0 s.")
    unheard = report_of(spoken(hardly, heard("unknown", starts_at=0.5)), Role.CONSENT_VIDEO)
    assert lacks_consent(unheard) is not None
    assert doubts_of(unheard) == ()


def test_a_mouth_that_rests_leaves_it_in_doubt_who_speaks(spoken):
    # Too few frames to call a mouth still.
    resting = spoken(footage(lambda at_s: False, every_s=2.0), heard(starts_at=0.5))
    [doubt] = doubts_of(report_of(resting, Role.CONSENT_VIDEO))
    assert doubt.words.startswith("The mouth moves in only 0% of the seconds of the statement.")
    assert doubt.words.endswith("Watch the prepared file from 0.5 s to 10.0 s.")
    elsewhere = report_of(resting, left_out=CONSENT_CHECKS)
    assert elsewhere.check("mouth_moves").outcome is Outcome.WARN
    assert doubts_of(elsewhere) == ()


def test_a_still_mouth_is_no_doubt_but_a_failure(spoken):
    still = report_of(spoken(footage(lambda at_s: False), heard(starts_at=0.5)), Role.CONSENT_VIDEO)
    assert still.check("mouth_moves").outcome is Outcome.FAIL
    assert not still.passed
    assert doubts_of(still) == ()

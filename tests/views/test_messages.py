"""Messages to people who must redo something: what is missing, in their language, and no more."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import pytest
from finished_runs import BAD, CONSENT, EVIL, GOOD, UNKNOWN, asset, person, run

from palprep.errors import DamagedMedia, FileUnreadable, ToolFailed, UsageError
from palprep.preflight import Asset
from palprep.rules import Check, Report
from palprep.values import Outcome, Role
from palprep.views.html import languages_of
from palprep.views.messages import messages

UNHEARD = Check(
    id="consent_spoken", label="Consent statement", outcome=Outcome.FAIL,
    sentence="“me” was not heard. There is one more reason.", advice="Again.",
)  # fmt: skip
HEARD = CONSENT.model_copy(update={"reasons": ("“me” was not heard.", "“never” was added.")})
ODD = Check(id="own_rule", label="Odd", outcome=Outcome.FAIL, sentence="It is odd.", advice="Do.")


def redone(**changes):
    assets = (
        asset(GOOD, UNKNOWN, BAD.model_copy(update={"sentence": "Not in the middle."})),
        asset(UNHEARD, ODD, role=Role.CONSENT_VIDEO, consent=HEARD),
    )
    blocked = ("nothing_to_make", "person_centered", "consent_spoken", "own_rule", "same_person")
    given = {"status": "redo", "assets": assets, "blocked_by": blocked, **changes}
    return person(**given)


def written(*people, **asked):
    return list(messages(run(*people), Path("nowhere"), **asked))


@pytest.mark.parametrize("language", languages_of("messages"))
def test_every_language_has_the_same_words(language):
    def keys(name):
        file = resources.files("palprep.views").joinpath("messages", f"{name}.toml")
        words = tomllib.loads(file.read_text("utf-8"))
        return sorted(words), sorted(words["roles"]), "{name}" in words["greeting"]

    assert keys(language) == keys("en")


def test_it_says_only_what_is_missing_why_and_how():
    [message] = written(redone(), person(slug="bob"), redone(slug="cyd", status="needs_answer"))
    assert (message.person, message.language, message.english) == ("ada", "en", ())
    lines = message.text.splitlines()
    assert lines[4:] == [
        "Portrait (a.heic)",
        "- Not in the middle. Take it again with the face in the middle.",
        "",
        "Consent video (a.heic)",
        "- “me” was not heard. “never” was added. Record it slowly, word for word.",
        "- It is odd. Do.",
        "",
        "All files together",
        "- Not all files show the same person. Send files that all show you.",
        "",
        "Say these words, exactly as they stand here:",
        "",
        "    I agree",
        "",
        "You need not send anything else. Thank you!",
    ]


def test_it_greets_by_the_persons_name_and_not_by_the_replicas():
    [message] = written(redone(slug="p-001", name="p-001", full_name="Ada Lovelace"))
    assert message.text.startswith("Hello Ada Lovelace,\n")
    assert (message.person, message.name) == ("p-001", "Ada Lovelace")
    assert "p-001" not in f"{message.subject}{message.text}{message.html}"


def test_it_is_in_the_persons_language_and_says_what_is_not():
    mine, theirs, odd = written(
        redone(language="es"), redone(slug="bob"), redone(slug="cyd", language="fr"), language="de"
    )
    assert [each.language for each in (mine, theirs, odd)] == ["es", "de", "en"]
    assert "La cara no est\N{LATIN SMALL LETTER A WITH ACUTE} en el centro." in mine.text
    assert "Das Gesicht ist nicht in der Mitte." in theirs.text
    assert "It is odd. Do." in theirs.text
    assert (mine.english, odd.english) == (("own_rule",), ())
    with pytest.raises(UsageError, match="choose one of de, en, es"):
        written(redone(), language="fr")


def failed_at(error, *roles):
    """Assets of a file at which the work ended so."""
    return tuple(
        Asset(
            source="a.mp4", source_sha256=None, role=role, seconds=0.0,
            source_report=Report.of_error("a.mp4", error, role=role, profile="core-4"),
        )
        for role in roles
    )  # fmt: skip


def test_a_file_that_cannot_be_read_is_asked_for_once():
    damaged = failed_at(DamagedMedia("a.mp4 is damaged."), Role.TRAINING_VIDEO, Role.VOICE_AUDIO)
    [message] = written(redone(assets=damaged, blocked_by=("media_damaged",)))
    assert "Training video (a.mp4)\n- This file is damaged. Send it again, as" in message.text
    assert message.text.count("This file is damaged.") == 1


@pytest.mark.parametrize("error", [FileUnreadable("No permission."), ToolFailed("SIGKILL.")])
def test_nobody_sends_a_file_again_that_this_machine_failed_at(error):
    assets = failed_at(error, Role.TRAINING_VIDEO)
    assert written(redone(assets=assets, blocked_by=("nothing_to_make", error.code))) == []
    both = (*assets, *failed_at(DamagedMedia("a.mp4 is damaged."), Role.FACE_IMAGE))
    [message] = written(redone(assets=both, blocked_by=(error.code, "media_damaged")))
    assert "Portrait (a.mp4)\n- This file is damaged." in message.text
    assert "Training video" not in message.text


def test_what_a_stranger_wrote_is_text():
    [message] = written(redone(full_name=EVIL))
    assert "<script" not in message.html
    assert "&lt;script&gt;" in message.html
    assert "<li>It is odd. <strong>Do.</strong></li>" in message.html
    assert "I agree" in message.html


def test_of_an_older_journal_everything_that_failed_is_asked_for():
    [message] = written(redone(blocked_by=()))
    assert message.text.count("\n- ") == 3


def test_a_statement_that_is_in_no_file_or_was_refused_asks_for_its_video_alone():
    for blocked, why in (
        ("consent_spoken", "Your statement of consent was not heard."),
        ("consent_refused", "Your statement of consent could not be accepted."),
    ):
        [message] = written(redone(assets=(), blocked_by=(blocked, "same_person")))
        assert f"\n\nConsent video\n- {why}" in message.text
        assert "\n\nAll files together\n- Not all files show" in message.text


def test_a_video_that_is_the_recording_too_is_asked_for_once():
    silent = Check(id="audio_present", label="Has an audio stream", outcome=Outcome.FAIL)
    roles = (Role.TRAINING_VIDEO, Role.VOICE_AUDIO)
    assets = tuple(asset(silent, role=role) for role in roles)
    [message] = written(redone(assets=assets, blocked_by=("audio_present",)), language="de")
    assert message.text.count("Die Datei hat keinen Ton.") == 1
    assert "Sprachaufnahme" not in message.text


@pytest.mark.parametrize(
    ("known", "said", "spoken_in"),
    [
        ({}, "I, Ada Lovelace, am currently speaking", "en"),
        ({"own_statement": "Ich, Ada, stimme zu.", "language": "de"}, "Ich, Ada,", "de"),
        ({"full_name": "7"}, None, None),
    ],
)
def test_what_to_say_stands_there_where_nobody_could_listen(known, said, spoken_in):
    silent = Check(id="audio_present", label="Has an audio stream", outcome=Outcome.FAIL)
    assets = (asset(silent, role=Role.CONSENT_VIDEO),)
    blocked = ("audio_present", "consent_spoken")
    [message] = written(redone(assets=assets, blocked_by=blocked, **known))
    assert ("    " in message.text, "<blockquote" in message.html) == (bool(said), bool(said))
    if said:
        assert f"\n    {said}" in message.text
        assert f'lang="{spoken_in}">{said}' in message.html

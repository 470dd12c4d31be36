"""Verification of spoken statements, with the real model."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from palprep.consent import Whisper, read_samples
from palprep.consent.wording import Statement, required_statement, statement_for
from palprep.consent.wording.statement import fill_statement
from palprep.errors import FileMissing, ToolFailed, ToolMissing
from palprep.networks import Weights
from palprep.preflight import verify_consent
from palprep.rules import load_profile
from palprep.rules.consent import grade_statement
from palprep.speech import filterbank, log_mel

WEIGHTS = Path(str(resources.files("palprep.consent"))) / "weights"


@pytest.fixture(scope="module")
def model() -> Whisper:
    return Whisper.load(None)


def verify_samples(samples, required, model):
    reading = read_samples(samples, required, model)
    return grade_statement(reading, load_profile().consent)


def script(name: str = "Jane Carter", change: tuple[str, str] = ("", "")) -> Statement:
    text = fill_statement(required_statement(), name)
    assert change[0] in text
    return Statement.of(text.replace(*change) if change[0] else text, name, "en")


def test_the_statement_in_a_video_passes(spoken_consent, model):
    facts = verify_consent(spoken_consent, full_name="Jane Carter", whisper_model=model)
    assert facts.outcome == "pass"
    assert facts.reasons == ()
    assert facts.model == "whisper-tiny.en"
    # Its name reads at 0.50: with another processor's arithmetic that is a doubt for the second.
    assert facts.second_model in (None, "moonshine-tiny")
    assert 0.0 <= facts.starts_at < 1.5
    assert [word.expected for word in facts.words] == facts.statement.split()
    times = [(word.start, word.end) for word in facts.words]
    assert all(start <= end for start, end in times)
    assert times == sorted(times)
    assert facts.ends_at == times[-1][1]
    shown = json.loads(json.dumps(facts.shown("consent.mp4")))
    assert list(shown) == [
        *("path", "outcome", "transcript", "starts_at", "ends_at", "words", "reasons")
    ]
    assert list(shown["words"][0]) == [
        *("expected", "heard", "start", "end", "probability", "outcome")
    ]


def test_speech_before_it_of_which_no_word_is_made_out_is_a_doubt(speech, other_talk, model):
    """As in another language: what is played backwards is speech, and nobody's words."""
    quiet, unknown = np.zeros(32_000, np.float32), other_talk[:32_000][::-1]
    assert verify_samples(np.concatenate((quiet, speech)), script(), model).outcome == "pass"
    facts = verify_samples(np.concatenate((unknown, speech)), script(), model)
    assert (facts.outcome, facts.before) == ("warn", "warn")
    assert facts.reasons == (
        "Somebody speaks before the statement, and not all of it is made out. Listen to it.",
    )


@pytest.mark.parametrize(
    "change",
    [
        ("give my consent", "withdraw my consent"),
        ("audio and video samples", "audio and photo samples"),
        ("can be used", "cannot be used"),
        ("am currently speaking and give", "give"),
        ("sound like me.", "sound like me for one year."),
    ],
)
def test_what_was_said_is_not_another_statement(speech, model, change):
    facts = verify_samples(speech, script(change=change), model)
    assert (facts.outcome, facts.second_model) == ("fail", "moonshine-tiny")


def test_another_persons_name_fails_and_is_named(speech, model):
    facts = verify_samples(speech, script("Robert Miller"), model)
    assert facts.outcome == "fail"
    assert any("Robert Miller" in reason for reason in facts.reasons)
    assert {word.expected for word in facts.words if word.outcome == "fail"} >= {
        "Robert",
        "Miller,",
    }


def test_a_name_in_other_letters_is_unknown_until_its_sound_is_said(speech, model):
    facts = verify_samples(speech, script("Джейн Картер"), model)
    assert facts.outcome == "unknown"
    (reason,) = facts.reasons
    assert "Джейн Картер cannot be listened for in its own letters" in reason
    assert "--spoken-as" in reason
    said = statement_for("Джейн Картер", None, language="en", spoken_as="Jane Carter")
    facts = verify_samples(speech, said, model)
    assert facts.outcome == "pass"
    assert (facts.full_name, facts.spoken_as) == ("Джейн Картер", "Jane Carter")
    assert "I, Jane Carter, am" in facts.statement


def test_silence_and_noise_are_no_statement(model):
    noise = np.random.default_rng(0).standard_normal(16_000 * 5).astype(np.float32) * 0.01
    for samples in (np.zeros(16_000 * 5, np.float32), noise, np.zeros(0, np.float32)):
        facts = verify_samples(samples, script(), model)
        assert facts.outcome == "fail"
        assert facts.starts_at is None
        assert {word.outcome for word in facts.words} == {"fail"}


def test_a_statement_after_a_long_silence_is_found_where_it_is(speech, model):
    late = np.concatenate((np.zeros(16_000 * 12, np.float32), speech))
    facts = verify_samples(late, script(), model)
    assert facts.outcome in {"pass", "warn"}
    assert 12.0 <= facts.starts_at < 13.5


def test_a_greeting_before_it_leaves_the_name_certain(speech, other_talk, model):
    greeting = other_talk[: 16_000 * 4]
    reading = read_samples(np.concatenate((greeting, speech)), script(), model)
    (part,) = reading.parts
    assert reading.said_before
    assert part.name.same
    assert part.name.prompted_probability > 0.5
    assert part.aligned[0].start == pytest.approx(4.3, abs=0.7)


def test_a_statement_beyond_the_opening_fails(speech, model):
    late = np.concatenate((np.zeros(16_000 * 31, np.float32), speech))
    facts = verify_samples(late, script(), model)
    assert facts.outcome == "fail"
    assert facts.starts_at > 30.0


def test_another_language_is_unknown(spoken_consent, model):
    facts = verify_consent(
        spoken_consent,
        full_name="Jane Carter",
        statement="Ich, {full_name}.",
        language="de",
        whisper_model=model,
    )
    assert facts.outcome == "unknown"
    assert "multilingual" in facts.reasons[0]


@pytest.fixture
def changed_model(monkeypatch, tmp_path) -> Path:
    """Where the default model is looked for; it holds Moonshine as it is, and no Whisper."""
    for path in WEIGHTS.glob("[!w]*"):
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.setattr(Weights, "_installed", lambda _: tmp_path)
    Whisper.load.cache_clear()
    return tmp_path


def test_without_the_model_it_is_unknown_and_says_what_to_install(spoken_consent, changed_model):
    facts = verify_consent(spoken_consent, full_name="Jane Carter")
    assert facts.outcome == "unknown"
    assert "`pip install --force-reinstall .` in palprep's checkout" in facts.reasons[0]
    assert facts.words == ()


def test_a_named_model_that_is_not_there_is_an_error(spoken_consent, tmp_path):
    with pytest.raises(ToolMissing, match=r"whisper_encoder\.onnx"):
        verify_consent(spoken_consent, full_name="Jane Carter", whisper_model=tmp_path)


def test_a_default_model_that_was_changed_is_not_loaded(changed_model):
    for path in WEIGHTS.glob("whisper_*"):
        (changed_model / path.name).write_bytes(b"not the published one")
    with pytest.raises(ToolMissing, match="sha256"):
        Whisper.load()


def test_a_model_of_ones_own_that_is_damaged_is_told(spoken_consent, tmp_path):
    for path in WEIGHTS.glob("whisper_*"):
        (tmp_path / path.name).write_bytes(b"no network")
    with pytest.raises(ToolFailed, match="cannot be loaded"):
        Whisper.load(tmp_path)


def test_a_model_directory_can_be_named(speech, tmp_path):
    own = tmp_path / "my-whisper"
    own.mkdir()
    for path in WEIGHTS.glob("whisper_*"):
        (own / path.name).symlink_to(path)
    facts = verify_samples(speech, script(), Whisper.load(own))
    assert facts.outcome == "pass"
    assert facts.model == "my-whisper"
    assert len(facts.model_sha256) == 64


def test_a_missing_file_is_an_error(tmp_path, model):
    with pytest.raises(FileMissing):
        verify_consent(tmp_path / "none.mp4", full_name="Jane Carter", whisper_model=model)


@pytest.mark.corpus
@pytest.mark.parametrize("key", ["exact", "cannot", "negated", "photo", "wrong_name", "other"])
def test_only_the_exact_statement_of_the_corpus_passes(corpora, model, key):
    path = Path(corpora) / "consent" / f"{key}.piper.flac"
    outcome = verify_consent(path, full_name="Jane Doe", whisper_model=model).outcome
    assert outcome == ("pass" if key == "exact" else "fail")


def test_the_filterbank_is_slaneys():
    filters = filterbank(80)
    assert filters.shape == (80, 201)
    # Equal area per hertz: each triangle's sum over bins of 40 Hz is 1 / 40 where many bins fit.
    assert filters[60:].sum(axis=1) * 40 == pytest.approx(np.ones(20), rel=0.03)
    assert int(filters[0].argmax()) == 1


def test_features_are_thirty_seconds_whatever_is_given():
    filters = filterbank(80)
    for length in (0, 1, 16_000, 16_000 * 40):
        features = log_mel(np.zeros(length, np.float32), filters)
        assert features.shape == (80, 3000)
        assert features.dtype == np.float32
        assert np.isfinite(features).all()


def test_a_tone_lights_its_channel():
    time = np.arange(16_000 * 2) / 16_000
    features = log_mel(np.sin(2 * np.pi * 1000 * time).astype(np.float32), filterbank(80))
    peak = int(features[:, 100].argmax())
    centre = int(filterbank(80)[:, 25].argmax())
    assert peak == centre
    assert features.max() - features.min() <= 2.0 + 1e-6

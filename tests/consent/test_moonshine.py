"""The second model: its tokens, and how well it tells what was said."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.consent.decoding import read_tokens
from palprep.consent.moonshine import Moonshine, Vocabulary
from palprep.errors import ToolMissing
from palprep.networks import Weights, read_manifest

SAID = (
    "I, Jane Carter, am currently speaking and give my consent to create an AI clone of me by "
    "using the audio and video samples I provide."
)


@pytest.fixture(scope="module")
def model() -> Moonshine:
    return Moonshine.load()


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary(read_tokens(read_manifest("palprep.consent")["moonshine_tokens"].read()))


def test_tokens_are_read_by_their_lengths():
    long = b"x" * 200
    assert read_tokens(b"\x02ab\x00" + bytes((128 + 200 % 128, 1)) + long) == (b"ab", b"", long)


def test_a_word_is_made_of_the_tokens_that_are_joined_first(vocabulary):
    tokens = read_tokens(read_manifest("palprep.consent")["moonshine_tokens"].read())
    assert len(tokens) == 32_768
    parts = {
        word: [tokens[token].decode() for token in vocabulary.tokens(word)]
        for word in ("speaking", "Zarathustra")
    }
    assert parts == {"speaking": ["▁speaking"], "Zarathustra": ["▁Zar", "ath", "ust", "ra"]}


def test_what_no_token_has_is_spelled_in_bytes(vocabulary):
    first, *letters = vocabulary.tokens("\U0001f999")
    assert vocabulary.is_spoken(vocabulary.tokens("speaking")[0])
    assert not vocabulary.is_spoken(vocabulary.tokens("-")[-1])
    assert [token - 3 for token in (first, *letters)][-4:] == list("\U0001f999".encode())


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("give my", "withdraw my"),
        ("consent", "content"),
        ("am currently", "am not currently"),
        ("Jane Carter", "Jane Parker"),
        ("I provide", "you provide"),
    ],
)
def test_what_was_said_fits_the_audio_better(model, speech, said, instead):
    heard = model.hear(speech)
    assert said in SAID
    assert model.weigh(heard, SAID) > model.weigh(heard, SAID.replace(said, instead)) + 3.0


def test_every_word_has_a_score_and_a_wrong_one_a_poor_one(model, speech):
    heard = model.hear(speech)
    words = model.words(heard, SAID.replace("consent", "permission"))
    assert len(words) == len(SAID.split())
    assert words[SAID.split().index("consent")].probability < 0.01
    assert all(0.0 < word.probability <= 1.0 for word in words)
    assert model.weigh(heard, SAID) > sum(word.log_probability for word in words)


def test_words_after_a_lead_are_scored_alone(model, speech):
    heard = model.hear(speech)
    lead, rest = "I, Jane Carter,", SAID.removeprefix("I, Jane Carter, ")
    whole = model.words(heard, SAID)
    after = model.words(heard, rest, lead=lead)
    assert after == pytest.approx(np.array(whole[len(lead.split()) :]))


def test_a_moment_of_nothing_can_be_heard(model):
    heard = model.hear(np.zeros(0, np.float32))
    assert model.weigh(heard, SAID) < -100.0


def test_it_knows_english_only(model):
    assert (model.knows("en"), model.knows("de")) == (True, False)


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(Weights, "_installed", lambda _: tmp_path)
    for entry in read_manifest("palprep.consent").values():
        (tmp_path / entry.file).write_bytes(b"not the published one")
    Moonshine.load.cache_clear()
    with pytest.raises(ToolMissing, match="sha256"):
        Moonshine.load()

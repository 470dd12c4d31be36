"""The catalogue of checks is up to date, and every sentence in it can be read aloud."""

from __future__ import annotations

import importlib
import itertools
import re
from pathlib import Path

import pytest

from palprep.rules.catalogue import RULES, entry_of
from palprep.rules.profile import BUILT_IN, ConsentLimits, load_profile
from palprep.rules.texts.words import (
    ABOVE,
    BELOW,
    MET,
    OTHERWISE,
    REASONS,
    TEXTS,
    asks,
)
from palprep.vision.facts import STEPS

PROFILE = load_profile()
SAID = [
    (rule_id, each.sentence)
    for rule_id in RULES
    for each in entry_of(rule_id, PROFILE).sentences
]  # fmt: skip
ADVISED = [(rule.id, rule.texts.advice) for rule in RULES.values()]
UNKNOWN = [(key, each.reason) for key, each in REASONS.items()]
UNKNOWN += [(key, each.advice) for key, each in REASONS.items() if each.advice]

FORBIDDEN = {
    "two spaces": r"\s\s|\n",
    "a space before a mark": r"\s[.,:;!?]",
    "two marks": r"[.,:;!?]{2}",
    "glued to a negation": r"(?<!There )\bis no\b",
    "glued to a limit": r"\bwanted\b|\bat least\b|\bat most\b|\bmust be\b",
    "bare truth": r"\b(yes|true|false|None)\b",
    "two ideas": r";",
    "cut short": r"palprep fix does\.",
    "underscores": r"\w_\w(?<!validate_i)",
}
"""What tells that a sentence was glued together, or cannot be read aloud."""


def test_the_documentation_is_what_the_rules_say(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(checkout / "scripts"))
    script = importlib.import_module("write_checks")
    docs = checkout / "docs"
    pages = [docs / "checks.md", *(docs / "checks").iterdir()]
    written = {page.relative_to(docs): page.read_text("utf-8") for page in pages}
    assert written == script.catalogue(PROFILE), "run scripts/write_checks.py"


@pytest.mark.parametrize("shape", FORBIDDEN)
def test_no_sentence_has_a_forbidden_shape(shape: str) -> None:
    assert len(SAID) > len(RULES)
    found = [
        f"{where}: {said}"
        for where, said in (*SAID, *ADVISED, *UNKNOWN)
        if re.search(FORBIDDEN[shape], said)
    ]
    assert found == []


def test_every_sentence_is_whole() -> None:
    whole = re.compile(r"(\{[a-z]+\}|[A-Z]).*\.|\{reason\}")
    spoken = re.compile(r"(“\{heard\}”|[A-Z]).*\.")
    assert [each for each in (*SAID, *UNKNOWN) if not whole.fullmatch(each[1])] == []
    assert [each for each in ADVISED if not each[1].endswith(".")] == []
    assert TEXTS.consent_reasons
    assert [key for key, said in TEXTS.consent_reasons.items() if not spoken.fullmatch(said)] == []


def test_no_two_sentences_of_a_check_are_the_same() -> None:
    for rule_id in RULES:
        said = [each.sentence for each in entry_of(rule_id, PROFILE).sentences]
        assert len(said) == len(set(said)), rule_id


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_limit_has_a_sentence_for_whoever_breaks_it(name: str) -> None:
    """A rule with ways of its own names them, whatever the side."""
    profile = load_profile(name)
    asked = [*profile.limits.values(), profile.pairs]
    for rule_id, limits in ((each, limits) for rules in asked for each, limits in rules.items()):
        sentences = RULES[rule_id].texts.sentences
        if not sentences:
            assert rule_id == "celebrity_or_copyright_character"
            continue
        sides = {
            side
            for limit in limits
            for side, bound in ((BELOW, limit.min), (ABOVE, limit.max))
            if bound is not None
        } or {OTHERWISE}
        own = set(sentences) - {MET, BELOW, ABOVE, OTHERWISE}
        assert own or sides <= set(sentences) or rule_id == "voice_content", rule_id


def test_every_component_of_image_quality_has_a_sentence() -> None:
    assert set(RULES["image_quality_acceptable"].texts.sentences) - {MET} == set(STEPS)


def test_every_reason_is_one_of_a_rule_and_every_limit_of_words_has_a_meaning(
    checkout: Path,
) -> None:
    sources = "".join(
        path.read_text("utf-8") for path in (checkout / "src/palprep/rules").rglob("*.py")
    )
    named = set(re.findall(r'(?:REASONS\[|PairRule\("\w+", )"(\w+)"', sources))
    assert set(REASONS) - named == set()
    assert """f"{side}_{one.outcome if one.said else 'unheard'}\"""" in sources
    ways = itertools.product(("before", "after"), ("warn", "fail", "unheard"))
    built = {f"{side}_{way}" for side, way in ways}
    assert 'f"many_{key}"' in sources
    built |= {f"many_{key}" for key in ("changed", "missing", "one_reading")}
    assert built <= set(TEXTS.consent_reasons)
    assert {key for key in TEXTS.consent_reasons if f'"{key}"' not in sources} == built
    assert set(TEXTS.consent_limits) == set(ConsentLimits.model_fields)


@pytest.mark.parametrize("language", ["de", "es"])
def test_a_person_is_asked_in_their_language_whatever_they_must_redo(language: str) -> None:
    fatal = {
        rule_id
        for profile in map(load_profile, BUILT_IN)
        for rule_id in RULES
        if any(limit.level == "fail" for limit in entry_of(rule_id, profile).limits)
    }
    assert len(fatal) > 40
    assert asks(language).keys() == fatal | {*TEXTS.asks}
    english = {ask.advice for ask in TEXTS.asks.values()}
    english |= {RULES[each].texts.advice for each in fatal - {*TEXTS.asks}}
    told = {words for ask in asks(language).values() for words in (ask.why, ask.advice)}
    assert not any("palprep" in words for words in english | told)
    assert english.isdisjoint(told)

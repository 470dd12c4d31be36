import datetime as dt

import pytest

from palprep.api.records import MAX_IMAGE_BASE64_CHARS
from palprep.errors import ProfileError
from palprep.media.facts import MOST_IMAGE_MEMORY_MB
from palprep.rules.catalogue import RULES
from palprep.rules.profile import BUILT_IN, Limit, load_profile
from palprep.rules.texts.words import TEXTS
from palprep.values import Outcome, Role


def limit(**changed):
    fields = {"level": "fail", "source": "a test", "date": dt.date(2026, 11, 1)}
    return Limit.model_validate({**fields, **changed})


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_profiles_name_only_rules_that_exist_and_give_every_role_some(name):
    profile = load_profile(name)
    named = {rule for rules in profile.limits.values() for rule in rules}
    assert named <= set(RULES)
    assert set(profile.limits) == set(Role)
    assert profile.model == name


def test_every_rule_is_asked_for_by_the_default_profile():
    profile = load_profile()
    named = {rule for rules in profile.limits.values() for rule in rules}
    assert set(RULES) == named | set(profile.pairs)
    assert not named & set(profile.pairs)


@pytest.mark.parametrize(
    ("bounds", "value", "holds"),
    [
        ({"min": 23}, 23, True),
        ({"min": 23}, 22.99, False),
        ({"max": 29_360_128}, 29_360_128, True),
        ({"max": 29_360_128}, 29_360_129, False),
        ({"min": 60, "max": 180}, 181, False),
        ({"any_of": ["jpeg", "png"]}, "png", True),
        ({"any_of": ["jpeg", "png"]}, "gif", False),
        ({"any_of": ["jpeg", "png"]}, ("png", "gif"), False),
        ({"equals": True}, True, True),
        ({"equals": 1}, 2, False),
    ],
)
def test_limit_holds(bounds, value, holds):
    assert limit(**bounds).holds(value) is holds


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"min": 23}, "at least 23 fps"),
        ({"max": 29_360_128}, "at most 29,360,128 fps"),
        ({"min": 60, "max": 180}, "60 to 180 fps"),
        ({"any_of": ["jpeg", "png"]}, "one of jpeg, png"),
        ({"equals": True}, "required"),
        ({"equals": 1}, "1 fps"),
    ],
)
def test_limit_in_words(bounds, words):
    assert limit(**bounds).words("fps") == words


@pytest.mark.parametrize("bounds", [{}, {"min": 1, "equals": 2}, {"any_of": ["a"], "max": 2}])
def test_a_limit_compares_in_exactly_one_way(bounds):
    with pytest.raises(ValueError, match="min and/or max"):
        limit(**bounds)


def test_no_value_lies_between_bounds_that_are_the_wrong_way_round():
    with pytest.raises(ValueError, match="min is more than max"):
        limit(min=800, max=600)


OWN = """
name = "studio"
extends = "core-4.5"
disable = ["image_metadata"]
[[limits.face-image.image_resolution]]
min = 720
level = "fail"
source = "our guideline"
date = 2026-11-01
"""


def test_a_users_profile_replaces_what_it_names_and_keeps_the_rest(tmp_path):
    path = tmp_path / "studio.toml"
    path.write_text(OWN)
    profile, parent = load_profile(path), load_profile("core-4.5")
    face = profile.for_role(Role.FACE_IMAGE)
    assert profile.name == "studio"
    assert profile.model == "core-4.5"
    assert [(each.min, each.level) for each in face["image_resolution"]] == [(720, Outcome.FAIL)]
    assert "image_metadata" not in face
    assert face["image_format"] == parent.for_role(Role.FACE_IMAGE)["image_format"]
    assert profile.for_role(Role.TRAINING_VIDEO) == parent.for_role(Role.TRAINING_VIDEO)


def test_a_list_for_both_kinds_of_video_gives_way_to_that_of_one(tmp_path):
    path = tmp_path / "studio.toml"
    both = OWN.replace("face-image.image_resolution", "video.video_frame_rate")
    own = both[both.index("[[") :].replace("video.", "consent-video.", 1).replace("720", "50")
    path.write_text(both + own)
    profile, parent = load_profile(path), load_profile("core-4.5")
    found = {
        role: [limit.min for limit in profile.for_role(role)["video_frame_rate"]]
        for role in (Role.TRAINING_VIDEO, Role.CONSENT_VIDEO)
    }
    assert found == {Role.TRAINING_VIDEO: [720], Role.CONSENT_VIDEO: [50]}
    for role in found:
        assert list(profile.for_role(role)) == list(parent.for_role(role))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = ", "not valid TOML"),
        ("name = " + "[" * 5000, "not valid TOML: maximum recursion depth"),
        ("name = " + "9" * 5000, "not valid TOML: Exceeds the limit"),
        ('name = "a"\nextends = "nowhere"', "There is no profile 'nowhere'"),
        (OWN.replace('level = "fail"', 'level = "pass"'), r"0\.level must be 'fail' or 'warn'$"),
        (OWN.replace("face-image", "face-picture"), "face-picture"),
        (OWN.replace("extends", "# extends"), 'model is required, or a line extends = "core-4"'),
        (OWN.replace("source =", "sauce ="), "source is required; .*sauce is unknown$"),
        (OWN.replace("[[", "[").replace("]]", "]"), "image_resolution must be an array"),
        ('name = "a"\nextends = "core-4"\nlimits = 5', ": limits must be "),
        ('name = "a"\nextends = "core-4"\nlimits.face-image = 5', "limits.face-image must be "),
        ('name = "a"\nextends = "core-4"\nconsent = "x"', "consent must be "),
        ('name = "a"\nextends = ["core-4"]', "extends must be a string"),
        ('name = "a"\nextends = "core-4"\ndisable = "image_metadata"', "disable must be an array"),
        (OWN.replace(".image_resolution", ".image_resolutoin"), "did you mean image_resolution"),
        (OWN.replace('"image_metadata"', '"image_meta"'), "names 'image_meta', which is no check"),
        (OWN.replace("limits.face-image", "pairs"), "'image_resolution', which is no check"),
        (OWN.replace("image_resolution", "same_person"), r"write \[\[pairs.same_person\]\]"),
        ('name = "a"\nextends = "core-4"\n[pairs]\nsame_person = []', "at least 1 item"),
        (
            OWN.replace("image_resolution", "image_format"),
            r"face-image\.image_format must give any_of",
        ),
        (
            OWN.replace("min = 720", 'equals = "big"'),
            "image_resolution must give min, max or both,",
        ),
        (
            OWN.replace("image_resolution", "image_alpha"),
            "must give equals = true or false, as core-4",
        ),
    ],
)
def test_a_bad_profile_is_told_in_one_line(tmp_path, text, says):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ProfileError, match=says) as caught:
        load_profile(path)
    assert "\n" not in str(caught.value)


def test_profiles_that_extend_each_other_are_refused(tmp_path):
    first, second = tmp_path / "a.toml", tmp_path / "b.toml"
    first.write_text(f'extends = "{second}"')
    second.write_text(f'extends = "{first}"')
    with pytest.raises(ProfileError, match="circle"):
        load_profile(first)


def test_a_profile_extends_the_one_next_to_it(tmp_path):
    (tmp_path / "studio.toml").write_text(OWN)
    (tmp_path / "a.toml").write_text('name = "a"\nextends = "studio.toml"')
    assert (
        load_profile(tmp_path / "a.toml").tightest_minimum(*(Role.FACE_IMAGE, "image_resolution"))
        == 720
    )


def test_a_profile_without_a_name_is_named_as_its_file_and_may_begin_with_a_mark(tmp_path):
    path = tmp_path / "strict.toml"
    path.write_text(OWN.replace('name = "studio"\n', ""), "utf-8-sig")
    profile = load_profile(path)
    assert profile.name == "strict"
    assert profile.tightest_minimum(Role.FACE_IMAGE, "image_resolution") == 720


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ProfileError, match=r"core-4, core-4\.5, core-3"):
        load_profile("core-5")


def test_the_profile_repeats_the_numbers_of_the_specification_and_of_the_decoders():
    most = load_profile().tightest_maximum
    assert most(Role.FACE_IMAGE, "image_base64_length") == MAX_IMAGE_BASE64_CHARS
    assert most(Role.FACE_IMAGE, "image_memory") == MOST_IMAGE_MEMORY_MB


CONSENT = """
name = "strict"
extends = "core-4"
disable = ["same_person"]
[consent.unsaid_word_probability]
value = 0.1
source = "our guideline"
date = 2026-11-01
"""


def test_one_limit_of_the_statement_can_be_moved(tmp_path):
    path = tmp_path / "strict.toml"
    path.write_text(CONSENT)
    profile, parent = load_profile(path), load_profile()
    assert profile.consent.unsaid_word_probability.value == 0.1
    assert profile.consent.negation_ratio == parent.consent.negation_ratio
    assert "same_person" in parent.pairs
    assert "same_person" not in profile.pairs


def test_every_limit_of_the_statement_says_what_it_means_and_where_it_is_from():
    for name, limit in load_profile().consent:
        assert TEXTS.consent_limits[name].endswith("."), name
        assert limit.source, name


def test_a_profile_of_its_own_has_the_default_pairs_and_limits_of_words(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text('name = "own"\nmodel = "core-4"\ntitle = "Ours"\n[limits]\n')
    profile = load_profile(path)
    assert profile.pairs == load_profile().pairs
    assert profile.consent == load_profile().consent


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_what_is_no_possible_path_is_no_profile(name):
    with pytest.raises(ProfileError, match="cannot be read"):
        load_profile(name)

"""Face image validation, on both of its paths."""

from __future__ import annotations

import base64

import pytest
from raw import JPEG

from palprep.sandbox import Choices, Sandbox

CURRENT = "/v2/faces/image-validation"
LEGACY = "/v2/replicas/image-validation"

CHECKS = [
    "image_quality_acceptable",
    "human_like_subject",
    "appears_under_18",
    "only_one_person_visible",
    "person_centered",
    "head_fully_in_frame",
    "looking_straight_at_camera",
    "pose_suitable_for_replica",
    "face_substantially_obscured",
    "chest_up_framing_acceptable",
    "no_nudity",
    "celebrity_or_copyright_character",
]
# Where true describes a problem.
PROBLEMS = {"appears_under_18", "face_substantially_obscured", "celebrity_or_copyright_character"}

IMAGES = {
    "image/jpeg": JPEG,
    "image/png": b"\x89PNG\r\n\x1a\n" + bytes(2000),
    "image/webp": b"RIFF\x00\x00\x00\x00WEBP" + bytes(2000),
    "image/heic": b"\x00\x00\x00\x18ftypheic" + bytes(2000),
    "image/heif": b"\x00\x00\x00\x18ftypmif1" + bytes(2000),
}
ENCODED = base64.b64encode(JPEG).decode()


@pytest.fixture(scope="module")
def judged(through):
    """A sandbox that measures every check; which ones fail is in ``failing``."""
    failing, seen = set(), []

    def judge(path, model):
        seen.append((path.read_bytes(), model))
        return {check: check not in failing for check in CHECKS}

    with Sandbox(judge_image=judge) as sandbox, through(sandbox) as raw:
        raw.failing, raw.seen = failing, seen
        yield raw


@pytest.mark.parametrize(
    ("path", "pose"),
    [(CURRENT, "pose_suitable_for_face"), (LEGACY, "pose_suitable_for_replica")],
)
@pytest.mark.clause("face-validation.1")
@pytest.mark.clause("face-validation.2")
@pytest.mark.clause("face-validation.4")
@pytest.mark.clause("face-validation.5")
@pytest.mark.clause("face-validation.6")
@pytest.mark.clause("face-validation.7")
@pytest.mark.clause("versioning.1")
def test_an_image_that_passes_everything(judged, path, pose):
    judged.failing.clear()
    reply = judged.send("POST", path, {"imageBase64": ENCODED})
    result = reply.json()
    assert reply.status_code == 200
    assert result.keys() == {"passed", "message", "checks", "details"}
    assert result["passed"] is True
    assert isinstance(result["message"], str)
    assert [check["id"] for check in result["checks"]] == CHECKS
    assert all(check["passed"] is True for check in result["checks"])
    details = result["details"]
    others = set(CHECKS) - {"pose_suitable_for_replica"}
    assert details.keys() == others | {"scene_description", "issues", pose}
    assert details["issues"] == []
    assert isinstance(details["scene_description"], str)
    assert details[pose] is True
    assert {check for check in others if details[check] is False} == PROBLEMS


@pytest.mark.clause("face-validation.3")
@pytest.mark.clause("face-validation.17")
@pytest.mark.clause("face-validation.5")
def test_an_image_that_fails_is_a_200_that_says_what_to_fix(judged):
    judged.failing.update({"person_centered", "appears_under_18"})
    reply = judged.send("POST", CURRENT, {"imageBase64": ENCODED})
    result = reply.json()
    assert (reply.status_code, result["passed"]) == (200, False)
    for check in result["checks"]:
        assert check.keys() == {"id", "label", "passed"}
        assert check["label"]
    failed = [check for check in result["checks"] if not check["passed"]]
    assert [check["id"] for check in failed] == ["appears_under_18", "person_centered"]
    assert result["details"]["issues"] == [check["label"] for check in failed]
    assert result["details"]["appears_under_18"] is True
    assert result["details"]["person_centered"] is False


@pytest.mark.clause("face-validation.10")
@pytest.mark.clause("face-validation.11")
@pytest.mark.clause("face-validation.13")
@pytest.mark.clause("face-validation.14")
def test_what_the_judge_gets(judged):
    judged.seen.clear()
    judged.ok("POST", CURRENT, {"imageBase64": f" \n{ENCODED}\t\n"})
    for mime, image in IMAGES.items():
        body = {"imageBase64": base64.b64encode(image).decode(), "mimeType": mime}
        judged.ok("POST", CURRENT, body | {"model": "core-4.5"})
    expected = [(image, "core-4.5") for image in IMAGES.values()]
    assert judged.seen == [(JPEG, "core-4"), *expected]


@pytest.mark.clause("face-validation.8")
def test_validation_creates_nothing(judged):
    before = judged.ok("GET", "/_sandbox/log")["creates"]
    judged.ok("POST", CURRENT, {"imageBase64": ENCODED})
    assert judged.ok("GET", "/_sandbox/log")["creates"] == before == {}


@pytest.mark.parametrize(
    ("body", "code", "status"),
    [
        ({}, "image_required", 400),
        ({"imageBase64": ""}, "image_required", 400),
        ({"imageBase64": " \n "}, "image_required", 400),
        ({"imageBase64": 7}, "invalid_request_body", 400),
        ({"imageBase64": None}, "invalid_request_body", 400),
        ([], "invalid_request_body", 400),
        ({"imageBase64": ENCODED, "image": 1}, "invalid_request_body", 400),
        ({"train_image_url": "https://h/a.jpg"}, "invalid_request_body", 400),
        ({"imageBase64": "data:image/jpeg;base64," + ENCODED}, "invalid_base64", 400),
        ({"imageBase64": "%%%%"}, "invalid_base64", 400),
        ({"imageBase64": ENCODED[:8] + "\n" + ENCODED[8:]}, "invalid_base64", 400),
        ({"imageBase64": ENCODED, "mimeType": "image/gif"}, "unsupported_mime_type", 400),
        ({"imageBase64": ENCODED, "model": "core-3"}, "unsupported_model", 400),
        ({"imageBase64": base64.b64encode(b"no picture").decode()}, "undecodable_image", 422),
        ({"imageBase64": ENCODED, "mimeType": "image/png"}, "undecodable_image", 422),
    ],
)
@pytest.mark.parametrize("path", [CURRENT, LEGACY])
@pytest.mark.clause("errors.3")
@pytest.mark.clause("face-validation.9")
@pytest.mark.clause("face-validation.10")
@pytest.mark.clause("face-validation.13")
@pytest.mark.clause("face-validation.14")
@pytest.mark.clause("face-validation.15")
def test_error_variants(api, path, body, code, status):
    reply = api.send("POST", path, body)
    error = reply.json()
    assert error.keys() == {"message", "error", "code"}
    assert all(isinstance(value, str) and value for value in error.values())
    assert (reply.status_code, error["code"]) == (status, code)


@pytest.mark.clause("face-validation.12")
@pytest.mark.clause("errors.3")
def test_the_limit_of_characters_is_exact(judged):
    judged.failing.clear()
    limit = 29_360_128
    longest = ENCODED[:4] + "A" * (limit - 4)
    assert judged.ok("POST", CURRENT, {"imageBase64": longest})["passed"] is True
    error = judged.refused("POST", CURRENT, {"imageBase64": longest + "AAAA"})
    assert error["code"] == "image_too_large"


@pytest.mark.clause("face-validation.16")
def test_a_body_over_30_mib_is_refused_before_it_is_parsed(api):
    limit = 30 * 1024 * 1024
    start = b'{"imageBase64":"' + ENCODED.encode() + b'"'
    fitting = start + b" " * (limit - len(start) - 1) + b"}"
    assert api.send("POST", CURRENT, content=fitting).status_code == 200
    for options in ({"content": fitting + b" "}, {"content": iter([fitting, b" "])}):
        reply = api.send("POST", CURRENT, **options)
        assert (reply.status_code, reply.json()["code"]) == (413, "image_too_large")


@pytest.mark.clause("errors.4")
def test_there_are_seven_variants_and_each_can_be_called_for(api):
    choices = api.ok("GET", "/_sandbox/choices")["choices"]
    variants = next(choice["value"] for choice in choices if choice["id"] == "image-errors")
    assert len({variant["code"] for variant in variants}) == 7
    for variant in variants:
        api.faults({"on": "request", "endpoint": "*.validate_image", "variant": variant["code"]})
        reply = api.send("POST", CURRENT, {"imageBase64": ENCODED})
        assert reply.json() | {"status": reply.status_code} == variant
    assert api.send("POST", CURRENT, {"imageBase64": ENCODED}).status_code == 200


@pytest.mark.clause("face-validation.18")
@pytest.mark.clause("versioning.2")
def test_the_set_of_checks_varies_by_model(judged):
    judged.failing.clear()

    def made(model):
        result = judged.ok("POST", CURRENT, {"imageBase64": ENCODED, "model": model})
        return {check["id"] for check in result["checks"]}

    left_out = Choices().checks_left_out["core-4.5"]
    assert left_out
    assert made("core-4") - made("core-4.5") == set(left_out)
    assert made("core-4") == set(CHECKS)


@pytest.mark.clause("face-validation.19")
def test_a_check_that_no_one_made_is_not_shown(api):
    result = api.ok("POST", CURRENT, {"imageBase64": ENCODED})
    assert [check["id"] for check in result["checks"]] == ["image_quality_acceptable"]

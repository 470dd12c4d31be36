"""What the service says about a portrait, against a real sandbox and against odd replies."""

from __future__ import annotations

import httpx
import pytest
from raw import JPEG

from palprep.client import Client
from palprep.errors import PublishError, UnexpectedReply
from palprep.pipelines import validate_face


def test_the_services_verdict_on_a_portrait(call, ready):
    verdict = call(validate_face, ready("face.jpg", JPEG))
    assert verdict.passed
    assert verdict.model == "core-4"
    assert [check.id for check in verdict.checks] == ["image_quality_acceptable"]
    small = call(validate_face, ready("small.jpg", JPEG[:200]), model="core-4.5")
    assert not small.passed
    assert not small.checks[0].passed


def test_an_odd_verdict_is_read_as_far_as_it_goes(ready):
    def judged(**reply):
        transport = httpx.MockTransport(lambda _: httpx.Response(200, json=reply))
        with httpx.Client(transport=transport) as http:
            asked = Client(api_key="key", base_url="https://service.example", http_client=http)
            return validate_face(asked, ready("face.jpg", JPEG))

    odd = judged(passed=False, checks=[None, "x", {"id": 3, "passed": False}, {"id": "unsaid"}])
    assert [(check.id, check.label, check.passed) for check in odd.checks] == [("3", "3", False)]
    assert judged(passed=False, checks={"no_nudity": False}).checks == ()
    with pytest.raises(UnexpectedReply, match="did not say whether the portrait passed"):
        judged(checks=[])


def test_no_verdict_is_asked_for_another_file_than_was_judged(call, sandbox, ready):
    portrait = ready("face.jpg", JPEG)
    portrait.path.write_bytes(JPEG[:200])
    with pytest.raises(PublishError, match=r"face\.jpg has changed since it was judged"):
        call(validate_face, portrait)
    log = httpx.get(f"{sandbox.url}/_sandbox/log", trust_env=False).json()
    assert not [each for each in log["requests"] if "image-validation" in each["path"]]

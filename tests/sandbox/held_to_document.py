"""What schemathesis asks of the sandbox, operation by operation; test_openapi.py runs it."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from raw import Raw
from schemathesis.core import NOT_SET
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from palprep.sandbox import Choices, Sandbox
from palprep.sandbox.openapi import openapi_document


@pytest.fixture(scope="module")
def served():
    """A sandbox with one of everything, under the ids that the generated paths use."""
    with Sandbox(clock="virtual") as sandbox, Raw(sandbox) as raw:
        yield raw


# Rules between members, and unknown ids, are 400s that no JSON Schema foretells.
NOT_FORETOLD = [positive_data_acceptance]
# Query parameters and headers that nobody declared are ignored, as everywhere.
IGNORED = negative_data_rejection

schema = schemathesis.openapi.from_dict(openapi_document(Choices(), base_url="http://127.0.0.1"))


KNOWN = {
    "voice_id": ("voices", {"voice_name": "n", "status": "completed", "tags": []}),
    "replica_id": ("replicas", {"status": "completed"}),
    "pal_id": ("pals", {}),
    "video_id": ("videos", {}),
    "document_id": ("documents", {"status": "ready", "progress": None, "tags": []}),
    "pronunciation_dictionary_id": ("pronunciation_dictionaries", {"name": "n", "rules": []}),
    "deployment_id": ("deployments", {"status": "draft", "name": "n"}),
    "connector_id": ("connectors", {"url": "http://127.0.0.1:1/"}),
}


@pytest.fixture
def known(served):
    """One record of each kind, all under the same id."""
    served.seed(**{kind: [{name: "known", **rest}] for name, (kind, rest) in KNOWN.items()})
    served.sandbox.advance(61)
    return "known"


@schema.parametrize()
@settings(
    max_examples=8,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_no_request_makes_the_server_fail_or_leave_its_document(case, served, known):
    url, key = served.sandbox.url, served.sandbox.user_key
    if "{" in case.path and case.method != "DELETE":
        case.path_parameters = dict.fromkeys(case.path_parameters, known)
    # Raises, and so fails, for a 5xx and for any answer that the document does not describe.
    response = case.call_and_validate(
        base_url=url,
        headers={"x-api-key": key},
        excluded_checks=NOT_FORETOLD if case.body is not NOT_SET else [*NOT_FORETOLD, IGNORED],
    )
    assert response.status_code < 500
    # Wrong methods are tried as well; the document speaks of the right ones only.
    described = {"405", *case.operation.definition.raw["responses"]}
    assert str(response.status_code) in described

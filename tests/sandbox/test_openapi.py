"""The OpenAPI document describes what is served; schemathesis holds the server to it."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from jsonschema import Draft202012Validator
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


@pytest.fixture(scope="module")
def document(served):
    return served.ok("GET", "/openapi.json")


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
    deadline=None,
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


def test_the_document_served_is_the_one_that_was_tried(document):
    url = document["servers"][0]["url"]
    assert document == openapi_document(Choices(), base_url=url)


def test_every_schema_is_valid(document):
    assert document["openapi"] == "3.1.0"
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_error_has_an_example_of_its_own_shape(document):
    schemas = document["components"]["schemas"]
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                media = response.get("content", {}).get("application/json", {})
                for shape, example in media.get("examples", {}).items():
                    Draft202012Validator(schemas[shape]).validate(example["value"])
                assert "examples" in media or int(status) <= 400
    refused = document["paths"]["/v2/voices"]["post"]["responses"]["403"]
    told = refused["content"]["application/json"]["examples"]["Error"]["value"]
    assert told == {"error": refused["description"]}

"""The OpenAPI document says what the declarations say."""

from __future__ import annotations

import json

from palprep.api.calls import ENDPOINTS
from palprep.api.openapi import openapi

DOCUMENT = openapi(ENDPOINTS, version="1.2.3", server="http://127.0.0.1:1")


def test_every_endpoint_is_there_once() -> None:
    operations = {
        (method.upper(), path) for path, item in DOCUMENT["paths"].items() for method in item
    }
    assert operations == {(e.method, e.path) for e in ENDPOINTS}
    assert len(operations) == len(ENDPOINTS)


def test_assumed_and_legacy_routes_are_marked() -> None:
    for endpoint in ENDPOINTS:
        operation = DOCUMENT["paths"][endpoint.path][endpoint.method.lower()]
        assert operation.get("x-assumed", False) is endpoint.unspecified
        assert operation.get("deprecated", False) is endpoint.deprecated


def test_limits_stand_in_the_schemas() -> None:
    body = DOCUMENT["paths"]["/v2/voices"]["post"]["requestBody"]["content"]["application/json"]
    properties = body["schema"]["properties"]
    assert properties["voice_name"]["maxLength"] == 255
    assert properties["tags"] == {
        "items": {"maxLength": 64, "type": "string"},
        "maxItems": 50,
        "title": "Tags",
        "type": "array",
    }
    assert "voice_id" not in properties
    assert "timeout" not in properties


def test_if_match_is_an_optional_header() -> None:
    parameters = DOCUMENT["paths"]["/v2/deployments/{deployment_id}"]["patch"]["parameters"]
    assert {(p["name"], p["in"], p["required"]) for p in parameters} == {
        ("deployment_id", "path", True),
        ("If-Match", "header", False),
    }


def test_every_reference_leads_somewhere() -> None:
    text = json.dumps(DOCUMENT)
    names = {piece.split('"')[0] for piece in text.split('"#/components/schemas/')[1:]}
    assert names <= DOCUMENT["components"]["schemas"].keys()
    assert '"#/$defs/' not in text

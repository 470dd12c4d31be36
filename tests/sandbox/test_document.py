"""The OpenAPI document says what the declarations say."""

from __future__ import annotations

import json

from jsonschema import Draft202012Validator

from palprep.api.calls import ENDPOINTS
from palprep.api.reply import Unspecified
from palprep.sandbox import Choices
from palprep.sandbox.openapi import openapi_document

DOCUMENT = openapi_document(Choices(), base_url="http://127.0.0.1:1")
REST = {"components": DOCUMENT["components"]}


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
    assert body["schema"] == {"$ref": "#/components/schemas/CreateVoice"}
    properties = DOCUMENT["components"]["schemas"]["CreateVoice"]["properties"]
    assert properties["training_audio_url"]["format"] == "uri"
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


def test_every_request_is_named() -> None:
    named = {e.shape.request.__name__ for e in ENDPOINTS if e.shape.takes_body}
    assert len(named) == 10
    assert named <= DOCUMENT["components"]["schemas"].keys()


def test_rules_between_members_stand_where_json_schema_can_say_them() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["UpdateVoice"]["minProperties"] == 1
    assert schemas["CreateReplica"]["dependentRequired"] == {"train_image_url": ["voice_name"]}


def test_records_require_what_is_always_there_and_are_null_where_that_is_specified() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert len(schemas["Tool"]["required"]) == 14
    assert set(schemas["Voice"]["required"]) == schemas["Voice"]["properties"].keys() - {
        "error_message"
    }
    always = {"document_id", "document_name", "document_url", "status", "progress", "tags"}
    assert set(schemas["Document"]["required"]) == always | {"created_at", "updated_at"}
    assert set(schemas["ImageCheck"]["required"]) == {"id", "label", "passed"}
    assert set(schemas["ConnectorError"]["required"]) == {"http_status", "message"}
    records = {e.reply.__name__ for e in ENDPOINTS if e.reply is not Unspecified}
    records |= {"ImageCheck", "ConnectorError", "CrawlConfig", "PronunciationRule"}
    nullable = {
        f"{name}.{member}"
        for name in records
        for member, each in schemas[name]["properties"].items()
        if {"type": "null"} in each.get("anyOf", ())
    }
    assert nullable == {
        "Voice.description", "Tool.owner_id", "Tool.origin", "Tool.on_call", "Tool.static_filler",
        "Document.progress", "ConnectorCheck.error", "ConnectorError.http_status",
    }  # fmt: skip


def test_what_a_request_must_hold_is_told() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    operation = Draft202012Validator(schemas["PatchOperation"])
    assert operation.is_valid({"op": "remove", "path": "/a"})
    assert operation.is_valid({"op": "add", "path": "/a", "value": None})
    assert operation.is_valid({"op": "copy", "path": "/a", "from": "/b"})
    for op in ("add", "replace", "test", "move", "copy"):
        assert not operation.is_valid({"op": op, "path": "/a"}), op
    image = schemas["ValidateFaceImage"]["properties"]["imageBase64"]
    assert (image["contentEncoding"], image["maxLength"]) == ("base64", 29_360_128)

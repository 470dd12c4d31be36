"""The OpenAPI document describes what is served; schemathesis holds the server to it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator
from raw import Raw

from palprep.sandbox import Choices, Sandbox
from palprep.sandbox.openapi import openapi_document


@pytest.fixture(scope="module")
def served():
    with Sandbox(clock="virtual") as sandbox, Raw(sandbox) as raw:
        yield raw


@pytest.fixture(scope="module")
def document(served):
    return served.ok("GET", "/openapi.json")


def test_no_request_makes_the_server_fail_or_leave_its_document(checkout, tmp_path):
    """In a process of its own: what is asked is made while it is collected, and that would be in
    every worker."""
    tests = checkout / "tests/sandbox/held_to_document.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "schemathesis"]
    done = subprocess.run(
        [*command, f"--basetemp={tmp_path / 'own'}", tests],
        cwd=checkout, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    paths = openapi_document(Choices(), base_url="http://127.0.0.1")["paths"].values()
    assert f"{sum(map(len, paths))} passed" in done.stdout


def test_the_document_served_is_the_one_that_was_tried(document):
    url = document["servers"][0]["url"]
    assert document == openapi_document(Choices(), base_url=url)


def test_every_schema_is_valid(document):
    assert document["openapi"] == "3.1.0"
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_error_has_a_shape_of_its_own(document):
    shapes = {f"#/components/schemas/{name}" for name in ("Error", "Message", "ImageError")}
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    schema = response["content"]["application/json"]["schema"]
                    assert {each["$ref"] for each in schema["anyOf"]} <= shapes

"""Methods look like what they are declared as, on both clients."""

from __future__ import annotations

import inspect

import pytest

from palprep.api.call import Endpoint
from palprep.api.calls import ENDPOINTS
from palprep.client import AsyncClient, Client, resources
from palprep.client.methods import Method, Procedure, Resource


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_signatures_and_documentation(kind: type[Client | AsyncClient]) -> None:
    client = kind(api_key="k", base_url="http://127.0.0.1:1")
    update = inspect.signature(client.voices.update)
    assert list(update.parameters)[:2] == ["voice_id", "voice_name"]
    assert update.return_annotation.__name__ == "Voice"
    assert "At least one must be given" in (client.voices.update.__doc__ or "")
    wait = inspect.signature(client.voices.wait)
    assert list(wait.parameters) == ["voice_id", "timeout"]
    assert wait.return_annotation.__name__ == "Voice"
    upload = inspect.signature(client.faces.validate_image)
    assert list(upload.parameters) == ["image", "model", "mime_type", "timeout", "validate"]


def test_every_endpoint_has_its_method() -> None:
    classes = [c for c in vars(resources).values() if isinstance(c, type) and c is not Resource]
    methods = [
        value
        for c in classes
        if issubclass(c, Resource)
        for value in vars(c).values()
        if isinstance(value, Method)
    ]
    assert len(methods) == len(ENDPOINTS)
    assert all(m.__doc__ for m in methods)


def test_on_the_class_a_method_is_its_declaration() -> None:
    assert isinstance(resources.Voices.create, Method)
    assert isinstance(resources.Voices.wait, Procedure)


def test_names_of_resources_are_those_of_the_declarations() -> None:
    client = Client(api_key="k", base_url="http://127.0.0.1:1")
    for endpoint in ENDPOINTS:
        assert isinstance(endpoint, Endpoint)
        if not endpoint.assumed:
            assert callable(getattr(getattr(client, endpoint.resource), endpoint.action))
    client.close()

"""What holds everywhere: JSON, keys, the three error shapes, versioned paths."""

from __future__ import annotations

from urllib.parse import quote

import pytest

ROUTES = [
    ("POST", "/v2/connectors/x/runtime_check"),
    ("POST", "/v2/tools"),
    ("POST", "/v2/faces/image-validation"),
    ("POST", "/v2/replicas/image-validation"),
    ("POST", "/v2/voices"),
    ("GET", "/v2/voices/x"),
    ("PATCH", "/v2/voices/x"),
    ("PUT", "/v2/pals/x/skills"),
    ("DELETE", "/v2/pals/x"),
    ("PATCH", "/v2/deployments/x"),
    ("DELETE", "/v2/deployments/x"),
    ("PATCH", "/v2/videos/x/name"),
    ("GET", "/v2/documents/x"),
    ("GET", "/v2/pronunciation-dictionaries/x"),
    ("POST", "/v2/replicas"),
    ("POST", "/v2/conversations"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("key", [None, "", "wrong", "Sandbox-User-Key"])
@pytest.mark.clause("auth.1")
@pytest.mark.clause("auth.2")
@pytest.mark.clause("general.4")
@pytest.mark.clause("errors.2")
def test_without_the_right_key_there_is_only_one_answer(api, method, path, key):
    request = api.http.build_request(method, path, json={})
    del request.headers["x-api-key"]
    if key is not None:
        request.headers["x-api-key"] = key
    reply = api.http.send(request)
    assert reply.status_code == 401
    assert reply.json().keys() == {"message"}
    assert "invalid access token" in reply.json()["message"].lower()


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.clause("general.1")
@pytest.mark.clause("general.3")
@pytest.mark.clause("errors.1")
@pytest.mark.clause("errors.2")
@pytest.mark.clause("errors.3")
def test_every_refusal_is_json_of_one_of_the_three_shapes(api, method, path):
    reply = api.send(method, path, {"no such member": 1})
    assert reply.headers["content-type"] == "application/json"
    assert 400 <= reply.status_code < 500
    if path.endswith("image-validation"):
        assert reply.json().keys() == {"message", "error", "code"}
    elif method == "GET" and "voices" not in path:
        assert reply.json().keys() == {"message"}
    else:
        assert reply.json().keys() == {"error"}
    assert all(isinstance(value, str) for value in reply.json().values())


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"7", b'{"a":NaN}', b'{"a":1e999}', b"\xff", b"[" * 100_000]
)
@pytest.mark.parametrize(("method", "path"), [r for r in ROUTES if r[0] in {"POST", "PUT"}])
@pytest.mark.clause("general.1")
def test_a_body_that_is_no_json_object_is_refused_and_never_a_crash(api, method, path, content):
    reply = api.send(method, path, content=content)
    assert 400 <= reply.status_code < 500
    assert reply.headers["content-type"] == "application/json"


@pytest.mark.clause("general.3")
@pytest.mark.clause("versioning.1")
def test_the_document_lists_exactly_the_specified_and_the_assumed_operations(api):
    document = api.ok("GET", "/openapi.json")
    operations = {
        (method.upper(), path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert all(path.startswith("/v2/") for _, path in operations)
    assumed = {key for key, operation in operations.items() if operation.get("x-assumed")}
    assert assumed == {
        ("GET", "/v2/replicas/{replica_id}"),
        ("GET", "/v2/voices"),
        ("GET", "/v2/deployments/{deployment_id}"),
        ("GET", "/v2/tools"),
        ("GET", "/v2/tools/{tool_id}"),
        ("DELETE", "/v2/tools/{tool_id}"),
    }
    specified = {(method, path.count("/"), path.split("/")[2]) for method, path in ROUTES}
    named = {(m, p.count("/"), p.split("/")[2]) for m, p in operations.keys() - assumed}
    assert named == specified


@pytest.mark.clause("general.1")
def test_unknown_paths_and_methods_are_errors_too(api):
    unknown = api.send("GET", "/v2/nothing")
    assert (unknown.status_code, unknown.json().keys()) == (404, {"error"})
    wrong = api.send("DELETE", "/v2/voices")
    assert (wrong.status_code, wrong.json().keys()) == (405, {"error"})
    assert set(wrong.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}


@pytest.mark.parametrize("word", ["a/b", "a b", "..", ".", "ä?ö", "100%", "a%2Fb", "#x", "\u2028"])
@pytest.mark.clause("general.2")
def test_an_id_of_any_characters_is_reached(api, word):
    document_id = api.fresh(word) if word not in {".", ".."} else word
    api.seed(documents=[{"document_id": document_id}])
    path = f"/v2/documents/{quote(document_id, safe='').replace('.', '%2E')}"
    assert api.ok("GET", path)["document_id"] == document_id
    unknown = api.refused("GET", f"{path}%2Fmore")
    assert unknown.keys() == {"message"}

"""JSON Patch on a deployment, mostly by the cases of RFC 6902, appendix A."""

from __future__ import annotations

import re
import time

import pytest

from palprep.sandbox import Choices
from palprep.sandbox.handlers import seeded

AT = "/customization/at"
MALFORMED = "Invalid JSON patch format: "


def patch(raw, document, operations):
    """The reply to a patch of a deployment that holds ``document`` at :data:`AT`."""
    deployment_id = raw.fresh("d")
    raw.seed(deployments=[{"deployment_id": deployment_id, "customization": {"at": document}}])
    there = [
        operation | {name: AT + operation[name] for name in ("path", "from") if name in operation}
        for operation in operations
    ]
    return raw.send("PATCH", f"/v2/deployments/{deployment_id}", there)


def patched(raw, document, operations):
    reply = patch(raw, document, operations)
    assert reply.status_code == 200, reply.text
    return reply.json()["customization"]["at"]


def refused(raw, document, operations):
    """Why the patch is refused; nothing has changed then."""
    reply = patch(raw, document, operations)
    assert reply.status_code == 400
    kept = raw.ok("GET", reply.url.path)
    assert kept["customization"] == {"at": document}
    return reply.json()["error"].removeprefix(MALFORMED)


@pytest.mark.parametrize(
    ("document", "operation", "expected"),
    [
        (
            {"foo": "bar"},
            {"op": "add", "path": "/baz", "value": "qux"},
            {"baz": "qux", "foo": "bar"},
        ),
        ({"foo": ["a", "c"]}, {"op": "add", "path": "/foo/1", "value": "b"}, {"foo": list("abc")}),
        ({"foo": ["a"]}, {"op": "add", "path": "/foo/-", "value": "b"}, {"foo": ["a", "b"]}),
        ({"baz": 1, "foo": 2}, {"op": "remove", "path": "/baz"}, {"foo": 2}),
        ({"foo": ["a", "b"]}, {"op": "remove", "path": "/foo/0"}, {"foo": ["b"]}),
        ({"baz": 1}, {"op": "replace", "path": "/baz", "value": None}, {"baz": None}),
        ({"foo": ["a", "b"]}, {"op": "replace", "path": "/foo/1", "value": 7}, {"foo": ["a", 7]}),
        ({"a": 1}, {"op": "replace", "path": "", "value": [1]}, [1]),
        ({"a": {"b": 1}, "c": {}}, {"op": "move", "from": "/a/b", "path": "/c/d"}, None),
        ({"a": {"b": 1}}, {"op": "copy", "from": "/a", "path": "/c"}, None),
        ({"a/b": 1, "m~n": 2}, {"op": "remove", "path": "/a~1b"}, {"m~n": 2}),
        ({"m~n": 2}, {"op": "test", "path": "/m~0n", "value": 2}, {"m~n": 2}),
        (
            {"a": {"b": [1, {"c": None}]}},
            {"op": "test", "path": "/a", "value": {"b": [1, {"c": None}]}},
            {"a": {"b": [1, {"c": None}]}},
        ),
    ],
)
def test_an_operation_does_what_the_rfc_says(raw, document, operation, expected):
    results = {"move": {"a": {}, "c": {"d": 1}}, "copy": {"a": {"b": 1}, "c": {"b": 1}}}
    wanted = results[operation["op"]] if expected is None else expected
    assert patched(raw, document, [operation]) == wanted


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/missing", "value": 1},
        {"op": "remove", "path": "/list/01"},
        {"op": "remove", "path": "/list/-"},
        {"op": "add", "path": "/list/3", "value": 1},
        {"op": "add", "path": "/list/" + "1" * 5000, "value": 1},
        {"op": "add", "path": "/name/deeper", "value": 1},
        {"op": "move", "from": "/deep", "path": "/deep/er"},
        {"op": "test", "path": "/one", "value": True},
        {"op": "test", "path": "/list", "value": [1, True]},
        {"op": "test", "path": "/deep", "value": {"more": 1}},
        {"op": "test", "path": "/name", "value": "other"},
    ],
)
def test_a_patch_that_does_not_apply_says_so(raw, operation):
    document = {"name": "n", "list": [1, 2], "deep": {}, "one": 1}
    assert refused(raw, document, [operation]).startswith("operation 0: ")


@pytest.mark.parametrize(
    "operation",
    [
        {"op": ["add"], "path": "/name", "value": 1},
        {"op": "copy", "path": "/name"},
        {"op": "copy", "from": 4, "path": "/name"},
        {"op": "copy", "from": "status", "path": "/name"},
    ],
)
def test_an_operation_that_is_malformed_is_refused(raw, operation):
    deployment_id = raw.fresh("d")
    raw.seed(deployments=[{"deployment_id": deployment_id}])
    error = raw.refused("PATCH", f"/v2/deployments/{deployment_id}", [operation])
    assert error["error"].startswith(MALFORMED)


def test_a_later_operation_sees_what_an_earlier_one_has_added(raw):
    operations = [
        {"op": "add", "path": "/b", "value": {"inner": []}},
        {"op": "copy", "from": "/b", "path": "/c"},
        {"op": "add", "path": "/b/inner/-", "value": 1},
    ]
    assert patched(raw, {"a": 1}, operations) == {"a": 1, "b": {"inner": [1]}, "c": {"inner": []}}


def nested(levels):
    return {"a": nested(levels - 1)} if levels else {}


@pytest.mark.parametrize("steps", [2, 12])
def test_what_would_be_nested_too_deeply_is_refused(raw, steps):
    adds = [
        {"op": "add", "path": "/deep" + 150 * step * "/a", "value": nested(150)}
        for step in range(steps)
    ]
    assert patched(raw, {}, adds[:1]) == {"deep": nested(150)}
    assert refused(raw, {}, adds) == "operation 1: it would be nested too deeply."


def test_copies_do_not_let_a_deployment_grow_without_bound(raw):
    doubled = [{"op": "copy", "from": "/a", "path": f"/a/{step}"} for step in range(40)]
    why = refused(raw, {"a": {"text": "x" * 1000}}, doubled)
    assert re.fullmatch(
        r"operation (9|10): the deployment would have more than 1,048,576 bytes\.", why
    )


@pytest.mark.parametrize("op", ["copy", "move"])
def test_thousands_of_operations_on_much_end_soon(raw, op):
    """Each is small, and so is what they make; together they would take half a minute."""
    there = {"a": {"numbers": [*range(50_000)]}, "b": {}}
    steps = ("/a/numbers", "/b/numbers"), ("/b/numbers", "/a/numbers")
    operations = [{"op": op, "from": steps[n % 2][0], "path": steps[n % 2][1]} for n in range(4000)]
    began = time.monotonic()
    why = refused(raw, there, operations)
    assert re.fullmatch(r"operation \d+: send it and the next ones as a new patch\.", why), why
    assert time.monotonic() - began < 15
    assert len(patched(raw, there, operations[:20])["b"]) in {0, 1}


def test_a_deployment_that_was_seeded_larger_can_be_patched(raw):
    document = {"text": "x" * 2_000_000}
    one = {"op": "replace", "path": "/text", "value": "short"}
    assert patched(raw, document, [one]) == {"text": "short"}
    copied = {"op": "copy", "from": "/text", "path": "/more"}
    assert "would have more than 2,000," in refused(raw, document, [copied])


def test_thousands_of_tests_do_not_look_at_the_whole_each(monkeypatch):
    looked = []
    monkeypatch.setattr(seeded, "json_value", looked.append)
    tests = [{"op": "test", "path": "/a", "value": 1}] * 3
    added = {"op": "add", "path": "/b", "value": 2}
    assert seeded._patched(Choices(), {"a": 1}, [*tests, added]) == {"a": 1, "b": 2}
    assert len(looked) == 1


def test_the_error_names_the_operation(raw):
    operations = [
        {"op": "add", "path": "/b", "value": 1},
        {"op": "test", "path": "/b", "value": 2},
    ]
    assert refused(raw, {}, operations) == f"operation 1: the test of {AT}/b failed."


@pytest.mark.parametrize(
    ("operation", "member"),
    [
        ({"op": "move", "from": "/pal_id", "path": "/name"}, "pal_id"),
        ({"op": "copy", "from": "/status", "path": "/title"}, "title"),
        ({"op": "replace", "path": "", "value": [1]}, "the whole"),
        ({"op": "remove", "path": ""}, "the whole"),
        ({"op": "add", "path": "/usage_total", "value": 3}, "usage_total"),
        ({"op": "add", "path": "/title", "value": None}, "title"),
        ({"op": "add", "path": "/title", "value": {}}, "title"),
        ({"op": "remove", "path": "/nothing"}, "nothing"),
    ],
)
def test_what_is_not_patchable_stays(raw, operation, member):
    deployment_id = raw.fresh("d")
    raw.seed(deployments=[{"deployment_id": deployment_id, "nothing": None}])
    error = raw.refused("PATCH", f"/v2/deployments/{deployment_id}", [operation])
    assert member in error["error"]

"""JSON Patch, mostly by the cases of RFC 6902, appendix A."""

from __future__ import annotations

import pytest

from palprep.sandbox.json_patch import BadPatch, apply_patch, changed_members


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
def test_an_operation_does_what_the_rfc_says(document, operation, expected):
    results = {"move": {"a": {}, "c": {"d": 1}}, "copy": {"a": {"b": 1}, "c": {"b": 1}}}
    wanted = results[operation["op"]] if expected is None else expected
    assert apply_patch(document, [operation]) == wanted


@pytest.mark.parametrize(
    "operations",
    [
        "replace",
        {"op": "add"},
        [1],
        [{"op": "replace", "path": "/name"}],
        [{"op": "replace", "path": "name", "value": 1}],
        [{"op": "replace", "path": "/missing", "value": 1}],
        [{"op": "rename", "path": "/name", "value": 1}],
        [{"op": ["add"], "path": "/name", "value": 1}],
        [{"op": "remove", "path": "/list/01"}],
        [{"op": "remove", "path": "/list/-"}],
        [{"op": "add", "path": "/list/3", "value": 1}],
        [{"op": "add", "path": "/name/deeper", "value": 1}],
        [{"op": "move", "from": "/deep", "path": "/deep/er"}],
        [{"op": "copy", "path": "/x"}],
        [{"op": "copy", "from": 4, "path": "/x"}],
        [{"op": "test", "path": "/one", "value": True}],
        [{"op": "test", "path": "/list", "value": [1, True]}],
        [{"op": "test", "path": "/deep", "value": {"more": 1}}],
        [{"op": "test", "path": "/name", "value": "other"}],
    ],
)
def test_a_patch_that_is_malformed_or_does_not_apply_says_so(operations):
    document = {"name": "n", "list": [1, 2], "deep": {}, "one": 1}
    with pytest.raises(BadPatch):
        apply_patch(document, operations)
    assert document == {"name": "n", "list": [1, 2], "deep": {}, "one": 1}


def test_nothing_is_changed_in_place_and_values_are_not_shared():
    value = {"inner": []}
    patched = apply_patch(
        {"a": 1},
        [
            {"op": "add", "path": "/b", "value": value},
            {"op": "add", "path": "/b/inner/-", "value": 1},
        ],
    )
    assert patched == {"a": 1, "b": {"inner": [1]}}
    assert value == {"inner": []}


def test_the_error_names_the_operation():
    operations = [
        {"op": "add", "path": "/b", "value": 1},
        {"op": "test", "path": "/b", "value": 2},
    ]
    with pytest.raises(BadPatch, match=r"operation 1: the test of /b failed"):
        apply_patch({}, operations)


def test_changed_members_are_those_written_to():
    operations = [
        {"op": "test", "path": "/name", "value": 1},
        {"op": "replace", "path": "/limits/calls", "value": 1},
        {"op": "move", "from": "/name", "path": "/title"},
        {"op": "copy", "from": "/status", "path": "/title"},
    ]
    assert changed_members(operations) == {"limits", "name", "title"}
    assert changed_members([{"op": "replace", "path": "", "value": 1}]) == {""}


def test_copies_that_double_come_to_an_end():
    document = {"a": ["x" * 100]}
    doubling = [{"op": "copy", "from": "/a", "path": "/a/-"}] * 60
    with pytest.raises(BadPatch, match=r"operation \d+: the result is more than 10000 bytes"):
        apply_patch(document, doubling, max_bytes=10_000)
    assert document == {"a": ["x" * 100]}


def test_copies_that_nest_come_to_an_end():
    deep = {}
    for _ in range(400):
        deep = {"a": deep}
    nesting = [{"op": "copy", "from": "", "path": "/a" * (400 * 2**n)} for n in range(3)]
    with pytest.raises(BadPatch):
        apply_patch(deep, nesting)


def test_too_many_operations_are_refused_at_once():
    with pytest.raises(BadPatch, match="at most 3 operations"):
        apply_patch({}, [{"op": "test", "path": "", "value": {}}] * 4, max_operations=3)


def test_a_result_that_is_too_large_is_refused():
    with pytest.raises(BadPatch, match="more than 50 bytes"):
        apply_patch({}, [{"op": "add", "path": "/a", "value": "x" * 60}], max_bytes=50)

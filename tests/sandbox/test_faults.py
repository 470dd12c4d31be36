"""Faults strike what they name, as often as they say."""

from __future__ import annotations

import json

import pytest

from palprep.errors import UsageError
from palprep.sandbox.faults import (
    AssetFault,
    CallbackFault,
    Faults,
    RequestFault,
    script_from,
)


def loaded(*faults, seed=0):
    return Faults(script_from({"faults": list(faults), "seed": seed}))


def request(faults, endpoint, method, path):
    return faults.striking(RequestFault, endpoint=endpoint, method=method, path=path)


def test_a_fault_strikes_once_unless_told_otherwise():
    faults = loaded({"on": "request", "endpoint": "*.create", "status": 503})
    assert request(faults, "voices.get", "GET", "/v2/voices/v") is None
    assert request(faults, "voices.create", "POST", "/v2/voices").status == 503
    assert request(faults, "voices.create", "POST", "/v2/voices") is None
    assert faults.waiting() == []


def test_skip_and_times_count_matches():
    faults = loaded({"on": "request", "skip": 1, "times": 2, "status": 500})
    struck = [request(faults, "e", "GET", "/") is not None for _ in range(5)]
    assert struck == [False, True, True, False, False]


def test_for_ever_is_times_null():
    faults = loaded({"on": "request", "times": None, "status": 500})
    assert all(request(faults, "e", "GET", "/") for _ in range(50))
    assert faults.waiting()[0]["left"] is None


def test_chance_is_repeatable_by_its_seed():
    def run(seed):
        fault = {"on": "request", "times": None, "probability": 0.5, "status": 500}
        faults = loaded(fault, seed=seed)
        return [request(faults, "e", "GET", "/") is not None for _ in range(40)]

    assert run(1) == run(1) != run(2)
    assert 5 < sum(run(1)) < 35


def test_each_fault_strikes_only_what_it_is_on():
    faults = loaded(
        {"on": "callback", "copies": 2},
        {"on": "asset", "name": "*.mp4"},
        {"on": "request", "path": "/v2/tools", "method": "POST", "drop": "after_commit"},
    )
    assert faults.striking(AssetFault, name="a.png") is None
    assert faults.striking(AssetFault, name="a.mp4").effect == "expired"
    assert request(faults, "x", "GET", "/v2/tools") is None
    assert request(faults, "x", "POST", "/v2/tools").drop == "after_commit"
    assert faults.striking(CallbackFault, event="application.voice_status_changed").copies == 2


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ([{"on": "request", "status": 99}], "faults.0.request.status"),
        ([{"on": "weather"}], "faults.0"),
        ([{"on": "request", "endpoint": "voices.crate"}], ".*did you mean voices.create?"),
        ([{"on": "request", "method": "post"}], "faults.0.request.method: no method"),
        ([{"on": "callback", "event": "zzz"}], ".*there are application.voice_status"),
        ([{"on": "request", "sttaus": 500}], "faults.0.request.sttaus"),
        ([{"on": "request", "headers": {"x-city": "Łódź"}}], ".*x-city: must be printable ASCII"),
        ([{"on": "request", "headers": {"retry after": "1"}}], ".*must be the name of a header"),
        ({"seed": "x"}, "seed"),
        (7, ""),
    ],
)
def test_a_wrong_script_names_the_place(content, place):
    with pytest.raises(UsageError, match=f"wrong at {place}"):
        script_from(content)


def test_a_file_holds_an_object_or_a_list(tmp_path):
    path = tmp_path / "faults.json"
    path.write_text(json.dumps([{"on": "asset"}]))
    assert len(script_from(path).faults) == 1
    for mistaken in ("{", "[" * 100_000):
        path.write_text(mistaken)
        with pytest.raises(UsageError, match=r"faults\.json cannot be used"):
            script_from(path)
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        script_from(tmp_path / "missing.json")

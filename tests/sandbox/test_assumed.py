"""Routes that the specification mentions and does not show."""

from __future__ import annotations


def test_voices_are_listed_by_tag_in_the_order_of_their_creation(raw):
    tag = raw.fresh("tag")
    tagged = [raw.voice(tags=["x", tag]), raw.voice(tags=[tag])]
    raw.voice(tags=["x"])
    assert raw.ok("GET", "/v2/voices", params={"tag": tag})["data"] == tagged
    assert raw.ok("GET", "/v2/voices", params={"tag": tag[:-1]})["data"] == []
    listed = raw.ok("GET", "/v2/voices")["data"]
    assert [voice for voice in listed if voice in tagged] == tagged
    assert len(listed) > len(tagged)


def test_what_does_not_exist_is_not_found(raw):
    for path in ("/v2/replicas/x", "/v2/tools/x", "/v2/deployments/x", "/v2/voices/x"):
        reply = raw.send("GET", path)
        assert (reply.status_code, reply.json().keys()) == (404, {"error"})

"""What a run does with a portrait that the service refuses."""

from __future__ import annotations

REFUSAL = {
    "passed": False, "message": "no", "details": {},
    "checks": [{"id": "person_centered", "label": "Person centred", "passed": False}],
}  # fmt: skip


def test_a_refused_portrait_stops_the_replica_and_not_the_voice(go, add, log):
    add("ada", portrait=True, settings='stock_voice = "gloria"')
    log.fault(on="request", endpoint="faces.validate_image", status=200, body=REFUSAL)
    [person] = go().people
    assert person.status == "redo"
    assert person.reasons == (
        "Only the voice is made. The service refuses the portrait: Person centred",
    )
    assert log.creates == {"voice": 1}
    assert go().people[0].status == "done"
    assert log.creates == {"voice": 1, "replica": 1}


def test_a_refusal_without_a_reason_says_so(go, add, log):
    add("ada", portrait=True, settings='stock_voice = "gloria"')
    bare = {"passed": False, "checks": []}
    log.fault(on="request", endpoint="faces.validate_image", status=200, body=bare)
    [person] = go().people
    assert person.reasons[0].endswith("The service refuses the portrait: it does not say why")


def test_a_refused_portrait_that_nothing_needs_is_left_out(go, add, log):
    add("ada", portrait=True)
    log.fault(on="request", endpoint="faces.validate_image", status=200, body=REFUSAL)
    [person] = go().people
    assert person.status == "voice_only"
    assert "it needs a stock_voice" in person.reasons[0]
    assert person.reasons[1:] == ("Left out: The service refuses the portrait: Person centred",)
    assert log.creates == {"voice": 1}

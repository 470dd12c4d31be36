"""What is not created here: PALs and skills, deployments, videos."""

from __future__ import annotations

import pytest


@pytest.fixture
def pal(api):
    pal_id = api.fresh("p")
    api.seed(pals=[{"pal_id": pal_id, "pal_name": "Pal"}])
    return f"/v2/pals/{pal_id}"


@pytest.fixture
def deployment(api):
    record = {
        "deployment_id": api.fresh("d"),
        "pal_id": "p1",
        "channel": "landing-page",
        "status": "active",
        "name": "old",
        "has_password": False,
        "customization": {"colour": "blue"},
        "replica_thumbnail_video_url": "https://media.example/gone.mp4",
        "thumbnail_video_url": "https://media.example/t.mp4",
        "thumbnail_image_url": "https://media.example/t.jpg",
        "limits": {"daily": 5},
        "allowed_origins": ["https://a.example"],
        "usage_total": 3,
        "usage_today": 1,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    }
    api.seed(deployments=[record])
    return record


def path_of(deployment):
    return f"/v2/deployments/{deployment['deployment_id']}"


RENAME = [{"op": "replace", "path": "/name", "value": "new"}]


@pytest.mark.clause("skills.1")
@pytest.mark.clause("skills.2")
@pytest.mark.clause("skills.3")
@pytest.mark.clause("skills.4")
@pytest.mark.clause("skills.5")
def test_skills_are_replaced_as_a_whole(api, pal):
    config = {"document_ids": ["d1"], "slides_trigger": "on_demand"}
    first = {"internet_search": {}, "presentation": {"config": config}}
    answer = api.ok("PUT", f"{pal}/skills", {"skills": first})
    assert answer.keys() == {"data"}
    assert answer["data"].keys() == first.keys()
    assert answer["data"]["presentation"]["config"] == config
    second = {"magic_canvas": {"config": {}}, "presentation": {"config": {"document_ids": []}}}
    assert api.ok("PUT", f"{pal}/skills", {"skills": second})["data"].keys() == second.keys()
    assert api.ok("PUT", f"{pal}/skills", {"skills": {}}) == {"data": {}}


@pytest.mark.parametrize(
    ("skills", "named"),
    [
        ({"presentation": {}}, "skills.presentation.config.document_ids"),
        ({"presentation": {"config": {}}}, "skills.presentation.config.document_ids"),
        (
            {"presentation": {"config": {"document_ids": "d"}}},
            "skills.presentation.config.document_ids",
        ),
        ({"internet_search": {"config": {"x": 1}}}, "skills.internet_search.config.x"),
        ({"magic_canvas": {"config": {"x": 1}}}, "skills.magic_canvas.config.x"),
    ],
)
@pytest.mark.clause("skills.3")
@pytest.mark.clause("skills.4")
@pytest.mark.clause("skills.6")
def test_wrong_configuration_maps_field_path_to_message(api, pal, skills, named):
    kept = {"data": {"internet_search": {"config": {}}}}
    assert api.ok("PUT", f"{pal}/skills", {"skills": {"internet_search": {}}}) == kept
    error = api.refused("PUT", f"{pal}/skills", {"skills": skills})
    assert error.keys() == {"error"}
    assert f'"{named}": ' in error["error"]


@pytest.mark.clause("skills.7")
def test_an_unknown_skill_is_said_to_be_unknown(api, pal):
    error = api.refused("PUT", f"{pal}/skills", {"skills": {"juggling": {}}})
    assert error.keys() == {"error"}
    assert "unknown skill" in error["error"].lower()
    assert "juggling" in error["error"]


@pytest.mark.clause("delete-pal.1")
@pytest.mark.clause("delete-pal.2")
@pytest.mark.clause("errors.1")
def test_a_pal_is_deleted_once(api, pal):
    api.ok("DELETE", pal)
    for method, path, body in (
        ("DELETE", pal, None),
        ("DELETE", "/v2/pals/never", None),
        ("PUT", f"{pal}/skills", {"skills": {}}),
    ):
        error = api.refused(method, path, body)
        assert error.keys() == {"error"}
        assert "invalid pal_id" in error["error"].lower()


@pytest.mark.clause("deployment.1")
@pytest.mark.clause("deployment.2")
def test_the_deployment_record(api, deployment):
    shown = api.ok("GET", path_of(deployment))
    del deployment["replica_thumbnail_video_url"]
    assert shown == deployment


@pytest.mark.clause("deployment.3")
@pytest.mark.clause("deployment.4")
@pytest.mark.clause("deployment.5")
def test_a_patch_under_the_etag_of_a_prior_get(api, deployment):
    path = path_of(deployment)
    etag = api.send("GET", path).headers["etag"]
    reply = api.send("PATCH", path, RENAME, headers={"if-match": etag})
    assert reply.status_code == 200
    assert reply.json()["name"] == "new"
    assert reply.json()["updated_at"] > deployment["updated_at"]
    assert reply.headers["etag"] != etag
    kept = {"pal_id", "channel", "limits", "usage_total", "created_at"}
    assert {n: reply.json()[n] for n in kept} == {n: deployment[n] for n in kept}
    stale = api.send("PATCH", path, RENAME, headers={"if-match": etag})
    assert (stale.status_code, stale.json().keys()) == (412, {"error"})
    assert api.ok("GET", path) == reply.json()
    assert api.send("PATCH", path, RENAME, headers={"if-match": "*"}).status_code == 200
    assert api.send("PATCH", path, RENAME).status_code == 200


@pytest.mark.parametrize(
    "patch",
    [
        {"op": "replace", "path": "/name", "value": "x"},
        [{"op": "replace", "value": "x"}],
        [{"op": "shuffle", "path": "/name"}],
        [{"op": "replace", "path": "name", "value": "x"}],
        [{"op": "replace", "path": "/name"}],
        [{"op": "remove", "path": "/missing"}],
        [{"op": "replace", "path": "/deployment_id", "value": "x"}],
        [{"op": "replace", "path": "", "value": {}}],
        [*RENAME, {"op": "test", "path": "/name", "value": "other"}],
        ["replace"],
        "replace",
        7,
    ],
)
@pytest.mark.clause("deployment.6")
@pytest.mark.clause("errors.1")
def test_a_malformed_patch_changes_nothing(api, deployment, patch):
    path = path_of(deployment)
    before = api.ok("GET", path)
    error = api.refused("PATCH", path, patch)
    assert error.keys() == {"error"}
    assert error["error"].startswith("Invalid JSON patch format")
    assert api.ok("GET", path) == before


@pytest.mark.clause("deployment.7")
def test_a_deployment_is_deleted(api, deployment):
    path = path_of(deployment)
    api.ok("DELETE", path)
    for method, body in (("GET", None), ("DELETE", None), ("PATCH", RENAME)):
        assert api.refused(method, path, body).keys() == {"error"}


@pytest.mark.clause("video.1")
def test_a_video_is_renamed(api):
    video_id = api.fresh("v")
    api.seed(videos=[{"video_id": video_id, "video_name": "old"}])
    path = f"/v2/videos/{video_id}/name"
    assert api.ok("PATCH", path, {"video_name": "new"})["video_name"] == "new"
    for body in ({}, {"video_name": 7}, {"video_name": "x", "y": 1}):
        assert api.refused("PATCH", path, body).keys() == {"error"}


@pytest.mark.clause("video.2")
@pytest.mark.clause("errors.1")
def test_an_invalid_video_id(api):
    error = api.refused("PATCH", "/v2/videos/never/name", {"video_name": "n"})
    assert error.keys() == {"error"}
    assert "invalid video_id" in error["error"].lower()


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/status", "value": "flying"},
        {"op": "replace", "path": "/name", "value": 5},
        {"op": "replace", "path": "/name", "value": None},
        {"op": "remove", "path": "/name"},
        {"op": "replace", "path": "/allowed_origins", "value": "x"},
        {"op": "add", "path": "/allowed_origins/-", "value": 7},
        {"op": "replace", "path": "/limits", "value": []},
        {"op": "copy", "path": "/status", "from": "/channel"},
    ],
)
@pytest.mark.clause("deployment.1")
@pytest.mark.clause("deployment.8")
def test_members_keep_their_types_and_values(api, deployment, operation):
    before = api.ok("GET", path_of(deployment))
    error = api.refused("PATCH", path_of(deployment), [operation])
    assert error["error"].startswith("Invalid JSON patch format")
    assert api.ok("GET", path_of(deployment)) == before

"""What is not created here: PALs and skills, deployments, videos, documents, dictionaries."""

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


def document(api, **members):
    record = {
        "document_id": api.fresh("doc"),
        "document_name": "Handbook",
        "document_url": "https://docs.example/handbook.pdf",
        "status": "started",
        "progress": None,
        "created_at": "2026-01-01T00:00:00.000000",
        "updated_at": "2026-01-01T00:00:00.000000",
        "tags": ["a"],
    }
    api.seed(documents=[record | members])
    return f"/v2/documents/{record['document_id']}", record | members


@pytest.mark.clause("document.1")
def test_get_document_returns_the_record(api):
    path, record = document(api, status="ready", callback_url="https://me.example/cb")
    assert api.ok("GET", path) == record


@pytest.mark.clause("document.2")
@pytest.mark.clause("document.3")
@pytest.mark.clause("document.7")
def test_a_document_walks_by_the_clock_and_says_so(api, receiver):
    path, _ = document(api, callback_url=receiver.url)
    seen = [api.ok("GET", path)]
    for _ in range(4):
        api.sandbox.advance(1)
        seen.append(api.ok("GET", path))
    assert [(d["status"], d["progress"]) for d in seen] == [
        ("started", None),
        ("processing", 0),
        ("processing", 50),
        ("processing", 100),
        ("ready", None),
    ]
    payloads = [request.json for request in receiver.wait(4)]
    assert [p["status"] for p in payloads] == ["processing"] * 3 + ["ready"]
    api.sandbox.advance(100)
    assert api.ok("GET", path)["status"] == "ready"


@pytest.mark.parametrize(
    "code",
    [
        "file_download_failed",
        "file_format_unsupported",
        "file_size_too_large",
        "file_empty",
        "invalid_file_url",
        "document_processing_failed",
        "website_processing_failed",
        "chunking_failed",
        "embedding_failed",
        "vector_store_failed",
        "contact_support",
    ],
)
@pytest.mark.clause("document.2")
@pytest.mark.clause("document.4")
def test_error_codes_appear_with_status_error_only(api, code):
    path, _ = document(api, error_message=code)
    assert "error_message" not in api.ok("GET", path)
    api.sandbox.advance(2)
    assert "error_message" not in api.ok("GET", path)
    api.sandbox.advance(2)
    shown = api.ok("GET", path)
    assert (shown["status"], shown["error_message"]) == ("error", code)


@pytest.mark.clause("document.2")
@pytest.mark.clause("document.5")
@pytest.mark.clause("document.8")
def test_a_crawled_website(api):
    crawl = {"depth": 2, "max_pages": 10}
    path, _ = document(api, document_url="https://site.example", crawl_config=crawl)
    fresh = api.ok("GET", path)
    assert fresh["crawl_config"] == crawl
    assert "crawled_urls" not in fresh
    api.sandbox.advance(4)
    done = api.ok("GET", path)
    assert done["crawled_urls"] == ["https://site.example"]
    assert (done["status"], done["crawl_count"]) == ("ready", 1)
    assert done["last_crawled_at"][10] == "T"
    again = done | {"status": "recrawling"}
    api.seed(documents=[again])
    assert api.ok("GET", path)["status"] == "recrawling"
    api.sandbox.advance(4)
    assert api.ok("GET", path)["crawl_count"] == 2
    file, _ = document(api, status="ready", crawled_urls=["https://x.example"])
    assert not {"crawl_config", "crawled_urls"} & api.ok("GET", file).keys()


@pytest.mark.clause("document.6")
@pytest.mark.clause("dictionary.3")
@pytest.mark.clause("errors.2")
def test_unknown_documents_and_dictionaries_are_a_message(api):
    for path in ("/v2/documents/never", "/v2/pronunciation-dictionaries/never"):
        error = api.refused("GET", path)
        assert error.keys() == {"message"}
        assert "not found" in error["message"].lower()


@pytest.mark.clause("dictionary.1")
@pytest.mark.clause("dictionary.2")
def test_a_dictionary_comes_with_all_its_rules(api):
    rule = {
        "text": "SQL",
        "pronunciation": "sequel",
        "type": "alias",
        "case_sensitive": True,
        "word_boundaries": True,
    }
    record = {
        "pronunciation_dictionary_id": api.fresh("pd"),
        "name": "Terms",
        "rules": [rule, rule | {"text": "GIF", "pronunciation": "jif"}],
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    }
    api.seed(pronunciation_dictionaries=[record])
    shown = api.ok("GET", f"/v2/pronunciation-dictionaries/{record['pronunciation_dictionary_id']}")
    assert shown == record | {"rules_count": 2}

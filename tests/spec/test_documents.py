"""Documents and pronunciation dictionaries."""

from __future__ import annotations

import pytest

from palprep.api import calls


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


@pytest.mark.clause("document.9")
def test_what_a_seed_leaves_out_is_filled_in(api):
    bare = {"document_id": api.fresh("doc")}
    api.seed(documents=[bare])
    shown = api.ok("GET", f"/v2/documents/{bare['document_id']}")
    assert shown.items() > bare.items()
    assert not calls.get_document.reply.model_fields.keys() - shown.keys() - {
        "error_message", "callback_url", "crawl_config", "crawled_urls", "last_crawled_at",
        "crawl_count",
    }  # fmt: skip

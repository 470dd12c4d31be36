"""Forgetting a person whose files were published into a bucket: a real S3 on loopback."""

from __future__ import annotations

from bucket import KEYS, real_bucket
from scripted_bucket import answering

from palprep.batch import forget, look_up
from palprep.storage import Bucket


def set_up(monkeypatch, endpoint: str) -> None:
    for name, value in (*KEYS.items(), ("endpoint", endpoint), ("allow_http", "true")):
        monkeypatch.setenv(f"AWS_{name.upper()}", value)


def test_what_nobody_else_needs_is_removed_from_the_bucket(
    add, go, out, connection, tmp_path_factory, monkeypatch
):
    for slug in ("ada", "twin"):
        add(slug, settings=f'name = "{slug}"')
    add("eva", voice=False, training=True, consent=True, settings='full_name = "Jane Carter"')
    with real_bucket(tmp_path_factory.mktemp("s3")) as endpoint:
        set_up(monkeypatch, endpoint)
        # The sandbox need not fetch from it: the files are put there by hand.
        assert {each.status for each in go().people} == {"done", "voice_only"}
        bucket = Bucket("s3://media/people")
        for slug in ("ada", "eva"):
            for name in look_up(out, slug).published:
                bucket.put(name, b"x")
        assert len(list(bucket.below())) == 4
        # Ada's recording is the twin's, too.
        shared = forget(out, "ada", buckets=["s3://media/people"])
        assert (shared.removed, shared.shared) == ((), shared.published)
        done = forget(out, "eva", buckets=["s3://media/people"])
        assert len(done.removed) == 3
        assert done.removed[0].startswith("s3://media/people/")
        assert [each.name for each in bucket.below()] == list(look_up(out, "twin").published)


def test_without_the_right_to_delete_it_is_named_and_removed_later(
    add, go, out, monkeypatch, tmp_path_factory
):
    add("ada")
    go()
    with answering(403, "AccessDenied") as endpoint:
        set_up(monkeypatch, endpoint)
        done = forget(out, "ada", buckets=["s3://media/people"])
    assert done.removed == ()
    assert any(each.startswith(f"s3://media/people/{done.published[0]}: ") for each in done.stuck)
    assert not (out / "prepared/ada").exists()
    with real_bucket(tmp_path_factory.mktemp("s3")) as endpoint:
        set_up(monkeypatch, endpoint)
        (name,) = done.published
        Bucket("s3://media/people").put(name, b"x")
        # Its name is still known.
        assert forget(out, "ada", buckets=["s3://media/people"]).removed[0].endswith(name)
    assert "ada" not in (out / "results.jsonl").read_text()

"""The recording page's server: whom it answers, what it takes, and what it keeps where."""

from __future__ import annotations

import datetime as dt
import os
import re
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import imageio_ffmpeg
import pytest

from palprep import storage
from palprep.batch.people.folder import read_person
from palprep.errors import UsageError
from palprep.journal import Journal
from palprep.journal.entries.bodies import ProcessingAgreed
from palprep.preflight import check
from palprep.preflight.values import kinds_of
from palprep.record import LocalSite
from palprep.record.takes import By, Take, Takes, judged
from palprep.rules import load_profile
from palprep.values import Outcome, Role

from .conftest import Served

Serve = Callable[..., Served]


@pytest.fixture
def portrait(light_people: Path) -> Path:
    return light_people / "jane-carter" / "portrait.heic"


def test_nobody_else_is_answered(serve: Serve) -> None:
    served = serve()
    tab, link = served.tab, served.site.link
    page = tab.get("")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<style|\son\w+=|style=|https?://(?!www\.w3)", page.text)
    assert "This page needs JavaScript" in page.text.partition("<noscript>")[2]
    assert re.findall(r"<script[^>]*>", page.text) == [
        '<script type="application/json" id="texts">',
        '<script src="record.js" defer>',
    ]
    port = urlsplit(link).port
    strangers = [
        {"host": f"rebound.example:{port}"},
        {"host": f"localhost:{port}"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"http://127.0.0.1:{port + 1}"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ]
    for path in ("agree", "takes/face-image/browser"):
        for headers in strangers:
            assert tab.post(path, headers=headers, json={}).status_code == 404, headers
    without = {name: value for name, value in tab.headers.items() if name != "origin"}
    tab.headers = without
    assert tab.post("agree", content="Jane Carter").status_code == 404
    assert tab.get("state", headers=strangers[0]).status_code == 404
    assert tab.get("state", headers=strangers[5]).status_code == 404
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert tab.get("", headers=followed).status_code == 200
    secret = urlsplit(link).path.strip("/")
    assert len(secret) >= 32
    for guess in ("/", "/state", f"/{secret[:-1]}/", f"/{'a' * 32}/state", f"//{secret}/"):
        assert tab.get(f"{served.site.origin}{guess}").status_code == 404
    # What is no path at all is a stranger, too.
    extensions = {"target": b"*"}
    assert tab.request("OPTIONS", served.site.origin, extensions=extensions).status_code == 404
    assert served.state["agreed"] is False


def test_a_page_at_the_port_that_browsers_leave_out_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("palprep.serving.url_of", lambda _: "http://127.0.0.1:80")
    site = LocalSite("record", (), port=0)
    assert site.link.startswith("http://127.0.0.1/")
    address = site._listener.getsockname()
    with site, httpx.Client(trust_env=False) as tab:
        url = site.link.replace("127.0.0.1", f"127.0.0.1:{address[1]}") + "record.js"
        assert tab.get(url, headers={"host": "127.0.0.1"}).status_code == 200


def test_nothing_is_taken_before_somebody_has_agreed(serve: Serve, portrait: Path) -> None:
    served = serve()
    for path in ("takes/face-image/file", "code", "glance"):
        assert served.tab.post(path, content=portrait.read_bytes()).status_code == 403
    for name in ("", "  ", "42", "A\0B", "x" * 300):
        assert served.agree(name).status_code == 409
    assert served.agree("Jane Ann  Carter").status_code == 200
    assert served.state["agreed"] is True
    assert "I, Jane Ann Carter," in served.state["statement"]
    assert 'full_name = "Jane Ann Carter"' in (served.folder / "person.toml").read_text()
    with Journal.of(served.folder.parents[1] / "out") as journal:
        [told] = journal.entries(ProcessingAgreed)
    assert str(served.folder) in told.body.words
    assert len(served.tab.post("code").json()["words"]) == 3


def test_a_second_tab_shows_the_code_of_the_first_until_a_take_has_come(
    serve: Serve, portrait: Path
) -> None:
    """The newest code counts: another one would outdate what is said in the first tab."""
    served = serve()
    served.agree()
    first, second = (served.tab.post("code").json()["words"] for _ in range(2))
    assert first == second
    served.give("face-image", portrait)
    assert served.tab.post("code").json()["words"] == first
    served.give("consent-video", b"no video")
    assert (third := served.tab.post("code").json()["words"]) != first
    journal = served.recording._journal
    now = journal.now()
    journal._now = lambda: now + dt.timedelta(minutes=14)
    assert served.tab.post("code").json()["words"] == third
    journal._now = lambda: now + dt.timedelta(minutes=16)
    assert served.tab.post("code").json()["words"] != third


def test_who_has_the_same_name_is_asked_too(serve: Serve, tmp_path: Path) -> None:
    served, other = serve(), serve(tmp_path / "people" / "jane-carter-2")
    assert served.agree().status_code == 200
    assert served.state["agreed"] is True
    assert other.state["agreed"] is False
    assert other.tab.post("takes/face-image/file", content=b"x").status_code == 403


def test_no_second_program_records_into_the_same_folder(serve: Serve) -> None:
    """It would remove what is still arriving at the first."""
    served = serve()
    with pytest.raises(UsageError, match=r"Another page records into .*: close that one first"):
        serve()
    served.recording.close()
    serve()


def sent_raw(served: Served, path: str, *headers: str, body: bytes = b"") -> bytes:
    """What a caller hears who need not keep to HTTP's habits."""
    link = urlsplit(served.site.link)
    head = [
        f"POST {link.path}{path} HTTP/1.1", f"Host: {link.netloc}", f"Origin: {served.site.origin}",
    ]  # fmt: skip
    with socket.create_connection((link.hostname, link.port), timeout=20) as raw:
        raw.sendall("\r\n".join((*head, *headers, "", "")).encode() + body)
        return raw.recv(4096)


def test_what_is_too_large_is_refused_before_it_comes(serve: Serve) -> None:
    served = serve()
    served.agree()
    path = "takes/training-video/file"
    assert b" 413 " in sent_raw(served, path, f"Content-Length: {50 << 30}")
    assert b" 411 " in sent_raw(served, path, "Transfer-Encoding: chunked", body=b"1\r\nx\r\n")
    assert b" 413 " in sent_raw(served, "takes/face-image/file", "Content-Length: 100000001")
    free = os.statvfs(served.folder).f_bavail * os.statvfs(served.folder).f_frsize
    if free < 8 << 30:
        assert b" 507 " in sent_raw(served, path, f"Content-Length: {free}")
    for wrong in ("takes/../browser", "takes/face-image/camera", "takes/x/file", "take/7"):
        assert served.tab.post(wrong, content=b"x").status_code in {404, 405}
    assert list((served.folder / ".takes").iterdir()) == []


def test_a_good_file_is_kept_and_the_next_loses_nothing(
    serve: Serve, portrait: Path, light_people: Path
) -> None:
    served = serve()
    served.agree()
    (served.folder / "IMG_0001.heic").write_bytes(portrait.read_bytes())
    first = served.give("face-image", portrait)
    assert (first["verdict"], first["kept_as"]) == ("good", "face-image.heic")
    assert served.tab.get(f"take/{first['number']}").content == portrait.read_bytes()
    drawn = served.tab.get(f"take/{first['number']}/picture")
    assert drawn.headers["content-type"].startswith("image/svg+xml")
    assert drawn.content.startswith(b"<svg")
    assert "sandbox" in drawn.headers["content-security-policy"]
    second = served.give("face-image", light_people / "anna-miller" / "portrait.png", by="browser")
    assert (second["verdict"], second["kept_as"]) == ("good", "face-image-from-browser.png")
    assert served.takes("face-image")[0]["kept_as"] is None
    took = read_person(served.folder, kinds_of)
    assert (took.problems, took.sources[Role.FACE_IMAGE].name) == ((), second["kept_as"])
    # The first one is a take still, and can be kept again; what else was there is there.
    assert served.tab.post(f"take/{first['number']}/use").status_code == 200
    took = read_person(served.folder, kinds_of)
    assert took.sources[Role.FACE_IMAGE].read_bytes() == portrait.read_bytes()
    visible = sorted(each.name for each in served.folder.iterdir() if each.name[0] != ".")
    assert visible == ["IMG_0001.heic", "face-image.heic", "person.toml"]
    assert len(served.takes("face-image")) == 2
    # The page, when it is opened again, sees the same.
    before = served.state["roles"]
    served.recording.close()
    assert serve().state["roles"] == before


def test_what_is_no_portrait_is_told_and_not_kept(serve: Serve, sample_media: Path) -> None:
    served = serve()
    served.agree()
    nobody = served.give("face-image", sample_media / "broken/landscape-without-a-face.jpg")
    assert (nobody["verdict"], nobody["kept_as"]) == ("again", None)
    assert nobody["findings"][0]["sentence"] == "No face was found."
    for unusable in (
        b"<script>alert(1)</script>",
        sample_media / "people/anna-miller/recording.mov",
        sample_media / "broken/truncated-portrait.heic",
    ):
        take = served.give("face-image", unusable)
        assert (take["verdict"], take["name"]) == ("again", "")
        assert served.tab.post(f"take/{take['number']}/use").status_code == 409
        assert served.tab.get(f"take/{take['number']}").status_code == 404
    assert (
        not (served.folder / "person.toml").exists()
        or "files" not in (served.folder / "person.toml").read_text()
    )
    assert not list((served.folder / ".takes").glob("*.part*"))


def test_the_camera_is_looked_at_before_the_picture(serve: Serve, light_people: Path) -> None:
    served = serve()
    served.agree()
    frame = served.folder / "frame.jpg"
    command = [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", "-i"),
        *(light_people / "jane-carter" / "consent.mp4", "-frames:v", "1", frame),
    ]
    subprocess.run(command, check=True)
    assert served.tab.post("glance", content=frame.read_bytes()).json() == {"told": []}
    assert served.tab.post("glance", content=b"no picture").json() == {"told": []}
    assert served.tab.post("glance", content=bytes(400_001)).status_code == 413


def test_a_take_that_was_not_judged_is_judged_later(serve: Serve, portrait: Path) -> None:
    served = serve()
    served.agree()
    [take] = [served.give("face-image", portrait)]
    place = served.folder / ".takes"
    told = served.recording._takes.all()[0]
    served.recording._takes.note(told.model_copy(update={"verdict": None, "findings": ()}))
    (place / ".0123.part").write_bytes(b"half of a file")
    served.recording.close()
    again = serve()
    again.recording._jobs.submit(lambda: None).result()
    assert again.takes("face-image") == [take]
    assert not (place / ".0123.part").exists()


def test_a_folder_that_is_moved_while_a_take_is_judged_is_not_made_again(
    serve: Serve, portrait: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve()
    served.agree()
    away, real = served.folder.with_name("elsewhere"), served.recording._check

    def move_and_check(*given, **told):
        served.folder.rename(away)
        return real(*given, **told)

    monkeypatch.setattr(served.recording, "_check", move_and_check)
    served.tab.post("takes/face-image/file", content=portrait.read_bytes())
    served.recording._jobs.submit(lambda: None).result()
    assert [each.name for each in served.folder.parent.iterdir()] == ["elsewhere"]
    away.rename(served.folder)
    served.recording.close()
    again = serve()  # It is judged when the page is opened again.
    again.recording._jobs.submit(lambda: None).result()
    assert [each["verdict"] for each in again.takes("face-image")] == ["good"]


def test_an_empty_folder_of_takes_is_not_left_behind(serve: Serve, tmp_path: Path) -> None:
    new, mistaken = (tmp_path / "people" / name for name in ("new", "mistaken"))
    mistaken.mkdir(parents=True)
    (mistaken / "person.toml").write_text("full_name = 3")
    with pytest.raises(UsageError):
        serve(mistaken)
    assert [each.name for each in mistaken.iterdir()] == ["person.toml"]
    (new / ".takes").mkdir(parents=True)  # Of a server that was killed.
    serve(new).recording.close()
    assert list(new.iterdir()) == []


def test_links_in_the_folder_lead_nowhere(serve: Serve, portrait: Path, tmp_path: Path) -> None:
    served = serve()
    served.agree()
    take = served.give("face-image", portrait)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    file = served.folder / ".takes" / take["name"]
    file.unlink()
    file.symlink_to(secret)
    assert served.tab.get(f"take/{take['number']}").status_code == 404
    other = tmp_path / "people" / "eve"
    other.mkdir()
    (other / ".takes").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is a link"):
        serve(other)


def test_takes_that_two_pages_begin_at_once_have_numbers_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    takes, make = Takes(tmp_path / "ada"), storage.opener

    def meanwhile(path: str, flags: int) -> int:
        monkeypatch.undo()
        (takes.place / "001-voice-audio.json").touch()
        return make(path, flags)

    monkeypatch.setattr(storage, "opener", meanwhile)
    assert takes.begin(Role.FACE_IMAGE, By.FILE).number == 2
    names = sorted(each.name for each in takes.place.iterdir())
    assert names == ["001-voice-audio.json", "002-face-image.json"]


def test_what_a_browser_records_says_how_long_it_is(
    serve: Serve, light_people: Path, tmp_path: Path
) -> None:
    """As MediaRecorder writes it: no length, no index, samples in Matroska."""
    served = serve()
    served.agree()
    piped = [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", "-i"),
        light_people / "jane-carter" / "recording.m4a",
        *("-t", "14", "-c:a", "pcm_f32le", "-live", "1", "-f", "matroska", "-"),
    ]
    sound = subprocess.run(piped, check=True, capture_output=True).stdout
    take = served.give("voice-audio", sound, by="browser")
    assert (take["verdict"], take["kept_as"]) == ("good", "voice-audio-from-browser.wav")
    report = check(served.folder / take["kept_as"], role="voice-audio")
    assert report.facts.recording.duration_s == pytest.approx(14, abs=0.1)
    assert report.facts.recording.stream.codec == "pcm_f32le"


def test_what_must_be_done_again_is_told_in_the_language_of_the_page(sample_media: Path) -> None:
    take = Take(number=1, role=Role.FACE_IMAGE, by=By.FILE, name="a.jpg")
    landscape = check(sample_media / "broken" / "landscape-without-a-face.jpg")
    found = judged(take, landscape, load_profile("core-4"), "de")
    assert found.verdict == "again"
    assert found.findings[0].sentence == "Das sieht nicht wie das Foto eines Menschen aus."
    assert not any("palprep" in (each.advice or "") for each in found.findings)
    torn = check(sample_media / "broken" / "truncated-portrait.heic")
    [told] = judged(take, torn, load_profile("core-4"), "es").findings
    assert told.sentence == "Este archivo está dañado."


def test_several_doubts_about_the_words_are_told_once(light_people: Path) -> None:
    consent = light_people / "jane-carter" / "consent.mp4"
    report = check(consent, role=Role.CONSENT_VIDEO, speaker="Jane Carter")
    assert report.facts is not None
    assert report.consent is not None
    doubted = {"outcome": Outcome.WARN, "reasons": ("A doubt.", "Another one.")}
    heard = report.consent.model_copy(update=doubted)
    spoken = {"outcome": Outcome.WARN, "sentence": "A doubt. There is one more reason."}
    checks = tuple(
        each.model_copy(update=spoken if each.id == "consent_spoken" else {})
        for each in report.checks
    )
    facts = report.facts.model_copy(update={"consent": heard})
    doubtful = report.model_copy(update={"facts": facts, "checks": checks})
    take = Take(number=1, role=Role.CONSENT_VIDEO, name="consent.mp4", by=By.FILE)
    found = judged(take, doubtful, load_profile("core-4"))
    assert found.verdict == "decide"
    told = [each.sentence for each in found.findings if "doubt" in each.sentence]
    assert told == ["A doubt. Another one."]

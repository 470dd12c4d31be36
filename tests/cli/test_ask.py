"""palprep ask: files for those who must redo something, and a table for a mail merge."""

from __future__ import annotations

import csv
import stat

from PIL import Image


def test_each_gets_a_message_in_their_language(palprep, tmp_path):
    for name in ("=ada", "bob"):
        place = tmp_path / "people" / name
        place.mkdir(parents=True)
        Image.linear_gradient("L").resize((800, 800)).save(place / "portrait.jpg")
    (tmp_path / "people/bob/person.toml").write_text('name = "B <b>"\nlanguage = "de"\n')
    assert palprep("run", "people", "--into", "out", "--dry-run", "--jobs", "1").code == 1
    asked = palprep("ask", "out", "--into", "messages", "--language", "es")
    assert (asked.code, asked.out.split()) == (0, ["messages/=ada.txt", "messages/bob.txt"])
    assert "2 messages in messages, and nothing was sent." in asked.err
    found = sorted(each.name for each in (tmp_path / "messages").iterdir())
    assert found == ["=ada.html", "=ada.txt", "bob.html", "bob.txt", "messages.csv"]
    modes = {stat.S_IMODE(each.stat().st_mode) for each in (tmp_path / "messages").iterdir()}
    assert modes == {0o600}
    taken = palprep("ask", "out", "--into", "people/bob/portrait.jpg")
    assert (taken.code, "a file stands where the folder should be" in taken.err) == (1, True)
    text = (tmp_path / "messages/bob.txt").read_text(encoding="utf-8")
    assert text.startswith("Guten Tag B <b>,")
    assert "Das sieht nicht wie das Foto eines Menschen aus." in text
    page = (tmp_path / "messages/bob.html").read_text(encoding="utf-8")
    assert "Guten Tag B &lt;b&gt;," in page
    assert 'src="data:image' in page
    with (tmp_path / "messages/messages.csv").open(encoding="utf-8-sig", newline="") as file:
        ada, bob = csv.DictReader(file)
    assert (ada["person"], ada["language"], ada["html"]) == ("'=ada", "es", "'=ada.html")
    assert bob["text"] == text
    within = palprep("ask", "out", "--into", "out/messages")
    assert within.code == 2
    assert "write them into another folder" in within.err


def test_a_name_that_is_as_long_as_can_be(palprep, tmp_path):
    long = "š" * 127  # 254 bytes, where a file system takes 255
    place = tmp_path / "people" / long
    place.mkdir(parents=True)
    Image.linear_gradient("L").resize((800, 800)).save(place / "portrait.jpg")
    assert palprep("run", "people", "--into", "out", "--dry-run", "--jobs", "1").code == 1
    asked = palprep("ask", "out", "--into", "messages")
    assert (asked.code, asked.err.startswith("1 message in messages")) == (0, True)
    with (tmp_path / "messages/messages.csv").open(encoding="utf-8-sig", newline="") as file:
        [row] = csv.DictReader(file)
    assert row["person"] == long
    text = tmp_path / asked.out.strip()
    assert {each.name for each in text.parent.iterdir()} == {text.name, row["html"], "messages.csv"}
    assert text.with_suffix(".html").name == row["html"]

"""Whose folders are people, and whose are not."""

from __future__ import annotations

import json
import shutil

import pytest
from PIL import Image

from palprep.batch import forget, write_report
from palprep.batch.people.folder import find_people, read_person
from palprep.batch.people.person import read_people
from palprep.batch.people.selection import Selection
from palprep.journal import Journal
from palprep.preflight.values import kinds_of
from palprep.values import Role


def read(folder):
    return {each.slug: each for each in read_people(find_people(folder).people, kinds_of)}


def test_the_output_of_a_run_is_nobody(folder):
    for out in ("out", "palprep-out/shard-1-of-2"):
        Journal.of(folder / out, create=True).close()
    for slug in ("ada", "shard-like"):
        (folder / slug).mkdir()
    assert [each.slug for each in find_people(folder).people] == ["ada", "shard-like"]


def test_people_are_in_the_order_in_which_people_count(folder, add, go, out):
    for slug in ("person-10", "person-2", "Person-1"):
        add(slug)
    ordered = ["Person-1", "person-2", "person-10"]
    assert [each.slug for each in go(select=Selection(limit=2)).people] == ordered[:2]
    assert [each.slug for each in go().people] == ordered
    lines = (out / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["person"] for line in lines] == ordered


def test_a_name_that_the_locale_reads_in_another_way_need_not_be_renamed(folder):
    """As Python reads Zoë where names of files are ASCII."""
    zoe = folder / "Zo\udcc3\udcab"
    zoe.mkdir()
    [problem] = read_person(zoe, kinds_of).problems
    assert problem.startswith("the folder's name is not read as UTF-8 here: set PYTHONUTF8=1, and")


def test_what_a_disk_keeps_for_itself_is_nobody(folder):
    for name in ("ada", "@eaDir", "#recycle", "$RECYCLE.BIN", "System Volume Information"):
        (folder / name).mkdir()
    assert [each.slug for each in find_people(folder).people] == ["ada"]


def test_a_voice_gets_no_blank_name_and_a_line_break_parts_two_words(folder, add):
    for slug in ("  ", "ada\nlovelace"):
        add(slug)
    found = read(folder)
    assert found["  "].problems == ("the folder's name is blank: rename it",)
    assert found["ada\nlovelace"].name == "Ada Lovelace"


def test_a_link_to_a_folder_elsewhere_or_to_somebody_is_refused(folder, add, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(add("ada"), elsewhere)
    (folder / "bob").symlink_to(elsewhere)
    (folder / "eve").symlink_to("/etc")
    (folder / "same").symlink_to(folder / "ada")
    found = read(folder)
    for slug in ("bob", "eve"):
        [problem] = found[slug].problems
        assert "leads out of the people's folder" in problem
        assert (found[slug].assigned, found[slug].unused) == ((), ())
    [problem] = found["same"].problems
    assert "leads to somebody who is there already" in problem
    assert found["ada"].problems == ()


def test_a_link_that_cannot_be_followed_stops_nobody(folder, add, go, out):
    """One leads to itself; the other is refused, as one into a folder that may not be entered."""
    ada = add("ada", voice=False, portrait=True, settings='stock_voice = "gloria"')
    for place in (folder, ada):
        (place / "itself.jpg").symlink_to("itself.jpg")
        (place / "far").symlink_to("x" * 300)
    assert set(find_people(folder).loose) == {"itself.jpg", "far"}
    assert read(folder)["ada"].problems == ()
    [person] = go(dry_run=True).people
    assert person.status == "waiting"
    # A disk that is gone when the page is written again answers so, too.
    (ada / "portrait.heic").unlink()
    (ada / "portrait.heic").symlink_to("x" * 300)
    write_report(out)
    assert "portrait.heic" in (out / "report.html").read_text()


def test_a_link_to_a_folder_that_is_nobodys_is_a_person(folder, add):
    add("ada").rename(folder / ".store")
    (folder / "ada").symlink_to(folder / ".store")
    [(slug, person)] = read(folder).items()
    assert (slug, person.problems) == ("ada", ())
    assert [path.name for path in person.sources.values()] == ["recording.wav"]


def test_of_names_that_a_disk_takes_for_one_the_second_is_refused(folder, add):
    for slug in ("zoë", "zoe\u0308", "ZOË", "zoe"):
        add(slug)
    problems = {slug: person.problems for slug, person in read(folder).items()}
    refused = {slug for slug, found in problems.items() if "rename one of the two" in str(found)}
    assert refused == {"zoë", "zoe\u0308"}
    assert [slug for slug, found in problems.items() if not found] == ["zoe", "ZOË"]


@pytest.mark.parametrize("name", ["portrait.NEF", "IMG_1.cr2", "IMG_1.jxl", "me.psd", "me.jp2"])
def test_an_image_of_a_format_that_is_refused_is_the_portrait(folder, name):
    """Of a photographer's raw nothing was said: the voice alone was made."""
    (folder / "ada").mkdir()
    coding = "JPEG2000" if name == "me.jp2" else "TIFF"
    Image.new("RGB", (64, 64)).save(folder / "ada" / name, coding)
    sources = read(folder)["ada"].sources
    assert {role: path.name for role, path in sources.items()} == {Role.FACE_IMAGE: name}


def test_a_file_that_somebody_else_has_given_is_told_of_both(folder, add, go, out, log):
    add("ada")
    [before] = go().people
    shutil.copy(add("bob") / "recording.wav", folder / "bob/take.wav")
    (folder / "bob/recording.wav").unlink()
    told = {each.slug: each.reasons for each in go().people}
    assert log.creates == {"voice": 2}
    of_it = f"of which the voice {before.voice.id} was made."
    assert told["bob"] == (f"take.wav is the same file as recording.wav of ada, {of_it}",)
    assert [
        each.startswith("recording.wav is the same file as take.wav of bob, of")
        for each in told["ada"]
    ] == [True]
    assert told["bob"][0] in (out / "report.html").read_text()
    forget(out, "ada")
    assert [
        json.loads(each)["reasons"] for each in (out / "results.jsonl").read_text().splitlines()
    ] == [[]]


def test_a_folder_with_a_new_name_is_told_with_what_was_made_under_the_old_one(
    folder, add, go, log
):
    add("ada", training=True)
    [before] = go(without_consent=True).people
    (folder / "ada").rename(folder / "ada-lovelace")
    [now] = go(without_consent=True).people
    made = f"of which the voice {before.voice.id} was made."
    assert f"recording.wav is the same file as recording.wav of ada, {made}" in now.reasons
    made = f"of which the replica {before.replica.id} was made."
    assert f"training.mp4 is the same file as training.mp4 of ada, {made}" in now.reasons

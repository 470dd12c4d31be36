"""Forgetting one person: nothing of theirs is left in the folder, and nothing of others is lost."""

from __future__ import annotations

import base64
import contextlib
import errno
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path
from urllib.parse import quote

import pytest
from standings import status

from palprep.batch import (
    forget,
    kept_dossiers,
    look_up,
    take_in_again,
    write_merged_report,
    write_report,
)
from palprep.batch.forgetting import remove_outlived
from palprep.batch.work.pace import Pace
from palprep.callbacks import Delivery
from palprep.errors import JournalError, OutputUnwritable, UsageError
from palprep.journal import JOURNAL_NAME, Journal, agree, give_code
from palprep.journal.creations import resolve_found
from palprep.journal.entries.bodies import AboutRun, AssetPrepared, CreationUsed, Intent
from palprep.journal.file import plain
from palprep.journal.forgetting import made_for
from palprep.journal.inbox import into_journal
from palprep.views.drawings import pictures_of

NAME = "Ada Lövelace"
SETTINGS = f'name = "{NAME}"\nfull_name = "Jane Carter"\n'


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Where the run of :func:`both` is kept once it is done: it takes ten seconds."""
    return tmp_path_factory.mktemp("kept") / "out"


@pytest.fixture
def both(add, go, out, kept):
    """Ada and Ben are done, in a sandbox of the run's own. Ada's name and files are hers alone."""
    place = add("ada-l", voice=False, portrait=True, training=True, consent=True, settings=SETTINGS)
    for each in list(place.glob("*.[hm]*")):
        each.rename(place / f"zq-{each.name}")
    add("ben", settings='name = "Ben Bo"')
    if not kept.exists():
        # The service looks at videos, too: on a busy machine for longer than most tests wait.
        people = go(into=kept, connection=None, pace=Pace(wait_s=180)).people
        assert [(each.status, each.reasons) for each in people] == [
            ("done", ()),
            ("voice_only", ()),
        ]
    return shutil.copytree(kept, out)


def spelt(text: str) -> set[bytes]:
    """How a text may stand in a file."""
    return {
        *(text.encode(each) for each in ("utf-8", "utf-16-le", "utf-16-be")),
        json.dumps(text)[1:-1].encode(),
        quote(text).encode(),
    }


def traces(out: Path, person: str) -> set[bytes]:
    """Everything by which a person can be known in an output folder."""
    needles: set[bytes] = set()
    with Journal.of(out) as journal:
        made = journal.made_for(person)
        assert made.keys
        assert made.ids
        told = {NAME, NAME.split()[1], "Jane Carter", person, "zq-", *made.keys, *made.ids}
        for entry in journal.entries(AssetPrepared, person=person):
            asset = entry.body.asset
            told |= {asset.source_sha256, asset.prepared.sha256}
            told |= {each[:20] for each in (asset.source_sha256, asset.prepared.sha256)}
            for picture in pictures_of(asset).all():
                told.add(picture.name.partition(".")[0])
                shown = (out / "pictures" / picture.name).read_bytes()
                needles |= {shown, base64.b64encode(shown)}
            needles.add((out / asset.prepared.path).read_bytes()[5000:5100])
    with contextlib.closing(sqlite3.connect(out / "journal.sqlite")) as database:
        asked = "SELECT body FROM entry WHERE typeof(body) = 'blob' AND person = ?"
        needles |= {zipped[20:60] for (zipped,) in database.execute(asked, (person,))}
    return needles.union(*map(spelt, told))


def left_of(needles: set[bytes], out: Path) -> list[tuple[str, bytes]]:
    """Which of them are in which file, by name or content; what is compressed is unpacked, too."""
    found = {
        str(each.relative_to(out)): os.fsencode(each.relative_to(out)) + each.read_bytes()
        for each in out.rglob("*")
        if each.is_file()
    }
    with contextlib.closing(sqlite3.connect(out / "journal.sqlite")) as database:
        asked = "SELECT seq, body FROM entry WHERE typeof(body) = 'blob'"
        for seq, zipped in database.execute(asked).fetchall():
            found[f"body/{seq}"] = zlib.decompress(zipped)
    return [
        (name, needle)
        for name, content in found.items()
        for needle in sorted(needles)
        if needle in content
    ]


def test_no_byte_of_the_person_is_left_and_the_other_is_unharmed(both, go, folder):
    needles = traces(both, "ada-l")
    places = {name.split("/")[0] for name, _ in left_of(needles, both)}
    assert places >= {"journal.sqlite", "results.jsonl", "report.html", "prepared", "pictures"}
    assert places >= {"sandbox", "body"}
    ben = {each: each.read_bytes() for each in (both / "prepared/ben").rglob("*") if each.is_file()}
    with Journal.of(both) as journal:
        before, creations = journal.entries(AboutRun, person="ben"), len(journal.creations())
    assert kept_dossiers(both)
    merged = write_merged_report([both], both.parent / "merged").parent
    done = forget(both, NAME)
    assert done.person == "ada-l"
    assert [each.what for each in done.at_service] == ["voice", "replica"]
    assert len(done.published) >= 2
    assert left_of(needles, both) == []
    assert {each: each.read_bytes() for each in ben} == ben
    with Journal.of(both, lock=True) as journal:  # The whole file is searched for damage.
        assert journal.entries(AboutRun, person="ben") == before
        assert len(journal.creations()) == creations - 2
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            journal._connection.execute("DELETE FROM entry")
    assert kept_dossiers(both) == {}
    write_merged_report([both], merged)
    shutil.copy(both / "journal.sqlite", merged)
    assert left_of(needles, merged) == []
    assert [each.person for each in status(both).people] == ["ben"]
    assert "Ben Bo" in write_report(both).read_text()
    assert [
        json.loads(line)["person"] for line in (both / "results.jsonl").read_text().splitlines()
    ] == ["ben"]
    # A later run says so, makes nothing, and writes nothing about her.
    told = []
    view = go(connection=None, note=told.append)
    assert [(each.slug, each.status) for each in view.people] == [("ben", "voice_only")]
    [said] = [each for each in told if each.about == "forgotten"]
    assert said.person == "ada-l"
    assert said.text.endswith(f"palprep forget {both} ada-l --again")
    assert left_of(needles, both) == []
    assert (folder / "ada-l/zq-portrait.heic").is_file()


DEADLY = """
    import os, signal, sys
    from palprep.batch import forgetting
    from palprep.journal import Journal, forgetting as rows

    out, person, at = sys.argv[1:]

    def deadly(owner, name, *, after=False):
        real = getattr(owner, name)
        def die(*args, **options):
            if after:
                real(*args, **options)
            os.kill(os.getpid(), signal.SIGKILL)
        setattr(owner, name, die)

    match at:
        case "marked": deadly(Journal, "mark_forgotten", after=True)
        case "files": deadly(forgetting, "_remove", after=True)
        case "rows": deadly(rows, "compact")
        case "outputs": deadly(forgetting, "write_outputs")
        case "pictures": deadly(forgetting, "write_outputs", after=True)
    forgetting.forget(out, person)
"""


def test_killed_anywhere_the_same_call_finishes(both, tmp_path):
    needles = traces(both, "ada-l")
    script = tmp_path / "deadly.py"
    script.write_text(textwrap.dedent(DEADLY))
    for at in ("marked", "files", "rows", "outputs", "pictures"):
        place = tmp_path / at
        shutil.copytree(both, place)
        done = subprocess.run([sys.executable, script, place, NAME, at], check=False, timeout=60)
        assert done.returncode == -signal.SIGKILL
        assert left_of(needles, place) != []
        forget(place, NAME)
        assert left_of(needles, place) == []
        assert [each.person for each in status(place).people] == ["ben"]


def test_nothing_is_created_again_until_the_person_is_taken_in_again(add, go, out, log):
    add("ada")
    add("ben")
    go()
    assert log.creates == {"voice": 2}
    with Journal.of(out) as journal:
        journal.mark_forgotten("ada")  # And there it was broken off.
    told = []
    assert [each.slug for each in go(note=told.append).people] == ["ben"]
    [said] = [each.text for each in told if each.about == "forgotten"]
    assert said.endswith(f"go on with palprep forget {out} ada")
    forget(out, "ada")
    assert [each.slug for each in go().people] == ["ben"]
    assert log.creates == {"voice": 2}
    with pytest.raises(UsageError, match="Nobody was forgotten as 'ben'"):
        take_in_again(out, "ben")
    take_in_again(out, "ada")
    assert {each.status for each in go().people} == {"voice_only"}
    assert log.creates == {"voice": 3}


def test_a_program_cannot_record_anything_about_somebody_forgotten(add, go, out):
    add("ada")
    [person] = go().people
    forget(out, "ada")
    with Journal.of(out) as journal:
        for slug, key in (("ada", "new"), ("other", person.voice.key)):
            there = "ada" if slug == "ada" else "FOLDER"
            with pytest.raises(UsageError, match=f"was forgotten.* {there} --again"):
                journal.append(CreationUsed(what="voice"), person=slug, key=key)
        # Nor does a callback that comes later.
        newest = journal.newest()
        into_journal(journal)(Delivery(tag=person.voice.key, event=None, body={"x": 1}))
        assert journal.newest() == newest


def test_what_somebody_found_at_the_service_is_marked_too(tmp_path):
    with Journal.of(tmp_path, create=True) as journal:
        journal.append(Intent(what="voice", request={}), person="ada", key="voice-1")
        resolve_found(journal, "voice-1", "v-found")
        assert journal.made_for("ada").ids == ("v-found",)


def test_what_was_made_for_one_is_found_without_reading_what_all_others_have(tmp_path):
    """Each person of a run is asked this: a run of 10,000 took half as much again by it."""

    def steps_among(count):
        place = tmp_path / f"{count}"
        with Journal.of(place, create=True) as journal:
            for number in range(count):
                about = {"person": f"p{number}", "key": f"voice-{number}"}
                journal.append(Intent(what="voice", request={}), **about)
                journal.append(CreationUsed(what="voice"), **about)
        with sqlite3.connect(place / JOURNAL_NAME) as connection:
            connection.create_function("plain", 1, plain)
            steps = []
            connection.set_progress_handler(lambda: steps.append(1), 1)
            assert made_for(connection, "p1").keys == ("voice-1",)
            connection.set_progress_handler(None, 0)
        return len(steps)

    assert steps_among(100) < 1.5 * steps_among(10)


def test_a_file_that_cannot_be_removed_is_told_and_the_same_call_finishes(
    add, go, out, monkeypatch
):
    add("ada")
    go()

    def busy(path, **_):
        raise PermissionError(errno.EACCES, "in use by another program", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", busy)
        patch.setattr(shutil, "rmtree", busy)
        with Journal.of(out, lock=True) as journal:
            notes = []
            remove_outlived(journal, out, 0.0, notes.append)
        [note] = notes
        assert "recording.wav cannot be removed (in use by another program)" in note.text
        with pytest.raises(
            OutputUnwritable, match=r"ada cannot be removed.*the same command again"
        ):
            forget(out, "ada")
    forget(out, "ada")
    assert not (out / "prepared/ada").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into any folder")
@pytest.mark.parametrize(
    ("shut", "told"), [("prepared", "ada cannot be removed"), ("pictures", "be looked into")]
)
def test_what_cannot_be_looked_at_is_not_passed_over(add, go, out, shut, told):
    add("ada")
    go()
    (out / shut).chmod(0)
    try:
        with pytest.raises(OutputUnwritable, match=rf"{told} \(Permission denied\)"):
            forget(out, "ada")
    finally:
        (out / shut).chmod(0o700)
    forget(out, "ada")
    assert not (out / "prepared/ada").exists()
    assert not [each for each in (out / "pictures").rglob("*") if each.is_file()]


def test_what_another_person_uses_too_is_theirs(add, go, out, log):
    add("ada", settings='name = "Same"')
    add("twin", settings='name = "Same"')
    [made] = {each.voice.id for each in go().people}
    pictures = {each.name for each in (out / "pictures").iterdir()}
    forget(out, "ada")
    [twin] = go().people
    assert (twin.slug, twin.status, twin.voice.id) == ("twin", "voice_only", made)
    assert twin.voice.person == "twin"
    assert {each.name for each in (out / "pictures").iterdir()} == pictures
    assert log.creates == {"voice": 1}


def test_who_is_not_known_and_who_is_meant(add, go, out):
    add("ada-1", settings='name = "Ada"')
    add("ada-2", settings='name = "Ada"')
    go(connection=None, dry_run=True)
    with pytest.raises(UsageError, match="Ada is the name of ada-1, ada-2"):
        look_up(out, "Ada")
    with pytest.raises(UsageError, match=r"ada_1 is nobody in .*; there are ada-1"):
        look_up(out, "ada_1")
    with pytest.raises(UsageError, match=r"eve is nobody in .*; there are ada-1, ada-2$"):
        look_up(out, "eve")
    with Journal.of(out, lock=True), pytest.raises(JournalError, match="Another run is using"):
        forget(out, "ada-1")
    assert (out / "prepared/ada-1").is_dir()


@pytest.mark.parametrize("met", [give_code, lambda *who: agree(*who, "I agree")])
def test_whoever_only_got_a_code_or_only_agreed_can_be_forgotten(tmp_path, met):
    out = tmp_path / "out"
    with Journal.of(out, create=True) as journal:
        met(journal, "Ada Lövelace")
    assert left_of(spelt("Lövelace"), out)
    assert look_up(out, "ada lövelace").names == ("Ada Lövelace",)
    assert forget(out, "Ada Lövelace").person == "Ada Lövelace"
    assert left_of(spelt("Lövelace"), out) == []


@pytest.mark.parametrize("slug", ["..", ".", "../people", "/", "a/../../people", "report.html"])
def test_a_name_that_leads_elsewhere_removes_nothing_there(tmp_path, slug):
    """A program may name a person as it likes."""
    own = tmp_path / "people/ada/portrait.jpg"
    for each in (own, tmp_path / "out/pictures/mine.jpg", tmp_path / "out/people/mine.html"):
        each.parent.mkdir(parents=True, exist_ok=True)
        each.write_bytes(b"mine")
    other = tmp_path / "out/prepared/ben/voice.wav"
    with Journal.of(tmp_path / "out", create=True) as journal:
        journal.append(CreationUsed(what="voice"), person=slug, key="voice-1")
        other.parent.mkdir(parents=True)
        other.write_bytes(b"x")
    before = {each for each in tmp_path.rglob("*") if each.is_file()}
    assert forget(tmp_path / "out", slug).files == ()
    assert {each for each in tmp_path.rglob("*") if each.is_file()} >= before - set(
        (tmp_path / "out").glob("journal.*")
    )

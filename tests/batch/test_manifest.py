"""Manifests: what a row may say, and that all mistakes are told at once."""

from __future__ import annotations

import csv
import json
import re
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from palprep.batch.people.files import RemoteFile
from palprep.batch.people.manifest_rows import COLUMNS, ManifestRow
from palprep.batch.people.person import Roster, read_people
from palprep.batch.people.selection import find_everybody as given
from palprep.batch.people.settings import Settings
from palprep.batch.work.decision import requests_for
from palprep.errors import ManifestError, RowProblem, UsageError
from palprep.pipelines import ReplicaRequest, VoiceRequest
from palprep.preflight.values import kinds_of
from palprep.values import Role

WHOLE = {
    "person": "ada",
    "face-image": "ada/face.jpg",
    "training-video": "https://example.org/a%20b.mp4?key=secret",
    "consent-video": "s3://bucket/people/ada/consent?.mp4",
    "voice-audio": "ada/voice.wav",
    "name": "Ada",
    "full_name": "Ada Lovelace",
    "spoken_as": "Aida Lovelace",
    "voice_name": "Ada warm",
    "stock_voice": "gloria",
    "description": "d, e",
    "tags": ["one", "two"],
    "model": "core-4.5",
    "callback_url": "https://example.com/c",
    "auto_fix_training_image": False,
    "properties": {"style": "calm", "tries": 2},
    "statement": "ada/words.txt",
    "language": "de",
    "split_consent": True,
    "without_consent": True,
}


HALF = r'{"x": "\ud800"}'
DEEP = '{"x": ' * 252 + "1" + "}" * 252
"""What JSON can spell, and no request can hold."""


def find_everybody(people):
    found = given(people, Path("/nowhere"))
    return Roster(read_people(found.people, kinds_of), found.loose)


@pytest.fixture
def place(tmp_path):
    """A folder with the files that the rows of these tests name."""
    (tmp_path / "ada").mkdir()
    for name in ("ada/face.jpg", "ada/voice.wav", "ada/words.txt"):
        (tmp_path / name).write_text("x")
    return tmp_path


def write_csv(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def write_jsonl(path: Path, *rows: dict) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def write_parquet(path: Path, *rows: dict) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return path


def whole_csv(path: Path) -> Path:
    as_cell = {list: "|".join, dict: json.dumps}
    with path.open("w", newline="") as file:
        cells = (as_cell.get(type(each), str)(each) for each in WHOLE.values())
        csv.writer(file).writerows([WHOLE, cells])
    return path


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("people.csv", whole_csv),
        ("people.jsonl", lambda path: write_jsonl(path, WHOLE)),
        ("people.ndjson", lambda path: write_jsonl(path, WHOLE)),
        ("people.parquet", lambda path: write_parquet(path, WHOLE)),
    ],
)
def test_every_format_says_the_same(place, name, write):
    assert set(WHOLE) == set(COLUMNS)
    [ada] = find_everybody(write(place / name)).people
    assert (ada.slug, ada.name, ada.full_name, ada.problems) == ("ada", "Ada", "Ada Lovelace", ())
    assert ada.settings == Settings.model_validate(
        {name: WHOLE[name] for name in Settings.model_fields}
    )
    assert ada.statement == place / "ada/words.txt"
    assert ada.sources == {
        Role.FACE_IMAGE: place / "ada/face.jpg",
        Role.TRAINING_VIDEO: RemoteFile(url=WHOLE["training-video"]),
        Role.CONSENT_VIDEO: RemoteFile(url=WHOLE["consent-video"]),
        Role.VOICE_AUDIO: place / "ada/voice.wav",
    }


@pytest.mark.parametrize("write", [write_jsonl, write_parquet])
def test_an_empty_cell_is_the_same_as_no_column(place, write):
    row = {**dict.fromkeys(COLUMNS, ""), "person": "bob", "voice-audio": "ada/voice.wav"}
    [bob] = find_everybody(write(place / write.__name__.replace("_", "."), row)).people
    assert (bob.settings, len(bob.files)) == (Settings(), 1)


def test_guide_and_schema_tell_every_column(checkout):
    guide = (checkout / "docs/guides/manifest.md").read_text()
    assert re.findall(r"^\| `([\w-]+)` \|", guide, re.MULTILINE) == list(COLUMNS)
    schema = json.loads((checkout / "docs/reference/schemas/manifest.json").read_text())
    assert set(schema["properties"]) == set(COLUMNS)
    Draft202012Validator(schema).validate(WHOLE)
    with pytest.raises(ValidationError):
        Draft202012Validator(schema).validate({**WHOLE, "nmae": "x"})


def test_a_row_of_the_library_is_a_row_of_a_file(place, monkeypatch):
    monkeypatch.chdir(place)
    rows = [ManifestRow(person="ada", voice_audio=Path("ada/voice.wav"), full_name="Ada Lovelace")]
    path = write_csv(
        place / "people.csv", "person,voice-audio,full_name", "ada,ada/voice.wav,Ada Lovelace"
    )
    assert find_everybody(rows) == find_everybody(path)


@pytest.mark.parametrize(("says", "language"), [({}, None), ({"language": "de"}, "de")])
def test_the_language_of_messages_is_what_the_row_says(place, monkeypatch, says, language):
    monkeypatch.chdir(place)
    row = {"person": "ada", "voice_audio": "ada/voice.wav", **says}
    [of_row] = find_everybody([ManifestRow(**row)]).people
    row["voice-audio"] = row.pop("voice_audio")
    [of_file] = find_everybody(write_jsonl(place / "p.jsonl", row)).people
    assert of_row.language == of_file.language == language


def test_type_checkers_know_the_arguments_of_a_row():
    # They take an alias for the argument's name, and no argument is named face-image.
    assert {each.alias for each in ManifestRow.model_fields.values()} == {None}


def test_a_mistake_in_a_row_of_the_library_is_told_at_once():
    with pytest.raises(UsageError, match="no langage: did you mean language"):
        ManifestRow(person="ada", voice_audio="ada/voice.wav", langage="de")


def test_every_field_of_a_replica_reaches_its_request(place):
    given = {"auto_fix_training_image": True, "properties": {"style": "calm"}}
    row = {"person": "ada", "face-image": "ada/face.jpg", "stock_voice": "gloria", **given}
    [ada] = find_everybody(write_jsonl(place / "p.jsonl", row)).people
    [replica] = [each.request for each in requests_for(ada, ada.sources, "core-4")]
    assert {name: getattr(replica, name) for name in given} == given
    assert ReplicaRequest.model_fields.keys() <= {"replica_name", "model_name", *COLUMNS}
    assert VoiceRequest.model_fields.keys() <= {*COLUMNS}


def test_what_a_spreadsheet_writes(place):
    text = "person;name;voice-audio\r\n\r\n  ada ; Ada, warm ;ada/voice.wav\r\n;;\r\n"
    for first in ("\ufeff", "\ufeffsep=;\r\n", "SEP=;;;\r\n"):
        [ada] = find_everybody(write_csv(place / "people.csv", first + text)).people
        assert (ada.slug, ada.name) == ("ada", "Ada, warm")


def test_people_stand_in_the_order_of_the_rows(place):
    rows = ({"person": name, "voice-audio": "ada/voice.wav"} for name in ("z", 17, "a"))
    people = find_everybody(write_jsonl(place / "p.jsonl", *rows)).people
    assert [each.slug for each in people] == ["z", "17", "a"]


def mistakes(path) -> list[RowProblem]:
    with pytest.raises(ManifestError) as caught:
        find_everybody(path)
    said = str(caught.value)
    assert "nothing was started" in said
    for problem in caught.value.problems:
        assert problem.message in said
    return list(caught.value.problems)


def test_all_mistakes_are_told_at_once(place):
    found = mistakes(
        write_csv(
            place / "people.csv",
            "person,voice-audio,split_consent,fullname,face-image",
            "ada,ada/voice.wav,maybe,,",
            "bob,gone.wav,,x,ada",
            "ada,ada/voice.wav,,,",
            '"two\nlines",ada/voice.wav,,,',
            "eve,,,,",
            "many,ada/voice.wav,,,,,,more,,",
            ",ada/voice.wav,,,",
        )
    )
    assert found == [
        RowProblem(1, None, "there is no column fullname; did you mean full_name?"),
        RowProblem(2, "split_consent", "must be true or false, or 1 or 0"),
        RowProblem(3, "face-image", "ada is no file"),
        RowProblem(3, "voice-audio", "gone.wav is not there"),
        RowProblem(4, "person", "ada is the person of line 2"),
        RowProblem(5, "person", "must not hold line breaks or control characters"),
        RowProblem(
            7,
            None,
            "names no file: give at least one of face-image, training-video, consent-video, "
            "voice-audio",
        ),
        RowProblem(8, None, "has 8 cells, and the header has 5"),
        RowProblem(9, "person", "is missing"),
    ]


def test_cells_to_the_right_that_hold_nothing_are_no_mistake(place):
    path = write_csv(place / "p.csv", "person,voice-audio,, ", "ada,ada/voice.wav,,,,", ",,,,,")
    assert [each.slug for each in find_everybody(path).people] == ["ada"]
    within = write_csv(place / "p.csv", "person,,voice-audio", "ada,,ada/voice.wav")
    assert [each.message for each in mistakes(within)] == [
        "a column has no name: name it, or remove it"
    ]


def test_what_is_not_there_is_told_with_what_windows_writes(place):
    (place / "loop.wav").symlink_to("loop.wav")
    path = write_csv(place / "p.csv", "person,voice-audio", "ada,loop.wav", "bea,b\\c.wav")
    told = ["loop.wav is not there", "b\\c.wav is not there: write / between folders"]
    assert [each.message for each in mistakes(path)] == told


def test_the_message_has_line_column_and_sentence(place):
    write_csv(place / "p.csv", "person,voice-audio", "ada,gone.wav")
    with pytest.raises(ManifestError) as caught:
        find_everybody(place / "p.csv")
    assert str(caught.value).splitlines() == [
        f"{place / 'p.csv'} has 1 mistake, and nothing was started:",
        "  line 2, voice-audio: gone.wav is not there",
    ]


@pytest.mark.parametrize(
    "slug",
    ["a/b", "a\\b", "..", ".", ".hidden", "__x", "a\x00b", "a\tb", " a", "a.",
     "x" * 201, "", "\u202eevil"],
)  # fmt: skip
def test_names_that_no_folder_can_have(place, slug):
    [problem] = mistakes(
        write_jsonl(place / "p.jsonl", {"person": slug, "voice-audio": "ada/voice.wav"})
    )
    assert (problem.line, problem.column) == (1, "person")


@pytest.mark.parametrize("second", ["ada", "ADA", "Ada"])
def test_a_person_stands_there_once(place, second):
    rows = ({"person": name, "voice-audio": "ada/voice.wav"} for name in ("ada", "bob", second))
    [problem] = mistakes(write_jsonl(place / "p.jsonl", *rows))
    assert (problem.line, problem.column) == (3, "person")
    assert problem.message.startswith(f"{second} is the person of line 1")


@pytest.mark.parametrize(
    "place_of_file",
    ["ftp://example.org/a.wav", "http://example.org/a.wav", "s3://bucket", "s3://bucket/folder/",
     "file:///etc/passwd", "https:///a.wav", "a\nb.wav", "data://x", "https://xn--/a.wav", "https://a..b/a.wav",
     "https://h:99999/a.wav", "https://[::1", "https://a b/a.wav", "https://[fe80::1%eth0]/a"],
)  # fmt: skip
def test_places_that_no_file_is_fetched_from(place, place_of_file):
    [problem] = mistakes(
        write_jsonl(place / "p.jsonl", {"person": "ada", "voice-audio": place_of_file})
    )
    assert (problem.line, problem.column) == (1, "voice-audio")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "is not JSON"),
        ("[1]", "must be an object"),
        ('{"person": "a", "person": "b"}', "person is given more than once"),
        ("[" * 100_000, "cannot be read"),
        ('{"person": "a", "voice_audio": "ada/voice.wav", "nmae": "x"}', "did you mean name?"),
        ('{"person": "a", "voice-audio": "ada/voice.wav", "tags": "x"}', "must be a list"),
        ('{"person": "a", "voice-audio": "ada/voice.wav", "model": "x"}', "must be one of core-4"),
        ('{"person": "a", "voice-audio": "ada/voice.wav", "properties": "x"}', "such as {}"),
        ('{"person": "a", "voice-audio": "ada/voice.wav", "properties": [1]}', "must be an obj"),
        (f'{{"person": "a", "voice-audio": "ada/voice.wav", "properties": {HALF}}}', "whole char"),
        (f'{{"person": "a", "voice-audio": "ada/voice.wav", "properties": {DEEP}}}', "whole char"),
        ('{"person": "a", "voice-audio": "ada/voice.wav", "statement": "no"}', "no is not there"),
        ('{"person": "a", "voice-audio": "ada/voice.wav", "statement": "s3://b/k"}', "machine"),
    ],
)
def test_lines_that_cannot_be_used(place, line, said):
    (place / "p.jsonl").write_text(f"\n{line}\n")
    [problem] = mistakes(place / "p.jsonl")
    assert problem.line == 2
    assert said in problem.message


@pytest.mark.parametrize(
    ("header", "said"),
    [("person,person,voice-audio", "more than once"), ("person,,voice-audio", "has no name")],
)
def test_headers_that_cannot_be_used(place, header, said):
    found = mistakes(write_csv(place / "p.csv", header, "ada,,ada/voice.wav"))
    assert (found[0].line, said in found[0].message) == (1, True)


def test_parquet_that_cannot_be_used(place):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = [pyarrow.array([name]) for name in ("ada", "bob", "ada/voice.wav")]
    twice = pyarrow.Table.from_arrays(columns, names=["person", "person", "voice-audio"])
    parquet.write_table(twice, place / "twice.parquet")
    [problem] = mistakes(place / "twice.parquet")
    assert "more than once" in problem.message
    far = pyarrow.array([2**62], pyarrow.timestamp("us"))
    parquet.write_table(pyarrow.table({"person": ["ada"], "name": far}), place / "far.parquet")
    with pytest.raises(UsageError, match="cannot be read as Parquet"):
        find_everybody(place / "far.parquet")


def test_files_that_are_no_manifest(place):
    for name, content, said in (
        ("a.csv", b"person,name\n\xff", "is not UTF-8"),
        ("b.csv", b"person,voice-audio\n", "holds nobody"),
        ("c.csv", b"", "holds nobody"),
        ("d.parquet", b"no table at all", "cannot be read as Parquet"),
        ("e.txt", b"", "a manifest that ends with"),
    ):
        (place / name).write_bytes(content)
        with pytest.raises(UsageError, match=said):
            find_everybody(place / name)
    with pytest.raises(UsageError, match="not there"):
        find_everybody(place / "gone.csv")


def test_a_quote_that_never_ends(place):
    [problem] = mistakes(write_csv(place / "p.csv", "person,voice-audio", '"ada,ada/voice.wav'))
    assert problem.line == 2
    assert "CSV" in problem.message


def test_a_signed_link_is_never_shown():
    link = RemoteFile(url="https://user:pass@example.org/a%20b.mp4?X-Signature=secret#top")
    assert (str(link), link.name, link.stem, link.suffix) == (
        "https://example.org/a%20b.mp4", "a b.mp4", "a b", ".mp4",
    )  # fmt: skip
    assert "secret" not in repr(link)
    odd = RemoteFile(url="s3://bucket/ada/what?.mp4")
    assert (str(odd), odd.name) == ("s3://bucket/ada/what?.mp4", "what?.mp4")


@pytest.mark.parametrize(
    "name", ["\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "family \U0001f469\u200d\U0001f467"]
)
def test_names_are_spelt_with_joiners(name):
    row = ManifestRow(person=name, full_name=name, voice_audio="a.wav")
    assert (row.person, row.full_name) == (name, name)
    with pytest.raises(UsageError, match="control characters"):
        ManifestRow(person="ada", full_name=f"{name}\u202e", voice_audio="a.wav")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "person," + "name," * 300_000 + "\n", r"line 1 has more than 1,048,576 char"),
        ("a.csv", "person," + "a," * 300_000 + "\n", r"at most 200 columns.*300,001"),
        ("a.csv", "person,name\n" + "x" * 20_000_000, r"line 2 has more than 1,048,576 char"),
        ("a.csv", "x" * 20_000_000, r"line 1 has more than 1,048,576 char"),
        ("a.jsonl", '{"person": "a"}\n{"a": "' + "x" * 20_000_000, r"line 2 has more than 1,048"),
        ("a.jsonl", json.dumps(dict.fromkeys(map(str, range(50_000)))), "at most 200 columns"),
    ],
)
def test_what_would_fill_memory_or_time_is_refused(place, name, content, said):
    (place / name).write_text(content)
    began = time.process_time()
    with pytest.raises(UsageError, match=said):
        find_everybody(place / name)
    assert time.process_time() - began < 2.0


def test_a_name_is_found_that_stands_twice_among_many(place):
    names = ", ".join(f'"{number}": 0' for number in range(60_000))
    (place / "p.jsonl").write_text(f'{{{names}, "59999": 0}}')
    [problem] = mistakes(place / "p.jsonl")
    assert "59999 is given more than once" in problem.message

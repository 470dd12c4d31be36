"""One setting is written into a person.toml, and nothing else in it changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from palprep.batch.people.settings import parse_settings, read_settings, write_setting
from palprep.errors import UsageError

WRITTEN = """\
# Our own notes
name = "Jane"  # short

[files]  # by role
face-image = "old.png"
# voice-audio = "not.wav"

[properties]
face-image = "untouched"
"""


def test_one_line_changes(tmp_path: Path) -> None:
    path = tmp_path / "person.toml"
    path.write_text(WRITTEN)
    write_setting(tmp_path, "face-image", 'a "b" \\ ü.png', table="files")
    changed = '"a \\"b\\" \\\\ ü.png"'
    assert path.read_text() == WRITTEN.replace('"old.png"', changed)
    write_setting(tmp_path, "voice-audio", "voice.wav", table="files")
    write_setting(tmp_path, "full_name", "Jané Carter")
    settings = read_settings(tmp_path)
    assert (settings.name, settings.full_name) == ("Jane", "Jané Carter")
    assert settings.files.voice_audio == "voice.wav"
    assert settings.properties == {"face-image": "untouched"}
    assert "# voice-audio" in path.read_text()


def test_a_file_is_made_where_there_is_none(tmp_path: Path) -> None:
    write_setting(tmp_path, "voice-audio", "voice.wav", table="files")
    assert (tmp_path / "person.toml").read_text() == '[files]\nvoice-audio = "voice.wav"\n'
    assert (tmp_path / "person.toml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text",
    ['files = { voice-audio = "a.wav" }\n', 'files.voice-audio = "a.wav"\n'],
)
def test_however_a_table_is_written(tmp_path: Path, text: str) -> None:
    (tmp_path / "person.toml").write_text(text)
    write_setting(tmp_path, "face-image", "b.png", table="files")
    files = read_settings(tmp_path).files
    assert (files.voice_audio, files.face_image) == ("a.wav", "b.png")


def test_a_text_of_several_lines_is_no_setting(tmp_path: Path) -> None:
    path = tmp_path / "person.toml"
    path.write_text('statement = """\nname = "b"\n"""\n')
    write_setting(tmp_path, "name", "Jane")
    settings = read_settings(tmp_path)
    assert (settings.name, settings.statement) == ("Jane", 'name = "b"\n')


@pytest.mark.parametrize("text", ["nonsense", 'name = "a"\n', 'name = "a"\r\n[files]\r\n'])
def test_what_cannot_be_set_stays_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "person.toml"
    path.write_bytes(text.encode())
    with pytest.raises(UsageError, match=r"person\.toml"):
        write_setting(tmp_path, "name", "x\0y")
    assert path.read_bytes() == text.encode()


def test_no_folder_is_made_for_somebody_who_was_renamed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="was removed or moved: put it back"):
        write_setting(tmp_path / "ada", "full_name", "Ada Lovelace")
    assert [*tmp_path.iterdir()] == []


def test_several_processes_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "person.toml").write_text("# Our own notes\n")
    names = ["name", "full_name", "voice_name", "spoken_as"]
    set_it = (
        "import sys; from pathlib import Path;"
        "from palprep.batch.people.settings import write_setting;"
        "[write_setting(Path(sys.argv[1]), sys.argv[2], f'{at}') for at in range(40)]"
    )
    running = [subprocess.Popen([sys.executable, "-c", set_it, tmp_path, name]) for name in names]
    assert [each.wait(60) for each in running] == [0] * len(names)
    settings = read_settings(tmp_path)
    assert [getattr(settings, name) for name in names] == ["39"] * len(names)
    assert {each.name for each in tmp_path.iterdir()} == {"person.toml"}


def test_files_that_are_no_table_are_told_in_plain_words() -> None:
    with pytest.raises(UsageError, match=r"^person.toml: files: must be a table, as in \[files\]$"):
        parse_settings(b'files = "consent.mp4"')

"""Links to files that lie with a page."""

from __future__ import annotations

from pathlib import Path

from finished_runs import GOOD, asset

from palprep.consent import ConsentFacts
from palprep.preflight import Asset
from palprep.views.page import Links

HEARD = ConsentFacts(
    outcome="pass", transcript="I agree", starts_at=2.0, ends_at=5.0, words=(), reasons=(),
    statement="I agree", full_name="Ada", language="en",
)  # fmt: skip
NOT_FOUND = HEARD.model_copy(update={"starts_at": None, "ends_at": None})


def heard_in(path: Path, facts: ConsentFacts) -> Asset:
    spoken = asset(GOOD, consent=facts)
    assert spoken.prepared is not None
    prepared = spoken.prepared.model_copy(update={"path": path})
    return spoken.model_copy(update={"prepared": prepared})


def test_a_link_leads_to_a_file_of_the_folder_and_to_no_other(tmp_path: Path) -> None:
    file = tmp_path / "out" / "a:b" / "c%.mp4"
    file.parent.mkdir(parents=True)
    file.touch()
    (tmp_path / "private.mp4").touch()
    beside = Links(tmp_path / "out", tmp_path / "out", str)
    assert beside.link(file) == "./a%3Ab/c%25.mp4"
    assert beside.link(tmp_path / "private.mp4") is None
    assert beside.link(tmp_path / "out" / ".." / "private.mp4") is None
    assert beside.link(file.parent) is None
    file.unlink()
    assert beside.link(file) is None
    for target in (file.name, "x" * 300):  # Itself, and what the system refuses to look at.
        file.symlink_to(target)
        assert beside.link(file) is None
        file.unlink()


def test_a_page_in_a_folder_of_its_own_finds_the_same_files(tmp_path: Path) -> None:
    file = tmp_path / "prepared" / "ada.mp4"
    file.parent.mkdir()
    file.touch()
    (tmp_path / "people").mkdir()
    assert Links(tmp_path, tmp_path / "people", str).link(file) == "./../prepared/ada.mp4"


def test_a_link_leads_to_the_statement_where_its_times_are_known(tmp_path: Path) -> None:
    file = tmp_path / "a.mp4"
    file.touch()
    beside = Links(tmp_path, tmp_path, str)
    assert beside.listen(heard_in(file, HEARD)) == "./a.mp4#t=2,5"
    assert beside.listen(heard_in(file, NOT_FOUND)) == "./a.mp4"
    assert beside.listen(heard_in(tmp_path / "gone.mp4", HEARD)) is None

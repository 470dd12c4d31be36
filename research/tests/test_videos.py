"""The labels of videos, and the figures that go into the document."""

from __future__ import annotations

import csv
from types import SimpleNamespace

import pytest

from palprep.rules import load_profile
from palprep.values import Outcome
from research import marked
from research.evaluation import videos
from research.evaluation.portraits import PEOPLE


def video(kinds="", *, people="woman;dark", looked="", crop="", end_s=""):
    return videos.Video("o/n", "c", "a.mp4", "", end_s, crop, kinds, people, looked, "none stated")


def case(seen, **outcomes):
    passed = dict.fromkeys(videos.CHECKS, Outcome.PASS)
    return videos.Case(seen, {**passed, **{name: Outcome(each) for name, each in outcomes.items()}})


def test_every_video_is_named_once_in_known_words():
    rows = [row for half in videos.HALVES for row in videos.read_videos(half)]
    assert len({row.key for row in rows}) == len(rows) > 400
    known = {
        *videos.OTHER,
        *videos.NAMED,
        *(kind for each in videos.CHECKS.values() for kind in each),
    }
    words = {word for some in PEOPLE.values() for each in some for word in each} | {"other", "girl"}
    for row in rows:
        assert row.seen <= known
        assert {word for word in row.people.split(";") if word} <= words
        looked = [word for word in row.looked.split(";") if word]
        assert all(word[:-1] in videos.CHECKS and word[-1] in "+-" for word in looked)


def test_a_check_is_asked_of_what_it_should_have_nothing_to_say_of():
    assert video().fit
    assert video("text").fit
    assert not video("dark?").fit
    assert not video("dark?").fit_for("face_brightness")
    assert video("dark?").fit_for("head_level")
    assert not video("cuts").fit_for("head_level")
    expected = case(video("text"), no_burned_in_text="warn", face_size="warn")
    assert not expected.unexpected(*videos.LOUD)
    assert case(video(), no_burned_in_text="warn").unexpected(Outcome.WARN) == {"no_burned_in_text"}


def test_the_table_counts_what_is_said_of_whom_and_how_rightly():
    cases = [
        case(video()),
        case(video(looked="head_level-"), head_level="warn"),
        case(video("tilt"), head_level="fail"),
        case(video("text", people="man;light"), video_cuts="warn"),
        case(video("people")),
    ]
    lines = videos.table("first", cases)
    assert lines[0] == "The first half: 5 videos of 1 sources, 3 of them fit."
    (women,) = (line for line in lines if line.startswith("| dark-skinned women |"))
    assert women.split(" | ")[1].startswith("0 of 2")
    assert women.split(" | ")[2].startswith("1 of 2")
    (level,) = (line for line in lines if line.startswith("| `head_level` |"))
    assert level.endswith("| 1 of 2 |")
    assert [line for line in lines if line.startswith("| people |")] == [
        "| people | 1 | 0 of 1 (0% to 79%) | 1 |"
    ]


def test_a_stretch_is_cut_out_once(tmp_path, monkeypatch):
    orders = []

    def run(order, **_):
        orders.append(order)
        videos.Path(order[-1]).write_bytes(b"video")

    monkeypatch.setattr(videos.subprocess, "run", run)
    footage = videos.Footage(tmp_path)
    assert footage.file_of(video()) == tmp_path / "o/n/a.mp4"
    cut = video(crop="4 6 20 30", end_s="9")
    assert footage.file_of(cut) == footage.file_of(cut)
    (order,) = orders
    assert "crop=20:30:4:6" in order
    assert order[order.index("-t") + 1] == "9.00"


def test_what_is_made_worse_is_told_of_three_of_a_source(tmp_path, monkeypatch):
    said = {"face_brightness": Outcome.WARN, "head_level": Outcome.UNKNOWN}
    report = SimpleNamespace(checks=[SimpleNamespace(id=k, outcome=v) for k, v in said.items()])
    monkeypatch.setattr(videos, "read_videos", lambda _: [video()] * 4 + [video("text")])
    monkeypatch.setattr(videos, "check", lambda *_, **__: report)
    monkeypatch.setattr(videos.subprocess, "run", lambda *_, **__: None)
    lines = list(videos.worse(videos.Footage(tmp_path), tmp_path))
    assert lines[2] == "| 3 stops darker | `face_brightness` | 3 of 3 (44% to 100%) | 0 |"
    assert lines[-1].endswith("| `head_level` | 0 of 3 (0% to 56%) | 3 |")


@pytest.mark.parametrize("half", videos.HALVES)
def test_the_tables_are_by_the_limits_of_today(half, checkout, tmp_path):
    document = tmp_path / "accuracy.md"
    document.write_bytes((checkout / "docs" / "accuracy.md").read_bytes())
    marked.replace_marked(
        document, f"videos-{half}", videos.table(half, videos.cases_of(half, load_profile()))
    )
    assert document.read_text("utf-8") == (checkout / "docs" / "accuracy.md").read_text("utf-8")


def test_what_was_measured_is_of_labelled_videos():
    keys = {row.key for half in videos.HALVES for row in videos.read_videos(half)}
    with videos.MEASURED.open(newline="", encoding="utf-8") as stream:
        assert {row["key"] for row in csv.DictReader(stream)} <= keys

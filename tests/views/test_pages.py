"""Pages at size: one page or many, written again only where they change."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from elements import Elements
from finished_runs import FULL, ReadRun, changed, person, run
from PIL import Image

from palprep.batch.outputs import write_outputs
from palprep.media.sources import sha256_of
from palprep.preflight import Asset
from palprep.rules import Report
from palprep.values import Role
from palprep.views import person_page
from palprep.views.drawings import PICTURES_NAME
from palprep.views.page import MOST_ON_ONE_PAGE, pages


def crowd(count: int) -> ReadRun:
    names = [f"p{number:03}" for number in range(count)]
    return run(*(person(slug=name, name=name, full_name=name) for name in names))


def written(into: Path) -> dict[str, int]:
    return {
        path.relative_to(into).as_posix(): path.stat().st_mtime_ns
        for path in into.rglob("*.*")
        if path.is_file()
    }


def test_a_few_stand_on_one_page(tmp_path: Path) -> None:
    write_outputs(tmp_path, crowd(MOST_ON_ONE_PAGE))
    assert set(written(tmp_path)) == {"report.html", "results.jsonl", "results.csv"}


def test_many_have_a_page_each_and_the_first_leads_to_them(tmp_path: Path) -> None:
    write_outputs(tmp_path, crowd(MOST_ON_ONE_PAGE + 1))
    found = Elements((tmp_path / "report.html").read_text("utf-8")).elements
    links = [a["href"] for tag, a in found if tag == "a" and a["href"].startswith("./people/")]
    assert len(links) == MOST_ON_ONE_PAGE + 1
    assert all((tmp_path / link).is_file() for link in links)
    assert leads_back(tmp_path / links[7]) == (tmp_path / "report.html").resolve()


def leads_back(page: Path) -> Path:
    back = Elements(page.read_text("utf-8")).elements
    links = (attributes["href"] for tag, attributes in back if tag == "a")
    leads = next(each for each in links if not each.startswith("#"))
    return (page.parent / leads).resolve()


def test_very_many_stand_in_lists_by_what_is_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("palprep.views.page.MOST_IN_A_LIST", MOST_ON_ONE_PAGE)
    done = crowd(MOST_ON_ONE_PAGE + 2).people
    young = person(slug="zoe", name="Zoe", status="redo", blocked_by=("appears_under_18",))
    write_outputs(tmp_path, run(*done, young))
    html = (tmp_path / "report.html").read_text("utf-8")
    links = [a["href"] for tag, a in Elements(html).elements if "/people/" in a.get("href", "")]
    names = ["appears_under_18-1", "done-1", "done-2"]
    assert links == [f"./people/{name}.html" for name in names]
    assert "May be under 18" in html
    assert "p000 to p049" in html
    [listed, _, last] = [tmp_path / link for link in links]
    assert person_page("zoe").removeprefix("people/") in listed.read_text("utf-8")
    assert "p051" in last.read_text("utf-8")
    assert leads_back(last) == (tmp_path / "report.html").resolve()
    # Somebody has made a new portrait: the list of one is gone, and the others stay.
    kept = written(tmp_path)["people/done-1.html"]
    write_outputs(tmp_path, run(*done[:-1], person(slug="zoe", name="Zoe"), done[-1]))
    assert not listed.exists()
    assert written(tmp_path)["people/done-1.html"] == kept


def test_what_shows_the_same_is_not_written_again(tmp_path: Path) -> None:
    people = crowd(MOST_ON_ONE_PAGE + 1)
    write_outputs(tmp_path, people)
    before = written(tmp_path)
    write_outputs(tmp_path, people)
    assert written(tmp_path) == before
    changed = people.people[3].model_copy(update={"reasons": ("new",)})
    others = (*people.people[:3], changed, *people.people[4:])
    write_outputs(tmp_path, people.model_copy(update={"people": others}))
    after = written(tmp_path)
    anew = {name for name, at in after.items() if at != before[name]}
    assert anew == {"report.html", "results.jsonl", "results.csv", person_page("p003")}


def test_of_whom_nothing_has_changed_no_report_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = crowd(MOST_ON_ONE_PAGE + 1)
    write_outputs(tmp_path, people)
    results = tmp_path / "results.jsonl"
    lines = results.read_text("utf-8").splitlines()
    # One line was cut, and one is no line of palprep's.
    results.write_text("\n".join(["{}", lines[1][:-1], *lines[2:]]), "utf-8")
    changed = people.people[3].model_copy(update={"reasons": ("né",)})
    others = people.model_copy(update={"people": (*people.people[:3], changed, *people.people[4:])})
    read = []
    person_of = ReadRun.person
    monkeypatch.setattr(
        ReadRun, "person", lambda run, slug: read.append(slug) or person_of(run, slug)
    )
    write_outputs(tmp_path, others)
    # The last line had lost its end as well; the changed one is read for its page, too.
    assert Counter(read) == {"p000": 1, "p001": 1, "p003": 2, "p050": 1}
    again = results.read_text("utf-8").splitlines()
    assert [again[at] for at in (0, 1, 2, *range(4, 51))] == [
        lines[at] for at in (0, 1, 2, *range(4, 51))
    ]
    assert "né" in again[3]


def test_a_later_run_that_changed_nothing_leaves_everything(tmp_path: Path) -> None:
    people = crowd(MOST_ON_ONE_PAGE + 1)
    write_outputs(tmp_path, people)
    before = written(tmp_path)
    later = changed(people, updated_at="2027-01-01T00:00:00.000+00:00")
    write_outputs(tmp_path, later)
    assert written(tmp_path) == before
    (tmp_path / person_page("p003")).unlink()
    write_outputs(tmp_path, later)
    assert written(tmp_path).keys() == before.keys()


def test_the_page_of_a_name_that_is_as_long_as_can_be_is_a_possible_file() -> None:
    """One such folder among many people, and nobody had results."""
    one, other = (person_page("š" * 126 + end) for end in "ab")
    assert one != other
    assert max(len(Path(each).name.encode()) for each in (one, other)) <= 255


def test_a_page_by_hand_or_of_another_version_is_written_again(tmp_path: Path) -> None:
    [only] = pages(crowd(1), tmp_path)
    assert not only.is_in(tmp_path)
    (tmp_path / "report.html").write_text("<p>not ours")
    assert not only.is_in(tmp_path)
    (tmp_path / "report.html").write_text(only.html(), "utf-8")
    assert only.is_in(tmp_path)


@pytest.fixture
def pictured(tmp_path: Path) -> Asset:
    source = tmp_path / "in" / "ada.png"
    source.parent.mkdir()
    Image.new("RGB", (60, 80), "teal").save(source)
    report = Report(path=str(source), role=Role.FACE_IMAGE, profile="core-4")
    return Asset(
        role=Role.FACE_IMAGE, source=str(source), source_sha256=sha256_of(source),
        source_report=report, seconds=0.1,
    )  # fmt: skip


def test_pictures_are_drawn_once_and_outlive_their_files(tmp_path: Path, pictured: Asset) -> None:
    into = tmp_path / "out"
    write_outputs(into, run(person(assets=(pictured,))))
    kept = {name: at for name, at in written(into).items() if name.startswith("pictures/")}
    assert len(kept) == 2
    assert "data:image/jpeg" in (into / "report.html").read_text("utf-8")
    Path(pictured.source).unlink()
    write_outputs(into, run(person(assets=(pictured,), reasons=("new",))))
    assert "data:image/jpeg" in (into / "report.html").read_text("utf-8")
    assert kept.items() <= written(into).items()


def test_pages_of_many_load_their_pictures_as_files(tmp_path: Path, pictured: Asset) -> None:
    into = tmp_path / "out"
    many = (*crowd(MOST_ON_ONE_PAGE).people, person(assets=(pictured,)))
    write_outputs(into, run(*many))
    for page, count in (("report.html", 1), (person_page("ada"), 2)):
        found = Elements((into / page).read_text("utf-8")).elements
        images = [attributes for tag, attributes in found if tag == "img"]
        assert len(images) == count
        for image in images:
            assert image["loading"] == "lazy"
            assert ((into / page).parent / image["src"]).is_file()


def test_the_first_page_reads_no_report_of_whom_it_shows_already(
    tmp_path: Path, pictured: Asset, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = (*crowd(MOST_ON_ONE_PAGE).people, person(assets=(pictured,)))
    write_outputs(tmp_path, run(*people))
    before = (tmp_path / "report.html").read_text("utf-8")
    other = changed(run(*people), profile="core-3")
    [*own, first] = pages(other, tmp_path)
    assert all(each.is_in(tmp_path) for each in own)
    assert not first.is_in(tmp_path)
    monkeypatch.setattr(ReadRun, "person", lambda *_: pytest.fail("a report was read"))
    after = first.html()
    assert PICTURES_NAME in after
    assert after.count("<img") == before.count("<img") == 1


def test_results_are_written_when_somebody_stands_otherwise(tmp_path: Path) -> None:
    two = run(person(slug="ada"), person(slug="bob"))
    write_outputs(tmp_path, two)
    (tmp_path / "results.jsonl").write_text("kept\n")
    write_outputs(tmp_path, changed(two, updated_at="2027-01-01T00:00:00.000+00:00"))
    assert (tmp_path / "results.jsonl").read_text() == "kept\n"
    write_outputs(tmp_path, two, again=True)
    assert "ada" in (tmp_path / "results.jsonl").read_text()
    (tmp_path / "results.jsonl").unlink()
    write_outputs(tmp_path, two)
    assert "ada" in (tmp_path / "results.jsonl").read_text()
    write_outputs(tmp_path, run(person(slug="ada", status="failed"), person(slug="bob")))
    assert '"failed"' in (tmp_path / "results.jsonl").read_text()


def test_a_name_is_no_way_out_of_the_page(tmp_path: Path) -> None:
    write_outputs(tmp_path, run(*crowd(MOST_ON_ONE_PAGE).people, FULL))
    assert "<script>alert" not in (tmp_path / "report.html").read_text("utf-8")
    assert "<script>alert" not in (tmp_path / person_page("ada")).read_text("utf-8")

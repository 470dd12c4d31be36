"""The labels, what is kept of measuring, and the figures that go into the document."""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from palprep.rules import load_profile
from palprep.values import Outcome
from research import marked
from research.evaluation import measured, portraits, stability
from research.material import kept_facts, sources_and_labels


def row(material, name, *, wanted=True, group="plain", source="owner/name"):
    return material.Labelled(source, name, "", "", wanted, group)


def test_every_labelled_picture_is_of_a_known_source_and_is_named_once():
    material = sources_and_labels
    sources = material.read_sources()
    checks = material.checks_labelled()
    assert "human_like_subject" in checks
    assert {source.use for source in sources.values()} == {"fit", "measure"}
    for check in checks:
        rows = material.read_labels(check)
        assert rows
        assert all(each.source in sources and each.group for each in rows)
        assert len({each.key for each in rows}) == len(rows)


def test_no_other_label_file_knows_the_sources_of_the_fresh_set():
    material = sources_and_labels
    known = {
        row.source
        for check in material.checks_labelled()
        for row in material.read_labels(check)
        if check != material.FRESH_SET
    }
    fresh = material.read_labels(material.FRESH_SET)
    assert sum(row.wanted for row in fresh) >= 150
    assert sum(not row.wanted for row in fresh) >= 60
    assert not known & {row.source for row in fresh}


def test_no_label_file_and_no_fit_knows_the_sources_of_the_broad_set():
    material = sources_and_labels
    halves = [material.read_broad_set(half) for half in material.BROAD_HALVES.values()]
    rows = [row for half in halves for row in half]
    sources = material.read_sources()
    known = {
        row.source for check in material.checks_labelled() for row in material.read_labels(check)
    }
    assert {sources[row.source].use for row in rows} == {"measure"}
    assert not known & {row.source for row in rows}
    assert len({(row.source, row.path) for row in rows}) == len(rows)


def test_owners_divide_the_broad_set():
    material = sources_and_labels
    for half in ("first", "second"):
        rows = material.read_broad_set(half)
        assert rows
        for each in rows:
            owner = each.source.split("/")[0].lower()
            even = int(hashlib.sha256(owner.encode()).hexdigest()[-1], 16) % 2 == 0
            assert even == (half == "first")


def test_owners_of_the_later_set_have_no_other_source():
    later = {row.source for row in sources_and_labels.read_broad_set("later")}
    assert len(later) >= 80
    owners = {name.split("/")[0].lower() for name in later}
    others = sources_and_labels.read_sources().keys() - later
    assert not owners & {name.split("/")[0].lower() for name in others}


def test_the_label_of_a_picture_is_what_both_readings_say():
    material = sources_and_labels

    def read(first, second):
        return material.TwiceRead("owner/name", "a.png", "first", first, second, "woman;dark")

    assert read("fit", "fit").labelled == row(material, "a.png", group="portrait")
    assert read("far away", "turned away").labelled.group == "far away"
    assert not read("far away", "turned away").labelled.wanted
    for first, second in [("fit", "dark"), ("dark?", "fit"), ("dark", "dark?"), ("dark?", "dark?")]:
        assert read(first, second).wanted is None
        with pytest.raises(ValueError, match="readings"):
            read(first, second).labelled  # noqa: B018 - the property raises


def test_the_broad_set_is_broad():
    material, evaluate = sources_and_labels, portraits
    seen = Counter()
    for half in material.BROAD_HALVES.values():
        for each in material.read_broad_set(half):
            seen[each.wanted] += 1
            words = set(each.groups.split(";"))
            if each.wanted:
                assert len(words & {"man", "woman"}) == 1, each
                for title, alternatives in evaluate.PEOPLE.items():
                    seen[title] += any(needed <= words for needed in alternatives)
    assert seen[True] >= 800
    assert seen[False] >= 350
    few = {"people of the Middle East or North Africa"}
    assert {title: seen[title] for title in evaluate.PEOPLE if seen[title] < 60}.keys() <= few


def test_shares_by_group_of_people_count_a_portrait_in_each_of_its_groups():
    material, evaluate = sources_and_labels, portraits
    (check, half), *_ = material.BROAD_HALVES.items()
    scarved = [
        each.labelled
        for each in material.read_broad_set(half)
        if each.wanted and {"woman", "dark", "headscarf"} <= set(each.groups.split(";"))
    ]
    assert len(scarved) >= 10
    cases = [evaluate.Judged(each, Outcome.WARN, (), ("head_level",), None) for each in scarved]
    lines = evaluate.table(check, cases)
    among = f"0 of {len(cases)}:", f"{len(cases)} of {len(cases)}:"
    for group in ("dark-skinned women", "headscarf or turban", "women"):
        (line,) = (line for line in lines if line.startswith(f"| {group} |"))
        assert all(
            cell.startswith(begin) for cell, begin in zip(line.split(" | ")[1:], among, strict=True)
        )
    assert not any(line.startswith(("| men |", "| dark-skinned men |")) for line in lines)


def test_the_tables_of_the_broad_set_are_by_the_limits_of_today(checkout, tmp_path):
    document = tmp_path / "accuracy.md"
    document.write_bytes((checkout / "docs" / "accuracy.md").read_bytes())
    for check in sources_and_labels.BROAD_HALVES:
        cases = measured.judged_again(check, load_profile())
        marked.replace_marked(document, check, portraits.table(check, cases))
    assert document.read_text("utf-8") == (checkout / "docs" / "accuracy.md").read_text("utf-8")


def test_a_picture_that_is_changed_shows_the_same():
    pixels = np.zeros((60, 40, 3), np.uint8)
    pixels[:, 20:] = 255
    picture = Image.fromarray(pixels)
    sides = {}
    for title, change in stability.CHANGES.items():
        seen = np.asarray(change(picture)).astype(int)
        sides[title] = (seen.shape[:2], seen[:, :15].mean() < seen[:, -15:].mean())
    assert sides == {
        "coded again": ((60, 40), True),
        "at half size": ((30, 20), True),
        "turned, coded and turned back": ((60, 40), True),
        "mirrored": ((60, 40), False),
    }


def test_sources_whose_terms_forbid_business_are_not_fitted_on():
    material = sources_and_labels
    bound = [
        source
        for source in material.read_sources().values()
        if any(word in source.licence for word in ("NC", "non-commercial", "Research", "none"))
    ]
    assert bound
    assert {source.use for source in bound} == {"measure"}


def test_the_notice_names_every_source_that_weights_were_fitted_on(checkout):
    material = sources_and_labels
    notice = (checkout / "src/palprep/vision/weights/NOTICE.md").read_text("utf-8")
    fitted = {row.source for row in material.read_labels("human_like_subject", use="fit")}
    assert fitted
    assert [name for name in sorted(fitted) if name.removeprefix("debian:") not in notice] == []


def test_a_fit_sees_its_rows_in_the_same_order_whatever_the_order_of_the_file(tmp_path):
    material, kept = (
        sources_and_labels,
        kept_facts,
    )
    (tmp_path / "owner" / "name").mkdir(parents=True)
    rows = [row(material, name) for name in ("b.png", "c.png", "a.png")]
    for number, each in enumerate(rows):
        each.file(tmp_path).write_bytes(bytes([number]))
    store = kept.Kept(tmp_path, "test", [kept])

    def make(of):
        return {} if of.path == "c.png" else {"x": np.zeros(1)}

    assert [of.path for of, _ in store.described(rows, make)] == ["a.png", "b.png"]


def test_the_interval_is_wilsons():
    wilson = portraits.wilson
    # Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263 and 0 of 20.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


def test_what_is_kept_is_measured_once_for_each_picture_and_code(tmp_path):
    material, kept = (
        sources_and_labels,
        kept_facts,
    )
    (tmp_path / "owner" / "name").mkdir(parents=True)
    (tmp_path / "owner" / "name" / "a.png").write_bytes(b"one")
    of, calls = row(material, "a.png"), []

    def make():
        calls.append(1)
        return {"x": np.array([1.0, 2.0])}

    store = kept.Kept(tmp_path, "test", [kept])
    assert store.arrays_of(of, make)["x"].tolist() == [1.0, 2.0]
    assert store.arrays_of(of, make)["x"].tolist() == [1.0, 2.0]
    assert len(calls) == 1
    (tmp_path / "owner" / "name" / "a.png").write_bytes(b"two")
    store.arrays_of(of, make)
    kept.Kept(tmp_path, "test", [material]).arrays_of(of, make)
    assert len(calls) == 3


def test_held_out_values_belong_to_one_file_of_weights(tmp_path):
    material, kept = (
        sources_and_labels,
        kept_facts,
    )
    weights, of = tmp_path / "model.json", row(material, "a.png")
    weights.write_text("1")
    kept.write_held_out(tmp_path, "check", weights, [of], [0.25])
    assert kept.read_held_out(tmp_path, "check", weights) == {of.key: 0.25}
    weights.write_text("2")
    with pytest.raises(SystemExit, match=r"model\.json"):
        kept.read_held_out(tmp_path, "check", weights)


def test_figures_by_outcome_and_kind():
    material, evaluate = (
        sources_and_labels,
        portraits,
    )
    source = next(iter(material.read_sources()))
    cases = [
        evaluate.Judged(
            row(material, f"{number}.png", wanted=wanted, group=group, source=source),
            outcome,
            (),
            (),
            None,
        )
        for number, (wanted, group, outcome) in enumerate(
            [
                (True, "beard", Outcome.PASS),
                (True, "beard", Outcome.FAIL),
                (True, "bare", Outcome.WARN),
                (True, "bare", Outcome.PASS),
                (False, "mask", Outcome.FAIL),
                (False, "mask", Outcome.PASS),
            ]
        )
    ]
    lines = evaluate.table("face_substantially_obscured", cases)
    assert any(line.startswith("| fit ones | 1 of 4: 25.0%") for line in lines)
    assert "| beard | pass | 2 | 1 | 0 | 1 | 0 |" in lines
    assert "| mask | fail | 2 | 1 | 0 | 1 | 0 |" in lines
    assert any("counted as a pass: 0.625" in line for line in lines)


def test_a_table_goes_between_its_own_marks(tmp_path):
    document = tmp_path / "accuracy.md"
    document.write_text("before\n<!-- one: begin -->\nold\n<!-- one: end -->\nafter\n")
    marked.replace_marked(document, "one", ["new"])
    assert document.read_text() == ("before\n<!-- one: begin -->\nnew\n<!-- one: end -->\nafter\n")
    with pytest.raises(SystemExit, match="two: begin"):
        marked.replace_marked(document, "two", ["new"])

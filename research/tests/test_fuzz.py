"""The fuzzer: its damage can be made again and minimised, and its worker tells what happens."""

from __future__ import annotations

import random

import pytest

from palprep.media.sources import Source
from palprep.values import Kind
from research.hostile import bomb_costs, fuzz, fuzz_mutations, fuzz_record, fuzz_seeds, fuzz_worker


def test_damage_is_the_same_for_the_same_seed():
    data = bytes(range(256)) * 40
    chances = (random.Random(seed) for seed in (5, 5, 6))  # noqa: S311 - repeatable, and no secret
    first, again, other = map(fuzz_mutations.drawn, chances)
    assert fuzz_mutations.mutated(data, first) == fuzz_mutations.mutated(data, again) != data
    assert fuzz_mutations.mutated(data, first) != fuzz_mutations.mutated(data, other)


def test_every_kind_of_damage_does_some_at_every_place():
    for kind in fuzz_mutations.KINDS:
        for place in (0.0, 0.5, 0.9999):
            for value in range(0, 97, 3):
                damage = fuzz_mutations.Mutation(kind, place, value)
                assert isinstance(fuzz_mutations.mutated(b"RIFF....WAVEfmt ", [damage]), bytes)
        changed = [
            fuzz_mutations.mutated(
                bytes(range(1, 200)), [fuzz_mutations.Mutation(kind, 0.3, value)]
            )
            for value in range(20)
        ]
        assert any(each != bytes(range(1, 200)) for each in changed), kind


def test_a_case_keeps_only_the_damage_that_it_needs():
    case = tuple(fuzz_mutations.Mutation("flip a bit", 0.5, value) for value in range(6))
    needed = case[-2]
    assert fuzz_mutations.minimised(case, lambda few: needed in few) == (needed,)
    assert fuzz_mutations.minimised(case[:1], lambda _: True) == case[:1]


def test_the_seeds_are_files_of_every_accepted_format(tmp_path):
    found = [Source.of(path).type for path in fuzz_seeds.seeds(tmp_path)]
    formats = {each.format for each in found if each.accepted}
    assert formats >= {
        *("jpeg", "png", "webp", "heic", "wav", "mp3", "m4a", "flac", "ogg", "webm"),
        *("mp4", "mov", "mkv", "avi", "mpg", "mts", "3gp", "amr", "caf", "aiff"),
    }
    assert {each.kind for each in found} >= {Kind.IMAGE, Kind.AUDIO, Kind.VIDEO}


def test_the_worker_tells_what_became_of_a_file(tmp_path, make_wav_seed):
    worker = fuzz_worker.Worker(tmp_path)
    try:
        good = worker.run(make_wav_seed, fix=False)
        bad = tmp_path / "b.wav"
        bad.write_bytes(make_wav_seed.read_bytes()[:40])
        damaged = worker.run(bad, fix=True)
        worker._process.kill()
        died = worker.run(make_wav_seed, fix=False)
        after = worker.run(make_wav_seed, fix=False)
    finally:
        worker.end()
    assert (good.end, good.failed, after.end) == ("fail", None, "fail")
    assert (damaged.end, damaged.failed) == ("media_damaged", None)
    assert died.failed.startswith("dies with exit status")
    assert good.mib > 50


@pytest.fixture
def make_wav_seed(tmp_path):
    (tmp_path / "seeds").mkdir()
    return next(fuzz_seeds._pcm(tmp_path / "seeds"))


def test_a_record_goes_on_and_adds_up(tmp_path):
    first = fuzz_record.Result(0, "a.jpg", False, True, "fail", None, 1.5, 200.0)
    second = fuzz_record.Result(1, "b.mp3", True, False, "raised", "KeyError at x.py:1", 3.0, 100.0)
    path = tmp_path / "one.jsonl"
    for result in (first, second):
        with fuzz_record.Record.opened(path, 7, "the command") as opened:
            opened.add(result)
    with (
        pytest.raises(SystemExit, match="belongs to another command"),
        fuzz_record.Record.opened(path, 7, "another"),
    ):
        pass
    read = fuzz_record.Record.read(path)
    assert (read.seed, read.results) == (7, [first, second])
    with fuzz_record.Record.opened(None, 8, "in memory") as other:
        other.add(second)
    said = fuzz_record.summary([read, other])
    assert "1 files as they are, 2 mutants" in said
    assert "longest 3.0 s of processor (b.mp3), largest 200 MiB (a.jpg)" in said
    assert "1 kinds of failure" in said
    assert "| Mutants | 2, seed 7, 8; 1 cases fixed, too |" in fuzz_record.table([read, other])


def test_shares_take_every_case_once(tmp_path, monkeypatch):
    taken = []
    monkeypatch.setattr(fuzz.Run, "take", lambda _, number, case: taken.append((number, case[1:])))
    for share in ("1/3", "2/3", "3/3"):
        monkeypatch.setattr("sys.argv", ["fuzz.py", "--mutants", "9", "--share", share])
        assert fuzz.main() == 0
    assert sorted(number for number, _ in taken) == list(range(9))
    assert len({case for _, case in taken}) == 9


def test_a_file_that_asks_for_much_is_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bomb_costs.py", "large.webp", "--keep", str(tmp_path)])
    assert bomb_costs.main() == 0
    assert "| `large.webp` | 34 B | fail / media_unsupported |" in capsys.readouterr().out
    assert [each.name for each in tmp_path.iterdir()] == ["large.webp"]

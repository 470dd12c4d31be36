"""A real cluster whose workers share nothing but a bucket with the machine of the run."""

from __future__ import annotations

import concurrent.futures
import contextlib
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import carried
import pytest
from bucket import KEYS, real_bucket

from cluster import Cluster, real_cluster
from palprep.batch.engines import files
from palprep.batch.engines.cluster import DaskEngine, make_engine
from palprep.batch.engines.files import BucketFiles, key_in_bucket
from palprep.batch.engines.tasks import AssetTask
from palprep.batch.runner import run
from palprep.batch.work.context import RunOptions
from palprep.errors import ClusterFailed, MediaTooHeavy, StorageError, ToolFailed, UsageError
from palprep.journal import Journal
from palprep.journal.entries.bodies import AssetPrepared
from palprep.media.sources import Source
from palprep.preflight import Asset, at_one_file
from palprep.storage import Bucket
from palprep.values import Role
from palprep.workers import Limits, WorkStopped

from .conftest import PACE

pytest.importorskip("distributed")

STORE = "s3://media/work"
WORKERS = 4


def variables(endpoint: str) -> dict[str, str]:
    named = {**KEYS, "endpoint": endpoint, "allow_http": "true"}
    return {f"AWS_{name.upper()}": value for name, value in named.items()}


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory) -> Iterator[str]:
    with real_bucket(tmp_path_factory.mktemp("s3")) as address:
        yield address


@pytest.fixture(scope="module")
def cluster(endpoint, tmp_path_factory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("cluster")
    with real_cluster(
        home, home.parent / "test_", workers=WORKERS, variables=variables(endpoint)
    ) as running:
        wait_for_workers(running)
        yield running


def wait_for_workers(cluster: Cluster, count: int = WORKERS) -> None:
    give_up = time.monotonic() + 60
    engine = DaskEngine(cluster.address, connect_within_s=60)
    try:
        while len(engine._client.nthreads()) < count and time.monotonic() < give_up:
            time.sleep(0.1)
        assert len(engine._client.nthreads()) >= count, "the workers did not start"
    finally:
        engine.close()


@pytest.fixture
def here(endpoint, monkeypatch) -> None:
    """The bucket's credentials, in this machine's environment."""
    for name, value in variables(endpoint).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def engine(cluster, here):
    made = make_engine(cluster.address, store=STORE, run="run")
    yield made
    made.close()


def test_workers_see_no_file_of_this_machine(engine, tmp_path):
    """Or the tests that follow would show nothing."""
    (tmp_path / "here.txt").write_text("here")
    with pytest.raises(ToolFailed, match=r"a worker shares no folder|Permission denied"):
        engine.run(carried.read_here, str(tmp_path / "here.txt"))


def test_a_source_is_carried_and_removed_again(cluster, here, wav, tmp_path):
    recording = tmp_path / "Zoë's take.wav"
    recording.write_bytes(wav.read_bytes())
    source = Source.of(recording)
    engine = make_engine(cluster.address, store=STORE, run="mine")
    try:
        assert engine.jobs == WORKERS
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as threads:
            found = list(threads.map(lambda _: engine.run(carried.look_into, source), range(4)))
        assert {(shown, sha256) for _, _, shown, sha256 in found} == {
            (str(recording), source.sha256)
        }
        assert all(Path(path).name == recording.name for _, path, _, _ in found)
        assert not any(Path(path).exists() for _, path, _, _ in found)
        assert [each.name for each in Bucket(STORE).below("sources")] == [
            f"sources/mine/{source.sha256}"
        ]
        Bucket(STORE).put("sources/mine/left-by-a-run-that-was-killed", b"")
        Bucket(STORE).put(f"sources/others/{source.sha256}", b"")
    finally:
        engine.close()
    assert [each.name for each in Bucket(STORE).below("sources")] == [
        f"sources/others/{source.sha256}"
    ]


def test_people_are_made_through_the_bucket(cluster, here, go, add, out, log):
    """Prepared on the cluster; published, created and recorded here."""
    for slug in ("ada", "bea"):
        add(slug, settings=f'name = "{slug.title()}"')
    seen = go(engine=cluster.address, store=STORE)
    assert [(each.slug, each.status) for each in seen.people] == [
        ("ada", "voice_only"),
        ("bea", "voice_only"),
    ]
    assert log.creates == {"voice": 2}
    [asset] = seen.people[0].assets
    prepared = asset.prepared
    assert prepared is not None
    assert prepared.path.parent == out / "prepared/ada/voice-audio"
    assert prepared.report.path == str(prepared.path)
    assert not prepared.path.exists()
    assert any(prepared.sha256[:20] in each.name for each in Bucket(STORE).below())
    assert list((out / "pictures").iterdir())
    assert "report.html" in {each.name for each in out.iterdir()}


def test_the_same_command_again_prepares_nothing(cluster, here, go, add, log, monkeypatch):
    add("ada", settings='name = "Ada"')
    go(engine=cluster.address, store=STORE)
    monkeypatch.setattr(DaskEngine, "run", lambda *_: pytest.fail("prepared twice"))
    [ada] = go(engine=cluster.address, store=STORE).people
    assert ada.status == "voice_only"
    assert log.creates == {"voice": 1}


def test_whoever_is_done_and_unchanged_needs_no_work(cluster, here, go, add, folder, out, log):
    """The bucket's list tells it, in place of a folder; and tells what is gone from there."""

    def again() -> int:
        said = []
        [ada] = go(engine=cluster.address, store=STORE, note=said.append).people
        assert ada.status == "voice_only"
        return sum(each.about == "unchanged" for each in said)

    add("ada", settings='name = "Ada"')
    assert again() == 0
    asked = log.requests
    assert again() == 1
    assert log.requests == asked
    [prepared] = [each.prepared for each in prepared_in(out)]
    Bucket(STORE).delete(key_in_bucket(prepared.path, prepared.sha256))
    assert again() == 0
    assert Bucket(STORE).look(key_in_bucket(prepared.path, prepared.sha256)) is not None
    assert log.creates == {"voice": 1}


def prepared_in(out: Path) -> list[Asset]:
    with Journal.of(out) as journal:
        return [entry.body.asset for entry in journal.entries(AssetPrepared)]


def test_one_bucket_for_both_keeps_files_from_this_machine(
    cluster, here, go, add, log, connection, monkeypatch
):
    """Published where the workers put it: nothing of it passes through here."""
    add("ada", settings='name = "Ada"')
    monkeypatch.setattr(BucketFiles, "fetch", lambda *_: pytest.fail("fetched"))
    published = replace(connection, publish_to=STORE)
    [ada] = go(engine=cluster.address, store=STORE, connection=published).people
    assert ada.status == "voice_only"
    assert log.creates == {"voice": 1}


def test_people_in_a_bucket_are_fetched_by_workers(
    cluster, here, out, log, wav, connection, monkeypatch
):
    """Their files never come to this machine, neither before the work nor after it."""
    people = Bucket("s3://media/people")
    people.put("ada/recording.wav", wav)
    people.put("ada/person.toml", b'name = "Ada"')
    monkeypatch.setattr(BucketFiles, "fetch", lambda *_: pytest.fail("fetched"))
    monkeypatch.setattr(files, "fetch_here", lambda *_, **__: pytest.fail("fetched"))
    [ada] = run(
        "s3://media/people",
        into=out,
        options=RunOptions(
            engine=cluster.address,
            store=STORE,
            connection=replace(connection, publish_to=STORE),
            pace=PACE,
        ),
    ).people
    assert (ada.slug, ada.status) == ("ada", "voice_only")
    assert ada.assets[0].source == "s3://media/people/ada/recording.wav"
    assert log.creates == {"voice": 1}


def test_the_work_of_a_worker_that_dies_is_done_by_others(cluster, engine):
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(engine.run, carried.pause, 1.0, number) for number in range(8)]
        time.sleep(0.5)  # Every worker has work, and none is through.
        victim = cluster.workers[0]
        cluster.kill(victim)
        done = [each.result() for each in asked]
    assert [number for number, _ in done] == list(range(8))
    assert victim.pid not in {pid for _, pid in done}


def test_workers_that_come_late_are_used(cluster, engine):
    """Dask has the queue: what waits in it is anybody's."""
    at_once = engine.jobs
    with concurrent.futures.ThreadPoolExecutor(32) as threads:
        asked = [threads.submit(engine.run, carried.pause, 1.0, number) for number in range(32)]
        late = cluster.add()
        done = [each.result() for each in asked]
        assert late.pid in {pid for _, pid in done}
        assert engine.jobs == at_once + 1
    cluster.kill(late)


def test_a_connection_that_is_lost_for_a_moment_costs_no_more_than_the_time(cluster, engine):
    """Dask cancels all that is under way then. It is not the end of the cluster."""
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as threads:
        asked = [threads.submit(engine.run, carried.pause, 2.0, number) for number in range(4)]
        time.sleep(1)
        engine._client.loop.add_callback(engine._client.scheduler_comm.comm.abort)
        assert [each.result()[0] for each in asked] == list(range(4))


def test_a_file_ends_its_own_process_and_no_worker(cluster, here):
    """One that crashes a decoder, one that fills the memory, one that takes for ever."""
    limits = Limits(time_s=3, memory_bytes=700 << 20)
    engine = make_engine(cluster.address, store=STORE, limits=limits)
    try:
        with pytest.raises(ToolFailed, match=r"died \(SIGSEGV\) at this file") as died:
            engine.run(carried.die)
        with pytest.raises(MediaTooHeavy, match="more than 700 MiB of memory") as large:
            engine.run(carried.fill_memory, 800)
        with pytest.raises(MediaTooHeavy, match="takes longer than 12 s") as late:
            engine.run(carried.pause, 60.0, 0)
    finally:
        engine.close()
    assert all(at_one_file(each.value) for each in (died, large, late))
    assert all(each.poll() is None for each in cluster.workers)


def task_into(cluster, into: str) -> AssetTask:
    return AssetTask(source="", into=into, role=Role.FACE_IMAGE, profile="core-4",
                     pictures=str(cluster.home / "pictures"))  # fmt: skip


def test_the_work_of_a_process_that_is_told_to_end_is_done_again(cluster):
    """As when a machine of the cluster is shut down: nothing is wrong with the file."""
    into = str(cluster.home / "prepared" / "ada" / "face-image")
    task = task_into(cluster, into)
    engine = make_engine(cluster.address)
    try:
        assert engine.run(carried.die_once, task) in {each.pid for each in cluster.workers}
    finally:
        engine.close()
    assert Path(into, "mark").exists()


def test_a_process_does_the_work_of_many_people(cluster):
    """Each writes into a folder of their own, and no process has to be started for that."""
    engine = make_engine(cluster.address)
    places = [cluster.home / "prepared" / f"person-{each}" / "face-image" for each in range(12)]
    try:
        pids = {engine.run(carried.process_of, task_into(cluster, str(into))) for into in places}
    finally:
        engine.close()
    assert len(pids) <= len(cluster.workers)


SICK = {
    "another version": ({"OTHER_VERSION": "0.0.1"}, r"it has palprep 0\.0\.1, and this is"),
    "wrong credentials": ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "are not accepted"),
    "no room": ({"NO_ROOM": "1"}, "temporary files cannot be written: No space left on device"),
    "bucket out of reach": (
        {"AWS_ENDPOINT": "http://127.0.0.1:9"},
        r"127\.0\.0\.1:9 does not answer",
    ),
}


def test_a_sick_worker_that_is_there_is_given_nothing(cluster, here, wav):
    """It answers at once, and so would draw one task after the other."""
    variables, why = SICK["another version"]
    source, sick = Source.of(wav), cluster.add(**variables)
    try:
        wait_for_workers(cluster, len(cluster.workers))
        engine = make_engine(cluster.address, store=STORE, run="early")
        try:
            assert engine.jobs == len(cluster.workers) - 1
            with concurrent.futures.ThreadPoolExecutor(8) as threads:
                asked = [threads.submit(engine.run, carried.look_into, source) for _ in range(16)]
                assert sick.pid not in {each.result()[0] for each in asked}
            [told] = engine.complaints()
            assert re.search(complaint(why), told), told
        finally:
            engine.close()
    finally:
        cluster.kill(sick)


def complaint(why: str) -> str:
    return rf"tcp://127\.0\.0\.1:\d+ of dask://.* could not .*: .*{why}"


def test_everybody_is_made_though_sick_workers_join(cluster, engine, add, go, log):
    """In four ways, after the run's engine looked at who is there: each is named, nobody fails."""
    names = [f"person-{number}" for number in range(10)]
    for name in names:
        add(name)
    sick = [cluster.add(**variables) for variables, _ in SICK.values()]
    said = []
    try:
        wait_for_workers(cluster, len(cluster.workers))
        seen = go(engine=engine, note=said.append)
    finally:
        for each in sick:
            cluster.kill(each)
    assert {each.slug: each.status for each in seen.people} == dict.fromkeys(names, "voice_only")
    assert log.creates == {"voice": len(names)}
    told = [each.text for each in said if each.about == "worker"]
    assert len(told) == len(sick)
    for _, why in SICK.values():
        assert any(re.search(complaint(why), each) for each in told), (why, told)


def test_a_cluster_of_sick_workers_ends_the_run_and_fails_nobody(
    cluster, here, add, go, log, tmp_path_factory
):
    add("ada", settings='name = "Ada"')
    home = tmp_path_factory.mktemp("sick")
    other = {"OTHER_VERSION": "0.0.1"}
    with real_cluster(home, cluster.fenced, workers=1, variables=other) as sick:
        with contextlib.suppress(ClusterFailed):
            wait_for_workers(sick, 1)
        with pytest.raises(ClusterFailed, match=r"No worker of dask.*\n.*palprep 0\.0\.1"):
            go(engine=sick.address)
    assert log.creates == {}


def test_this_machine_without_credentials(cluster, here, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(StorageError, match="are not accepted"):
        make_engine(cluster.address, store=STORE)


def test_another_file_under_a_sources_name_is_refused(engine, wav, tmp_path):
    source = Source.of(wav)
    Bucket(STORE).put(f"sources/run/{source.sha256}", b"something else")
    with pytest.raises(StorageError, match="is another file in the bucket"):
        engine.run(carried.look_into, source)


def test_whoever_waits_for_a_closed_cluster_is_told_that_the_work_was_stopped(cluster, here):
    """Those whose task is under way, and those who wait for a worker."""
    closing = make_engine(cluster.address, store=STORE)
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(closing.run, carried.pause, 20.0, number) for number in range(8)]
        time.sleep(0.5)
        closing.close(at_once=True)
        ended = [each.exception(timeout=15) for each in asked]
    assert {type(each) for each in ended} == {WorkStopped}


def test_a_store_is_for_a_cluster():
    with pytest.raises(UsageError, match="give --engine dask://"):
        make_engine("local", store=STORE)


def test_a_scheduler_that_dies_ends_the_work_with_words(cluster, engine):
    """The last test: no cluster is left."""
    count = 4 * engine.jobs  # Whoever is next sends its task to a client that is closing.
    with concurrent.futures.ThreadPoolExecutor(count) as threads:
        asked = [threads.submit(engine.run, carried.pause, 60.0, number) for number in range(count)]
        time.sleep(0.5)
        cluster.kill(cluster.scheduler)
        for each in asked:
            with pytest.raises(ClusterFailed, match="See whether its scheduler and its workers"):
                each.result(timeout=60)
    assert engine.jobs >= 1  # A run asks so until somebody's task has told of it.

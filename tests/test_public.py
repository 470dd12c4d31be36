"""The public names, and what importing them costs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

import pytest

import palprep
from palprep import errors

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def fresh(program: str) -> str:
    """What a new interpreter prints for this program, warnings being errors."""
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_names_are_sorted_and_exist() -> None:
    assert palprep.__all__ == sorted(palprep.__all__)
    assert [name for name in palprep.__all__ if not hasattr(palprep, name)] == []


def test_every_error_is_public() -> None:
    tree = [each for each in vars(errors).values() if isinstance(each, type)]
    raised = {each.__name__ for each in tree if issubclass(each, errors.PalprepError)}
    assert len(raised) > 30
    assert raised <= set(palprep.__all__)


def test_type_checkers_know_the_last_state_that_was_waited_for() -> None:
    assert "last" in get_type_hints(errors.WaitTimeout)


def test_type_checkers_take_a_list_of_tags_which_becomes_a_tuple() -> None:
    row = palprep.ManifestRow(person="ada", tags=["one"], statement=Path("own.txt"))
    request = palprep.VoiceRequest(voice_name="Ada", tags=["one"])
    for made in (row, request):
        assert made.tags == ("one",)
        assert get_origin(get_type_hints(type(made))["tags"]) is Sequence
        assert hash(made) is not None
    assert row.statement == "own.txt"


def test_type_checkers_take_the_folder_of_a_model_as_text_which_becomes_a_path() -> None:
    speaker = palprep.Speaker(full_name="Ada Lovelace", whisper_model="model")
    assert speaker.whisper_model == Path("model")
    assert speaker == palprep.Speaker(full_name="Ada Lovelace", whisper_model=Path("model"))
    assert str in get_args(get_type_hints(palprep.Speaker)["whisper_model"])


def test_help_shows_the_fields_of_a_record_before_it_is_used() -> None:
    program = (
        "import inspect, palprep\n"
        "print(inspect.signature(palprep.VoiceRequest), *inspect.signature(palprep.ManifestRow)"
        ".parameters)"
    )
    assert fresh(program).startswith(
        "(*, voice_name: 'str', description: 'str | None' = None, tags: 'Many[str]' = (), "
        "callback_url: 'str | None' = None) face_image "
    )
    assert fresh(program).endswith(" person")


def test_errors_are_at_hand_before_anything_else_is_used() -> None:
    assert fresh("import palprep; print(len(palprep.errors.AT_SERVICE) > 3)") == "True"


@pytest.mark.parametrize("first", ["check", "Prepared", "Sandbox"])
def test_no_module_hides_a_function(first: str) -> None:
    """A module of a function's name would take its place once anything imported it."""
    program = (
        f"from palprep import {first}; from palprep.batch import runner; import palprep; "
        "print(*[n for n in palprep.__all__ if type(getattr(palprep, n)).__name__ == 'module'])"
    )
    assert fresh(program) == ""


def test_importing_the_package_loads_nothing() -> None:
    program = (
        "import sys, palprep; print(*{'pydantic', 'numpy', 'cv2', 'httpx'} & set(sys.modules))"
    )
    assert fresh(program) == ""


def test_type_checkers_know_the_roles() -> None:
    assert get_args(palprep.RoleName) == tuple(palprep.Role)


def test_records_offer_no_deprecated_method() -> None:
    offered = dir(palprep.Report(path="a", role=None, profile="core-4"))
    assert {"checks", "failed", "model_dump"} <= set(offered)
    assert not {"dict", "json", "parse_raw", "from_orm", "construct", "copy"} & set(offered)


@pytest.mark.parametrize(
    ("write", "says"),
    [
        (lambda: palprep.ReplicaRequest(name="Ada"), "model_name or replica_name or voice_name?"),
        (lambda: palprep.ReplicaRequest(voise_name="Ada"), "voise_name: did you mean voice_name?"),
        (lambda: palprep.VoiceRequest(x=1), "it has callback_url, description, tags, voice_name"),
        (palprep.VoiceRequest, "VoiceRequest: voice_name is required"),
        (lambda: palprep.VoiceRequest(voice_name=3), "VoiceRequest: voice_name must be a string"),
        (lambda: palprep.Speaker(full_name=""), "full name"),
        (
            lambda: palprep.Speaker("Ada"),
            "Speaker takes its fields by name: Speaker(full_name=...)",
        ),
        (lambda: palprep.run("people", tell=3), "tell takes Callable or None, not int"),
        (lambda: palprep.watch("out", pace=3), "pace takes Pace or None, not int"),
        (lambda: palprep.write_messages("out", 3), "into takes str or Path, not int"),
        (lambda: palprep.examine_dossier(3), "path takes str or Path, not int"),
        (lambda: palprep.export_dossiers([], None, now=NOW), "target takes str or Path, not None"),
        (lambda: palprep.publisher_from_env(3), "environ takes Mapping or None, not int"),
        (lambda: palprep.Client.from_env(3), "environ takes Mapping or None, not int"),
        (lambda: palprep.callback_server("out"), "journal takes Journal, not str"),
        (lambda: palprep.into_journal("out"), "journal takes Journal, not str"),
        (lambda: palprep.resolve_found("out", "k", 3), "resource_id takes str, not int"),
        (lambda: palprep.resolve_retry("out", 3), "key takes str, not int"),
        (lambda: palprep.resolve_ended(3, "k", "error"), "journal takes Journal or str or Path"),
        (lambda: palprep.same_person("a", "b"), "paths takes Iterable, not str"),
        (
            lambda: palprep.decide("out", 3, accept=True, by="Ada", because="heard"),
            "person takes str, not int",
        ),
        (lambda: palprep.Limits(time_s=-1), "Limits: time_s must be greater than 0"),
    ],
)
def test_a_mistake_in_a_record_that_callers_write_is_told(write, says) -> None:
    with pytest.raises(palprep.UsageError, match=re.escape(says)):
        write()


def test_a_name_that_is_not_there_is_said() -> None:
    with pytest.raises(AttributeError, match="preparation"):
        _ = palprep.preparation

"""What commands print as JSON is as the schemas say: every field of it, and no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

Printed = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def schemas(checkout: Path) -> dict[str, Any]:
    """The schemas by the names of their files."""
    folder = checkout / "docs/reference/schemas"
    return {path.name: json.loads(path.read_text()) for path in folder.glob("*.json")}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory, measuring_once: dict[str, str]) -> Printed:
    """``printed(*arguments)``: what ``palprep`` prints, line by line."""
    folder = tmp_path_factory.mktemp("printed")

    def run(*arguments: object) -> list[dict[str, Any]]:
        command = [str(Path(sys.executable).with_name("palprep")), *map(str, arguments), "--json"]
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **measuring_once},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in {0, 1, 5}, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


@pytest.fixture(scope="module")
def samples(sample_media: Path, light_people: Path) -> dict[str, Path]:
    return {
        "portrait": light_people / "jane-carter/portrait.heic",
        "consent": light_people / "jane-carter/consent.mp4",
        "anna": light_people / "anna-miller",
        "text": sample_media / "broken/text-named-video.mp4",
    }


def require(instances: list[dict[str, Any]], name: str, schemas: dict[str, Any]) -> None:
    """Each is valid, and has exactly the fields that the schema lists."""
    files = {key: Resource(each, DRAFT202012) for key, each in schemas.items()}
    validator = Draft202012Validator(
        schemas[name], registry=Registry().with_resources(files.items())
    )
    assert instances
    for each in instances:
        validator.validate(each)
        assert each.keys() <= listed(name, schemas)


def listed(name: str, schemas: dict[str, Any]) -> set[str]:
    schema = schemas[name]
    others = listed(schema["$ref"], schemas) if "$ref" in schema else set()
    return others | schema["properties"].keys()


def test_the_schemas_are_schemas(schemas: dict[str, Any]) -> None:
    assert len(schemas) == 10
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)


def test_check(printed: Printed, samples: dict[str, Path], schemas: dict[str, Any]) -> None:
    reports = printed(
        "check", samples["portrait"], samples["anna"] / "recording.mov", samples["text"]
    )
    assert reports[0]["role"] == "face-image"
    assert reports[2]["error"]["code"] == "media_unsupported"
    require(reports, "check.json", schemas)
    checks = schemas["check.json"]["$defs"]["Check"]["properties"]
    assert all(check.keys() == checks.keys() for report in reports for check in report["checks"])


def test_fix(printed: Printed, samples: dict[str, Path], schemas: dict[str, Any]) -> None:
    require(
        printed("fix", samples["portrait"], samples["text"], "--into", "fixed"), "fix.json", schemas
    )


def test_consent(printed: Printed, samples: dict[str, Path], schemas: dict[str, Any]) -> None:
    heard = printed("consent", samples["consent"], "--name", "Jane Carter")
    assert heard[0]["words"]
    require(heard, "consent.json", schemas)


def test_a_run(
    printed: Printed, samples: dict[str, Path], schemas: dict[str, Any], tmp_path: Path
) -> None:
    people, out = tmp_path / "people", tmp_path / "out"
    (people / "anna").mkdir(parents=True)
    (people / "anna/recording.mov").symlink_to(samples["anna"] / "recording.mov")
    results = printed("run", people, "--into", out, "--dry-run")
    require(results, "result.json", schemas)
    kept = (out / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in kept] == results
    require(printed("status", out), "status.json", schemas)


def test_best_and_doctor(
    printed: Printed, samples: dict[str, Path], schemas: dict[str, Any]
) -> None:
    require(printed("best", samples["portrait"]), "best.json", schemas)
    require(printed("doctor"), "doctor.json", schemas)

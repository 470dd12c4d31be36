"""What README.md tells to do exists, and CI does the same."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from palprep.cli.app import app

MARKED = re.compile(r"^<!-- the (\w+) -->$(.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def readme(checkout: Path) -> str:
    return (checkout / "README.md").read_text()


def marked_command(readme: str, name: str) -> str:
    (line,) = (
        line
        for label, block in MARKED.findall(readme)
        if label == name
        for line in block.splitlines()
        if line.startswith("python3")
    )
    return line


@pytest.mark.parametrize("name", ["job", "tests"])
def test_a_command_does_its_own_set_up(readme: str, name: str) -> None:
    install, _, then = marked_command(readme, name).partition(" && ")
    assert install == "python3 -m pip install uv"
    assert then.startswith("python3 -m uv run ")


def test_the_main_job_is_the_sample_people(readme: str, sample_media: Path) -> None:
    *_, command, folder = shlex.split(marked_command(readme, "job"))
    assert command == "run"
    assert (sample_media.parent / folder).is_dir()


def test_ci_runs_the_readmes_test_command(readme: str, checkout: Path) -> None:
    script = (checkout / ".ci/run").read_text()
    (extraction,) = re.findall(r"^command=\$\((.*)\)$", script, re.MULTILINE)
    done = subprocess.run(
        ["bash", "-c", extraction], cwd=checkout, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == marked_command(readme, "tests")
    assert 'bash -euo pipefail -c "$command"' in script


def test_every_script_is_in_it(readme: str, checkout: Path) -> None:
    shown = re.findall(r"^<!-- example: (\S+) -->$", readme, re.MULTILINE)
    assert sorted(shown) == sorted(each.name for each in (checkout / "examples").glob("*.py"))


def test_every_command_is_in_the_table(checkout: Path) -> None:
    page = (checkout / "docs/reference/commands.md").read_text()
    named = re.findall(r"^\| `palprep (\w+)", page, re.MULTILINE)
    assert sorted(named) == sorted(get_command(app).commands)


def test_every_file_it_links_exists(readme: str, checkout: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", readme)
    local = [link for link in links if "://" not in link]
    assert local
    assert [link for link in local if not (checkout / link).exists()] == []

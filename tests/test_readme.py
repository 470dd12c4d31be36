"""What README.md tells to do exists, and CI does the same."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
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


def test_the_librarys_example_runs_as_it_stands(
    readme: str, tmp_path: Path, sample_media: Path
) -> None:
    (block,) = (block for label, block in MARKED.findall(readme) if label == "example")
    (program,) = re.findall(r"^```python$(.*?)^```$", block, re.MULTILINE | re.DOTALL)
    (tmp_path / "sample_media").symlink_to(sample_media)
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = [line.split() for line in done.stdout.splitlines()]
    assert [(what, state) for what, _, state in made] == [
        ("voice", "completed"),
        ("replica", "completed"),
    ]


def test_ci_runs_the_readmes_test_command(readme: str, checkout: Path) -> None:
    script = (checkout / ".ci/run").read_text()
    (extraction,) = re.findall(r"^command=\$\((.*)\)$", script, re.MULTILINE)
    done = subprocess.run(
        ["bash", "-c", extraction], cwd=checkout, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == marked_command(readme, "tests")
    assert 'bash -euo pipefail -c "$command"' in script


def test_every_command_it_names_exists(readme: str) -> None:
    blocks = re.findall(r"^```sh$(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"^palprep (\w+)", "\n".join(blocks), re.MULTILINE))
    assert named == set(get_command(app).commands)


def test_every_file_it_links_exists(readme: str, checkout: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", readme)
    local = [link for link in links if "://" not in link]
    assert local
    assert [link for link in local if not (checkout / link).exists()] == []

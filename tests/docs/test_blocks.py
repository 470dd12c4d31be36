"""Every block of code in README.md and the documentation runs, page by page, as it stands.

A page is worked through from top to bottom in a folder of sample media, with a sandbox as the
service. ``sh`` blocks run in bash, ``python`` blocks in one interpreter; a block with a title is
written to the file of that name. An output is what the block before it prints; of one marked
``output, alike`` times and ids are its own. ``scripts/show_outputs.py`` writes both. What is only
shown (another machine's files, commands that wait for ever) is ``text``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from bucket import KEYS, real_bucket

from palprep.sandbox import Choices, Sandbox

CHECKOUT = Path(__file__).resolve().parents[2]
ELSEWHERE = {"docs/sandbox.md": "tests/testing/test_plugin.py runs its tests as pytest does"}
PAGES = sorted(
    {"README.md", *(str(page.relative_to(CHECKOUT)) for page in CHECKOUT.glob("docs/**/*.md"))}
    - ELSEWHERE.keys()
)
BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^>]+) -->\n)?```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n"
    r"(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
SHOWN = {"text", "nginx", "json", "console", "dockerfile", "ini", "yaml"}
"""Languages of blocks that do not run."""


OWN = re.compile(
    r"(?<=[\w(] )\d+(?:\.\d)? (?:s|min \d\d s)\b"
    r"|\d{4}-\d\d-\d\d[ T]\d\d:\d\d[:\d.]*(?: UTC|\+00:00)"
    r"|\b[a-z_]{0,3}[0-9a-f]{12,}\b|(?<=127\.0\.0\.1:)\d+"
)
"""What each run has of its own: times that passed, moments, ids and ports."""


class Block(NamedTuple):
    mark: str
    language: str
    title: str
    code: str
    line: int
    place: tuple[int, int]
    """Of the code within the page."""


def blocks(page: str) -> list[Block]:
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    return [
        Block(
            found["mark"] or "", found["language"], found["title"] or "", found["code"],
            text.count("\n", 0, found.start("code")), found.span("code"),
        )
        for found in BLOCK.finditer(text)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def service() -> Iterator[Sandbox]:
    with Sandbox(choices=Choices(voice_seconds=0.2, replica_seconds=0.2)) as running:
        yield running


@pytest.fixture
def desk(
    page: str,
    service: Sandbox,
    sample_media: Path,
    light_people: Path,
    measured_once: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A folder with the sample people, where a page's blocks run."""
    # What is said of a video depends on its size: that page shows what readers see.
    people = sample_media / "people" if page == "docs/guides/video.md" else light_people
    for file in (people / "jane-carter").iterdir():
        # Copied: a block may write a file of the same name, and never through to the samples.
        shutil.copy(file, tmp_path)
    shutil.copytree(people, tmp_path / "people")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PALPREP_BASE_URL", service.url)
    monkeypatch.setenv("PALPREP_API_KEY", service.user_key)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=() if page == "README.md" else pytest.mark.documented)
        for page in PAGES
        if blocks(page)
    ],
)
def test_a_page_runs(  # noqa: C901 -- a case for each kind of block
    page: str, desk: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: dict[str, object] = {"__name__": "documentation"}
    printed, outputs = "", list[tuple[Block, str]]()
    monkeypatch.delenv("COLUMNS", raising=False)  # As wide as pages are, whoever runs the tests.
    for block in blocks(page):
        where = f"{page}, line {block.line + 1}"
        if block.title:
            (desk / block.title).write_text(block.code, encoding="utf-8")
        elif block.mark == "s3":
            for name, value in KEYS.items():
                monkeypatch.setenv(f"AWS_{name.upper()}", value)
            with real_bucket(tmp_path_factory.mktemp("s3")) as endpoint:
                monkeypatch.setenv("AWS_ENDPOINT", endpoint)
                monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
                run_python(block, names, where)
        elif block.mark in {"output", "output, alike"}:
            outputs.append((block, printed))
        elif block.mark.startswith("example: "):
            script = CHECKOUT / "examples" / block.mark.removeprefix("example: ")
            assert block.code == script.read_text(encoding="utf-8"), where
        elif block.mark == "cluster":
            # On a busy machine Dask tells of workers that end late, or after the scheduler.
            monkeypatch.setenv("DASK_DISTRIBUTED__LOGGING__DISTRIBUTED", "critical")
            printed = run_script(block, desk, where)
        elif block.language == "python":
            printed = run_python(block, names, where)
        elif block.language == "sh" and not block.mark.startswith("the "):
            printed = run_shell(block, where)
        else:
            assert block.language in SHOWN or block.mark.startswith("the "), where
    if os.environ.get("WRITE_OUTPUTS"):
        write_outputs(CHECKOUT / page, outputs)
        return
    for block, printed in outputs:
        own = OWN if block.mark == "output, alike" else re.compile(r"\Z.")
        told = f"{page}, line {block.line + 1}: run scripts/show_outputs.py {page}"
        assert own.sub("…", printed) == own.sub("…", block.code), told


def write_outputs(page: Path, outputs: list[tuple[Block, str]]) -> None:
    text = page.read_text(encoding="utf-8")
    for block, printed in reversed(outputs):
        start, end = block.place
        text = text[:start] + printed + text[end:]
    page.write_text(text, encoding="utf-8")


def run_python(block: Block, names: dict[str, object], where: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        # Lines of a traceback are those of the page.
        exec(compile("\n" * block.line + block.code, where, "exec"), names)  # noqa: S102
    return out.getvalue()


def run_script(block: Block, desk: Path, where: str) -> str:
    (desk / "script.py").write_text(block.code, encoding="utf-8")
    return require_success([sys.executable, "script.py"], where)


def run_shell(block: Block, where: str) -> str:
    out = require_success(["bash", "-euo", "pipefail", "-c", block.code], where)
    return "".join(f"{line.rstrip()}\n" for line in out.splitlines())


def require_success(command: list[str], where: str) -> str:
    """What it printed, errors too."""
    pipe, both = subprocess.PIPE, subprocess.STDOUT
    # Not the process's own: readline, which pytest loads, sets COLUMNS where os.environ has none.
    env = {**os.environ}
    done = subprocess.run(command, env=env, stdout=pipe, stderr=both, text=True, check=False)
    assert done.returncode == 0, f"{where}\n{done.stdout}"
    return done.stdout


def test_there_are_pages_to_run() -> None:
    assert len([page for page in PAGES if any(b.language == "python" for b in blocks(page))]) > 8

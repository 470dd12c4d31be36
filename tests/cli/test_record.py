"""palprep record: a page that answers until it is closed or interrupted."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from .conftest import SCRIPT, Palprep, environment


@pytest.mark.parametrize("ends", ["page", signal.SIGTERM])
def test_it_says_where_it_is_and_what_comes_next(
    tmp_path: Path, ends: str | signal.Signals
) -> None:
    command = [SCRIPT, "record", "people/ada-lovelace", "--port", "0", "--no-browser"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, cwd=tmp_path, env=environment()
    ) as process:
        ready, link = (process.stdout.readline().strip() for _ in range(2))
        origin = ready.removeprefix("palprep record ready on ")
        assert link.startswith(f"{origin}/")
        assert "Ada Lovelace" in httpx.get(link, trust_env=False).text
        if isinstance(ends, signal.Signals):
            process.send_signal(ends)
        else:
            httpx.post(f"{link}done", headers={"origin": origin}, trust_env=False)
        assert process.wait(timeout=60) == 0
        said = process.stderr.read()
    assert said == "Next: palprep run people --only ada-lovelace --into palprep-out\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("people/.hidden",), "must not start with a dot"),
        (("file",), "file is a file"),
        (("people/ada", "--language", "xx"), "choose one of de, en, es"),
        (("people/ada", "--port", "99999"), "--port"),
    ],
)
def test_what_cannot_be_meant_is_usage(
    palprep: Palprep, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    (tmp_path / "file").touch()
    ran = palprep("record", *arguments, "--no-browser")
    assert ran.code == 2
    assert says in ran.err

"""A real Chromium, where one is installed, that reaches nothing but files."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest


class Browser:
    """Opens pages and returns what became of them. Complaints in its console fail the test."""

    def __init__(self, home: Path) -> None:
        found = shutil.which("chromium")
        if found is None:
            pytest.skip("chromium is not installed")
        self._home = home
        self._command = [
            found, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--enable-logging=stderr", "--virtual-time-budget=20000",
            f"--user-data-dir={home / 'browser'}",
        ]  # fmt: skip

    def opened(self, address: str, *flags: str) -> str:
        """The page's elements once its scripts have run, as HTML."""
        shown = subprocess.run(
            [*self._command, *flags, "--dump-dom", address],
            capture_output=True, text=True, timeout=180, check=True,
        )  # fmt: skip
        assert "CONSOLE" not in shown.stderr, shown.stderr
        return shown.stdout

    def after(self, html: str, script: str, *flags: str) -> str:
        """The page after a script of the test's own. The policy that forbids such is left out."""
        free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
        path = self._home / "scripted.html"
        path.write_text(free.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
        return self.opened(path.as_uri(), *flags)

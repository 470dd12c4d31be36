"""A Chromium that is driven step by step over the DevTools protocol, with a camera and a microphone
that play files.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

_LEFT = "Inspected target navigated or closed"


class Left(Exception):
    """The page went to another one before it could answer."""


class Driven:
    """One browser with one page. Complaints in the page's console are kept in ``complaints``."""

    def __init__(self, home: Path, *flags: str) -> None:
        program = shutil.which("chromium")
        if program is None:
            pytest.skip("chromium is not installed")
        self.complaints: list[str] = []
        self._numbers = itertools.count(1)
        self._read, theirs_out = os.pipe()
        theirs_in, self._write = os.pipe()
        pass_on = f'exec 3<&{theirs_in} 4>&{theirs_out}; exec "$@"'
        self._process = subprocess.Popen(
            [
                "bash", "-c", pass_on, "-", program, "--headless", "--no-sandbox", "--disable-gpu",
                "--no-first-run", "--disable-background-networking", "--disable-component-update",
                "--disable-sync", "--disable-quic", "--hide-scrollbars", "--remote-debugging-pipe",
                *flags,
                f"--user-data-dir={home / 'browser'}", "about:blank",
            ],
            pass_fds=(theirs_in, theirs_out), stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._unread = b""
        pages = self._ask("Target.getTargets")["targetInfos"]
        page = next(each["targetId"] for each in pages if each["type"] == "page")
        flat = {"targetId": page, "flatten": True}
        self._session = self._ask("Target.attachToTarget", flat)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command to the page."""
        return self._ask(method, parameters, self._session)

    def ask_browser(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command to the browser itself."""
        return self._ask(method, parameters)

    def open(self, address: str) -> None:
        """Go to a page and wait until its scripts have run."""
        self.ask("Page.navigate", url=address)
        self.until(f"location.href.startsWith({address!r}) && document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is awaited."""
        told = self.ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True,
            userGesture=True,
        )  # fmt: skip
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def until(self, script: str, within_s: float = 30.0) -> Any:
        """Wait until an expression is true, and return it."""
        ends = time.monotonic() + within_s
        # Between two pages there is nothing yet.
        told = f"const it = {script}; return it instanceof Node || it"
        found = f"(() => {{ try {{ {told} }} catch {{}} }})()"
        while True:
            with contextlib.suppress(Left):
                if value := self.run(found):
                    return value
            assert time.monotonic() < ends, f"{script} is not true: {self.text()}"
            time.sleep(0.05)

    def press(self, selector: str) -> None:
        """Click on the element that can be seen and is not disabled, once there is one."""
        found = f"document.querySelector({selector!r})"
        self.until(f"{found}?.checkVisibility() && !{found}.disabled")
        with contextlib.suppress(Left):
            self.run(f"{found}.click()")

    def text(self) -> str:
        """What a reader sees."""
        return self.run("document.body.innerText")

    def give(self, selector: str, file: Path) -> None:
        """Choose a file in a field for files."""
        root = self.ask("DOM.getDocument")["root"]["nodeId"]
        node = self.ask("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.ask("DOM.setFileInputFiles", files=[str(file)], nodeId=node)

    def type(self, text: str) -> None:
        """Press keys, one for each character, in what has the focus."""
        for each in text:
            for kind in ("keyDown", "keyUp"):
                self.ask("Input.dispatchKeyEvent", type=kind, text=each, key=each)

    def picture(self, path: Path, width: int, height: int = 900, *, dark: bool = False) -> None:
        """A picture of the whole page at this width."""
        self.look(width, height, dark=dark)
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def look(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Look at the page in a window of this size."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def close(self) -> None:
        """End the browser and all of its processes."""
        os.close(self._write)
        try:
            self._process.wait(10)
        finally:
            if self._process.poll() is None:
                os.killpg(self._process.pid, 9)
                self._process.wait()
            os.close(self._read)

    def _ask(
        self, method: str, parameters: Any = None, session: str | None = None
    ) -> dict[str, Any]:
        number = next(self._numbers)
        asked = {"id": number, "method": method, "params": parameters or {}}
        if session is not None:
            asked["sessionId"] = session
        os.write(self._write, json.dumps(asked).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == number:
                if told.get("error", {}).get("message") == _LEFT:
                    raise Left
                assert "error" not in told, told
                return told["result"]
            self._note(told)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._read], [], [], 60)
            piece = os.read(self._read, 1 << 20) if ready else b""
            assert piece, "the browser does not answer"
            self._unread += piece
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)

    def _note(self, told: dict[str, Any]) -> None:
        match told.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(str(told["params"]["exceptionDetails"]))
            case "Log.entryAdded" if told["params"]["entry"]["level"] == "error":
                entry = told["params"]["entry"]
                self.complaints.append(f"{entry['text']} {entry.get('url', '')}")
            case "Runtime.consoleAPICalled" if told["params"]["type"] in {"error", "warning"}:
                self.complaints.append(str(told["params"]["args"]))

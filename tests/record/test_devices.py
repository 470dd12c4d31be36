"""Cameras and microphones that go, come, or are asked for twice, on the recording page in a real
browser whose devices play a pattern."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from driven import Driven

from .conftest import Served

VOICE, FACE = 2, 0
"""Places of steps."""


class Tab(NamedTuple):
    browser: Driven
    served: Served

    def button(self, step: int, what: str) -> str:
        return f"steps[{step}].button({what!r})"

    def press(self, step: int, what: str) -> None:
        self.browser.until(f"{self.button(step, what)}.checkVisibility()")
        self.browser.run(f"{self.button(step, what)}.click()")

    def problem(self, step: int) -> str:
        return self.browser.until(f"steps[{step}].is('problem').textContent")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driven]:
    home = tmp_path_factory.mktemp("devices")
    opened = Driven(home, "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
    yield opened
    opened.close()


@pytest.fixture
def tab(serve: Callable[..., Served], browser: Driven) -> Tab:
    served = serve()
    served.agree()
    browser.open(served.site.link)
    browser.until("steps[0].section.checkVisibility()")
    browser.run("window.streams = []")
    browser.run(
        "window.get = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);"
        "navigator.mediaDevices.getUserMedia = async (...asked) => {"
        " await window.before; const it = await get(...asked); streams.push(it); return it }"
    )
    return Tab(browser, served)


LIVE = "streams.filter((each) => each.getTracks().some((one) => one.readyState === 'live')).length"


def test_a_browser_that_gives_no_devices_is_told(tab: Tab) -> None:
    tab.browser.run("Object.defineProperty(navigator, 'mediaDevices', {value: undefined})")
    tab.press(FACE, "open")
    assert tab.problem(FACE).startswith("The browser gives no camera or microphone.")


def test_a_device_that_was_chosen_and_unplugged_is_replaced(tab: Tab) -> None:
    tab.browser.run("steps[0].is('cameras').append(new Option('gone', 'f'.repeat(64), true, true))")
    tab.press(FACE, "open")
    tab.browser.until(f"{tab.button(FACE, 'shoot')}.checkVisibility()")
    names = "[...steps[0].is('cameras').options].map((each) => each.label)"
    tab.browser.until(f"{names}[0].startsWith('fake_device')")


def test_a_device_that_is_plugged_in_can_be_chosen(tab: Tab) -> None:
    tab.press(VOICE, "open")
    tab.browser.until(f"{tab.button(VOICE, 'start')}.checkVisibility()")
    tab.browser.run(
        "navigator.mediaDevices.enumerateDevices = async () => "
        "[{kind: 'audioinput', label: 'new', deviceId: 'n'}];"
        "navigator.mediaDevices.dispatchEvent(new Event('devicechange'))"
    )
    tab.browser.until("steps[2].is('microphones').options[0].label === 'new'")


def test_a_device_that_stops_is_told_and_can_be_turned_on_again(tab: Tab) -> None:
    tab.press(VOICE, "open")
    tab.browser.until(f"{tab.button(VOICE, 'start')}.checkVisibility()")
    tab.browser.run("streams[0].getTracks()[0].dispatchEvent(new Event('ended'))")
    assert tab.problem(VOICE).startswith("No camera or microphone was found.")
    tab.press(VOICE, "open")
    tab.press(VOICE, "start")
    time.sleep(1.2)
    # What was recorded until then is sent.
    tab.browser.run("streams[1].getTracks()[0].dispatchEvent(new Event('ended'))")
    tab.browser.until("document.querySelectorAll('[data-role=voice-audio] .take').length === 1")
    assert tab.browser.run(LIVE) == 0


def test_what_cannot_be_recorded_leaves_a_way_on(tab: Tab) -> None:
    tab.press(VOICE, "open")
    tab.browser.run("window.MediaRecorder.prototype.start = () => { throw Error('no tracks') }")
    tab.press(VOICE, "start")
    assert tab.problem(VOICE) == "no tracks"
    assert tab.browser.run(f"{tab.button(VOICE, 'open')}.checkVisibility()")
    # Nothing is recorded, so nothing is waited for.
    tab.browser.press("#done")
    tab.browser.until("document.body.innerText.includes('Closed.')")


def test_a_second_click_records_nothing_twice(tab: Tab) -> None:
    tab.browser.run(
        "window.recorders = 0; const real = MediaRecorder;"
        "window.MediaRecorder = class extends real {"
        " constructor(...given) { super(...given); recorders += 1 } }"
    )
    tab.press(1, "open")
    tab.browser.until(f"{tab.button(1, 'start')}.checkVisibility()")
    start = tab.button(1, "start")
    tab.browser.run(f"for (let at = 0; at < 3; at += 1) if (!{start}.hidden) {start}.click()")
    tab.browser.until(f"{tab.button(1, 'stop')}.checkVisibility()")
    assert tab.browser.run("recorders") == 1
    assert not tab.browser.run("dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    # Or the browser asks before it goes to another page.
    tab.browser.run("steps[1].recorder.onstop = null; steps[1].sent = undefined; steps[1].close()")


def test_only_what_was_asked_for_last_is_turned_on(tab: Tab) -> None:
    """While the browser asks the person, other buttons can be pressed."""
    tab.browser.run("void (window.before = new Promise((done) => { window.answer = done }))")
    tab.press(FACE, "open")
    tab.press(VOICE, "open")
    tab.browser.run("answer()")
    tab.browser.until("streams.length === 2")
    tab.browser.until(f"{LIVE} === 1 && steps[2].stream && !steps[0].stream")


def test_the_page_closes_when_a_file_has_arrived(tab: Tab, tmp_path: Path) -> None:
    file = tmp_path / "some.wav"
    file.write_bytes(b"RIFF")
    tab.browser.run(
        "const real = fetch; window.fetch = async (path, ...sent) => {"
        " if (path.startsWith('takes/')) await new Promise((done) => { window.arrive = done });"
        " return real(path, ...sent) }"
    )
    tab.browser.give("[data-role=voice-audio] input[type=file]", file)
    tab.browser.until("window.arrive !== undefined")
    tab.browser.press("#done")
    time.sleep(0.5)
    assert not tab.served.site.ended.is_set()
    tab.browser.run("arrive()")
    tab.browser.until("document.body.innerText.includes('Closed.')")
    assert len(tab.served.takes("voice-audio")) == 1


def test_a_folder_that_was_moved_away_is_told(tab: Tab) -> None:
    away = tab.served.folder.with_name("elsewhere")
    tab.served.folder.rename(away)
    offline = "document.getElementById('offline')"
    told = tab.browser.until(f"!{offline}.hidden && {offline}.textContent", 20)
    assert told.endswith("was removed or moved: put it back and try again")
    away.rename(tab.served.folder)
    tab.browser.until(f"{offline}.hidden", 20)
    sent = tab.served.tab.post("takes/face-image/file", content=b"x")
    assert sent.status_code == 202

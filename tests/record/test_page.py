"""One person on the recording page, in a real browser whose camera and microphone play files."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import imageio_ffmpeg
import pytest
from axe import violations
from driven import Driven
from PIL import Image
from scripted_engine import Scripted

from palprep import journal as journals
from palprep.batch import Connection, Pace, RunOptions, run
from palprep.batch.engines.tasks import prepare_asset
from palprep.journal import Journal
from palprep.journal.entries.bodies import FileJudged
from palprep.record import LocalSite, Recording
from palprep.rules import load_profile
from palprep.sandbox import Choices, Sandbox
from palprep.values import Role
from palprep.workers import LocalEngine

FACE, CONSENT, VOICE, TRAINING = "face-image", "consent-video", "voice-audio", "training-video"

CODES = [("kingdom", "carpet", "library"), ("tiger", "lemon", "cactus")]
"""The one that is given out first, and the one that the microphone plays."""


class Page(NamedTuple):
    """The page, and what is behind it."""

    browser: Driven
    recording: Recording
    site: LocalSite
    folder: Path
    out: Path
    journal: Journal
    codes: list[Iterator[str]]
    """Whose words are given out."""

    def at(self, role: str, what: str) -> str:
        """A selector within the step of a role."""
        return f"[data-role={role}] {what}"

    def told(self, role: str) -> str:
        """What the step of a role says, once nothing is being checked."""
        verdict = f"document.querySelector({self.at(role, '[data-is=verdict]')!r})"
        self.browser.until(f"{verdict}.textContent && !{verdict}.matches('.busy')", 90)
        return self.browser.run(f"document.querySelector('[data-role={role}]').innerText")

    def record(self, role: str, seconds: float) -> str:
        """Open the camera or the microphone, record so long, and return what is said of it."""
        self.browser.press(self.at(role, "[data-do=open]"))
        self.browser.press(self.at(role, "[data-do=start]"))
        time.sleep(seconds)
        before = self.takes(role)
        self.browser.press(self.at(role, "[data-do=stop]"))
        self.browser.until(f"{self._takes(role)} > {before}")
        return self.told(role)

    def record_until(self, enough: Callable[[str], bool], role: str, seconds: float) -> str:
        """Record until ``enough`` is said of the newest take, and return it. Where the processor is
        busy the browser drops frames and sound, which is no fault of the page."""
        for _ in range(4):
            self.record(role, seconds)
            parts = (f"{self.at(role, each)!r}" for each in ("[data-is=verdict]", ".take"))
            texts = (f"document.querySelector({each}).innerText" for each in parts)
            if enough(said := "\n".join(map(self.browser.run, texts))):
                return said
        pytest.fail(f"No take was good enough; the last one: {said}")

    def spoke(self, words: tuple[str, ...]) -> list[str]:
        """The files in which this code was heard."""
        judged = (entry.body for entry in self.journal.entries(FileJudged))
        return [each.name for each in judged if each.spoken == words]

    def takes(self, role: str) -> int:
        return self.browser.run(self._takes(role))

    def _takes(self, role: str) -> str:
        return f"document.querySelectorAll({self.at(role, '.take')!r}).length"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


def camera(home: Path, source: Path, *filters: str) -> Path:
    """What a camera shows: a file that Chromium plays 30 frames a second of."""
    path = home / f"{'-'.join(filters) or 'camera'}.mjpeg".replace("=", "")
    shown = ",".join((*filters, "scale=640:360", "fps=30"))
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", "-i", source]
    subprocess.run([*command, "-vf", shown, "-an", "-q:v", "5", path], check=True)
    return path


@pytest.fixture(scope="module")
def microphone(home: Path, sample_media: Path) -> Path:
    """The statement, and the second code after it."""
    path = home / "microphone.wav"
    inputs = (sample_media / "people/jane-carter/consent.mp4", sample_media / "code.m4a")
    command = [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin"),
        *(part for each in inputs for part in ("-i", each)),
        *("-filter_complex", "[0:a][1:a]concat=v=0:a=1", "-ar", "48000", "-ac", "1", path),
    ]
    subprocess.run(command, check=True)
    return path


def browse(home: Path, pictures: Path, sound: Path) -> Driven:
    return Driven(
        home,
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-video-capture={pictures}",
        f"--use-file-for-fake-audio-capture={sound}",
    )


@pytest.fixture(scope="module")
def page(home: Path, sample_media: Path, microphone: Path, workers: LocalEngine) -> Iterator[Page]:
    folder, out = home / "people" / "jane-carter", home / "out"
    codes = [cycle(CODES[0])]
    with pytest.MonkeyPatch.context() as patch:
        known = partial(journals.give_code, choose=lambda _: next(codes[-1]))
        patch.setattr(journals, "give_code", known)
        browser = browse(
            home, camera(home, sample_media / "people/jane-carter/consent.mp4"), microphone
        )
        try:
            with Journal.of(out, create=True) as journal:
                recording = Recording(folder, journal, workers, profile=load_profile("core-4"))
                with LocalSite("record", recording.routes(), port=0) as site:
                    allow(browser, site)
                    yield Page(browser, recording, site, folder, out, journal, codes)
                recording.close()
        finally:
            browser.close()


def allow(browser: Driven, site: LocalSite, setting: str = "granted") -> None:
    """What the person answers when the browser asks."""
    for name in ("camera", "microphone"):
        permission = {"name": name}
        browser.ask_browser(
            "Browser.setPermission", permission=permission, setting=setting, origin=site.origin
        )


def test_nothing_runs_before_the_person_agrees(page: Page) -> None:
    browser = page.browser
    browser.open(page.site.link)
    assert "Your full name" in browser.text()
    assert str(page.folder) in browser.text()
    assert not browser.run("document.querySelector('[data-role]').checkVisibility()")
    browser.look(390, dark=True)
    assert violations(browser) == []
    browser.run("document.querySelector('[name=full_name]').select()")
    browser.type("Jane Carter")
    # A guess, and a long one.
    browser.run("document.querySelector('h1').textContent = 'x'.repeat(200)")
    assert not browser.run("document.body.scrollWidth > innerWidth")
    browser.press("#agree button")
    # What comes next has the focus.
    browser.until("document.activeElement?.dataset?.do === 'open'")
    assert browser.run("document.querySelector('h1').innerText") == "Recording of Jane Carter"


def test_a_camera_that_is_refused_is_told(page: Page) -> None:
    allow(page.browser, page.site, "denied")
    page.browser.press(page.at(FACE, "[data-do=open]"))
    problem = page.at(FACE, "[data-is=problem]")
    told = page.browser.until(f"document.querySelector({problem!r}).textContent")
    assert told.startswith("The browser gives no camera or microphone. Allow both")
    allow(page.browser, page.site)


def test_a_file_that_cannot_be_read_is_told(page: Page) -> None:
    page.browser.give(page.at(VOICE, "input[type=file]"), page.folder)
    problem = page.at(VOICE, "[data-is=problem]")
    told = page.browser.until(f"document.querySelector({problem!r}).textContent")
    assert told.startswith("The browser cannot read this file.")
    assert page.takes(VOICE) == 0
    assert page.browser.complaints == []


def test_a_portrait_from_the_camera_outlives_a_reload(page: Page) -> None:
    browser = page.browser
    browser.look(1280)
    browser.press(page.at(FACE, "[data-do=open]"))
    live = f"document.querySelector({page.at(FACE, '[data-is=told]')!r}).textContent"
    assert browser.until(live) == "Good light. Good framing."
    assert violations(browser) == []
    browser.press(page.at(FACE, "[data-do=shoot]"))
    # A second click would take a second picture, which is refused while the first is on its way.
    shoot = page.at(FACE, "[data-do=shoot]")
    assert not browser.run(f"document.querySelector({shoot!r}).checkVisibility()")
    browser.until(f"document.querySelector({page.at(FACE, '.take')!r})")
    browser.open(page.site.link)
    # She blinks twice in what the camera shows, and when it is asked depends on the machine.
    if blinks := "The eyes look past the lens" in page.told(FACE):
        browser.press(page.at(FACE, ".take button"))
    browser.until(f"document.querySelector({page.at(FACE, '.badge.o-pass')!r})", 60)
    assert blinks or "Good, and kept." in page.told(FACE)
    assert (page.folder / "face-image-from-browser.png").stat().st_size > 100_000
    # The frame of the camera as it came, and not the picture of what was seen in it.
    with Image.open(page.folder / "face-image-from-browser.png") as kept:
        assert kept.size == (640, 360)


def test_a_portrait_without_a_picture_of_it_shows_none(page: Page, sample_media: Path) -> None:
    page.browser.give(
        page.at(FACE, "input[type=file]"), sample_media / "broken/truncated-portrait.heic"
    )
    take = f"document.querySelector({page.at(FACE, '.take')!r})"
    page.browser.until(f"{take}.querySelector('.fail')", 60)
    assert "Take 2" in page.told(FACE)
    assert page.browser.run(f"{take}.querySelector('img, button')") is None
    assert page.browser.complaints == []


def test_a_silent_microphone_is_told_at_once_and_after(page: Page) -> None:
    browser = page.browser
    browser.press(page.at(VOICE, "[data-do=open]"))
    browser.until("steps[2].stream !== undefined")
    browser.run("steps[2].stream.getAudioTracks()[0].enabled = false")
    live = f"document.querySelector({page.at(VOICE, '[data-is=told]')!r}).textContent"
    browser.until(f"{live}.startsWith('No sound arrives.')")
    browser.press(page.at(VOICE, "[data-do=start]"))
    time.sleep(1.5)
    browser.press(page.at(VOICE, "[data-do=stop]"))
    browser.until(f"document.querySelector({page.at(VOICE, '.take')!r})")
    said = page.told(VOICE)
    assert "Please do it once more." in said
    assert "✓" not in said


def test_a_take_that_did_not_arrive_is_sent_again(page: Page) -> None:
    browser, saved = page.browser, f"document.querySelector({page.at(VOICE, '[data-do=save]')!r})"
    before = page.takes(VOICE)
    browser.run(
        "const real = fetch; window.arrives = false; window.fetch = (path, ...sent) => "
        "arrives || !path.startsWith('takes/') ? real(path, ...sent) : Promise.reject(Error())"
    )
    browser.press(page.at(VOICE, "[data-do=open]"))
    browser.press(page.at(VOICE, "[data-do=start]"))
    time.sleep(1.5)
    # To close the page ends the recording, and keeps the page until that has arrived.
    browser.press("#done")
    browser.until(f"{saved}.checkVisibility()")
    assert not browser.run(f"document.querySelector({page.at(VOICE, '.busy')!r})")
    assert not page.site.ended.is_set()
    assert not browser.run("dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    browser.look(390)
    assert violations(browser) == []
    browser.run("window.arrives = true")
    browser.press(page.at(VOICE, "[data-do=resend]"))
    browser.until(f"{page._takes(VOICE)} > {before}")
    assert not browser.run(f"{saved}.checkVisibility()")
    assert browser.run("dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    page.told(VOICE)


def test_another_code_is_in_doubt_and_the_right_one_is_not(page: Page) -> None:
    page.browser.look(390, 400)  # Little to draw.
    said = page.record_until(lambda told: "Heard, with a doubt." in told, CONSENT, 13)
    assert "“kingdom carpet library”" in said
    assert "Use this one" in said
    page.codes.append(cycle(CODES[1]))
    # Not once more for what else a busy browser leaves to doubt, such as lips without the frames
    # that it drops: a code that was heard is not fresh any more.
    said = page.record_until(lambda _: page.spoke(CODES[1]) != [], CONSENT, 15)
    assert "fresh code" not in said
    if "Good, and kept." not in said:
        page.browser.press(page.at(CONSENT, ".take button"))
    told = f"document.querySelector('[data-role={CONSENT}]').innerText"
    page.browser.until(f"{told}.includes('consent-video-from-browser.mp4')", 60)


class ButVideos(Scripted):
    """Does the real work at portrait and recording. A consent with a fresh code is encoded twice
    and heard three times: tests/batch/test_fresh_code.py has a run do that."""

    def run(self, function, /, *args):
        """Do it here, or as it is told."""
        own = function is prepare_asset and args[0].role in {Role.FACE_IMAGE, Role.VOICE_AUDIO}
        return function(*args) if own else super().run(function, *args)


def test_from_the_page_to_the_run(page: Page, light_people: Path) -> None:
    page.record_until(lambda told: "Good, and kept." in told, VOICE, 14)
    # Short, which is told, with the timeline; it can be used all the same.
    training = page.at(TRAINING, "input[type=file]")
    page.browser.give(training, light_people / "jane-carter" / "consent.mp4")
    page.browser.until(f"document.querySelector({page.at(TRAINING, '.take')!r})")
    said = page.told(TRAINING)
    assert "Please do it once more." in said
    assert "too short" in said
    page.browser.until(f"document.querySelector({page.at(TRAINING, '.take img')!r}).naturalWidth")
    page.browser.press(page.at(TRAINING, ".take button"))
    page.browser.until(f"document.querySelector({page.at(TRAINING, '.badge.o-pass')!r})")
    for width, dark in ((1280, True), (390, False)):
        page.browser.look(width, dark=dark)
        assert violations(page.browser) == []
    assert not page.browser.run("document.body.scrollWidth > innerWidth")
    assert page.browser.complaints == []
    page.browser.press("#done")
    page.browser.until("document.body.innerText.includes('Closed.')")
    assert page.site.ended.is_set()
    with Sandbox(choices=Choices(voice_seconds=0.2, replica_seconds=0.2)) as service:
        connection = Connection(base_url=service.url, api_key=service.user_key)
        work = {"engine": ButVideos(), "pace": Pace(wait_s=30)}
        options = RunOptions(connection=connection, **work)
        [person] = run(page.folder.parent, into=page.out, options=options).people
    assert (person.status, person.reasons) == ("done", ())
    # Of a recording that was made once more, the later one.
    names = {re.sub(r"-\d\.", ".", Path(asset.source).name) for asset in person.assets}
    assert names == {
        *("consent-video-from-browser.mp4", "voice-audio-from-browser.wav", "training-video.mp4"),
        "face-image-from-browser.png",
    }
    with Journal.of(page.out) as journal:
        judged = {entry.body.name: entry.body.spoken for entry in journal.entries(FileJudged)}
    spoken = {name for name, words in judged.items() if words == CODES[1]}
    assert len(spoken) == 1
    assert spoken < judged.keys()


def test_a_photo_before_the_camera_is_no_consent(
    page: Page, home: Path, sample_media: Path, microphone: Path
) -> None:
    still = camera(
        home, sample_media / "people/jane-carter/consent.mp4", "trim=end_frame=1", "loop=60:1"
    )
    browser = browse(home / "other", still, microphone)
    try:
        allow(browser, page.site)
        browser.look(390, 400)
        browser.open(page.site.link)
        said = page._replace(browser=browser).record(CONSENT, 8)
    finally:
        browser.close()
    assert "Please do it once more." in said
    assert "mouth" in said.lower()

"""Make the pictures of pages for README.md and the guides, as Chromium shows them.

docs/report.png is the report of a run, docs/message.png a message of ``palprep ask``,
docs/review.png a doubt about consent, docs/guide.png a guide in German. The people are the sample
people: one more has a portrait that shows no one, and one says another name than is asked for.
Pillow leaves out most colours, since a page has few.

uv run scripts/picture_pages.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT / "tests" / "support"))

from driven import Driven  # type: ignore[import-not-found]  # noqa: E402 -- of the tests

import palprep  # noqa: E402
from palprep.preflight import media_workers  # noqa: E402
from palprep.record import LocalSite, Review  # noqa: E402

DOCS = CHECKOUT / "docs"
SAMPLES = CHECKOUT / "sample_media"
COLOURS = 192


def main() -> None:
    """Run, then show the pages one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        browser = Driven(home)
        for make in (report, review, guide):
            make(browser, home / make.__name__)
        browser.close()


def report(browser: Driven, home: Path) -> None:
    """The report, with the last person unfolded, whose files are all fit; and who is asked again,
    in a message."""
    people, out = home / "people", home / "out"
    shutil.copytree(SAMPLES / "people", people)
    (people / "tom").mkdir()
    shutil.copy(SAMPLES / "broken/landscape-without-a-face.jpg", people / "tom/portrait.jpg")
    palprep.run(people, into=out)
    browser.open((out / "report.html").as_uri())
    browser.run('[...document.querySelectorAll("details:has(> .who)")].at(-1).open = true')
    _picture(browser, "report.png", 1280, 1356)
    palprep.write_messages(out, home / "messages", "en")
    browser.open((home / "messages/tom.html").as_uri())
    _picture(browser, "message.png", 760, 0)


def review(browser: Driven, home: Path) -> None:
    """A statement with another name than the person's, and the seconds to listen to."""
    people, out = home / "people", home / "out"
    shutil.copytree(SAMPLES / "people/jane-carter", people / "jane-carter")
    settings = people / "jane-carter/person.toml"
    told = settings.read_text("utf-8").replace('"Jane Carter"', '"Jane Carver"')
    settings.write_text(told, "utf-8")
    palprep.run(people, into=out)
    with media_workers(1) as workers:
        answering = Review(out, workers, lambda _: [])
        with LocalSite("review", answering.routes(), port=0) as site:
            browser.open(site.link)
            browser.until("[...document.images].every((each) => each.complete)")
            browser.until("[...document.querySelectorAll('video')].every((v) => v.readyState > 3)")
            _picture(browser, "review.png", 1000, 0)
        answering.close()


def guide(browser: Driven, home: Path) -> None:
    """What a person gets to know before anything is recorded."""
    home.mkdir()
    asked = ["guide", "Jane Carter", "--into", str(home / "guide.html"), "--language", "de"]
    subprocess.run([sys.executable, "-m", "palprep", *asked, "--quiet"], check=True)
    browser.open((home / "guide.html").as_uri())
    _picture(browser, "guide.png", 900, 1100)


def _picture(browser: Driven, name: str, width: int, height: int) -> None:
    """The upper part of the page at this width, or all of it without a height."""
    browser.look(width, height or 900)
    height = height or browser.run("document.body.scrollHeight") + 16
    browser.picture(DOCS / name, width, height)
    shown = Image.open(DOCS / name).convert("RGB").crop((0, 0, width, height))
    shown.quantize(COLOURS, dither=Image.Dither.NONE).save(DOCS / name, optimize=True)
    print(DOCS / name)


if __name__ == "__main__":
    main()

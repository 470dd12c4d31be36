"""The pages that a local site serves: one person is recorded, and the questions of a run answered.

The words for people stand with those of the guide, ``guides/<language>.toml``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from palprep import fixes, media
from palprep.views.guide import words_in
from palprep.views.html import environment
from palprep.views.page import ROLE_TITLES


def recording_page(
    full_name: str, statement: str, folder: str, *, language: str, spoken: str
) -> str:
    """The page on which one person is recorded, whose files go into ``folder``.

    ``statement`` is to be said in the language ``spoken``. Raises UsageError for a ``language``
    without a guide.
    """
    texts = words_in("guides", language)["recording"]
    title = texts["title"].replace("{name}", full_name)
    kept = texts["agree_kept"].replace("{folder}", folder)
    about = {"full_name": full_name, "statement": statement, "language": language}
    page = environment().get_template("record.html.j2")
    return page.render(t=texts, title=title, kept=kept, spoken=spoken, **about)


def review_page(questions: Sequence[Any], by: str, problem: str, *, running: bool) -> str:
    """The page with the questions of a run, as :class:`palprep.record.review.Question` has them.

    ``by`` is who decided last, ``problem`` what was wrong with the last answer; ``running``: the
    run goes on.
    """
    template = environment().get_template("review.html.j2")
    return template.render(
        questions=questions, by=by, problem=problem, running=running, role_titles=ROLE_TITLES
    )


def write_thumbnail(file: media.Source, target: Path) -> Path:
    """Write a small upright JPEG of an image or a video. It decodes the file, which workers do.

    Raises MediaError for a file without a picture, OutputUnwritable.
    """
    with fixes.atomic_output(target, lasting=False) as temporary:
        temporary.write_bytes(media.thumbnail(file))
    return target


def agreement(folder: str, *, language: str) -> str:
    """What a person agrees to before anything is recorded, in the words of the page."""
    texts = words_in("guides", language)["recording"]
    told = (texts["agree_purpose"], texts["agree_kept"].replace("{folder}", folder))
    return " ".join((*told, texts["agree_free"], texts["agree"]))


def page_asset(name: str) -> str:
    """The style or the script of a page."""
    if name.endswith(".css"):
        return environment().get_template(name).render()
    return resources.files("palprep.views").joinpath("templates", name).read_text("utf-8")

"""The pages that a local site serves: one person is recorded, and the questions of a run answered.

The words for people stand with those of the guide, ``guides/<language>.toml``.
"""

from __future__ import annotations

from importlib import resources

from palprep.views.guide import words_in
from palprep.views.html import environment


def recording_page(
    full_name: str, statement: str, folder: str, *, language: str, spoken: str
) -> str:
    """The page on which one person is recorded, whose files go into ``folder``.

    ``statement`` is to be said in the language ``spoken``. Raises UsageError for a ``language``
    without a guide.
    """
    texts = words_in("guides", language)["recording"]
    return (
        environment()
        .get_template("record.html.j2")
        .render(
            t=texts,
            title=texts["title"].replace("{name}", full_name),
            kept=texts["agree_kept"].replace("{folder}", folder),
            full_name=full_name,
            statement=statement,
            language=language,
            spoken=spoken,
        )
    )


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

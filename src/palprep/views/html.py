"""HTML from templates: what comes from a file or a person is text there, never markup."""

from __future__ import annotations

import functools
from importlib import resources
from pathlib import Path

import jinja2

from palprep.escaping import escaped
from palprep.rules import measure_words, stamp
from palprep.values import Role
from palprep.views.consent_words import headline, legend, marked_words, stamped
from palprep.views.format import by_file, duration, file_gist, initials, moment, position, size
from palprep.views.outcomes import OUTCOMES, SHADES, STATUSES

_ROLE_TITLES = {
    Role.FACE_IMAGE: "Portrait",
    Role.TRAINING_VIDEO: "Training video",
    Role.CONSENT_VIDEO: "Consent video",
    Role.VOICE_AUDIO: "Voice recording",
}


def _harmless(value: object) -> object:
    """What is shown, with control characters and marks of direction written out."""
    if not isinstance(value, str):
        return value
    # Markup, which is known by this method, stays markup.
    return type(value)(escaped(value)) if hasattr(value, "__html__") else escaped(value)


@functools.cache
def environment() -> jinja2.Environment:
    """The templates of this package, with every formatter as a filter."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("palprep.views"),
        autoescape=True,
        finalize=_harmless,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        measure=measure_words,
        duration=duration,
        position=position,
        moment=moment,
        filename=lambda path: Path(path).name,
        percent=lambda part, whole: round(100 * part / whole, 2),
        gist=file_gist,
        size=size,
        stamp=stamp,
        by_file=by_file,
        initials=initials,
    )
    made.globals.update(
        outcomes=OUTCOMES,
        statuses=STATUSES,
        shades=SHADES,
        role_titles=_ROLE_TITLES,
        headline=headline,
        legend=legend,
        marked_words=marked_words,
        stamped=stamped,
    )
    return made


def page_asset(name: str) -> str:
    if name.endswith(".css"):
        return environment().get_template(name).render()
    return resources.files("palprep.views").joinpath("templates", name).read_text("utf-8")

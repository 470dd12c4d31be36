"""Cross-references of docstrings, for the API reference: Sphinx's roles become links.

    :func:`~palprep.check`  ->  [`check`][palprep.check]

mkdocstrings reads Markdown; docstrings name other objects in the way that editors know.
``zensical.toml`` loads this extension of Griffe.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|attr|mod|data|exc):`(~?)([\w.]+)`")


class Roles(griffe.Extension):
    """Turns the roles of every docstring into links to public objects, or into plain code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called with each object that was read."""
        if obj.docstring is not None:
            exported = {str(name) for name in obj.package.exports or ()}
            obj.docstring.value = linked(obj.docstring.value, exported)


def linked(text: str, public: Collection[str]) -> str:
    """The docstring with a link for each object that it names and the package offers."""

    def link(role: re.Match[str]) -> str:
        short, path = role.groups()
        owner, name = ("", *path.split("."))[-2:]
        words = f"`{name if short else path}`"
        if name in public:
            return f"[{words}][palprep.{name}]"
        if owner in public:
            return f"[{words}][palprep.{owner}.{name}]"
        return words

    return _ROLE.sub(link, text)

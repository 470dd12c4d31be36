"""What axe-core says of a page in a browser that is driven."""

from __future__ import annotations

import importlib.resources

from driven import Driven

_TELL = """axe.run(document, {resultTypes: ["violations"]}).then(({violations}) => violations.map(
  ({id, nodes}) => [id, ...nodes.map((node) => node.html)]))"""


def violations(browser: Driven) -> list[list[str]]:
    """The rules that the page breaks, each with the elements that do."""
    file = importlib.resources.files("axe_core_python").joinpath("axe.min.js")
    browser.run(f"{file.read_text('utf-8')}; 1")
    return browser.run(_TELL)

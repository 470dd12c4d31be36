"""The documentation is whole: it builds strictly, and what is generated of it is up to date."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import palprep
from griffe_roles import linked
from make_docs import generated


def texts(checkout: Path) -> dict[Path, str]:
    pages = [checkout / "README.md", *sorted((checkout / "docs").rglob("*.md"))]
    return {page: page.read_text(encoding="utf-8") for page in pages}


def test_the_site_is_built_strictly(checkout: Path, tmp_path: Path) -> None:
    shutil.copy(checkout / "zensical.toml", tmp_path)  # The site goes next to it.
    shutil.copytree(checkout / "docs", tmp_path / "docs")
    for name in ("scripts", "src"):
        (tmp_path / name).symlink_to(checkout / name)
    done = subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--strict"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    library = {each.stem: each for each in (tmp_path / "site/reference/library").iterdir()}
    assert len(library) == len(palprep.__all__)
    for page in library.values():
        reference = page.read_text(encoding="utf-8")
        assert 'id="palprep.' in reference
        assert not re.findall(r":(?:class|func|meth|attr|mod|data):", reference)
        hosts = re.findall(r'(?:src|href)="https?://([^/"]+)', reference)
        assert set(hosts) <= {"zensical.org"}  # The maker's name; nothing is fetched.
        assert not re.findall(r">__\w+__<", reference)
    made = library["make_replica"].read_text(encoding="utf-8")
    assert 'id="palprep.make_replica"' in made
    assert re.search(r'<a [^>]*href="ReplicaRequest.html', made)


@pytest.mark.parametrize(
    ("path", "text"), list(generated()), ids=lambda each: getattr(each, "name", "")
)
def test_what_is_generated_is_up_to_date(path: Path, text: str) -> None:
    assert path.read_text(encoding="utf-8") == text, "run scripts/make_docs.py"


def pages_of(entries: list[dict[str, str | list]]) -> Iterator[str]:
    for entry in entries:
        for where in entry.values():
            yield from [where] if isinstance(where, str) else pages_of(where)


def test_every_page_is_in_the_menu_or_a_list_once(checkout: Path) -> None:
    site = tomllib.loads((checkout / "zensical.toml").read_text(encoding="utf-8"))
    docs = checkout / "docs"
    listed = list(pages_of(site["project"]["nav"]))
    for page, folder in (("checks.md", "checks"), ("reference/api.md", "library")):
        row = re.compile(rf"^\| \[`\w+`\]\(({folder}/[\w-]+\.md)\)", re.MULTILINE)
        rows = row.findall((docs / page).read_text(encoding="utf-8"))
        assert len(rows) > 50
        listed += [str(Path(page).parent / each) for each in rows]
    assert sorted(listed) == sorted(str(page.relative_to(docs)) for page in docs.rglob("*.md"))


def test_the_reference_names_every_public_name_once(checkout: Path) -> None:
    page = (checkout / "docs/reference/api.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| \[`(\w+)`\]", page, re.MULTILINE)
    assert sorted(named) == [name for name in palprep.__all__ if not name.startswith("_")]


def test_every_variable_of_the_environment_is_in_the_table(checkout: Path) -> None:
    sources = [each.read_text(encoding="utf-8") for each in (checkout / "src").rglob("*.py")]
    read = set(re.findall(r'"(PALPREP_[A-Z_]+)"', "\n".join(sources)))
    page = (checkout / "docs/reference/environment.md").read_text(encoding="utf-8")
    assert "PALPREP_API_KEY" in read
    assert set(re.findall(r"^\| `(PALPREP_[A-Z_]+)`", page, re.MULTILINE)) == read


def test_every_error_says_what_to_do() -> None:
    [page] = [text for path, text in generated() if path.name == "errors.md"]
    rows = [line.split(" | ")[2] for line in page.splitlines() if line.startswith("| [")]
    assert len(rows) > 30
    assert [row for row in rows if len(re.findall(r"[.:] [A-Z`]", row)) < 1] == []


def test_nothing_tells_to_install_from_an_index(checkout: Path) -> None:
    sources = {each: each.read_text(encoding="utf-8") for each in (checkout / "src").rglob("*.py")}
    wrong = re.compile(r"""pip3? install (?:-\S+ )*["']?palprep(?![-\w])""")
    assert wrong.search('pip install "palprep[dask]"')
    found = [str(path) for path, text in (sources | texts(checkout)).items() if wrong.search(text)]
    assert found == []


def test_every_picture_is_made_by_a_script(checkout: Path) -> None:
    scripts = "\n".join(each.read_text(encoding="utf-8") for each in checkout.glob("scripts/*.py"))
    shown = {
        name for text in texts(checkout).values() for name in re.findall(r"!\[.+\]\((.+)\)", text)
    }
    assert shown
    assert [name for name in shown if f"docs/{Path(name).name}" not in scripts] == []


def test_roles_of_docstrings_become_links() -> None:
    text = ":func:`~palprep.journal.inbox.callback_server`, :class:`Report`, :data:`palprep.x.Y`"
    assert linked(text, {"callback_server", "Report"}) == (
        "[`callback_server`][palprep.callback_server], [`Report`][palprep.Report], `palprep.x.Y`"
    )
    assert linked(":meth:`Journal.append`", {"Journal"}) == (
        "[`Journal.append`][palprep.Journal.append]"
    )

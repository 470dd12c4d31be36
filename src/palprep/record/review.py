"""The review page of a run: its questions and doubts one after the other; then the run goes on.

An answer does what a user could do elsewhere: it writes a line of person.toml, or calls ``decide``.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from palprep import pipelines, preflight, system, views
from palprep.batch.people import Person, read_person, write_setting
from palprep.errors import MediaError, PalprepError, ToolFailed, UsageError
from palprep.journal import Journal
from palprep.journal.entries import RunStarted
from palprep.journal.runs import READY, PersonView, RunReader
from palprep.media import sources
from palprep.record.site import strangers_file
from palprep.rules.consent import consent_not_taken_back
from palprep.serving import read_body
from palprep.values import Role
from palprep.views import drawings
from palprep.workers import Engine

_ANSWER_BYTES, _LINES = 16_384, 200
_SHOWN = frozenset({"prepared", drawings.PICTURES_NAME, views.PEOPLE_FOLDER, views.REPORT_NAME})
"""The files and folders of a run's output that the page may show. The journal is not among them."""
_PAGES_POLICY = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The content security policy of a run's own pages, which have a stricter one in their heads."""


class Choice(NamedTuple):
    path: Path
    url: str
    picked: bool


class Shown(NamedTuple):
    """Why the consent is in doubt, and the seconds of the file that show it."""

    words: str
    url: str | None
    video: bool


class Question(NamedTuple):
    """A question about a person: which file has the ``role``, or, if there are ``doubts``, whether
    the consent is given. Any other question must be answered elsewhere."""

    person: PersonView
    link: str
    """The URL of the person's page."""
    role: Role | None = None
    choices: Sequence[Choice] = ()
    doubts: Sequence[Shown] = ()

    @property
    def evidence(self) -> str:
        """A digest of the doubts, which comes back with the answer: doubts that a run has found
        meanwhile are not answered by it."""
        return _digest(self.person)


class Review:
    """The questions of the run in the folder ``place``. ``command`` returns the command that goes
    on with the last run, or raises UsageError. Raises JournalError if there was no run."""

    def __init__(
        self, place: Path, engine: Engine, command: Callable[[RunStarted], Sequence[str]]
    ) -> None:
        self._place, self._engine, self._command = place, engine, command
        self._by = self._problem = ""
        self._run: subprocess.Popen[bytes] | None = None
        self._drawn = tempfile.TemporaryDirectory(prefix="palprep-")
        self._told = Path(self._drawn.name, "told")
        engine.may_open(writes=[Path(self._drawn.name)])
        self._asked = self._questions()

    def routes(self) -> list[Route]:
        return [
            Route("/", self._page),
            Route("/choose", self._choose, methods=["POST"]),
            Route("/decide", self._decide, methods=["POST"]),
            Route("/run", self._go_on, methods=["POST"]),
            Route("/state", self._state),
            Route("/file/{person}/{role}/{name}", self._file),
            Route("/thumbnail/{person}/{role}/{name}", self._thumbnail),
            Route("/out/{path:path}", self._output),
        ]

    def close(self) -> None:
        """Ask a run under way to end, wait for it, and remove the drawn pictures."""
        if self._run is not None and self._run.poll() is None:
            system.ask_to_end(self._run)
            self._run.wait()
        self._drawn.cleanup()

    # The questions

    def _questions(self) -> list[Question]:
        with Journal.of(self._place) as journal:
            reader = RunReader(journal)
            open_ = [each.slug for each in reader.people if each.held or each.status not in READY]
            people = [reader.person(slug) for slug in open_]
        source = reader.started.source
        found: list[Question] = []
        for person in people:
            own = views.person_page(person.slug)
            link = f"out/{quote(own if self._within(own) else views.REPORT_NAME)}"
            folder, answered = Path(source or "", person.slug), False
            if source and folder.is_dir():
                on_disk = read_person(folder, preflight.kinds_by(self._engine))
                # The run that goes on will tell whether anything else is missing.
                answered = not on_disk.problems and {*person.asked} <= {*on_disk.sources}
                choices = {role: self._choices(person, on_disk, role) for role in Role}
                found += (
                    Question(person, link, role, each) for role, each in choices.items() if each
                )
            if person.consent_state.state == "open":
                found.append(Question(person, link, doubts=self._doubts(person)))
            shown = (person.asked and answered) or any(each.person is person for each in found)
            if person.status == "in_doubt" or (person.status == "needs_answer" and not shown):
                found.append(Question(person, link))
        # Questions that hold a person come before those about a file that was picked already.
        return sorted(found, key=lambda each: any(choice.picked for choice in each.choices))

    def _choices(self, person: PersonView, on_disk: Person, role: Role) -> list[Choice]:
        """The files that a question of the run names, or among which the run has picked one. It is
        no question if the files' content has settled it."""
        picked = {asset.source for asset in person.assets if asset.role is role}
        found = [
            Choice(each, quote(f"{person.slug}/{role.value}/{each.name}"), str(each) in picked)
            for each in on_disk.unclear.get(role, ())
            if isinstance(each, Path)
        ]
        if asked := person.asked.get(role):
            return [each for each in found if each.path.name in asked] or found
        return found if len(found) > 1 and any(each.picked for each in found) else []

    def _doubts(self, person: PersonView) -> list[Shown]:
        evidence, shown = person.consent_state.evidence, []
        files = {each.role: each.path for each in evidence.files if each.role}
        said_in = Role.CONSENT_VIDEO if Role.CONSENT_VIDEO in files else Role.TRAINING_VIDEO
        for doubt in evidence.doubts:
            # The words of a doubt about one file name its role.
            role = next((each for each in files if f"({each.value})" in doubt.words), said_in)
            # That one is about another file, which is not shown.
            path = None if doubt.check == consent_not_taken_back.id else files.get(role)
            url = f"out/{quote(path)}" if path and self._within(path) else None
            if url and doubt.stretch:
                url += f"#t={doubt.stretch.start_s:g},{doubt.stretch.end_s:g}"
            shown.append(Shown(doubt.words, url, role is not Role.VOICE_AUDIO))
        return shown

    def _within(self, path: str) -> Path | None:
        """A file of the output that may be shown, with links resolved; None for any other."""
        try:
            whole, root = (self._place / path).resolve(), self._place.resolve()
        except UnicodeEncodeError:  # No file can have this name where names are not UTF-8.
            return None
        if not whole.is_relative_to(root) or not whole.is_file():
            return None
        top = whole.relative_to(root).parts[0]
        return whole if top in _SHOWN else None

    # What the page asks for

    def _page(self, _: Request) -> Response:
        self._asked = self._questions()
        problem, self._problem = self._problem, ""
        page = views.review_page(self._asked, self._by, problem, running=self._running)
        return HTMLResponse(page)

    async def _choose(self, request: Request) -> Response:
        asked = await _form(request)

        def choose() -> None:
            path = self._choice(asked).path
            write_setting(path.parent, asked["role"], path.name, table="files")

        return await self._answered(choose)

    async def _decide(self, request: Request) -> Response:
        asked = await _form(request)
        self._by = asked.get("by", "")
        accept, because = asked.get("decision") == "accept", asked.get("because", "")
        slug = asked.get("person", "")

        def decide() -> None:
            self._require_as_shown(slug, asked.get("evidence"))
            pipelines.decide(self._place, slug, accept=accept, by=self._by, because=because)

        return await self._answered(decide)

    def _require_as_shown(self, slug: str, evidence: str | None) -> None:
        """Raise UsageError where a run has found other doubts since the page was drawn."""
        with Journal.of(self._place) as journal:
            try:
                [now] = RunReader(journal).rows([slug])
            except KeyError:
                raise HTTPException(404, "That is asked no more") from None
        if _digest(now) != evidence:
            raise UsageError(
                f"What is in doubt about {slug} has changed since this page was shown: look at "
                "it again, then decide"
            )

    async def _answered(self, answer: Callable[[], object]) -> Response:
        """Take an answer, and show the page again, with the error of the answer if there is one."""
        try:
            await run_in_threadpool(answer)
        except PalprepError as error:
            self._problem = error.message
        except HTTPException as error:  # Another tab was quicker.
            self._problem = error.detail
        return RedirectResponse("./", 303)

    def _choice(self, asked: Mapping[str, str]) -> Choice:
        """The choice that a request names. Raises HTTPException if no question has it."""
        named = tuple(map(asked.get, ("person", "role", "name")))
        for each in self._asked:
            for choice in each.choices:
                if (each.person.slug, each.role, choice.path.name) == named:
                    return choice
        raise HTTPException(404, "That is asked no more")

    def _file(self, request: Request) -> Response:
        return strangers_file(self._choice(request.path_params).path)

    def _thumbnail(self, request: Request) -> Response:
        path = self._choice(request.path_params).path
        try:
            # Each answer loads the page again, so drawn thumbnails are kept.
            known = hashlib.sha256(f"{path} {path.stat().st_mtime_ns}".encode()).hexdigest()
            target = Path(self._drawn.name, f"{known}.jpg")
            if not target.is_file():
                self._engine.run(views.write_thumbnail, sources.Source.of(path), target)
            return Response(target.read_bytes(), media_type="image/jpeg")
        except (MediaError, ToolFailed, OSError):
            raise HTTPException(404, "It has no picture") from None

    def _output(self, request: Request) -> Response:
        found = self._within(request.path_params["path"])
        if found is None:
            raise HTTPException(404, "There is no such file")
        answer = strangers_file(found)
        if views.is_page(found):
            answer.headers["content-security-policy"] = _PAGES_POLICY
        return answer

    # The run

    @property
    def _running(self) -> bool:
        return self._run is not None and self._run.poll() is None

    async def _go_on(self, _: Request) -> Response:
        return await self._answered(self._start)

    def _start(self) -> None:
        with Journal.of(self._place) as journal:
            started = journal.last_run()
        if started is None or self._running:
            return
        command, nothing = self._command(started.body), subprocess.DEVNULL
        # The run takes its other options from the environment. Ctrl-C in the terminal reaches only
        # the page, or a second one would cut the run off.
        with self._told.open("wb") as errors:
            self._run = subprocess.Popen(  # noqa: S603
                command, stdin=nothing, stdout=nothing, stderr=errors, **system.OWN_GROUP
            )

    def _state(self, _: Request) -> Response:
        running = self._running  # First, so that the last lines are not missed.
        output = self._told.read_text("utf-8", "replace") if self._run is not None else ""
        return JSONResponse({"running": running, "told": output.splitlines()[-_LINES:]})


def _digest(person: PersonView) -> str:
    found = person.consent_state.evidence.model_dump_json()
    return hashlib.sha256(found.encode()).hexdigest()


async def _form(request: Request) -> dict[str, str]:
    body = await read_body(request, _ANSWER_BYTES)
    return {name: each[-1] for name, each in parse_qs(body.decode("utf-8", "replace")).items()}

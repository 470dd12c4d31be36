"""The recording page of one person: its routes, and the takes that it sends."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from palprep import batch, fixes, journal as journals, preflight, storage, views
from palprep.batch import people
from palprep.consent.wording import FreshCode
from palprep.errors import MediaError, PalprepError, ToolFailed, UsageError
from palprep.journal import Journal
from palprep.media import sources
from palprep.record.site import strangers_file
from palprep.record.takes import By, Take, Takes, judged
from palprep.rules import PORTRAIT_CHECKS, Profile
from palprep.rules.texts import ask_of
from palprep.serving import BodyTooLarge, read_body
from palprep.values import Outcome, Role
from palprep.views import drawings
from palprep.workers import Engine, WorkStopped

log = logging.getLogger(__name__)

_MB = 1_000_000
_MOST_BYTES = {
    Role.FACE_IMAGE: 100 * _MB,
    Role.CONSENT_VIDEO: 1_000 * _MB,
    Role.VOICE_AUDIO: 1_000 * _MB,
    Role.TRAINING_VIDEO: sources.MOST_BYTES,
}
"""The largest upload of each role: many times what it needs."""

_SPARE_BYTES = 1_000 * _MB
"""The space that an upload leaves free on the disk."""

_SMALL_BYTES, _GLANCE_BYTES = 4_096, 400_000
_GLANCED = 2
"""The most findings that are told while the person still moves in front of the camera."""


class Recording:
    """One person's recordings in ``folder``. ``journal`` is for the run to come, and only
    ``engine`` opens files. Raises UsageError for a link in the place of ``.takes``, settings that
    cannot be read, and a language without a page; and OutputUnwritable."""

    def __init__(
        self,
        folder: Path,
        journal: Journal,
        engine: Engine,
        *,
        profile: Profile,
        language: str = "en",
        model: Path | None = None,
    ) -> None:
        self._takes = Takes(folder)
        self._journal, self._engine = journal, engine
        self._profile, self._language, self._model = profile, language, model
        self._check = partial(preflight.check, profile=profile, engine=engine)
        self._jobs = ThreadPoolExecutor(1, thread_name_prefix="palprep-takes")
        self._looking = threading.Lock()
        self._receiving: set[Role] = set()
        self._codes: dict[tuple[str, int], FreshCode] = {}
        with contextlib.ExitStack() as unless_ready:
            unless_ready.callback(self._takes.close)
            engine.may_open(reads=[folder], writes=[self._takes.place])
            people.read_settings(folder)
            self._person = self._read()
            self._words = views.agreement(os.fspath(folder), language=language)
            self._statement()  # Raises now what the page would raise later.
            unless_ready.pop_all()
        for take in self._takes.all():
            if take.verdict is None:  # The server ended before it was judged.
                self._jobs.submit(self._judge, take)

    def routes(self) -> list[Route]:
        return [
            Route("/", self._page),
            Route("/state", self._state),
            Route("/agree", self._agree, methods=["POST"]),
            Route("/code", self._code, methods=["POST"]),
            Route("/glance", self._glance, methods=["POST"]),
            Route("/takes/{role}/{by}", self._receive, methods=["POST"]),
            Route("/take/{number:int}", self._show),
            Route("/take/{number:int}/use", self._use, methods=["POST"]),
            Route("/take/{number:int}/{picture}", self._show),
        ]

    def close(self) -> None:
        """Finish the take that is being judged. Others are judged when the page is opened again."""
        self._jobs.shutdown(cancel_futures=True)
        self._takes.close()

    @property
    def _agreed(self) -> bool:
        return journals.has_agreed(self._journal, self._person.full_name, self._words)

    def _read(self) -> people.Person:
        return people.read_person(self._takes.folder, preflight.kinds_by(self._engine))

    def _statement(self) -> str:
        # With the name as it is written, and not as it sounds.
        speaker = batch.spoken_by(self._person).model_copy(update={"spoken_as": None})
        return speaker.required.text

    # The page's requests

    def _page(self, _: Request) -> Response:
        about = {"language": self._language, "spoken": self._person.spoken_language}
        statement, place = self._statement(), os.fspath(self._takes.folder)
        return HTMLResponse(views.recording_page(self._person.full_name, statement, place, **about))

    def _state(self, _: Request) -> Response:
        person = self._person
        roles: dict[str, Any] = {role.value: {"files": [], "takes": []} for role in Role}
        for role, file in person.sources.items():  # What a run would take.
            roles[role.value]["files"] = [file.name]
        if portraits := person.unclear.get(Role.FACE_IMAGE):
            roles[Role.FACE_IMAGE.value]["files"] = [each.name for each in portraits]
        for take in self._takes.all():
            roles[take.role.value]["takes"].append(take.model_dump(mode="json"))
        state = {"agreed": self._agreed, "statement": self._statement(), "roles": roles}
        return JSONResponse(state)

    async def _agree(self, request: Request) -> Response:
        asked = (await read_body(request, _SMALL_BYTES)).decode("utf-8", "replace")
        return await run_in_threadpool(self._note_agreement, " ".join(asked.split()))

    def _note_agreement(self, name: str) -> Response:
        if not any(each.isalpha() for each in name):
            raise UsageError("Give the full name, in letters, as it is to be said")
        if name != self._person.full_name and self._agreed:
            raise UsageError("Somebody has agreed under another name: load the page again")
        if name != self._person.settings.full_name:
            people.write_setting(self._takes.folder, "full_name", name)
            self._person = self._read()
        journals.agree(self._journal, name, self._words)
        return JSONResponse({})

    def _code(self, _: Request) -> Response:
        self._require_agreed()
        if self._person.spoken_language != "en":  # Codes are English words.
            return JSONResponse({"words": []})
        # One for each take, of which the newest counts: a second tab shows what the first one has.
        takes = sum(each.role is Role.CONSENT_VIDEO for each in self._takes.all())
        asked = self._person.full_name, takes + (Role.CONSENT_VIDEO in self._receiving)
        code = self._codes.get(asked)
        if code is None or code.ends_at - self._journal.now() < (code.ends_at - code.given_at) / 2:
            code = self._codes[asked] = journals.give_code(self._journal, self._person.full_name)
        return JSONResponse({"words": code.words})

    def _require_agreed(self) -> None:
        if not self._agreed:
            raise HTTPException(403, "Nothing is recorded before the person has agreed")

    async def _glance(self, request: Request) -> Response:
        """The findings in a small frame of the camera; None while another frame is checked."""
        self._require_agreed()
        frame = await read_body(request, _GLANCE_BYTES)
        if not self._looking.acquire(blocking=False):
            return JSONResponse({"told": None})
        try:
            findings = await run_in_threadpool(self._findings_in, frame)
        finally:
            self._looking.release()
        return JSONResponse({"told": findings})

    def _findings_in(self, frame: bytes) -> list[str]:
        with self._scratch() as path:
            path.write_bytes(frame)
            report = self._check(path, role=Role.FACE_IMAGE)
        failed = (each for each in report.told(Outcome.FAIL) if each.id in PORTRAIT_CHECKS)
        asks = (ask_of(each.id, self._language, each.sentence, each.advice) for each in failed)
        return [f"{each.why} {each.advice}".rstrip() for each in asks][:_GLANCED]

    async def _receive(self, request: Request) -> Response:
        """Receive a file as one more take. Its own name does not matter."""
        self._require_agreed()
        try:
            role, by = Role(request.path_params["role"]), By(request.path_params["by"])
        except ValueError:
            raise HTTPException(404, "There is no such role or origin") from None
        if role in self._receiving:
            raise UsageError("Another file of this kind is on its way: wait until it is there")
        self._require_room(request, role)
        self._receiving.add(role)
        try:
            with self._scratch() as path:
                with path.open("wb") as file:
                    await _write(request, file, _MOST_BYTES[role])
                take = await run_in_threadpool(self._place, self._takes.begin(role, by), path)
        except ClientDisconnect:
            return Response(status_code=400)
        finally:
            self._receiving.discard(role)
        if take.verdict is None:
            self._jobs.submit(self._judge, take)
        return JSONResponse({"number": take.number}, 202)

    def _require_room(self, request: Request, role: Role) -> None:
        declared = request.headers.get("content-length", "")
        if not declared.isdecimal():
            raise HTTPException(411, "The length of the file must be told first")
        most = _MOST_BYTES[role]
        if int(declared) > most:
            raise BodyTooLarge(f"The file is too large: at most {views.size(most)} are taken")
        if shutil.disk_usage(self._takes.place).free < int(declared) + _SPARE_BYTES:
            raise HTTPException(507, "The disk is too full for this file")

    def _show(self, request: Request) -> Response:
        place = self._takes.picture if "picture" in request.path_params else self._takes.file
        return strangers_file(place(self._take(request)))

    def _use(self, request: Request) -> Response:
        take = self._take(request)
        if take.verdict is None or not take.name:
            raise UsageError("That take cannot be used: make another one")
        self._jobs.submit(self._keep, take).result()
        return JSONResponse({})

    def _take(self, request: Request) -> Take:
        number = request.path_params["number"]
        found = next((each for each in self._takes.all() if each.number == number), None)
        if found is None:
            raise HTTPException(404, "There is no such take")
        return found

    # The takes

    def _place(self, take: Take, sent: Path) -> Take:
        """Move a received file to its place. A file without media is not kept."""
        stem, remuxed = self._takes.place / take.stem, take.by is By.BROWSER
        source = sources.Source.of(sent)
        try:
            with preflight.no_parts_left(self._takes.place):
                kept = self._engine.run(fixes.keep_recording, source, stem, from_browser=remuxed)
        except (MediaError, ToolFailed) as error:
            if not preflight.at_one_file(error):
                raise
            return self._takes.note(take.failed(error.message))
        return self._takes.note(take.model_copy(update={"name": kept.name}))

    def _judge(self, take: Take) -> None:
        """Check the take, and keep it if it is good. Runs in the thread for takes."""
        path = self._takes.file(take)
        try:
            self._judge_file(take, path)
        except WorkStopped:
            return  # It is judged when the page is opened again.
        except PalprepError as error:
            self._takes.note(take.failed(error.message))
        except Exception:
            log.exception("%s could not be judged", path)
            self._takes.note(take.failed("The checks broke off: --verbose shows why."))

    def _judge_file(self, take: Take, path: Path) -> None:
        sha256, speaker = sources.sha256_of(path), None
        if take.role is Role.CONSENT_VIDEO:
            speaker = batch.spoken_by(self._person, self._model)
            who = speaker.full_name, speaker.spoken_as
            code = journals.asked_code(self._journal, *who, name=path.name, sha256=sha256)
            speaker = speaker.model_copy(update={"code": code})
        apart = take.role is Role.TRAINING_VIDEO
        report = self._check(path, role=take.role, speaker=speaker, consent_apart=apart)
        if report.consent is not None:
            journals.note_code(self._journal, report.consent, name=path.name, sha256=sha256)
        take = judged(take, report, self._profile, self._language)
        if take.role in {Role.FACE_IMAGE, Role.TRAINING_VIDEO}:
            with contextlib.suppress(MediaError, ToolFailed):
                place = self._takes.picture(take)
                drawn = self._engine.run(drawings.write_picture, report, place)
                take = take.model_copy(update={"picture": drawn is not None})
        if self._takes.note(take).verdict == "good":
            self._keep(take)

    def _keep(self, take: Take) -> None:
        self._takes.use(take)
        self._person = self._read()

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        """A private file, removed at the end."""
        path = self._takes.place / f".{secrets.token_hex(8)}.part"
        storage.private_file(path)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)


async def _write(request: Request, file: BinaryIO, most: int) -> None:
    """Write a body as it arrives. Raises BodyTooLarge once it has more bytes than ``most``."""
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise BodyTooLarge(f"The file is too large: at most {views.size(most)} are taken")
        await run_in_threadpool(file.write, chunk)

"""`Sandbox`: the local service as a context manager."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self, get_args

import httpx

from palprep.errors import UsageError
from palprep.media.sources import type_of
from palprep.sandbox import service as services
from palprep.sandbox.app import DroppableProtocol, bind_loopback, build_app
from palprep.sandbox.choices import Choices
from palprep.sandbox.clock import ClockKind, SandboxClock
from palprep.sandbox.control import Controls, Running
from palprep.sandbox.faults import Faults, FaultScript, script_from
from palprep.sandbox.handlers.likenesses import judge_by_bytes, train_by_bytes
from palprep.sandbox.log import show_log
from palprep.sandbox.outbound import outbound_client
from palprep.sandbox.store import DATABASE, Store
from palprep.serving import ServerThread, url_of
from palprep.storage import private_folder
from palprep.values import require_type, typed


class Sandbox(Controls):
    """A faithful local service on a real loopback socket.

    ``data`` is a folder that keeps everything across restarts; without it everything is in memory
    and a temporary folder. ``port`` 0 takes a free one. With ``clock`` "virtual" only
    :meth:`advance` moves time. The clock begins now, or at ``start``, which has a time zone.
    ``faults`` is a script of faults, its file or its JSON. ``judge_image`` and ``trainer`` judge
    the media; the default ones look only at first bytes. ``recognise`` tells the type of a file, by
    default in this process. ``seed`` holds records to start with; a record that is in ``data``
    already stays as it is. ``choices`` replaces decisions that the specification leaves open
    (``judge="bytes"`` and ``trainer="bytes"`` mean the default ones even if others are given). Name
    the certificate of a private receiver of callbacks in the variable SSL_CERT_FILE.

    Entering raises :class:`UsageError` for a host that is not loopback, for a port or a data folder
    in use, and if the sandbox is running already.
    """

    @typed("data", "port", "host", "api_keys", "start", "choices")
    def __init__(
        self,
        data: Path | str | None = None,
        *,
        port: int = 0,
        host: str = "127.0.0.1",
        api_keys: Iterable[services.ApiKey | str] = services.DEFAULT_KEYS,
        clock: ClockKind = "real",
        start: datetime | None = None,
        faults: FaultScript | Path | str | Sequence[Any] | Mapping[str, Any] | None = None,
        judge_image: services.JudgeImage | None = None,
        trainer: services.Trainer | None = None,
        recognise: services.Recognise = type_of,
        seed: Any = None,
        choices: Choices | None = None,
    ) -> None:
        self._data = None if data is None else Path(data)
        self._address = host, port
        keys = [services.ApiKey(key) if isinstance(key, str) else key for key in api_keys]
        for key in keys:
            require_type("each of api_keys", key, services.ApiKey | str)
        if clock not in get_args(ClockKind):
            raise UsageError(f"There is no clock {clock!r}: give real or virtual")
        if start is not None and start.tzinfo is None:
            raise UsageError("The start of the clock needs a time zone: datetime(..., tzinfo=UTC).")
        self._make_clock = functools.partial(
            SandboxClock, clock, begin=None if start is None else start.timestamp()
        )
        decided = choices or Choices()
        if judge_image is None or decided.judge == "bytes":
            judge_image = judge_by_bytes
            decided = decided.model_copy(update={"judge": "bytes"})
        if trainer is None or decided.trainer == "bytes":
            trainer = functools.partial(train_by_bytes, recognise=recognise)
            decided = decided.model_copy(update={"trainer": "bytes"})
        self._keys = {key.value: key for key in keys}
        self._faults = script_from(faults or FaultScript())
        self._make_service = functools.partial(
            services.Service,
            choices=decided,
            keys=self._keys,
            judge_image=judge_image,
            trainer=trainer,
            recognise=recognise,
        )
        self._anywhere = decided.outbound == "anywhere"
        self._first_seed = seed

    def __enter__(self) -> Self:
        if self._running is not None:
            raise UsageError("The sandbox is running already: use it as it is.")
        with ExitStack() as held:
            folder = self._data or Path(held.enter_context(TemporaryDirectory("-palprep-sandbox")))
            listener = bind_loopback(*self._address)
            held.callback(listener.close)
            self.url = url_of(listener)
            try:
                private_folder(folder)
            except OSError as error:
                raise UsageError(
                    f"The data folder {folder} cannot be made: {error.strerror}. Name another one."
                ) from error
            # Their content is removed at the next start or by a reset.
            strange = [name for name in ("assets", "scratch") if (folder / name).exists()]
            if strange and not (folder / DATABASE).exists():
                raise UsageError(
                    f"{folder / strange[0]} is of something else. Name another data folder."
                )
            store = Store(None if self._data is None else folder / DATABASE)
            held.callback(store.close)
            tls = httpx.create_ssl_context()
            service = self._make_service(
                store=store,
                clock=self._make_clock(start=store.latest()),
                faults=Faults(self._faults),
                http=outbound_client(tls, anywhere=self._anywhere),
                tls=tls,
                scratch=folder / "scratch",
                assets=folder / "assets",
                base_url=self.url,
            )
            app, scheduler = build_app(self, service)
            server = ServerThread(
                app, listener, name="palprep-sandbox", http=DroppableProtocol, grace_s=1
            )
            self._running = Running(server, service, scheduler)
            held.callback(setattr, self, "_running", None)
            self._begin()
            server.start()
            held.callback(server.stop)
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    @property
    def user_key(self) -> str:
        """The first user-scoped key. Raises :class:`UsageError` if there is none."""
        return self._key("is", user_scoped=True)

    @property
    def service_key(self) -> str:
        """The first key that is not user-scoped. Raises :class:`UsageError` without one."""
        return self._key("is not", user_scoped=False)

    def now(self) -> float:
        """The time by the sandbox's clock, in seconds since the epoch."""
        return self._live.service.now()

    def log(self) -> dict[str, Any]:
        """As ``GET /_sandbox/log``, but links in requests and answers are not masked, unless the
        sandbox has a data folder."""
        return self._run(lambda: show_log(self._live.service.store, addresses=True))

    def _key(self, which: str, *, user_scoped: bool) -> str:
        for value, key in self._keys.items():
            if key.user_scoped == user_scoped:
                return value
        raise UsageError(f"This sandbox was given no API key that {which} user-scoped.")


def parse_choices(words: Iterable[str]) -> Choices:
    """Choices from words of the form ``NAME=VALUE``. A name is spelt as in ``GET
    /_sandbox/choices`` or :class:`Choices`; a value is JSON, or else a text. Raises
    :class:`~palprep.errors.UsageError` for anything else."""
    values: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise UsageError(f"{word!r} is no NAME=VALUE of GET /_sandbox/choices")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        values[name.replace("-", "_")] = value
    return Choices(**values)

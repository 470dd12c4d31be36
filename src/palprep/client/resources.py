"""The resources of a client, each method from one declaration in :mod:`palprep.api.calls`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from palprep.api import Document, Replica, Voice, calls
from palprep.client.methods import Method, S, Sending, ask, context_of, routine, upload_method
from palprep.client.policy import until
from palprep.client.steps import Doing


class Resource(Sending[S]):
    """Methods of one resource."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._sender.writer.base_url}>"


class Specified(Resource[S]):
    """A resource of the specification, which knows where its unspecified operations are."""

    if not TYPE_CHECKING:  # A name that is not there must stay an error of type checkers.

        def __getattr__(self, name: str) -> Any:
            resource = type(self).__name__.lower()
            for there in (f"{name}_{resource}", f"{name}_{resource.removesuffix('s')}"):
                if hasattr(UnspecifiedOperations, there):
                    raise AttributeError(
                        f"The specification shows no {resource}.{name}: palprep's sandbox serves "
                        f"it as client.unspecified.{there}"
                    )
            message = f"{type(self).__name__} has no method {name!r}"
            raise AttributeError(message, name=name, obj=self)


class Faces(Specified[S]):
    """Face images."""

    validate_image = upload_method(calls.validate_face_image)


class Voices(Specified[S]):
    """Cloned and catalogue voices."""

    create = Method(calls.create_voice)
    get = Method(calls.get_voice)
    update = Method(calls.update_voice)

    @routine
    def wait(self, voice_id: str, *, timeout: float = 900.0) -> Doing[Voice]:
        """Wait until a voice is ``completed`` or ``error`` and return it; read its ``status``.

        Asks at once, after 1 s, then ever more rarely, up to every 15 s. After ``timeout``
        seconds raises :class:`~palprep.errors.WaitTimeout`, whose ``last`` is the last record.
        """
        return until(
            lambda voice: voice.ended,
            f"The voice {voice_id}",
            context_of(self),
            timeout,
            ask=lambda: ask(self.get, voice_id),
        )


class Replicas(Specified[S]):
    """Likenesses trained from a video or an image."""

    create = Method(calls.create_replica)
    validate_image = upload_method(calls.validate_replica_image)


class Tools(Specified[S]):
    """Functions that PALs call."""

    create = Method(calls.create_tool)


class Pals(Specified[S]):
    """Agents and their skills."""

    replace_skills = Method(calls.replace_skills)
    delete = Method(calls.delete_pal)


class Deployments(Specified[S]):
    """Published front-ends of PALs."""

    patch = Method(calls.patch_deployment)
    delete = Method(calls.delete_deployment)


class Videos(Specified[S]):
    """Generated videos."""

    rename = Method(calls.rename_video)


class Documents(Specified[S]):
    """Files and websites that PALs know."""

    get = Method(calls.get_document)

    @routine
    def wait(self, document_id: str, *, timeout: float = 3_600.0) -> Doing[Document]:
        """Wait until a document is ``ready`` or ``error`` and return it; read its ``status``.

        Asks and gives up as for voices.
        """
        return until(
            lambda document: document.status in {"ready", "error"},
            f"The document {document_id}",
            context_of(self),
            timeout,
            ask=lambda: ask(self.get, document_id),
        )


class PronunciationDictionaries(Specified[S]):
    """Rules of how words are spoken."""

    get = Method(calls.get_pronunciation_dictionary)


class Connectors(Specified[S]):
    """External tool servers. Checks keep to 10 a minute, one at a time, by waiting."""

    runtime_check = Method(calls.runtime_check_connector)


class Conversations(Specified[S]):
    """Real-time video call sessions."""

    create = Method(calls.create_conversation)


class UnspecifiedOperations(Resource[S]):
    """Operations that the specification mentions without showing them. palprep's sandbox
    serves them as they are here; whether the service does is not known."""

    get_replica = Method(calls.get_replica)
    list_voices = Method(calls.list_voices)
    get_deployment = Method(calls.get_deployment)
    list_tools = Method(calls.list_tools)
    get_tool = Method(calls.get_tool)
    delete_tool = Method(calls.delete_tool)

    @routine
    def wait_replica(self, replica_id: str, *, timeout: float = 14_400.0) -> Doing[Replica]:
        """Wait until a replica is ``completed`` or ``error`` and return it; read its ``status``.

        Uses a GET that the specification does not show. Asks and gives up as for voices.
        """
        return until(
            lambda replica: replica.ended,
            f"The replica {replica_id}",
            context_of(self),
            timeout,
            ask=lambda: ask(self.get_replica, replica_id),
        )

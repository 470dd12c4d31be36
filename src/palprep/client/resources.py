"""The resources of a client, each method from one declaration in :mod:`palprep.api.calls`."""

from __future__ import annotations

from palprep.api import calls
from palprep.client.methods import Method, Procedure, Resource, S, method
from palprep.client.upload import upload, upload_legacy
from palprep.client.wait import wait_document, wait_replica, wait_voice


class Faces(Resource[S]):
    """Face images."""

    validate_image = Method(upload, "validate_image", upload.__doc__)


class Voices(Resource[S]):
    """Cloned and catalogue voices."""

    create = method(calls.create_voice)
    get = method(calls.get_voice)
    update = method(calls.update_voice)
    wait = Procedure(wait_voice)


class Replicas(Resource[S]):
    """Likenesses trained from a video or an image."""

    create = method(calls.create_replica)
    validate_image = Method(upload_legacy, "validate_image", upload_legacy.__doc__)


class Tools(Resource[S]):
    """Functions that PALs call."""

    create = method(calls.create_tool)


class Pals(Resource[S]):
    """Agents and their skills."""

    replace_skills = method(calls.replace_skills)
    delete = method(calls.delete_pal)


class Deployments(Resource[S]):
    """Published front-ends of PALs."""

    patch = method(calls.patch_deployment)
    delete = method(calls.delete_deployment)


class Videos(Resource[S]):
    """Generated videos."""

    rename = method(calls.rename_video)


class Documents(Resource[S]):
    """Files and websites that PALs know."""

    get = method(calls.get_document)
    wait = Procedure(wait_document)


class PronunciationDictionaries(Resource[S]):
    """Rules of how words are spoken."""

    get = method(calls.get_pronunciation_dictionary)


class Connectors(Resource[S]):
    """External tool servers. Checks keep to 10 a minute, one at a time, by waiting."""

    runtime_check = method(calls.runtime_check_connector)


class Conversations(Resource[S]):
    """Real-time video call sessions."""

    create = method(calls.create_conversation)


class Assumed(Resource[S]):
    """Operations that the specification mentions without showing them. palprep's sandbox
    serves them as they are here; whether the service does is not known."""

    get_replica = method(calls.get_replica)
    wait_replica = Procedure(wait_replica)
    list_voices = method(calls.list_voices)
    get_deployment = method(calls.get_deployment)
    list_tools = method(calls.list_tools)
    get_tool = method(calls.get_tool)
    delete_tool = method(calls.delete_tool)

"""What the sandbox does where the specification is silent and no value could say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conduct:
    """A decision that is not a value, in force while the choice that it ``goes_with`` says so."""

    where: str
    what: str
    goes_with: tuple[str, str] | None = None


CONDUCT: Mapping[str, Conduct] = {
    "unknown-fields": Conduct(
        "Endpoints",
        "A body with a field that the endpoint does not know is refused with {error}. Create "
        "Conversation alone takes and keeps other fields.",
    ),
    "content-type": Conduct(
        "General", "Bodies are read as JSON, no matter what their Content-Type says."
    ),
    "request-id": Conduct(
        "General", "Answers carry x-request-id: the request's seq in GET /_sandbox/log."
    ),
    "tool-defaults": Conduct(
        "Tool",
        "on_resolve defaults to fire_and_forget for perception tools, which take no other; on_call "
        "to null for post-call tools; delivery.api.method to POST.",
    ),
    "one-account": Conduct(
        "Authentication",
        "All keys of one sandbox belong to one account and see the same resources.",
    ),
    "training-fetches-late": Conduct(
        "Voice status, Replica status",
        "Media are fetched when training ends by the clock, with GET, following up to five "
        "redirects, of the web none to plain http or into a private network. A URL that has "
        "expired by then makes the training fail.",
    ),
    "training-url-extension": Conduct(
        "Create Voice",
        "The accepted file types are looked for at the end of the URL's path when training ends; "
        "any other ending makes the status error, not the request. Where a path has no ending, the "
        "file's content decides.",
    ),
    "header-values": Conduct(
        "Tool delivery",
        "Names and values of headers, and a bearer token, are what RFC 9110 allows, in ASCII; "
        "anything else is refused with {error}.",
    ),
    "tool-size": Conduct(
        "Tool",
        "The serialized parameters are counted as JSON without spaces between its parts, with "
        "characters beyond ASCII as themselves: characters, not bytes.",
    ),
    "tool-parameters": Conduct(
        "Tool",
        "parameters may leave out type, properties and required. What is there must be the type "
        "object, schemas by name, and an array of names that are among them.",
    ),
    "auto-fix": Conduct(
        "Create Replica",
        "With auto_fix_training_image the image is turned, cropped, made smaller and converted as "
        "`palprep fix` does before it is checked; nothing is enlarged or painted. What then still "
        "fails ends the training in error.",
        goes_with=("trainer", "given"),
    ),
    "unmeasured-checks": Conduct(
        "Validate Face Image",
        "A check that the judge cannot measure is left out: the set varies, and the sandbox never "
        "calls a check passed that no one made.",
    ),
    "default-judge": Conduct(
        "Validate Face Image",
        "The judge looks at the first bytes only: they must be those of mimeType. It then reports "
        "the single check image_quality_acceptable, measured as: at least 1024 bytes.",
        goes_with=("judge", "bytes"),
    ),
    "default-trainer": Conduct(
        "Voice status, Replica status",
        "The trainer checks that each file was fetched whole, is not empty, and starts with the "
        "bytes of an accepted recording, video or image. It hears nothing, so that no training "
        "fails for a missing statement.",
        goes_with=("trainer", "bytes"),
    ),
    "declared-type-binds": Conduct(
        "Validate Face Image",
        "Bytes of another accepted format than mimeType are refused as undecodable_image.",
    ),
    "slides-trigger": Conduct("Replace PAL Skills", "Any string is taken as slides_trigger."),
    "replica-source": Conduct(
        "Create Replica",
        "One of train_video_url and train_image_url is required; replica_name is not.",
    ),
    "replica-callback": Conduct(
        "Events",
        "The payload is {replica_id, replica_name, status}, plus error_message when status is "
        "error.",
    ),
    "document-callback": Conduct(
        "Events",
        "The payload is {document_id, document_name, status, progress, updated_at}, plus "
        "error_message when status is error.",
    ),
    "replica-voice-name": Conduct(
        "Create Replica", "An unknown stock voice is refused with {error} naming voice_name."
    ),
    "deployment-etag": Conduct(
        "Patch Deployment",
        "The ETag is strong and changes with the record. Without If-Match a patch applies to "
        "whatever is there; * matches any.",
    ),
    "json-patch": Conduct(
        "Patch Deployment",
        "All six operations of RFC 6902; a path that does not resolve, a failed test, a member "
        "that is not patchable, one that would be gone or not of its type and values is refused "
        "like a malformed patch; nothing is changed.",
    ),
    "rename-answer": Conduct("Rename Video", "Success answers 200 with the video's record."),
    "documents-walk": Conduct(
        "Document status",
        "A document seeded as started or recrawling walks by the clock: processing at 0, 50 and "
        "100 percent, then ready with progress null. One seeded with an error_message ends in "
        "error with it. Its URL is not fetched. A crawled website gains crawled_urls (its URL), "
        "last_crawled_at, and one crawl_count.",
    ),
    "conversation-record": Conduct(
        "Create Conversation",
        "The answer is {conversation_id, conversation_name, conversation_url, status: active, "
        "pal_id, face_id, created_at}. One of pal_id and face_id is needed; a face_id is a seeded "
        "face or a replica, which must be completed.",
    ),
    "conversation-voice": Conduct(
        "Voice status",
        "A conversation is refused with {error} unless the voice named by its PAL "
        "(layers.tts.voice_id) or its face (default_voice_id) is completed.",
    ),
    "conversation-end": Conduct(
        "Create Conversation",
        "A conversation ends after conversation_seconds, or at once by POST "
        "/_sandbox/conversations/{conversation_id}/end with optional {arguments: {tool name: "
        "{...}}} for its post-call tools.",
    ),
    "post-call-tools": Conduct(
        "Create Tool, rule 1",
        "Run once each, with the arguments that are given at the end: those in the PAL's tool_ids, "
        "or without such a member all of the account.",
    ),
    "in-call-tools": Conduct(
        "Events, Tool delivery",
        "POST /_sandbox/conversations/{conversation_id}/call_tool invokes one, as the LLM would. "
        "With delivery.api its server is asked. With app_message the event conversation.tool_call, "
        "{conversation_id, name, arguments}, is answered and logged: there is no data channel "
        "here.",
    ),
    "tool-auth": Conduct(
        "Tool delivery",
        "The five auth types are none, bearer (token), basic (username, password), api_key (name, "
        "value, location header or query) and oauth2_client_credentials (token_url, client_id, "
        "client_secret, scope); any other is refused with {error}.",
    ),
    "connector-record": Conduct(
        "Other records",
        "A seeded connector has connector_id, url, optional headers, and optional auth: {type: "
        "none}, {type: oauth, finished: bool} or {type: client_credentials, token_url, client_id, "
        "client_secret, scope}.",
    ),
    "connector-unavailable": Conduct(
        "Runtime Check Connector", "503 when the optional package mcp is not installed."
    ),
    "training-by-media": Conduct(
        "Voice status, Replica status",
        "The trainer of `palprep sandbox` and of `palprep run` checks images and recordings as "
        "`palprep check` does, and videos as with --quick. When a check fails, the training ends "
        "in error.",
        goes_with=("trainer", "given"),
    ),
    "training-consent": Conduct(
        "Create Replica, consent rule",
        "The same trainer listens for the required statement with the two models of `palprep "
        "consent`: in the consent video and only in it, or else in the first 30 s of the training "
        "video. Required is palprep's template, the text of --statement, or one that a person of "
        "the run brings along. A word that is missing, changed or added, and consent that is taken "
        "back, end the training in error. So does a language that the first model does not know, "
        "or a missing model. A doubt does not.",
        goes_with=("trainer", "given"),
    ),
    "training-unknown": Conduct(
        "Create Replica, consent rule",
        "That trainer cannot know whose name must be said: any name of up to 8 words will do. It "
        "does not know whether the person seen is the one who speaks or is named, nor whether two "
        "videos show one person.",
        goes_with=("trainer", "given"),
    ),
    "system-tool": Conduct("Tool", "Every sandbox has one built-in tool, end_call."),
    "unknown-route": Conduct(
        "Errors", "An unknown path is 404 and a wrong method 405, both {error}."
    ),
}

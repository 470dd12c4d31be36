"""``palprep api RESOURCE ACTION``: every endpoint from the shell, JSON out.

The commands are made from the endpoints' declarations: each field is an argument or an option.
"""

from __future__ import annotations

import inspect
import json
import os
import types
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer

from palprep.api import Call, Endpoint, Unspecified, calls
from palprep.cli.output import print_json
from palprep.client import Client, RawResponse, open_upload
from palprep.errors import UsageError
from palprep.vocabulary import FileInput


def _common(
    base_url: Annotated[str | None, typer.Option(help="Instead of PALPREP_BASE_URL.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Send without checking the rules.")] = False,
    include: Annotated[
        bool, typer.Option("--include", "-i", help="Add status and headers.")
    ] = False,
    null: Annotated[
        list[str] | None, typer.Option(metavar="MEMBER", help="Send this member as null.")
    ] = None,
) -> None:
    """The options of every action."""


_JSON = "JSON, or @FILE."

_COMMON = inspect.signature(_common, eval_str=True).parameters


def build(line: str) -> typer.Typer:
    """The resources as groups, and their actions as commands; ``line`` is the help of the whole."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        help=line,
        epilog="The key is read from PALPREP_API_KEY, the service's address from PALPREP_BASE_URL "
        "or --base-url. JSON options take text, or @FILE.",
    )
    groups: defaultdict[str, typer.Typer] = defaultdict(
        lambda: typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    )
    for endpoint in calls.ENDPOINTS:
        resource, action = (each.replace("_", "-") for each in endpoint.offered_as)
        description = endpoint.description.replace("``", "`")
        summary = description.partition("\n\n")[0]
        command = groups[resource].command(action, help=description, short_help=summary)
        command(_command(endpoint))
    for name, group in sorted(groups.items()):
        about = f"Actions: {', '.join(str(each.name) for each in group.registered_commands)}."
        if name == "unspecified":
            about = "Operations that the specification mentions without showing them."
        app.add_typer(group, name=name, help=about, short_help=about)
    return app


def _command(endpoint: Endpoint[..., Any]) -> Callable[..., None]:
    """A function with a signature that typer can read: the endpoint's fields, then the options."""
    fields = {
        name: parameter
        for name, parameter in endpoint.shape.client_signature.parameters.items()
        if name not in endpoint.shape.options
    }
    as_json = {
        name
        for name, field in fields.items()
        if field.annotation is not FileInput and _kind(field.annotation)[1] == _JSON
    }

    def command(**given: Any) -> None:
        options = {name: given.pop(name) for name in _COMMON}
        sent: dict[str, Any] = {
            name: _json(name, value) if name in as_json else value
            for name, value in given.items()
            if value is not None and value != []
        }
        for name in options["null"] or ():
            sent[name.replace("-", "_")] = None
        sent["validate"] = not options["raw"]
        try:
            call = endpoint.call((), sent, open_upload)
        except TypeError as error:
            raise UsageError(f"palprep api: {error}.") from None
        _send(endpoint, call, options)

    parameters = [*(_parameter(endpoint, each) for each in fields.values()), *_COMMON.values()]
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _parameter(endpoint: Endpoint[..., Any], field: inspect.Parameter) -> inspect.Parameter:
    annotation: Any
    if field.name in endpoint.shape.in_path:
        annotation = Annotated[str, typer.Argument(metavar=field.name.upper())]
    elif field.annotation is FileInput:
        annotation = Annotated[Path, typer.Argument(help=f"The {field.name} file.")]
    else:
        kind, words = _kind(field.annotation)
        option = typer.Option(help=words)
        return field.replace(annotation=Annotated[(kind | None, option)], default=None)
    return field.replace(annotation=annotation, default=inspect.Parameter.empty)


def _kind(hint: Any) -> tuple[Any, str]:
    """The type that typer reads for a field of type ``hint``, and the help of its option."""
    if get_origin(hint) in {Union, types.UnionType}:
        [hint] = (arm for arm in get_args(hint) if arm is not type(None))
    if get_origin(hint) is Literal:
        return str, "One of " + ", ".join(map(str, get_args(hint))) + "."
    if hint is str or hint is bool:
        return hint, ""
    if get_args(hint) == (str,):
        return list[str], "May be given more than once."
    return str, _JSON


def _json(name: str, value: str) -> Any:
    option = "--" + name.replace("_", "-")
    try:
        text = Path(value[1:]).read_text("utf-8-sig") if value.startswith("@") else value
        return json.loads(text)
    except OSError as error:
        raise UsageError(f"{option}: {value[1:]} cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{option}: not JSON ({error}).") from None


def _send(endpoint: Endpoint[..., Any], call: Call[Any], options: Mapping[str, Any]) -> None:
    environ = dict(os.environ)
    if options["base_url"] is not None:
        environ["PALPREP_BASE_URL"] = options["base_url"]
    timeout = {} if options["timeout"] is None else {"timeout": options["timeout"]}
    with Client.from_env(environ, **timeout) as client:
        raw: RawResponse[Any] = client.send_raw(call)
    body = raw.json()
    if options["include"]:
        print_json({"status": raw.status, "headers": dict(raw.headers), "body": body})
    elif body is not None or not issubclass(endpoint.reply, Unspecified):
        print_json(body)

"""Deployments: published front-ends of a PAL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from palprep.api.call import Effect, Endpoint
from palprep.api.fields import PatchOperation
from palprep.api.records import Deployment
from palprep.api.wire import (
    UNSET,
    AccountSettings,
    InHeader,
    InPath,
    Request,
    Unset,
    Unspecified,
    WholeBody,
)
from palprep.errors import Problem


@dataclass(frozen=True)
class PatchDeployment(Request):
    """Change a deployment by a JSON Patch (RFC 6902).

    ``if_match`` takes the ETag of an earlier read, so that no one else's change is
    overwritten. ``/name`` is the one patchable path that the specification shows.
    """

    deployment_id: Annotated[str, InPath()]
    operations: Annotated[Sequence[PatchOperation], WholeBody()]
    _: KW_ONLY
    if_match: Annotated[str | Unset, InHeader("If-Match")] = UNSET

    def problems(self, settings: AccountSettings) -> Iterable[Problem]:
        """What RFC 6902 asks of each kind of operation."""
        del settings
        for at, operation in enumerate(self.operations):
            op = operation["op"]
            if operation["path"] and not operation["path"].startswith("/"):
                message = "must be empty or start with /, as a JSON Pointer does"
                yield Problem(f"{at}.path", "json_pointer", message)
            if op in {"add", "replace", "test"} and "value" not in operation:
                yield Problem(f"{at}.value", "missing", f"is required by {op}")
            if op in {"move", "copy"} and "from" not in operation:
                yield Problem(f"{at}.from", "missing", f"is required by {op}")


@dataclass(frozen=True)
class DeleteDeployment(Request):
    """Delete one deployment. The reply is not specified."""

    deployment_id: Annotated[str, InPath()]


@dataclass(frozen=True)
class GetDeployment(Request):
    """Read one deployment, with its ETag. The specification does not show this operation."""

    deployment_id: Annotated[str, InPath()]


patch_deployment = Endpoint(
    "deployments.patch",
    "PATCH",
    "/v2/deployments/{deployment_id}",
    PatchDeployment,
    Deployment,
    Effect.CHANGES,
)
delete_deployment = Endpoint(
    "deployments.delete",
    "DELETE",
    "/v2/deployments/{deployment_id}",
    DeleteDeployment,
    Unspecified,
    Effect.SETS,
)
get_deployment = Endpoint(
    "deployments.get",
    "GET",
    "/v2/deployments/{deployment_id}",
    GetDeployment,
    Deployment,
    Effect.READS,
    unspecified=True,
)

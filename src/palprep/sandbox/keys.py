"""API keys and what they may do."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field

USER_KEY = "sandbox-user-key"
SERVICE_KEY = "sandbox-service-key"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """``user_scoped`` keys may create voices, others may not. All belong to one account."""

    value: str = field(repr=False)
    user_scoped: bool = True

    @property
    def scope(self) -> str:
        """How the log names the key; the key itself is never written anywhere."""
        return "user" if self.user_scoped else "service"


DEFAULT_KEYS = (ApiKey(USER_KEY), ApiKey(SERVICE_KEY, user_scoped=False))


class KeyRing:
    """The keys that open this sandbox."""

    def __init__(self, keys: Iterable[ApiKey | str] = DEFAULT_KEYS) -> None:
        self.keys = tuple(ApiKey(key) if isinstance(key, str) else key for key in keys)

    def find(self, value: str | None) -> ApiKey | None:
        """The key of this value, compared in constant time; None when there is none."""
        given = (value or "").encode()
        for key in self.keys:
            if hmac.compare_digest(key.value.encode(), given):
                return key
        return None

    def first(self, *, user_scoped: bool) -> str | None:
        """The value of the first key that is user-scoped, or is not; None without one."""
        return next((key.value for key in self.keys if key.user_scoped is user_scoped), None)

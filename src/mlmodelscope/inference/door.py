"""Who may ask. A server has a door of its own, with its tokens; an agent that stands alone has this one."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from mlmodelscope.errors import UsageError
from mlmodelscope.inference.refusal import Refusal

EVERYTHING = frozenset({"read", "run"})


@dataclass(frozen=True)
class Caller:
    """Where a question comes from, and what its head says."""

    path: str
    host: str | None
    headers: Mapping[str, str]
    """By their names in small letters."""

    @property
    def token(self) -> str | None:
        kind, _, secret = self.headers.get("authorization", "").partition(" ")
        return secret.strip() if kind.lower() == "bearer" else None


class Door(Protocol):
    def enter(self, caller: Caller) -> frozenset[str]:
        """What the caller may do: `read`, `run`; a Refusal where they may not come in. It may take a while."""
        ...

    def quick(self, caller: Caller) -> frozenset[str] | None:
        """The same where nobody has to be asked; None where somebody has to."""
        ...


class LoneDoor:
    """Programs of this machine may come in, and whoever has the token; beyond this machine there must be one."""

    def __init__(self, host: str, token: str | None) -> None:
        if token is None and not is_loopback(host):
            raise UsageError(
                f"{host} can be reached from other machines, and there is no token for the models served there",
                hint="--inference-token, or MLMODELSCOPE_INFERENCE_TOKEN",
            )
        self._token = token

    def enter(self, caller: Caller) -> frozenset[str]:
        if self._token is None:
            if not is_local(caller):
                raise Refusal(403, "only programs of this machine may ask here")
            return EVERYTHING
        if not hmac.compare_digest((caller.token or "").encode(), self._token.encode()):
            raise Refusal(401, "a token is needed: `Authorization: Bearer …`")
        return EVERYTHING

    def quick(self, caller: Caller) -> frozenset[str] | None:
        return self.enter(caller)


def is_local(caller: Caller) -> bool:
    """A program on this machine that speaks to this machine; neither a page in a browser nor a proxy's guest is one."""
    if caller.host is None or not is_loopback(caller.host):
        return False
    if any(name in caller.headers for name in ("origin", "forwarded", "x-forwarded-for")):
        return False
    named = caller.headers.get("host")
    if named is None:  # gRPC has another word for it, and no page can speak it
        return True
    return is_loopback(named.strip() if named.endswith("]") else named.rsplit(":", 1)[0])


def is_loopback(host: str) -> bool:
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False

"""The token that a Ray cluster asks for. Whoever reaches a cluster without one can run anything on all of its nodes."""

from __future__ import annotations

import os
from pathlib import Path

from mlmodelscope.errors import UsageError

_ALIVE = "/ray.rpc.NodeInfoGcsService/CheckAlive"


def find() -> str:
    """The token, where Ray itself looks for it."""
    said = os.environ.get("RAY_AUTH_TOKEN", "").strip()
    if said:
        return said
    file = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")
    try:
        kept = file.read_text(encoding="utf-8").strip()
    except OSError:
        kept = ""
    if not kept:
        raise UsageError(
            "there is no token for the Ray cluster",
            hint="`ray get-auth-token --generate` makes one; its nodes and this server need the same, in "
            "RAY_AUTH_TOKEN or ~/.ray/auth_token, and RAY_AUTH_MODE=token when the nodes are started",
        )
    return kept


def check(address: str) -> None:
    """Refuse a cluster that has another token, or asks for none."""
    if _answers(address, None):
        raise UsageError(
            f"the Ray cluster at {address} asks for no token: whoever reaches it can run anything there",
            hint="start its nodes with RAY_AUTH_MODE=token, or say `ray_authentication: none` where nobody else can",
        )
    if not _answers(address, find()):
        raise UsageError(f"the Ray cluster at {address} has another token than this server")


def _answers(address: str, token: str | None) -> bool:
    import grpc

    metadata = [("authorization", f"Bearer {token}")] if token else []
    with grpc.insecure_channel(address) as channel:
        try:
            channel.unary_unary(_ALIVE)(b"", timeout=10, metadata=metadata)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.UNAUTHENTICATED:
                return False
            raise UsageError(f"what answers at {address} is no Ray cluster: {error.code().name.lower()}") from None
    return True

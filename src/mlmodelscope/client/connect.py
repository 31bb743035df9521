"""`mlmodelscope.connect(url)`: a client that waits, or one that does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from mlmodelscope.client.client import Client
from mlmodelscope.errors import MLModelScopeError

if TYPE_CHECKING:
    from mlmodelscope.client.async_client import AsyncClient


@overload
def connect(url: str, token: str | None = None, *, asynchronous: Literal[False] = False) -> Client: ...


@overload
def connect(url: str, token: str | None = None, *, asynchronous: Literal[True]) -> AsyncClient: ...


def connect(url: str, token: str | None = None, *, asynchronous: bool = False) -> Client | AsyncClient:
    """A server, which must answer; one that is not waited for is asked when it is entered with `async with`."""
    if asynchronous:
        from mlmodelscope.client.async_client import AsyncClient

        return AsyncClient(url, token)
    client = Client(url, token)
    try:
        client.get("/health")
    except MLModelScopeError:
        client.close()
        raise
    return client

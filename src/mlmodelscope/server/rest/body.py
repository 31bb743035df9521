"""Bodies as they come in: what no database keeps and no answer can carry is refused before anything else sees it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

_MOST_PARTS = 400_000
"""Brackets, commas and colons: each may become an object of two hundred bytes, whatever the body's own length."""


class CheckedRoute(APIRoute):
    """A route whose JSON is plain: no NUL, no half characters, no numbers that are none."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def checked(request: Request) -> Response:
            return await handle(_Checked(request.scope, request.receive))

        return checked


class _Checked(Request):
    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            body = await self.body()
            if sum(map(body.count, (b"[", b"{", b",", b":"))) > _MOST_PARTS:
                raise HTTPException(413, "a body of too many parts")
            found = json.loads(body, parse_constant=_refuse)
            check(found)
            self._json = found
        return self._json


def _refuse(word: str) -> None:
    raise HTTPException(422, f"{word} is not a number in JSON")


def check(value: Any) -> None:
    """HTTPException 422 for what is JSON but cannot be kept."""
    if isinstance(value, str):
        if "\0" in value:
            raise HTTPException(422, "a text holds the character NUL")
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise HTTPException(422, "a text holds half a character")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise HTTPException(422, "a number is too large")
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise HTTPException(422, "a number is too large")
    elif isinstance(value, dict):
        for key, inner in value.items():
            check(key)
            check(inner)
    elif isinstance(value, list):
        for inner in value:
            check(inner)

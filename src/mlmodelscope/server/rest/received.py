"""A body as a file: counted on the way, since it need not say how long it is."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastapi import HTTPException, Request

from mlmodelscope.server.desk import Desk

BINARY: dict[str, Any] = {
    "requestBody": {
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@contextlib.asynccontextmanager
async def received(desk: Desk, request: Request, largest: int) -> AsyncIterator[Path]:
    with tempfile.TemporaryDirectory(dir=desk.store.home) as place:
        path, size = Path(place) / "received", 0
        with path.open("wb") as file:
            async for block in request.stream():
                size += len(block)
                if size > largest:
                    raise HTTPException(413, f"more than {largest} bytes")
                await asyncio.to_thread(file.write, block)
        yield path

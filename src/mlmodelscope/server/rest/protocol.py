"""HTTP connections that do not dawdle: uvicorn waits for ever for the rest of a question's head, however long it is.

A few slow strangers could so hold every connection there is.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from mlmodelscope.server.config import Config

LONGEST_HEAD = 1 << 16
_H2C = re.compile(rb"\r\nupgrade:[ \t]*h2c[ \t]*(?=\r\n|$)", re.IGNORECASE)


def patient_protocol(config: Config) -> type[asyncio.Protocol]:
    """uvicorn's own protocol, with an end to its patience."""
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Base
    except ImportError:
        from uvicorn.protocols.http.h11_impl import H11Protocol as Base  # type: ignore[assignment]

    class Patient(Base):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            self._end: asyncio.TimerHandle | None = None
            self._seen = 0

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._begin()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._has_question():  # these are bytes of its body, which whoever reads it counts
                super().data_received(data)
                return
            self._begin()
            self._seen += len(data)
            super().data_received(_without_h2c(data))
            if self._has_question():
                self._stop()
            elif self._seen > LONGEST_HEAD:
                self.transport.close()

        def _has_question(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _begin(self) -> None:
            if self._end is None:
                self._end, self._seen = self.loop.call_later(config.head_s, self._give_up), 0

        def _stop(self) -> None:
            if self._end is not None:
                self._end.cancel()
                self._end = None

        def _give_up(self) -> None:
            self._end = None
            if not self._has_question():
                self.transport.close()

    return Patient


def _without_h2c(data: bytes) -> bytes:
    """A head without the offer to speak HTTP/2, which Java's client makes with every question.

    It may be declined by not mentioning it, but the parser would take the body for the other protocol.
    """
    head, end, body = data.partition(b"\r\n\r\n")
    return _H2C.sub(b"", head) + end + body if end else data

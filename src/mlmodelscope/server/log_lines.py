"""The server's own log: lines for people or JSON for programs, each with the request that it belongs to."""

from __future__ import annotations

import json
import logging
import sys
from contextvars import ContextVar
from typing import Any

from mlmodelscope.server.config import Config

question: ContextVar[str | None] = ContextVar("question", default=None)
"""Id of the question that is being answered."""
_FACTS = ("method", "path", "route", "status", "duration_s", "client", "owner")
_NOISY = ("alembic", "httpx", "httpcore", "urllib3", "asyncio", "sqlalchemy", "uvicorn.access", "grpc")
"""They would tell addresses and values, at some levels secrets."""


def set_up(config: Config) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Json() if config.log_format == "json" else Lines("%(asctime)s %(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(config.log_level.upper())
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
    logging.getLogger("uvicorn.error").setLevel(max(logging.INFO, root.level))


def facts_of(record: logging.LogRecord) -> dict[str, Any]:
    found = {name: getattr(record, name) for name in _FACTS if getattr(record, name, None) is not None}
    asked = getattr(record, "request_id", None) or question.get()
    return {**found, "request_id": asked} if asked else found


class Json(logging.Formatter):
    """A line of JSON for each message."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **facts_of(record),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


class Lines(logging.Formatter):
    """A line for each message; what somebody else sent stays within it."""

    def format(self, record: logging.LogRecord) -> str:
        first, *rest = super().format(record).split("\n")
        asked = facts_of(record).get("request_id")
        return "\n    ".join([f"{_printable(first)} [{asked}]" if asked else _printable(first), *map(_printable, rest)])


def _printable(text: str) -> str:
    return text if text.isprintable() else "".join(letter if letter.isprintable() else "?" for letter in text)

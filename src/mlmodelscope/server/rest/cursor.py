"""Where a page of a list ended, as a text that means nothing to anybody else."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime

from mlmodelscope.errors import UsageError


def write(moment: datetime, identity: str) -> str:
    return base64.urlsafe_b64encode(f"{moment.isoformat()} {identity}".encode()).decode().rstrip("=")


def read(cursor: str | None) -> tuple[datetime, str] | None:
    if cursor is None:
        return None
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        moment, _, identity = text.partition(" ")
        found = datetime.fromisoformat(moment)
        return (found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found), identity
    except (ValueError, binascii.Error, OverflowError):
        raise UsageError(f"`{cursor[:60]}` is not where a page ended") from None

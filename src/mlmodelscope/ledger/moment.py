"""Moments as databases keep them: UTC, without saying so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def later(seconds: float, start: datetime | None = None) -> datetime:
    return (start or now()) + timedelta(seconds=seconds)


def spoken(moment: datetime | None) -> datetime | None:
    """For people and programs: with its time zone."""
    return moment.replace(tzinfo=UTC) if moment else None

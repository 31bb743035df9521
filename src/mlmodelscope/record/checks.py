"""What became of published claims: a row for each claim and each record that it was held against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from mlmodelscope.record.database import Database, open_database
from mlmodelscope.settings import Settings


@dataclass(frozen=True, slots=True)
class Check:
    """A claim, what was measured, the verdict, and where that was."""

    claim: str
    """Its key, from `plan/claim_key.py`."""
    record: str
    model: str
    """`name@version`, or `SOURCE:NAME`."""
    metric: str
    value: str
    dataset: str
    verdict: str
    cause: str
    """What explains the number where it does not hold; empty where nothing was found or sought."""
    measured: float
    low: float
    high: float
    samples: int
    population: int | None
    stack: str
    machine: str
    person: str
    replication: str | None
    """The server's evaluation, where one was asked."""
    checked_at: datetime


_COLUMNS = tuple(each.name for each in fields(Check))
_ROOM = {"model": 300, "metric": 200, "value": 40, "dataset": 300, "stack": 300, "machine": 300, "person": 100}
_ROOM["cause"] = 10_000
# The same record again is not new evidence: who checked first, and when, stays. A search that was left out this time
# does not take the cause away.
_KEEP = f"""
INSERT INTO checks ({", ".join(_COLUMNS)}) VALUES ({", ".join(f":{name}" for name in _COLUMNS)})
ON CONFLICT (claim, record) DO UPDATE SET
  verdict = excluded.verdict, measured = excluded.measured, low = excluded.low, high = excluded.high,
  samples = excluded.samples, population = excluded.population,
  cause = CASE WHEN excluded.cause = '' AND excluded.verdict = checks.verdict THEN checks.cause
    ELSE excluded.cause END,
  replication = COALESCE(excluded.replication, checks.replication)
"""  # nosec B608 # our names; values are bound
_LIST = "SELECT * FROM checks{where} ORDER BY checked_at DESC, record DESC"


def keep_checks(database: Database, checks: Iterable[Check]) -> None:
    for each in checks:
        values = asdict(each)
        values |= {name: _printable(values[name])[:most] for name, most in _ROOM.items()}
        database.write(_KEEP, {**values, "checked_at": _plain(each.checked_at)})


def _printable(text: str) -> str:
    """What agents tell is shown in terminals and on pages."""
    return "".join(each if each.isprintable() else " " for each in text)


def read_checks(
    database: Database, *, model: str | None = None, claim: str | None = None, claims: Sequence[str] | None = None
) -> list[Check]:
    """The newest first, of one model or some claims where they are named."""
    wanted = {name: value for name, value in (("model", model), ("claim", claim)) if value is not None}
    conditions = [f"{name} = :{name}" for name in wanted]
    if claims is not None:
        if not claims:
            return []
        named = {f"claim_{number}": each for number, each in enumerate(dict.fromkeys(claims))}
        conditions.append(f"claim IN ({', '.join(f':{name}' for name in named)})")
        wanted |= named
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return [_check(row) for row in database.rows(_LIST.format(where=where), wanted)]


def checks_at(settings: Settings, *, model: str | None = None, claim: str | None = None) -> list[Check]:
    """The same of the store that settings name. Who only looks makes no store where there is none."""
    if settings.database is None and not (settings.home / "records.sqlite").is_file():
        return []
    database = open_database(settings)
    try:
        return read_checks(database, model=model, claim=claim)
    finally:
        database.close()


def _check(row: dict[str, Any]) -> Check:
    moment = row["checked_at"]
    moment = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return Check(**{**row, "checked_at": moment.replace(tzinfo=UTC)})


def _plain(moment: datetime) -> datetime:
    """UTC, as databases keep it."""
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment

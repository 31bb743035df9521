"""Events that are told beside the queue."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert

from mlmodelscope.ledger.moment import now
from mlmodelscope.ledger.tables import events


def happened(connection: Connection, evaluations: Sequence[str], kind: str, document: Mapping[str, Any]) -> None:
    """The same to several evaluations."""
    rows = [
        {"evaluation": each, "at": now(), "kind": kind, "document": json.dumps(dict(document))} for each in evaluations
    ]
    if rows:
        connection.execute(insert(events), rows)

"""What a record is of: an evaluation, a training, a profile, or a bench and its scenario."""

from __future__ import annotations

import json

KINDS: dict[str, str | None] = {"evaluation": None, "training": "training", "profile": "profile", "bench": "bench"}
"""Kinds of records, and the part of a record that only they have."""


def kind_of(document: str) -> tuple[str, str | None]:
    """(kind, scenario of a bench) of a record as it is stored."""
    parts = json.loads(document)
    kind = next((name for name, part in KINDS.items() if part is not None and parts.get(part)), "evaluation")
    return kind, parts["bench"]["scenario"] if kind == "bench" else None

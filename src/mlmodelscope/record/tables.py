"""The tables of the evaluation database, the same for every database."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

metadata = MetaData()

records = Table(
    "records",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("status", String(20), nullable=False),
    Column("kind", String(20), nullable=False, server_default="evaluation"),
    Column("scenario", String(20)),
    Column("plan_digest", String(64), nullable=False),
    Column("machine_digest", String(64), nullable=False),
    Column("worker_digest", String(64), nullable=False),
    Column("model", String(100), nullable=False),
    Column("model_version", String(100), nullable=False),
    Column("dataset", String(100), nullable=False),
    Column("dataset_version", String(100), nullable=False),
    Column("created_at", DateTime, nullable=False),
    Column("finished_at", DateTime),
    Column("samples", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("made_for", String(20)),
    Column("shown_at", DateTime),
    Column("document", Text, nullable=False),
    Column("headline", String(100)),
    Index("records_by_plan", "plan_digest", "status"),
    Index("records_by_time", "created_at"),
    Index("records_by_shown", "shown_at"),
    Index("records_by_model", "model", "created_at"),
    Index("records_by_kind", "kind", "created_at"),
    Index("records_by_work", "status", "plan_digest", "machine_digest", "created_at", "id", "made_for", "model"),
)

metrics = Table(
    "metrics",
    metadata,
    Column("record", String(40), ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(100), primary_key=True),
    Column("value", Float, nullable=False),
    Column("low", Float),
    Column("high", Float),
    Column("unit", String(20)),
    Index("metrics_by_value", "name", "value"),
)

record_facts = Table(
    "record_facts",
    metadata,
    Column("record", String(40), ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    Column("status", String(20), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("scenario", String(20)),
    Column("made_for", String(20)),
    Column("plan_digest", String(64), nullable=False),
    Column("model", String(100), nullable=False),
    Column("model_version", String(100), nullable=False),
    Column("dataset", String(100), nullable=False),
    Column("dataset_version", String(100), nullable=False),
    Column("created_at", DateTime, nullable=False),
    Column("finished_at", DateTime),
    Column("samples", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("split", String(100)),
    Column("task", String(100)),
    Column("stack", String(300)),
    Column("framework", String(300)),
    Column("machine", String(300)),
    Column("headline", String(100)),
    Column("value", Float),
    Column("low", Float),
    Column("high", Float),
    Column("unit", String(20)),
    Column("latency_s", Float),
    Column("samples_per_s", Float),
    Column("took_s", Float),
    Column("manifest_digest", String(64)),
    Column("model_digest", String(64)),
    Column("dataset_digest", String(64)),
    Column("software_digest", String(64)),
    Column("subset", String(60)),
    Column("population", Integer),
    Column("claims", Text),
    Column("words", Text, nullable=False),
    Index("record_facts_by_time", "created_at", "record"),
    Index("record_facts_by_model", "model", "created_at", "record"),
    Index("record_facts_by_dataset", "dataset", "created_at", "record"),
)
"""What lists show of each record and filter by: narrow rows, since a search of `records` would read every document."""

record_tags = Table(
    "record_tags",
    metadata,
    Column("record", String(40), ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    Column("tag", String(50), primary_key=True),
    Column("owner", String(100), nullable=False),
    Column("at", DateTime, nullable=False),
    Index("record_tags_by_tag", "tag", "record"),
)

record_notes = Table(
    "record_notes",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("record", String(40), ForeignKey("records.id", ondelete="CASCADE"), nullable=False),
    Column("owner", String(100), nullable=False),
    Column("at", DateTime, nullable=False),
    Column("text", Text, nullable=False),
    Index("record_notes_by_record", "record", "at"),
)
"""What people write about a record, beside it: the record itself never changes."""

files = Table(
    "files",
    metadata,
    Column("record", String(40), ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(2100), primary_key=True),
    Column("sha256", String(64), nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("dropped_at", DateTime),
)
"""What a finished record's folder holds; what retention took away stays listed with the moment of it."""

pins = Table(
    "pins",
    metadata,
    Column("record", String(40), ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    Column("owner", String(100), nullable=False),
    Column("pinned_at", DateTime, nullable=False),
)
"""Records that retention never takes away."""

record_owners = Table(
    "record_owners",
    metadata,
    Column("record", String(40), ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    Column("owner", String(100), nullable=False),
)
"""Who asked a server for a record, or pushed it there; one that is not listed belongs to the server's operator."""

origins = Table(
    "origins",
    metadata,
    Column("record", String(40), ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("statement", Text, nullable=False),
    Column("source", String(300), nullable=False),
    Column("received_at", DateTime, nullable=False),
    Index("origins_by_digest", "digest"),
)
"""Where a record came from, if it was made elsewhere, and the statement that was signed."""

signatures = Table(
    "signatures",
    metadata,
    Column("record", String(40), ForeignKey("origins.record", ondelete="CASCADE"), primary_key=True),
    Column("key", String(60), primary_key=True),
    Column("signature", String(100), nullable=False),
)

checks = Table(
    "checks",
    metadata,
    Column("claim", String(40), primary_key=True),
    Column("record", String(40), primary_key=True),
    Column("model", String(300), nullable=False),
    Column("metric", String(200), nullable=False),
    Column("value", String(40), nullable=False),
    Column("dataset", String(300), nullable=False),
    Column("verdict", String(30), nullable=False),
    Column("cause", Text, nullable=False),
    Column("measured", Float, nullable=False),
    Column("low", Float, nullable=False),
    Column("high", Float, nullable=False),
    Column("samples", Integer, nullable=False),
    Column("population", Integer),
    Column("stack", String(300), nullable=False),
    Column("machine", String(300), nullable=False),
    Column("person", String(100), nullable=False),
    Column("replication", String(40)),
    Column("checked_at", DateTime, nullable=False),
    Index("checks_by_model", "model", "checked_at"),
)
"""Verdicts on published claims, by the key of the claim. They outlive the record: a verdict stays known."""

reproduction_checks = Table(
    "reproduction_checks",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("code_digest", String(64)),
    Column("created_at", DateTime, nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("first_failed", String(40)),
    Column("document", Text, nullable=False),
    Index("reproduction_checks_by_name", "name", "created_at"),
)
"""What each run of the checks of a reproduction came to."""

"""The ledger's tables; they are in the same database as the records."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from mlmodelscope.record.tables import metadata

_WHOLE, _PART = text("part_of IS NULL"), text("part_of IS NOT NULL")

requests = Table(
    "requests",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("owner", String(100), nullable=False),
    Column("key", String(200)),
    Column("created_at", DateTime, nullable=False),
    Column("document", Text, nullable=False),
    UniqueConstraint("owner", "key", name="requests_by_key"),
)

evaluations = Table(
    "evaluations",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("request", String(40), ForeignKey("requests.id", ondelete="CASCADE"), nullable=False),
    Column("part_of", String(40), ForeignKey("evaluations.id", ondelete="CASCADE")),
    Column("owner", String(100), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("model", String(100), nullable=False),
    Column("dataset", String(100), nullable=False),
    Column("state", String(20), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("exclusive", Boolean, nullable=False),
    Column("agent", String(100)),
    Column("attempt", Integer, nullable=False),
    Column("created_at", DateTime, nullable=False),
    Column("not_before", DateTime, nullable=False),
    Column("started_at", DateTime),
    Column("ended_at", DateTime),
    Column("lease_until", DateTime),
    Column("timeout_s", Integer),
    Column("cancel", Boolean, nullable=False),
    Column("record", String(40)),
    Column("progress", Text),
    Column("error", Text),
    Column("work", Text, nullable=False),
    Index("evaluations_in_line", "state", "not_before"),
    Index("evaluations_by_request", "request"),
    Index("evaluations_by_record", "record"),
    Index("evaluations_by_whole", "part_of", sqlite_where=_PART, postgresql_where=_PART),
    # Pages of those that are no parts, newest first: all of them, or by one of these.
    Index("evaluations_by_time", "created_at", "id", sqlite_where=_WHOLE, postgresql_where=_WHOLE),
    *(
        Index(f"evaluations_by_{name}", name, "created_at", "id", sqlite_where=_WHOLE, postgresql_where=_WHOLE)
        for name in ("agent", "dataset", "model", "owner", "state")
    ),
)

eligible = Table(
    "eligible",
    metadata,
    Column("evaluation", String(40), ForeignKey("evaluations.id", ondelete="CASCADE"), primary_key=True),
    Column("agent", String(100), primary_key=True),
    Index("eligible_by_agent", "agent"),
)

events = Table(
    "events",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("evaluation", String(40), ForeignKey("evaluations.id", ondelete="CASCADE"), nullable=False),
    Column("at", DateTime, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("document", Text, nullable=False),
    Index("events_by_evaluation", "evaluation", "number"),
)

agents = Table(
    "agents",
    metadata,
    Column("id", String(100), primary_key=True),
    Column("incarnation", String(40), nullable=False),
    Column("joined_at", DateTime, nullable=False),
    Column("seen_at", DateTime, nullable=False),
    Column("lease_until", DateTime, nullable=False),
    Column("draining", Boolean, nullable=False),
    Column("description", Text, nullable=False),
)

agent_owners = Table(
    "agent_owners",
    metadata,
    Column("agent", String(100), primary_key=True),
    Column("owner", String(100), nullable=False),
    Column("since", DateTime, nullable=False),
)
"""Whose an agent's name is. It stays so when the agent leaves: its work must not go to whoever takes the name next."""

tokens = Table(
    "tokens",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("owner", String(100), nullable=False),
    Column("hash", String(64), nullable=False, unique=True),
    Column("scopes", String(200), nullable=False),
    Column("created_at", DateTime, nullable=False),
    Column("expires_at", DateTime),
    Column("used_at", DateTime),
)

manifests = Table(
    "manifests",
    metadata,
    Column("kind", String(20), primary_key=True),
    Column("name", String(100), primary_key=True),
    Column("version", String(100), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("owner", String(100), nullable=False),
    Column("created_at", DateTime, nullable=False),
    Column("text", Text, nullable=False),
    Index("manifests_by_digest", "digest"),
)

audit = Table(
    "audit",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("at", DateTime, nullable=False),
    Column("owner", String(100), nullable=False),
    Column("what", String(40), nullable=False),
    Column("about", String(200), nullable=False),
    Index("audit_by_time", "at"),
)

artifacts = Table(
    "artifacts",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("name", String(200), nullable=False),
    Column("owner", String(100), nullable=False),
    Column("created_at", DateTime, nullable=False),
    Index("artifacts_by_time", "created_at", "digest"),
)

traces = Table(
    "traces",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("owner", String(100), nullable=False),
    Column("service", String(200), nullable=False),
    Column("model", String(200)),
    Column("record", String(40), ForeignKey("records.id", ondelete="CASCADE")),
    Column("began_unix_ns", BigInteger, nullable=False),
    Column("duration_ns", BigInteger, nullable=False),
    Column("spans", Integer, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created_at", DateTime, nullable=False),
    Index("traces_by_time", "created_at", "id"),
    Index("traces_by_record", "record"),
    Index("traces_by_service", "service", "created_at"),
    Index("traces_by_model", "model", "created_at"),
)

"""Kinds of records; the ledger: requests, evaluations, agents, events, tokens, manifests, audit."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("records", sa.Column("kind", sa.String(20), nullable=False, server_default="evaluation"))
    op.add_column("records", sa.Column("scenario", sa.String(20)))
    op.create_index("records_by_kind", "records", ["kind", "created_at"])
    _name_kinds()
    _make_evaluations()
    _index_evaluations()
    _make_events()
    _make_agents_and_people()


def _make_evaluations() -> None:
    op.create_table(
        "requests",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("key", sa.String(200)),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.UniqueConstraint("owner", "key", name="requests_by_key"),
    )
    op.create_table(
        "evaluations",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("request", sa.String(40), sa.ForeignKey("requests.id", ondelete="CASCADE"), nullable=False),
        sa.Column("part_of", sa.String(40), sa.ForeignKey("evaluations.id", ondelete="CASCADE")),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("model", sa.String(100), nullable=False),
        sa.Column("dataset", sa.String(100), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("exclusive", sa.Boolean, nullable=False),
        sa.Column("agent", sa.String(100)),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("not_before", sa.DateTime, nullable=False),
        sa.Column("started_at", sa.DateTime),
        sa.Column("ended_at", sa.DateTime),
        sa.Column("lease_until", sa.DateTime),
        sa.Column("timeout_s", sa.Integer),
        sa.Column("cancel", sa.Boolean, nullable=False),
        sa.Column("record", sa.String(40)),
        sa.Column("progress", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("work", sa.Text, nullable=False),
    )


def _index_evaluations() -> None:
    whole = sa.text("part_of IS NULL")
    for name in ("agent", "dataset", "model", "owner", "state"):
        op.create_index(
            f"evaluations_by_{name}",
            "evaluations",
            [name, "created_at", "id"],
            sqlite_where=whole,
            postgresql_where=whole,
        )
    op.create_index("evaluations_by_request", "evaluations", ["request"])
    op.create_index("evaluations_in_line", "evaluations", ["state", "not_before"])
    op.create_index(
        "evaluations_by_time", "evaluations", ["created_at", "id"], sqlite_where=whole, postgresql_where=whole
    )
    part = sa.text("part_of IS NOT NULL")
    op.create_index("evaluations_by_whole", "evaluations", ["part_of"], sqlite_where=part, postgresql_where=part)


def _make_events() -> None:
    op.create_table(
        "eligible",
        sa.Column("evaluation", sa.String(40), sa.ForeignKey("evaluations.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("agent", sa.String(100), primary_key=True),
    )
    op.create_index("eligible_by_agent", "eligible", ["agent"])
    op.create_table(
        "events",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("evaluation", sa.String(40), sa.ForeignKey("evaluations.id", ondelete="CASCADE"), nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_index("events_by_evaluation", "events", ["evaluation", "number"])


def _make_agents_and_people() -> None:
    op.create_table(
        "agents",
        sa.Column("id", sa.String(100), primary_key=True),
        sa.Column("incarnation", sa.String(40), nullable=False),
        sa.Column("joined_at", sa.DateTime, nullable=False),
        sa.Column("seen_at", sa.DateTime, nullable=False),
        sa.Column("lease_until", sa.DateTime, nullable=False),
        sa.Column("draining", sa.Boolean, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False, unique=True),
        sa.Column("scopes", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("expires_at", sa.DateTime),
        sa.Column("used_at", sa.DateTime),
    )
    op.create_table(
        "manifests",
        sa.Column("kind", sa.String(20), primary_key=True),
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("version", sa.String(100), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_index("manifests_by_digest", "manifests", ["digest"])
    op.create_table(
        "audit",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("what", sa.String(40), nullable=False),
        sa.Column("about", sa.String(200), nullable=False),
    )
    op.create_index("audit_by_time", "audit", ["at"])


def _name_kinds() -> None:
    """Records say what they are of inside their document."""
    table = sa.table("records", *(sa.column(name) for name in ("id", "document", "kind", "scenario")))
    connection = op.get_bind()
    for identity in connection.execute(sa.select(table.c.id)).scalars().all():
        document = connection.execute(sa.select(table.c.document).where(table.c.id == identity)).scalar()
        parts = json.loads(document or "{}")
        kind = next((name for name in ("bench", "training", "profile") if parts.get(name)), None)
        if kind is not None:
            scenario = parts["bench"]["scenario"] if kind == "bench" else None
            change = sa.update(table).where(table.c.id == identity).values(kind=kind, scenario=scenario)
            connection.execute(change)


def downgrade() -> None:
    for name in ("audit", "manifests", "tokens", "agents", "events", "eligible", "evaluations", "requests"):
        op.drop_table(name)
    op.drop_index("records_by_kind", "records")
    with op.batch_alter_table("records") as table:
        table.drop_column("scenario")
        table.drop_column("kind")

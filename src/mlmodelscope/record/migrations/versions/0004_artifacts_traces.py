"""Uploaded files, and traces: those that came over OTLP, and those of records."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "artifacts",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
    )
    op.create_index("artifacts_by_time", "artifacts", ["created_at", "digest"])
    op.create_table(
        "traces",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("service", sa.String(200), nullable=False),
        sa.Column("model", sa.String(200)),
        sa.Column("record", sa.String(40), sa.ForeignKey("records.id", ondelete="CASCADE")),
        sa.Column("began_unix_ns", sa.BigInteger, nullable=False),
        sa.Column("duration_ns", sa.BigInteger, nullable=False),
        sa.Column("spans", sa.Integer, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
    )
    op.create_index("traces_by_time", "traces", ["created_at", "id"])
    op.create_index("traces_by_record", "traces", ["record"])
    op.create_index("traces_by_service", "traces", ["service", "created_at"])
    op.create_index("traces_by_model", "traces", ["model", "created_at"])


def downgrade() -> None:
    op.drop_table("traces")
    op.drop_table("artifacts")

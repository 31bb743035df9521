"""Records and their metrics."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "records",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("plan_digest", sa.String(64), nullable=False),
        sa.Column("machine_digest", sa.String(64), nullable=False),
        sa.Column("worker_digest", sa.String(64), nullable=False),
        sa.Column("model", sa.String(100), nullable=False),
        sa.Column("model_version", sa.String(100), nullable=False),
        sa.Column("dataset", sa.String(100), nullable=False),
        sa.Column("dataset_version", sa.String(100), nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("finished_at", sa.DateTime),
        sa.Column("samples", sa.Integer, nullable=False),
        sa.Column("failed", sa.Integer, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_index("records_by_plan", "records", ["plan_digest", "status"])
    op.create_index("records_by_time", "records", ["created_at"])
    op.create_index("records_by_model", "records", ["model", "created_at"])
    op.create_table(
        "metrics",
        sa.Column("record", sa.String(40), sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("value", sa.Float, nullable=False),
        sa.Column("low", sa.Float),
        sa.Column("high", sa.Float),
    )
    op.create_index("metrics_by_value", "metrics", ["name", "value"])


def downgrade() -> None:
    op.drop_table("metrics")
    op.drop_table("records")

"""What became of published claims: each check with its evidence, found again by the claim and not by the record."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "checks",
        sa.Column("claim", sa.String(40), primary_key=True),
        sa.Column("record", sa.String(40), primary_key=True),
        sa.Column("model", sa.String(300), nullable=False),
        sa.Column("metric", sa.String(200), nullable=False),
        sa.Column("value", sa.String(40), nullable=False),
        sa.Column("dataset", sa.String(300), nullable=False),
        sa.Column("verdict", sa.String(30), nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("measured", sa.Float, nullable=False),
        sa.Column("low", sa.Float, nullable=False),
        sa.Column("high", sa.Float, nullable=False),
        sa.Column("samples", sa.Integer, nullable=False),
        sa.Column("population", sa.Integer),
        sa.Column("stack", sa.String(300), nullable=False),
        sa.Column("machine", sa.String(300), nullable=False),
        sa.Column("person", sa.String(100), nullable=False),
        sa.Column("replication", sa.String(40)),
        sa.Column("checked_at", sa.DateTime, nullable=False),
    )
    op.create_index("checks_by_model", "checks", ["model", "checked_at"])


def downgrade() -> None:
    op.drop_index("checks_by_model", "checks")
    op.drop_table("checks")

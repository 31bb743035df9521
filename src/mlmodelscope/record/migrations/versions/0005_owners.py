"""Whose an agent's name is, and whose a record."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "agent_owners",
        sa.Column("agent", sa.String(100), primary_key=True),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("since", sa.DateTime, nullable=False),
    )
    op.create_table(
        "record_owners",
        sa.Column("record", sa.String(40), sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("owner", sa.String(100), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("record_owners")
    op.drop_table("agent_owners")

"""Each run of the checks of a reproduction leaves what it came to."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "reproduction_checks",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("code_digest", sa.String(64)),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("first_failed", sa.String(40)),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_index("reproduction_checks_by_name", "reproduction_checks", ["name", "created_at"])


def downgrade() -> None:
    op.drop_table("reproduction_checks")

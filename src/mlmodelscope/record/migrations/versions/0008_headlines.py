"""Records of any task in one list: each knows the number that stands for it, and numbers know their units."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_SHARES = ("top1", "top5", "ece")
"""All that records before this one measured, beside numbers of other packages' metrics, times and trainings."""


def upgrade() -> None:
    op.add_column("records", sa.Column("headline", sa.String(100)))
    op.add_column("metrics", sa.Column("unit", sa.String(20)))
    known = "SELECT record FROM metrics WHERE name = 'top1'"
    op.execute(f"UPDATE records SET headline = 'top1' WHERE id IN ({known})")
    named = ", ".join(f"'{name}'" for name in _SHARES)
    op.execute(f"UPDATE metrics SET unit = 'share' WHERE name IN ({named})")


def downgrade() -> None:
    with op.batch_alter_table("metrics") as table:
        table.drop_column("unit")
    with op.batch_alter_table("records") as table:
        table.drop_column("headline")

"""Records of any task in one list: each knows the number that stands for it, and numbers know their units."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("records", sa.Column("headline", sa.String(100)))
    op.add_column("metrics", sa.Column("unit", sa.String(20)))
    op.execute("UPDATE records SET headline = 'top1' WHERE id IN (SELECT record FROM metrics WHERE name = 'top1')")
    # All that records before this one measured, beside numbers of other packages' metrics, times and trainings.
    op.execute("UPDATE metrics SET unit = 'share' WHERE name IN ('top1', 'top5', 'ece')")


def downgrade() -> None:
    with op.batch_alter_table("metrics") as table:
        table.drop_column("unit")
    with op.batch_alter_table("records") as table:
        table.drop_column("headline")

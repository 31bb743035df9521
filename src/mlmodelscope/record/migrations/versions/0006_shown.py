"""Which records were made on the way to something else, and when each was last the answer to a command."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("records", sa.Column("made_for", sa.String(20)))
    op.add_column("records", sa.Column("shown_at", sa.DateTime))
    op.execute("UPDATE records SET shown_at = COALESCE(finished_at, created_at)")
    op.create_index("records_by_shown", "records", ["shown_at"])


def downgrade() -> None:
    op.drop_index("records_by_shown", "records")
    with op.batch_alter_table("records") as table:
        table.drop_column("shown_at")
        table.drop_column("made_for")

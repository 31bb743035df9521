"""Which record of a work is the newest, found in an index alone: a row with its document is a hundred times as long."""

from alembic import op

revision = "0007"
down_revision = "0006"

_NAME = "records_by_work"
_COLUMNS = ["status", "plan_digest", "machine_digest", "created_at", "id", "made_for", "model"]


def upgrade() -> None:
    op.create_index(_NAME, "records", _COLUMNS)


def downgrade() -> None:
    op.drop_index(_NAME, "records")

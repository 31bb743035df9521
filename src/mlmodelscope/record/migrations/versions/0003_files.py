"""The files of records with their digests, pins, and where records came from and who signed them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "files",
        sa.Column("record", sa.String(40), sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", sa.String(2100), primary_key=True),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("dropped_at", sa.DateTime),
    )
    op.create_table(
        "pins",
        sa.Column("record", sa.String(40), sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("pinned_at", sa.DateTime, nullable=False),
    )
    op.create_table(
        "origins",
        sa.Column("record", sa.String(40), sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("statement", sa.Text, nullable=False),
        sa.Column("source", sa.String(300), nullable=False),
        sa.Column("received_at", sa.DateTime, nullable=False),
    )
    op.create_index("origins_by_digest", "origins", ["digest"])
    op.create_table(
        "signatures",
        sa.Column("record", sa.String(40), sa.ForeignKey("origins.record", ondelete="CASCADE"), primary_key=True),
        sa.Column("key", sa.String(60), primary_key=True),
        sa.Column("signature", sa.String(100), nullable=False),
    )
    op.create_index("evaluations_by_record", "evaluations", ["record"])


def downgrade() -> None:
    op.drop_index("evaluations_by_record", "evaluations")
    for name in ("signatures", "origins", "pins", "files"):
        op.drop_table(name)

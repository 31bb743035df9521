"""What lists show of records as narrow rows of their own, and tags and notes that people put beside them."""

import sqlalchemy as sa
from alembic import op

from mlmodelscope.record.facts import facts_row, search_words
from mlmodelscope.record.record import Record

revision = "0011"
down_revision = "0010"

_AT_ONCE = 200
_OWN = (
    *("status", "kind", "scenario", "made_for", "plan_digest", "model", "model_version"),
    *("dataset", "dataset_version", "created_at", "finished_at", "samples", "failed"),
)


def upgrade() -> None:
    facts = op.create_table(
        "record_facts",
        sa.Column("record", sa.String(40), sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        *(sa.Column(name, sa.String(20), nullable=False) for name in ("status", "kind")),
        *(sa.Column(name, sa.String(20)) for name in ("scenario", "made_for")),
        sa.Column("plan_digest", sa.String(64), nullable=False),
        *(
            sa.Column(name, sa.String(100), nullable=False)
            for name in ("model", "model_version", "dataset", "dataset_version")
        ),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("finished_at", sa.DateTime),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("samples", "failed")),
        *(sa.Column(name, sa.String(100)) for name in ("split", "task")),
        *(sa.Column(name, sa.String(300)) for name in ("stack", "framework", "machine")),
        sa.Column("headline", sa.String(100)),
        *(sa.Column(name, sa.Float) for name in ("value", "low", "high")),
        sa.Column("unit", sa.String(20)),
        *(sa.Column(name, sa.Float) for name in ("latency_s", "samples_per_s", "took_s")),
        *(
            sa.Column(name, sa.String(64))
            for name in ("manifest_digest", "model_digest", "dataset_digest", "software_digest")
        ),
        sa.Column("subset", sa.String(60)),
        sa.Column("population", sa.Integer),
        sa.Column("claims", sa.Text),
        sa.Column("words", sa.Text, nullable=False),
    )
    op.create_table(
        "record_tags",
        sa.Column("record", sa.String(40), sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("tag", sa.String(50), primary_key=True),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
    )
    op.create_table(
        "record_notes",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("record", sa.String(40), sa.ForeignKey("records.id", ondelete="CASCADE"), nullable=False),
        sa.Column("owner", sa.String(100), nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    _fill(facts)
    op.create_index("record_facts_by_time", "record_facts", ["created_at", "record"])
    op.create_index("record_facts_by_model", "record_facts", ["model", "created_at", "record"])
    op.create_index("record_facts_by_dataset", "record_facts", ["dataset", "created_at", "record"])
    op.create_index("record_tags_by_tag", "record_tags", ["tag", "record"])
    op.create_index("record_notes_by_record", "record_notes", ["record", "at"])


def _fill(facts: sa.Table) -> None:
    connection = op.get_bind()
    records = sa.table("records", sa.column("id"), *(sa.column(name) for name in _OWN), sa.column("document"))
    for moment in ("created_at", "finished_at"):
        records.c[moment].type = sa.DateTime()
    names = list(connection.scalars(sa.select(records.c.id)))
    for start in range(0, len(names), _AT_ONCE):
        query = sa.select(records).where(records.c.id.in_(names[start : start + _AT_ONCE]))
        rows = [_facts(row) for row in connection.execute(query).mappings()]
        connection.execute(
            sa.insert(facts), [{column.name: row.get(column.name) for column in facts.c} for row in rows]
        )


def _facts(row: sa.RowMapping) -> dict[str, object]:
    """Of a document that no release can read any more: what its row has."""
    own: dict[str, object] = {"record": row["id"], **{name: row[name] for name in _OWN}}
    try:
        return {**facts_row(Record.model_validate_json(row["document"])), **own}
    except ValueError:
        return {**own, "words": search_words(own)}


def downgrade() -> None:
    for table in ("record_notes", "record_tags", "record_facts"):
        op.drop_table(table)

"""Notes that other evaluations ran concurrently: the answers are the same, but the latency is unreliable."""

from __future__ import annotations

from datetime import datetime

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.record.store import Store
from mlmodelscope.settings import Settings


def words_of(others: int) -> str:
    return f"ran beside {others} other{'' if others == 1 else 's'}: its latency counts little"


def note_concurrency(settings: Settings, record_id: str, since: datetime, words: str) -> None:
    """Add it to the record's notes, where the record was made meanwhile: one that was there before had no company."""
    store = Store(settings)
    try:
        record = store.get(record_id)
        if record.latency is None or record.finished_at is None or record.finished_at < since:
            return
        others = [note for note in record.notes if not note.startswith("ran beside ")]
        store.save(record.model_copy(update={"notes": (*others, words)}))
    except MLModelScopeError:
        return  # a note is welcome, but the record stands without it
    finally:
        store.close()

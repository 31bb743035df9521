"""A record whose files have changed is not reported as if nothing had happened."""

from collections.abc import Callable

import pytest

from mlmodelscope.errors import StoreError
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.settings import Settings


@pytest.mark.parametrize("form", ["html", "md", "json", "csv"])
def test_a_report_of_damaged_samples_is_refused(
    evaluated: Record, report: Callable[..., str], settings: Settings, form: str
) -> None:
    assert evaluated.id in report(evaluated, "md")
    path = Store(settings).samples_file(evaluated)
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(body)
    with pytest.raises(StoreError, match=r"samples\.parquet of record .* is not what it was") as refusal:
        report(evaluated, form)
    assert "db check --repair" in (refusal.value.hint or "")

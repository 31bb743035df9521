"""Parts of an evaluation, as agents hand them in."""

import zipfile
from pathlib import Path

import pytest

from mlmodelscope.errors import UsageError
from mlmodelscope.record.store import Store
from mlmodelscope.settings import Settings
from mlmodelscope.sharding import join_shards


@pytest.mark.parametrize(
    ("method", "length", "message"),
    [
        (zipfile.ZIP_BZIP2, 10, "packed in a way that is not used"),
        (zipfile.ZIP_DEFLATED, 80 << 20, "would take too much space"),
        (zipfile.ZIP_DEFLATED, 10, "this is no part of an evaluation"),
    ],
)
def test_a_part_that_is_a_bomb_is_refused(tmp_path: Path, method: int, length: int, message: str) -> None:
    with zipfile.ZipFile(tmp_path / "part.zip", "w", method) as packed:
        for name in ("facts.json", "samples.jsonl", "journal"):
            packed.writestr(name, bytes(length))
    store = Store(Settings(home=tmp_path / "home", cache=tmp_path / "cache"))
    with pytest.raises(UsageError, match=message):
        join_shards([tmp_path / "part.zip"], store)
    store.close()

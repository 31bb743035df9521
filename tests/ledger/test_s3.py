"""A blob store that speaks s3, where moto's server and s3fs are installed: the files of records are objects."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("moto", reason="moto[server] is not installed")
pytest.importorskip("s3fs", reason="s3fs is not installed")

from mlmodelscope import Settings, Store
from mlmodelscope.errors import StoreError
from mlmodelscope.record.files import blob_name
from mlmodelscope.upkeep.check import check

from . import shelf


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """A client of a server that is there for this test only, with one bucket."""
    import boto3

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    words = [sys.executable, "-m", "moto.server", "-p", url.rpartition(":")[2]]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for name, value in (("ACCESS_KEY_ID", "x"), ("SECRET_ACCESS_KEY", "y"), ("ENDPOINT_URL", url)):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    try:
        for _ in range(3000):
            try:
                urllib.request.urlopen(f"{url}/moto-api/", timeout=5).close()
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        client = boto3.client("s3")
        client.create_bucket(Bucket="bucket")
        yield client
        client.close()
    finally:
        server.terminate()
        server.wait()


def test_records_live_in_a_bucket(s3, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    where = Settings(tmp_path / "home", tmp_path / "cache", blobs="s3://bucket/prefix")
    store = Store(where)
    record = shelf.add(store)

    def objects() -> list[str]:
        return [each["Key"] for each in s3.list_objects_v2(Bucket="bucket").get("Contents", [])]

    names = [f"prefix/{blob_name(record.id, name)}" for name in ("batches.parquet", "samples.parquet")]
    assert objects() == names and check(where) == ([], 1)
    shelf.forget(store, record)
    assert store.samples(record).num_rows == 6  # fetched
    s3.delete_object(Bucket="bucket", Key=names[1])
    assert [each.is_mended for each in check(where, repair=True)[0]] == [True] and objects() == names
    (store.folder(record.id) / "samples.parquet").write_bytes(b"damaged")
    assert [each.is_mended for each in check(where, repair=True)[0]] == [True] and check(where) == ([], 1)
    store.delete(record)
    assert objects() == []
    with pytest.raises(StoreError, match="blob store"):
        shelf.add(Store(Settings(tmp_path / "home", tmp_path / "cache", blobs="s3://nobucket/prefix")))
    store.close()

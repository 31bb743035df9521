"""Downloads have an end, whatever the other side sends."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import Handler, Server, whole
from packages import make_zip

from mlmodelscope.errors import ArtifactError, UsageError
from mlmodelscope.provision import allowance
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings


def endless(handler: Handler) -> None:
    """Sends as long as anybody listens, and never says how much it will be."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(bytes(1 << 16))
    except OSError:
        handler.close_connection = True


def kept(settings: Settings) -> list[Path]:
    return [path for path in settings.cache.rglob("*") if path.is_file() and path.parent.name != "locks"]


def test_a_download_without_an_end_is_refused_and_nothing_stays(server: Server, settings: Settings) -> None:
    settings = replace(settings, largest_file=1 << 20)
    with pytest.raises(ArtifactError, match="net has more than 1048576 bytes and is not fetched") as refusal:
        ArtifactStore(settings).fetch(server.at("/net", endless))
    assert "MLMODELSCOPE_LARGEST_FILE" in (refusal.value.hint or "")
    assert kept(settings) == []


def test_what_announces_too_much_is_not_fetched(server: Server, settings: Settings) -> None:
    store = ArtifactStore(replace(settings, largest_file=999))
    with pytest.raises(ArtifactError, match="more than 999 bytes"):
        store.fetch(server.at("/net", whole(bytes(1000))))
    assert store.fetch(server.at("/less", whole(bytes(999)))).path.stat().st_size == 999


def test_all_files_of_a_request_count_together(server: Server, settings: Settings) -> None:
    store = ArtifactStore(replace(settings, largest_request=1500))
    store.fetch(server.at("/one", whole(os.urandom(1000))))
    with pytest.raises(ArtifactError, match="more than 1500 bytes would be fetched for one request"):
        store.fetch(server.at("/two", whole(os.urandom(1000))))
    assert ArtifactStore(store.settings).fetch(server.at("/two", whole(bytes(1000)))).path.exists()  # another request


def test_strangers_may_have_less(settings: Settings) -> None:
    own, strangers = settings.download_limits, replace(settings, public_only=True).download_limits
    assert strangers[0] <= own[0] // 4 and strangers[1] <= own[1] // 4
    assert replace(settings, public_only=True, largest_file=5).download_limits[0] == 5


def test_what_comes_out_of_a_strangers_archive_counts_as_well(server: Server, settings: Settings) -> None:
    path = settings.home / "data.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(make_zip({"a": bytes(5000)}))
    limited = replace(settings, public_only=True, largest_public_request=4000)
    with pytest.raises(ArtifactError, match="unpacks to more than 4000 bytes"):
        ArtifactStore(limited).fetch(f"{path}#a")
    assert ArtifactStore(replace(limited, public_only=False)).fetch(f"{path}#a").path.stat().st_size == 5000


def test_the_last_of_the_disk_is_left_free(server: Server, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked at while it is written: nobody said how much it would be."""
    free = iter([1 << 40, 1 << 20])
    disk = os.statvfs("/")
    monkeypatch.setattr(allowance, "_LOOK_EVERY", 1 << 20)
    monkeypatch.setattr(allowance.os, "statvfs", lambda place: _disk(disk, next(free)))
    with pytest.raises(ArtifactError, match="no space left on the disk"):
        ArtifactStore(settings).fetch(server.at("/net", endless))
    assert kept(settings) == []


def _disk(like: os.statvfs_result, free: int) -> os.statvfs_result:
    """A disk of a tebibyte, with so much free."""
    return os.statvfs_result((1, 1, 1 << 40, free, free, *like[5:]))


@pytest.mark.parametrize(("text", "count"), [("20G", 20 << 30), ("512 MiB", 512 << 20), ("7", 7), ("3kb", 3 << 10)])
def test_limits_come_from_variables(text: str, count: int) -> None:
    found = Settings.from_environment({"MLMODELSCOPE_LARGEST_FILE": text})
    assert found.largest_file == count
    assert Settings.from_environment(found.limits_as_variables()).largest_file == count


def test_a_variable_that_is_no_size_is_refused() -> None:
    with pytest.raises(UsageError, match="MLMODELSCOPE_LARGEST_REQUEST is `much`"):
        Settings.from_environment({"MLMODELSCOPE_LARGEST_REQUEST": "much"})

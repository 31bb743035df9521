"""Disks that are full, closed or not folders at all."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import Server, whole
from packages import checksum, make_zip

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one mebibyte."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only the system administrator can make a small disk")
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine lets nobody mount a small disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("kind", ["file", "member", "folder"])
def test_a_full_disk_is_said_plainly_and_nothing_stays(
    server: Server, settings: Settings, small_disk: Path, kind: str
) -> None:
    large = os.urandom(2 << 20) if kind == "file" else b"\0" * (2 << 20)
    reference = (
        server.at("/net", whole(large))
        if kind == "file"
        else server.at("/data.zip", whole(make_zip({"in/net": large}))) + {"member": "#in/net", "folder": "#in/"}[kind]
    )
    store = ArtifactStore(replace(settings, cache=small_disk))
    with pytest.raises(ArtifactError, match=f"no space left on the disk of {small_disk}") as refusal:
        store.fetch(reference)
    assert "MLMODELSCOPE_CACHE" in (refusal.value.hint or "")
    assert [path for path in small_disk.rglob("*") if path.is_file() and path.parent.name != "locks"] == []


def test_when_there_is_space_again_it_works(server: Server, settings: Settings, small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(b"\0" * (900 << 10))
    body = os.urandom(200 << 10)
    store, url = ArtifactStore(replace(settings, cache=small_disk)), server.at("/net", whole(body))
    with pytest.raises(ArtifactError, match="no space left"):
        store.fetch(url)
    (small_disk / "ballast").unlink()
    assert store.fetch(url).path.read_bytes() == body


def test_a_cache_that_may_only_be_read_is_enough_for_what_it_has(
    server: Server, settings: Settings, open_folder: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    store = ArtifactStore(replace(settings, cache=open_folder))
    url = server.at("/net", whole(b"net"))
    member = server.at("/data.zip", whole(make_zip({"in/a": b"a"}))) + "#in/"
    found = store.fetch(url), store.fetch(url, checksum(b"net")), store.fetch(member)
    derived = store.derive("key", lambda draft: draft.write_bytes(b"derived") and None)
    for folder in (open_folder, *open_folder.glob("*/")):
        folder.chmod(0o555)
    with unprivileged():
        assert (store.fetch(url), store.fetch(url, checksum(b"net")), store.fetch(member)) == found
        assert store.derive("key", lambda draft: None) == derived


def test_a_cache_that_may_not_be_written_is_named_with_a_way_out(
    server: Server, settings: Settings, open_folder: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    store = ArtifactStore(replace(settings, cache=open_folder / "cache"))
    url = server.at("/net", whole(b"net"))
    open_folder.chmod(0o555)
    with unprivileged(), pytest.raises(ArtifactError, match=f"{open_folder}.* may not be written") as refusal:
        store.fetch(url)
    assert "MLMODELSCOPE_CACHE" in (refusal.value.hint or "")


def test_a_file_that_may_not_be_read_is_not_blamed_on_the_cache(
    settings: Settings, open_folder: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    (open_folder / "cache").mkdir()
    (open_folder / "cache").chmod(0o777)
    (open_folder / "data.zip").write_bytes(make_zip({"a": b"a"}))
    (open_folder / "data.zip").chmod(0)
    (open_folder / "closed").mkdir(mode=0)
    store = ArtifactStore(replace(settings, cache=open_folder / "cache"))
    for reference in ("data.zip", "data.zip#a", "closed/net"):
        with unprivileged(), pytest.raises(ArtifactError, match=f"cannot read {open_folder}/.*denied"):
            store.fetch(f"{open_folder}/{reference}")


def test_a_cache_that_is_a_file_is_named(server: Server, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("not a folder")
    with pytest.raises(ArtifactError, match=f"cannot use {tmp_path}/cache"):
        ArtifactStore(settings).fetch(server.at("/net", whole(b"net")))

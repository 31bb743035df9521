"""Object stores and the like, through fsspec's own store in memory."""

import builtins
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from packages import checksum, make_zip

from mlmodelscope.errors import ArtifactError, ChecksumError, OfflineError
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def memory(bare_machine: Path) -> Iterator[Any]:
    system = fsspec.filesystem("memory")
    yield system
    system.rm("/", recursive=True)


def test_a_file_comes_out_of_an_object_store(memory: Any, settings: Settings) -> None:
    memory.pipe("/bucket/net.onnx", b"net" * 1000)
    steps: list[tuple[str, int, int | None]] = []
    store = ArtifactStore(settings, lambda *step: steps.append(step))
    path = store.fetch("memory://bucket/net.onnx", checksum(b"net" * 1000)).path
    assert path.read_bytes() == b"net" * 1000
    assert steps[0][:2] == ("net.onnx", 0) and steps[-1][:2] == ("net.onnx", 3000)


def test_so_does_a_folder_of_an_archive(memory: Any, store: ArtifactStore) -> None:
    memory.pipe("/bucket/data.zip", make_zip({"images/1": b"1"}))
    assert (store.fetch("memory://bucket/data.zip#images/").path / "1").read_bytes() == b"1"


def test_a_wrong_checksum_is_refused(memory: Any, store: ArtifactStore, leftovers: Callable[[], list[str]]) -> None:
    memory.pipe("/bucket/net.onnx", b"other")
    with pytest.raises(ChecksumError, match=r"memory://bucket/net\.onnx"):
        store.fetch("memory://bucket/net.onnx", checksum(b"net"))
    assert leftovers() == []


def test_what_is_not_there_is_named(memory: Any, store: ArtifactStore) -> None:
    with pytest.raises(ArtifactError, match=r"there is no memory://bucket/nothing"):
        store.fetch("memory://bucket/nothing")


def test_offline_an_object_store_is_not_asked(memory: Any, settings: Settings) -> None:
    memory.pipe("/bucket/net.onnx", b"net")
    with pytest.raises(OfflineError):
        ArtifactStore(replace(settings, offline=True)).fetch("memory://bucket/net.onnx")


def test_an_unknown_kind_of_address_is_named(store: ArtifactStore) -> None:
    with pytest.raises(ArtifactError, match="gopher"):
        store.fetch("gopher://host/net")


def test_whatever_a_protocol_raises_becomes_an_error_without_secrets(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoCredentials(Exception):
        """As botocore's own: neither an OSError nor a ValueError."""

    def refuse(url: str, mode: str) -> None:
        raise NoCredentials(f"cannot open {url} with s3cr3t")

    monkeypatch.setattr(fsspec, "open", refuse)
    with pytest.raises(ArtifactError, match="cannot open s3://bucket/net with …") as refusal:
        store.fetch("s3://me:s3cr3t@bucket/net")
    assert "s3cr3t" not in str(refusal.value)


def test_without_fsspec_the_way_to_get_it_is_told(store: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__
    monkeypatch.delitem(sys.modules, "fsspec")
    monkeypatch.setattr(
        builtins, "__import__", lambda name, *rest: real("no." + name if name == "fsspec" else name, *rest)
    )
    with pytest.raises(ArtifactError, match="need fsspec") as refusal:
        store.fetch("s3://bucket/net")
    assert "pip install 'fsspec" in (refusal.value.hint or "")

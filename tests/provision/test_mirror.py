"""Folders that stand in for the network."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import Server, whole
from packages import checksum, make_npm, make_tar, make_zip

from mlmodelscope.errors import ArtifactError, OfflineError
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings

BODY = b"weights"
URL = "https://host.invalid/nets/net.onnx"


@pytest.fixture
def mirror(tmp_path: Path, bare_machine: Path) -> Path:
    folder = tmp_path / "mirror"
    folder.mkdir()
    return folder


@pytest.fixture
def offline(settings: Settings, mirror: Path) -> ArtifactStore:
    return ArtifactStore(replace(settings, mirrors=(mirror,), offline=True))


@pytest.mark.parametrize("name", ["net.onnx", "sub/folder/other-name", checksum(BODY).split(":")[1]])
@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256", "sha384"])
def test_a_file_is_found_by_its_digest_whatever_its_name(
    offline: ArtifactStore, mirror: Path, name: str, algorithm: str
) -> None:
    path = mirror / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(BODY)
    (mirror / "decoy").write_bytes(b"something else")
    assert offline.fetch(URL, checksum(BODY, algorithm)).path == path


def test_without_a_checksum_a_file_name_is_not_enough(offline: ArtifactStore, mirror: Path) -> None:
    (mirror / "net.onnx").write_bytes(b"some other net")
    with pytest.raises(OfflineError):
        offline.fetch(URL)


def test_a_file_that_is_missing_here_may_be_in_the_mirror(offline: ArtifactStore, mirror: Path) -> None:
    (mirror / "x").write_bytes(BODY)
    assert offline.fetch("/nowhere/net.onnx", checksum(BODY)).path == mirror / "x"


@pytest.mark.parametrize(
    ("reference", "file", "body"),
    [
        ("npm:data@1.0.0/a/b", "data-1.0.0.tgz", make_npm({"a/b": BODY})),
        ("npm:@my/data@1.0.0/a/b", "my-data-1.0.0.tgz", make_npm({"a/b": BODY})),
        ("pypi:My_Data==1.0/data/b", "my_data-1.0-py3-none-any.whl", make_zip({"data/b": BODY})),
        ("pypi:My_Data==1.0/my_data-1.0/b", "my-data-1.0.tar.gz", make_tar({"my_data-1.0/b": BODY})),
    ],
)
@pytest.mark.parametrize("is_checked", [True, False])
def test_a_package_is_found_by_its_file_name(
    offline: ArtifactStore, mirror: Path, reference: str, file: str, body: bytes, is_checked: bool
) -> None:
    (mirror / file).write_bytes(body)
    assert offline.fetch(reference, checksum(BODY) if is_checked else None).path.read_bytes() == BODY


def test_another_archive_is_found_by_its_file_name_when_what_comes_out_is_checked(
    offline: ArtifactStore, mirror: Path
) -> None:
    (mirror / "data.zip").write_bytes(make_zip({"b": BODY}))
    with pytest.raises(OfflineError):
        offline.fetch("https://host.invalid/data.zip#b")
    assert offline.fetch("https://host.invalid/data.zip?v=1#b", checksum(BODY)).path.read_bytes() == BODY


def test_the_network_helps_where_the_mirror_has_another_archive_of_that_name(
    server: Server, settings: Settings, mirror: Path
) -> None:
    (mirror / "data.zip").write_bytes(make_zip({"b": b"other"}))
    url = server.at("/data.zip", whole(make_zip({"b": BODY})))
    store = ArtifactStore(replace(settings, mirrors=(mirror,)))
    assert store.fetch(url + "#b", checksum(BODY)).path.read_bytes() == BODY


def test_offline_the_trouble_with_the_mirrors_copy_is_told(offline: ArtifactStore, mirror: Path) -> None:
    (mirror / "data-1.0.0.tgz").write_bytes(make_npm({"a": b"a"}))
    with pytest.raises(ArtifactError, match=r"data-1\.0\.0\.tgz has no member `b`"):
        offline.fetch("npm:data@1.0.0/b")


def test_a_mirrors_own_file_is_never_moved(offline: ArtifactStore, mirror: Path) -> None:
    (mirror / "data.zip").write_bytes(make_zip({"b": BODY}))
    offline.fetch("https://host.invalid/data.zip#b", checksum(BODY))
    assert os.listdir(mirror) == ["data.zip"]


def test_a_file_that_cannot_be_read_does_not_hide_the_others(
    open_folder: Path, settings: Settings, unprivileged: Callable[[], AbstractContextManager[None]], bare_machine: Path
) -> None:
    (open_folder / "a").write_bytes(b"secret")
    (open_folder / "a").chmod(0)
    (open_folder / "b").write_bytes(BODY)
    (open_folder / "c").symlink_to("nowhere")
    (open_folder / "cache").mkdir(mode=0o777)
    (open_folder / "cache").chmod(0o777)
    store = ArtifactStore(replace(settings, cache=open_folder / "cache", mirrors=(open_folder,), offline=True))
    with unprivileged():
        assert store.fetch(URL, checksum(BODY)).path == open_folder / "b"


def test_a_mirror_that_is_not_there_is_no_trouble(server: Server, settings: Settings, tmp_path: Path) -> None:
    store = ArtifactStore(replace(settings, mirrors=(tmp_path / "nothing",)))
    assert store.fetch(server.at("/net", whole(BODY)), checksum(BODY)).path.read_bytes() == BODY

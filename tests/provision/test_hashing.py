"""Digests are remembered, and yet never wrong."""

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest
from packages import sha256

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision import hashing
from mlmodelscope.provision.hashing import Hasher, list_files


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Which files were really read."""
    paths: list[Path] = []
    real = hashing.hash_file

    def watch(path: Path, algorithm: str = "sha256") -> str:
        paths.append(path)
        return real(path, algorithm)

    monkeypatch.setattr(hashing, "hash_file", watch)
    return paths


@pytest.fixture
def all_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every file had been there for long."""
    monkeypatch.setattr(hashing, "_SETTLED_S", -1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    return path


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "digests.sqlite"


def test_a_file_is_read_once(file: Path, memory: Path, reads: list[Path], all_settled: None) -> None:
    assert {Hasher(memory).file(file) for _ in range(3)} == {sha256(b"one")}
    assert reads == [file]


def test_a_fresh_file_is_not_remembered(file: Path, memory: Path, reads: list[Path]) -> None:
    """It may change again within the resolution of its time stamp."""
    for _ in range(2):
        Hasher(memory).file(file)
    assert reads == [file, file]


@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256", "sha384"])
def test_each_algorithm_is_remembered_apart(file: Path, memory: Path, all_settled: None, algorithm: str) -> None:
    Hasher(memory).file(file)
    expected = hashlib.new(algorithm, b"one").hexdigest()
    assert Hasher(memory).file(file, algorithm) == Hasher(memory).file(file, algorithm) == expected


def test_a_change_of_the_same_size_is_noticed(file: Path, memory: Path, all_settled: None) -> None:
    Hasher(memory).file(file)
    file.write_bytes(b"two")
    os.utime(file, ns=(1, 1))
    assert Hasher(memory).file(file) == sha256(b"two")


def test_a_change_is_noticed_even_when_the_time_is_set_back(file: Path, memory: Path, all_settled: None) -> None:
    """`cp -p`, `rsync -t` and `touch -r` do that."""
    before = file.stat()
    Hasher(memory).file(file)
    while file.stat().st_ctime_ns == before.st_ctime_ns:  # until the file system's clock has moved on
        file.write_bytes(b"two")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert Hasher(memory).file(file) == sha256(b"two")


def test_another_file_in_its_place_is_noticed(file: Path, memory: Path, all_settled: None, tmp_path: Path) -> None:
    Hasher(memory).file(file)
    (tmp_path / "other").write_bytes(b"two")
    os.replace(tmp_path / "other", file)
    assert Hasher(memory).file(file) == sha256(b"two")


def damage_bytes(memory: Path) -> None:
    memory.write_bytes(b"this is no database" * 100)


def damage_page(memory: Path) -> None:
    memory.write_bytes(memory.read_bytes()[:1000] + b"\xff" * 7000)


def damage_table(memory: Path) -> None:
    with closing(sqlite3.connect(memory)) as database:
        database.execute("DROP TABLE digests")
        database.execute("CREATE TABLE digests (other INTEGER)")


def empty(memory: Path) -> None:
    memory.write_bytes(b"")


def folder(memory: Path) -> None:
    memory.unlink()
    memory.mkdir()


@pytest.mark.parametrize("damage", [damage_bytes, damage_page, damage_table, empty, folder])
def test_a_damaged_memory_gives_no_wrong_digest(
    file: Path, memory: Path, all_settled: None, damage: Callable[[Path], None]
) -> None:
    Hasher(memory).file(file)
    damage(memory)
    assert Hasher(memory).file(file) == sha256(b"one")


def test_a_memory_that_is_no_database_is_begun_anew(
    file: Path, memory: Path, all_settled: None, reads: list[Path]
) -> None:
    Hasher(memory).file(file)
    damage_bytes(memory)
    for _ in range(3):
        Hasher(memory).file(file)
    assert len(reads) == 2


def test_a_memory_that_may_not_be_written_is_no_trouble(
    open_folder: Path, all_settled: None, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    (open_folder / "file").write_bytes(b"one")
    open_folder.chmod(0o555)
    with unprivileged():
        assert Hasher(open_folder / "digests.sqlite").file(open_folder / "file") == sha256(b"one")
    assert os.listdir(open_folder) == ["file"]


def test_a_name_that_is_no_text_is_hashed_all_the_same(tmp_path: Path, memory: Path, all_settled: None) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    path.write_bytes(b"one")
    assert Hasher(memory).file(path) == sha256(b"one")


def test_many_files_keep_their_order(tmp_path: Path, memory: Path, all_settled: None) -> None:
    paths = [tmp_path / f"{number:04d}" for number in range(1200)]
    for path in paths:
        path.write_bytes(path.name.encode())
    expected = [sha256(path.name.encode()) for path in paths]
    assert Hasher(memory).files(paths) == Hasher(memory).files(paths) == expected


def test_many_threads_may_hash_at_once(file: Path, memory: Path, all_settled: None) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(Hasher(memory).file(file))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [sha256(b"one")] * 8


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to("nowhere")
    for name, reason in [("pipe", "not a plain file"), ("dangling", "No such file"), ("x" * 300, "too long")]:
        with pytest.raises(ArtifactError, match=f"{name}.*{reason}"):
            Hasher().file(tmp_path / name)


def test_a_folder_is_listed_by_path(tmp_path: Path) -> None:
    for name in ("b/1", "a/2", "a/1", "c", ".hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert list_files(tmp_path) == [".hidden", "a/1", "a/2", "b/1", "c"]


def test_links_to_folders_and_files_are_followed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/1").touch()
    (tmp_path / "set").mkdir()
    (tmp_path / "set/folder").symlink_to(tmp_path / "data")
    (tmp_path / "set/file").symlink_to(tmp_path / "data/1")
    assert list_files(tmp_path / "set") == ["file", "folder/1"]


def test_a_link_to_the_folder_it_lies_in_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/up").symlink_to(tmp_path)
    with pytest.raises(ArtifactError, match="a link to a folder that it lies in"):
        list_files(tmp_path)


@pytest.mark.parametrize("name", [b"one\ntwo", b"\xff\xfe"])
def test_a_name_that_could_pass_for_another_file_is_refused(tmp_path: Path, name: bytes) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).touch()
    with pytest.raises(ArtifactError, match="not one line of UTF-8 text"):
        Hasher().tree(tmp_path)


def test_a_folder_that_cannot_be_listed_is_an_error_and_not_a_gap(
    open_folder: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    (open_folder / "closed").mkdir(mode=0)
    with unprivileged(), pytest.raises(ArtifactError, match="cannot list .*closed.*denied"):
        list_files(open_folder)


def test_a_digest_of_a_folder_depends_on_names_and_content_only(tmp_path: Path) -> None:
    digests = set()
    for copy, order in [("one", "ab"), ("two", "ba")]:
        (tmp_path / copy).mkdir()
        for name in order:
            (tmp_path / copy / name).write_text(name)
            os.utime(tmp_path / copy / name, (time.time() - 5000, 0))
        digests.add(Hasher().tree(tmp_path / copy))
    assert len(digests) == 1
    (tmp_path / "one/a").rename(tmp_path / "one/c")
    assert Hasher().tree(tmp_path / "one") not in digests

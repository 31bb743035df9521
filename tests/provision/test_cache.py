"""What killed, slow and simultaneous processes may do to a cache, without any network."""

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

from mlmodelscope.provision.cache import Cache


def test_a_workplace_is_gone_whatever_happens(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with pytest.raises(FileNotFoundError), cache.workplace() as place:
        (place / "half").write_bytes(b"x")
        raise FileNotFoundError("on the way")
    assert list((tmp_path / "partial").iterdir()) == []


def test_what_a_killed_process_left_is_swept_by_the_next(tmp_path: Path) -> None:
    script = (
        "import os, sys, pathlib\n"
        "from mlmodelscope.provision.cache import Cache\n"
        "with Cache(pathlib.Path(sys.argv[1])).workplace() as place:\n"
        "    (place / 'half').write_bytes(b'x' * 1000)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert len(list((tmp_path / "partial").iterdir())) == 1
    with Cache(tmp_path).workplace() as place:
        assert list((tmp_path / "partial").iterdir()) == [place]


def test_the_workplace_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with cache.workplace() as one:
        (one / "draft").write_bytes(b"x")
        with cache.workplace() as other:
            assert one != other
        assert (one / "draft").exists()


def test_a_key_is_locked_for_others(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with cache.lock("key"):
        (file,) = (tmp_path / "locks").iterdir()
        with file.open("w") as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with file.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_first_of_two_equal_folders_stays(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for text in ("first", "second"):
        with cache.workplace() as place:
            (place / "content").mkdir()
            (place / "content/a").write_text(text)
            assert cache.put_folder(place / "content", "ab" * 32) == cache.folder("ab" * 32)
    assert (cache.folder("ab" * 32) / "a").read_text() == "first"


def test_what_is_dropped_twice_is_no_trouble(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    (tmp_path / "x").touch()
    cache.drop(tmp_path / "x")
    cache.drop(tmp_path / "x")
    assert not (tmp_path / "x").exists()

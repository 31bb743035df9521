"""Several processes and one cache: simultaneous, and killed in the middle."""

import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from loopback import Server, held, whole
from packages import make_zip, sha256

from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings

BODY = bytes(range(251)) * 4000  # several blocks

SCRIPT = """
import sys
from pathlib import Path
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings

cache, reference = sys.argv[1:]
settings = Settings(home=Path(cache), cache=Path(cache))
store = ArtifactStore(settings, lambda name, done, total: print("progress", done, flush=True))
print("ready", flush=True)
print("digest", store.fetch(reference).sha256, flush=True)
"""

Start = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def start(settings: Settings, server: Server) -> Start:
    """Fetch a reference in a process of its own."""

    def run(reference: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", SCRIPT, str(settings.cache), reference]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    return run


def read_until(process: "subprocess.Popen[str]", word: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(word):
            return line.split()[1] if " " in line else ""
    raise AssertionError(f"the process ended without `{word}`")


def test_two_processes_that_want_the_same_file_cost_one_download(server: Server, start: Start) -> None:
    gate = threading.Event()
    url = server.at("/net", held(BODY, 300_000, gate))
    with start(url) as one, start(url) as other:
        read_until(one, "ready")
        read_until(other, "ready")
        gate.set()
        assert read_until(one, "digest") == read_until(other, "digest") == sha256(BODY)
    assert server.paths == ["/net"]


def test_two_members_of_one_archive_at_once_do_not_spoil_each_other(server: Server, start: Start) -> None:
    gate = threading.Event()
    packed = make_zip({"one": BODY, "other": BODY[::-1]}, compression=0)
    url = server.at("/data.zip", held(packed, 300_000, gate))
    with start(url + "#one") as one, start(url + "#other") as other:
        read_until(one, "ready")
        read_until(other, "ready")
        gate.set()
        assert (read_until(one, "digest"), read_until(other, "digest")) == (sha256(BODY), sha256(BODY[::-1]))


def test_after_a_kill_the_download_goes_on_and_nothing_half_made_is_seen(
    server: Server, start: Start, settings: Settings
) -> None:
    gate = threading.Event()
    url = server.at("/net", held(BODY, 700_000, gate), whole(BODY))
    with start(url) as process:
        while int(read_until(process, "progress")) < 500_000:
            pass
        process.kill()
    gate.set()
    assert not (settings.cache / "files").exists() and not (settings.cache / "known").exists()
    assert ArtifactStore(settings).fetch(url).sha256 == sha256(BODY)
    assert server.ranges == [None, "bytes=524288-"]
    assert list((settings.cache / "partial").iterdir()) == []

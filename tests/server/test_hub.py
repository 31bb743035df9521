"""Records handed from a person to a server and on to the next, over real sockets."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlmodelscope import Settings, Store
from mlmodelscope.client.client import Client
from mlmodelscope.errors import TrustError
from mlmodelscope.hub.keys import Keyring
from mlmodelscope.hub.pack import pack

from .conftest import World

pytest.importorskip("cryptography", reason="cryptography is not installed")


class Place(World):
    """Ada, who has a record and a key, and a server that knows her."""

    key = record = ""

    @property
    def bundle(self) -> Path:
        return self.place / "bundle.zip"

    def make(self) -> None:
        self.key = self.run("keys", "show", home="ada")
        self.record = self.evaluate(home="ada", timed_runs=5, warm_up_runs=1).id
        self.run("keys", "add", "ada", self.key, home="server")
        self.run("push", self.record, "--to", str(self.bundle), home="ada")

    def copy(self, made: Place) -> None:
        self.key, self.record = made.key, made.record
        shutil.copytree(made.place, self.place, dirs_exist_ok=True)

    def try_to(self, *arguments: str, home: str) -> tuple[int, str]:
        code, told, complained = self.say(*arguments, home=home)
        return code, told + complained

    def push(self) -> str:
        return self.run("push", self.record, "--to", self.url, home="ada")

    def leftovers(self) -> list[Path]:
        home = self.place / "server"
        return [*home.glob("tmp*"), *(home / "records").glob("draft-*")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    found = Place(tmp_path_factory.mktemp("hub"))
    found.make()
    yield found
    found.close()


@pytest.fixture
def place(made: Place, tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path)
    found.copy(made)
    yield found
    found.close()


def test_a_push_that_is_killed_leaves_nothing_and_the_next_one_is_whole(place: Place) -> None:
    server, whole = place.serve(executor="none"), place.bundle.read_bytes()
    head = f"POST /api/v1/bundles HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(whole)}\r\n\r\n".encode()
    for share in (0, 1, len(whole) // 2, len(whole) - 1):
        with socket.create_connection(("127.0.0.1", place.port), 300) as line:
            line.sendall(head + whole[:share])
    place.until(lambda: not place.leftovers(), "what came of it is gone")
    with Client(place.url) as client:
        assert client.records() == []
    with socket.create_connection(("127.0.0.1", place.port), 300) as line:
        line.sendall(head + whole[: len(whole) // 2])
        place.until(place.leftovers, "the first half is there")
        server.kill()
        server.wait()
    place.serve(executor="none")
    place.push()
    with Client(place.url) as client:
        assert [each["id"] for each in client.records()] == [place.record]


def test_a_record_is_pushed_once_and_pulled_by_others(place: Place) -> None:
    place.host(executor="none")
    place.push()
    assert "already there" in place.push()
    with Client(place.url) as client:
        mine = client.get("/keys")["own"]
        origin = client.get(f"/records/{place.record}/origin")
    assert origin["source"] == "pushed by local" and origin["signers"] == [{"key": place.key, "name": "ada"}]
    code, said = place.try_to("pull", place.record, "--from", place.url, home="carl")
    assert code == 1 and place.key in said and mine in said and "keys add" in said
    place.run("keys", "add", "ada", place.key, home="carl")
    assert "taken in, signed by" in place.run("pull", place.record, "--from", place.url, home="carl")
    assert "already there" in place.run("pull", place.record, "--from", place.url, home="carl")
    shown = place.run("records", "show", place.record, home="carl")
    assert "signed by" in shown and "ada" in shown
    assert "signed by" in place.run("records", "show", place.record, "--server", place.url, home="dora")
    place.run("report", place.record, "-o", str(place.place / "r.html"), home="carl")
    assert place.record in (place.place / "r.html").read_text()
    assert "60 of 60 expected answers" in place.run("replay", place.record, "--again", home="carl")
    assert place.run("compare", place.record, "latest", home="carl")


def test_who_may_do_what(place: Place) -> None:
    reader = {"Authorization": f"Bearer {place.token('read', owner='bob')}"}
    place.host(executor="none")
    http, whole = place.http, place.bundle.read_bytes()
    assert http.post("/bundles", content=whole, headers=reader).status_code == 403
    assert http.get("/keys", headers=reader).status_code == 200
    assert http.get("/records/nothing/origin").status_code == 404
    assert http.post("/records/nothing/pin", json={}).status_code == 404
    another = b"0" if whole[-1:] != b"0" else b"1"  # it ends in a digest
    for body, status in ((b"", 400), (b"nonsense", 400), (whole[:-1], 400), (whole[:-1] + another, 400)):
        assert http.post("/bundles", content=body).status_code == status


def test_strangers_records_are_refused_over_http(place: Place) -> None:
    place.host(executor="none")
    store = Store(Settings(place.place / "ada", place.place / "cache"))
    pack(store.get("latest"), store, place.place / "eve.zip", Keyring(place.place / "eve").own())
    store.close()
    with Client(place.url) as client, pytest.raises(TrustError, match="nobody who is known here"):
        client.send_file("/bundles", place.place / "eve.zip")


def test_files_and_folders_will_do(place: Place) -> None:
    folder = place.place / "shelf"
    folder.mkdir()
    place.run("push", place.record, "--to", str(folder), home="ada")
    assert "already there" in place.run("push", place.record, "--to", str(folder), home="ada")
    assert "not signed" not in place.run("pull", "--from", str(folder), "--unsigned", home="finn")
    code, said = place.try_to("pull", "2099", "--from", str(folder), home="finn")
    assert code == 2 and "no bundle of `2099`" in said
    pinned = place.run("records", "pin", place.record, home="finn")
    assert "stay" in pinned and "may go" in place.run("records", "pin", "--off", place.record, home="finn")


def test_a_server_takes_old_records_away_and_writes_that_down(place: Place) -> None:
    place.host(executor="none")
    place.push()
    with Client(place.url, place.token("admin")) as client:
        client.post(f"/records/{place.record}/pin", {"pinned": True})
        place.stop_hosting()
        place.host(executor="none", retention={"records_days": 1e-6, "every_s": 0.2})
        assert [each["id"] for each in client.records()] == [place.record]
        client.post(f"/records/{place.record}/pin", {"pinned": False})
        place.until(lambda: not client.records(), "it is gone")
        place.until(lambda: client.get("/audit")["items"][0]["what"] == "retention", "it is written down")
    place.until(lambda: "retention took away" in place.log("server"), "it is logged")
    line = next(line for line in place.log("server").splitlines() if "retention took away" in line)
    assert "1 record" in line

"""Records handed from a person to a server and on to the next, over real sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from mlmodelscope import Options, Settings, Store, evaluate
from mlmodelscope.cli.main import app
from mlmodelscope.client.client import Client
from mlmodelscope.errors import TrustError
from mlmodelscope.hub.keys import Keyring
from mlmodelscope.hub.pack import pack

from .conftest import World

pytest.importorskip("cryptography", reason="cryptography is not installed")


class Place:
    """A server that knows Ada, who has a record."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.key = self.run("keys", "show", home="ada")
        self.record = self.evaluate("ada")
        self.run("keys", "add", "ada", self.key, home="server")
        self.reader = self.run("token", "make", "--owner", "bob", "--scope", "read", home="server")
        self.server = world.serve(executor="none")
        self.bundle = world.place / "bundle.zip"
        self.run("push", self.record, "--to", str(self.bundle), home="ada")

    def evaluate(self, home: str) -> str:
        settings = Settings(self.world.place / home, self.world.place / "cache")
        manifests = self.world.place / "manifests"
        options = Options(timed_runs=5, warm_up_runs=1)
        return evaluate(manifests / "toy.yml", manifests / "pictures.yml", options, settings=settings).id

    def run(self, *arguments: str, home: str) -> str:
        code, said = self.try_to(*arguments, home=home)
        assert code == 0, said
        return said.strip()

    def try_to(self, *arguments: str, home: str) -> tuple[int, str]:
        """A command in this process: starting another one takes longer than most of them."""
        done = CliRunner(env=self.world.environment(home)).invoke(app, arguments)
        return done.exit_code, done.output

    def leftovers(self) -> list[Path]:
        home = self.world.place / "server"
        return [*home.glob("tmp*"), *(home / "records").glob("draft-*")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    world = World(tmp_path_factory.mktemp("hub"))
    try:
        yield Place(world)
    finally:
        world.close()


def test_a_push_that_is_killed_leaves_nothing_and_the_next_one_is_whole(place: Place) -> None:
    world, whole = place.world, place.bundle.read_bytes()
    head = f"POST /api/v1/bundles HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(whole)}\r\n\r\n".encode()
    for share in (0, 1, len(whole) // 2, len(whole) - 1):
        with socket.create_connection(("127.0.0.1", world.port), 300) as line:
            line.sendall(head + whole[:share])
    world.until(lambda: not place.leftovers(), "what came of it is gone")
    with Client(world.url) as client:
        assert client.records() == []
    with socket.create_connection(("127.0.0.1", world.port), 300) as line:
        line.sendall(head + whole[: len(whole) // 2])
        world.until(place.leftovers, "the first half is there")
        place.server.kill()
        place.server.wait()
    place.server = world.serve(executor="none")
    place.run("push", place.record, "--to", world.url, home="ada")
    with Client(world.url) as client:
        assert [each["id"] for each in client.records()] == [place.record]


def test_a_record_is_pushed_once_and_pulled_by_others(place: Place) -> None:
    world = place.world
    place.run("push", place.record, "--to", world.url, home="ada")
    assert "already there" in place.run("push", place.record, "--to", world.url, home="ada")
    with Client(world.url) as client:
        mine = client.get("/keys")["own"]
        origin = client.get(f"/records/{place.record}/origin")
    assert origin["source"] == "pushed by local" and origin["signers"] == [{"key": place.key, "name": "ada"}]
    code, said = place.try_to("pull", place.record, "--from", world.url, home="carl")
    assert code == 1 and place.key in said and mine in said and "keys add" in said
    place.run("keys", "add", "ada", place.key, home="carl")
    assert "taken in, signed by" in place.run("pull", place.record, "--from", world.url, home="carl")
    assert "already there" in place.run("pull", place.record, "--from", world.url, home="carl")
    shown = place.run("records", "show", place.record, home="carl")
    assert "signed by" in shown and "ada" in shown
    assert "signed by" in world.run("records", "show", place.record, "--server", world.url, home="dora")
    place.run("report", place.record, "-o", str(world.place / "r.html"), home="carl")
    assert place.record in (world.place / "r.html").read_text()
    assert "60 of 60 expected answers" in place.run("replay", place.record, "--again", home="carl")
    assert place.run("compare", place.record, "latest", home="carl")


def test_who_may_do_what(place: Place) -> None:
    url, whole = f"{place.world.url}/api/v1", place.bundle.read_bytes()
    reader = {"Authorization": f"Bearer {place.reader}"}
    assert httpx.post(f"{url}/bundles", content=whole, headers=reader).status_code == 403
    assert httpx.get(f"{url}/keys", headers=reader).status_code == 200
    assert httpx.get(f"{url}/records/nothing/origin").status_code == 404
    assert httpx.post(f"{url}/records/nothing/pin", json={}).status_code == 404
    for body, status in ((b"", 400), (b"nonsense", 400), (whole[:-1], 400), (whole[:-1] + b"0", 400)):
        assert httpx.post(f"{url}/bundles", content=body).status_code == status


def test_strangers_records_are_refused_over_http(place: Place) -> None:
    world = place.world
    store = Store(Settings(world.place / "ada", world.place / "cache"))
    pack(store.get("latest"), store, world.place / "eve.zip", Keyring(world.place / "eve").own())
    store.close()
    with Client(world.url) as client, pytest.raises(TrustError, match="nobody who is known here"):
        client.send_file("/bundles", world.place / "eve.zip")


def test_files_and_folders_will_do(place: Place) -> None:
    world = place.world
    folder = world.place / "shelf"
    folder.mkdir()
    place.run("push", place.record, "--to", str(folder), home="ada")
    assert "already there" in place.run("push", place.record, "--to", str(folder), home="ada")
    assert "not signed" not in place.run("pull", "--from", str(folder), "--unsigned", home="finn")
    code, said = place.try_to("pull", "2099", "--from", str(folder), home="finn")
    assert code == 2 and "no bundle of `2099`" in said
    pinned = place.run("records", "pin", place.record, home="finn")
    assert "stay" in pinned and "may go" in place.run("records", "pin", "--off", place.record, home="finn")


def test_a_server_takes_old_records_away_and_writes_that_down(place: Place) -> None:
    world = place.world
    place.run("push", place.record, "--to", world.url, home="ada")
    admin = place.run("token", "make", "--owner", "root", "--scope", "admin", home="server")
    retention = {"records_days": 1e-6, "every_s": 0.2}
    with Client(world.url, admin) as client:
        client.post(f"/records/{place.record}/pin", {"pinned": True})
        place.server.terminate()
        place.server.wait()
        place.server = world.serve(executor="none", retention=retention)
        assert [each["id"] for each in client.records()] == [place.record]
        client.post(f"/records/{place.record}/pin", {"pinned": False})
        world.until(lambda: not client.records(), "it is gone")
        world.until(lambda: client.get("/audit")["items"][0]["what"] == "retention", "it is written down")
    assert "1 record" in retention_line(world)


def retention_line(world: World) -> str:
    return next(line for line in world.log("server").splitlines() if "retention took away" in line)

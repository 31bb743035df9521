"""Files of people's own: sent in pieces, kept if they are what was announced, evaluated though nobody has them."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import signal
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.client.client import Client
from mlmodelscope.client.upload import manifest_text, pack, upload
from mlmodelscope.errors import ChecksumError, ManifestError, MLModelScopeError, UsageError
from mlmodelscope.provision.upload import NoRoom, TooLong
from small_world import DATASET, MODEL

from .conftest import World, free_port

grpc = pytest.importorskip("grpc", reason="grpcio is not installed")


class Apart(World):
    """Every home has a cache of its own, and none has a catalogue: what one has, the others do not."""

    rpc_port = 0

    def environment(self, home: str) -> dict[str, str]:
        found = {**super().environment(home), "MLMODELSCOPE_CACHE": str(self.place / f"{home}-cache")}
        return {**found, "MLMODELSCOPE_MANIFESTS": "", "MLMODELSCOPE_MIRROR": ""}


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[Apart]:
    found = Apart(tmp_path)
    yield found
    found.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apart]:
    found = Apart(tmp_path_factory.mktemp("server"))
    found.rpc_port = free_port()
    found.host(rpc_port=found.rpc_port, largest_artifact=100_000, artifacts_quota=250_000)
    yield found
    found.close()
    assert "an error of our own" not in found.log("server")


@pytest.fixture
def client(server: Apart) -> Iterator[Client]:
    with Client(server.url) as client:
        yield client
        for each in list(client.artifacts()):
            client.delete(f"/artifacts/{each['digest']}")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def announce(client: Client, data: bytes, name: str = "net.onnx") -> dict[str, Any]:
    return client.announce(sha256(data), len(data), name)


def send(client: Client, data: bytes, start: int = 0, end: int | None = None) -> dict[str, Any]:
    return client.send_piece(sha256(data), start, iter([data[start:end]]))


def kept(world: World) -> list[str]:
    """Names of all files below the folder of uploads, beside locks and when they were used last."""
    folder = world.place / "server" / "artifacts"
    return sorted(
        path.name for path in folder.rglob("*") if path.is_file() and path.parent.name not in ("locks", "used")
    )


# Sending --------------------------------------------------------------------------------------------------------------


def test_a_file_is_sent_in_pieces_and_fetched_whole_or_in_part(server: Apart, client: Client) -> None:
    data = os.urandom(50_000)
    begun = announce(client, data, "../folder/my net.onnx")
    assert (begun["offset"], begun["complete"], begun["name"]) == (0, False, "my net.onnx")
    assert send(client, data, 0, 20_000)["offset"] == 20_000
    url, http = f"/artifacts/{sha256(data)}", server.http
    looked = http.head(url)
    assert looked.headers["upload-offset"] == "20000" and looked.headers["upload-length"] == "50000"
    assert http.get(url).status_code == 404  # it is not there before it is complete
    assert announce(client, data)["offset"] == 20_000
    assert send(client, data, 20_000)["complete"]
    assert announce(client, data)["complete"]
    whole = http.get(url)
    assert whole.content == data and whole.headers["etag"] == f'"{sha256(data)}"'
    assert 'filename="my net.onnx"' in whole.headers["content-disposition"]
    assert http.get(url, headers={"If-None-Match": whole.headers["etag"]}).status_code == 304
    assert http.head(url).headers["etag"] == whole.headers["etag"]
    (listed,) = client.artifacts()
    assert listed["owner"] == "local" and listed["size"] == 50_000
    assert listed["reference"] == f"artifact:sha256:{sha256(data)}/my net.onnx"
    place = server.place / "server" / "artifacts" / "files" / sha256(data)[:2] / sha256(data)
    assert place.stat().st_mode & 0o777 == 0o444  # it is never run
    client.delete(f"/artifacts/{sha256(data)}")
    assert http.get(url).status_code == 404 and kept(server) == []


@pytest.mark.parametrize(
    ("asked", "status", "start", "end"),
    [
        ("bytes=0-9", 206, 0, 10),
        ("bytes=990-", 206, 990, 1000),
        ("bytes=-5", 206, 995, 1000),
        ("bytes=990-5000", 206, 990, 1000),
        ("bytes=1000-", 416, 0, 0),
        ("bytes=-", 200, 0, 1000),
        ("bytes=5-2", 200, 0, 1000),
        ("bytes=0-1,5-6", 200, 0, 1000),
        ("lines=1-2", 200, 0, 1000),
    ],
)
def test_parts_are_those_that_were_asked_for(
    server: Apart, client: Client, asked: str, status: int, start: int, end: int
) -> None:
    data = bytes(number % 251 for number in range(1000))
    announce(client, data)
    send(client, data)
    answer = server.http.get(f"/artifacts/{sha256(data)}", headers={"Range": asked})
    assert answer.status_code == status
    if status == 416:
        assert answer.headers["content-range"] == "bytes */1000" and answer.json()["title"] == "Range"
        return
    assert answer.content == data[start:end]
    assert answer.headers.get("content-range") == (f"bytes {start}-{end - 1}/1000" if status == 206 else None)


def test_another_file_than_the_announced_one_leaves_nothing(server: Apart, client: Client) -> None:
    data = b"what was announced"
    announce(client, data)
    with pytest.raises(ChecksumError, match="not the file that was announced"):
        client.send_piece(sha256(data), 0, iter([b"what is sent......"]))
    assert kept(server) == []
    with pytest.raises(UsageError, match="there is no upload"):
        send(client, data)


def test_pieces_come_one_behind_the_other(client: Client) -> None:
    data = b"0123456789"
    announce(client, data)
    send(client, data, 0, 4)
    for start in (0, 3, 5):
        with pytest.raises(UsageError, match=f"begins at byte {start}, 4 are there"):
            send(client, data, start)
    with pytest.raises(TooLong, match="more than the 10 bytes"):
        client.send_piece(sha256(data), 4, iter([b"x" * 7]))
    assert send(client, data, 4)["complete"]


def test_an_empty_file_is_a_file(client: Client, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert client.upload(tmp_path / "empty") == f"artifact:sha256:{sha256(b'')}/empty"


def test_what_is_too_large_or_too_much_is_refused_before_it_is_sent(server: Apart, client: Client) -> None:
    with pytest.raises(TooLong, match="100000 are the most"):
        client.announce("0" * 64, 100_001, "large")
    for number in range(2):
        client.announce(f"{number:064x}", 100_000, "promised")
    with pytest.raises(NoRoom, match="there is no room for 60000 bytes: files may take 50000 more"):
        client.announce("f" * 64, 60_000, "one too many")
    answer = server.http.post("/artifacts", json={"sha256": "f" * 64, "size": 60_000, "name": "one too many"})
    assert answer.status_code == 507 and "artifacts_quota" in answer.json()["hint"]
    for number in range(2):
        client.delete(f"/artifacts/{number:064x}")
    client.announce("f" * 64, 60_000, "now there is room")
    client.delete(f"/artifacts/{'f' * 64}")


def test_a_full_disk_is_said_and_nothing_is_left(server: Apart, client: Client) -> None:
    data = b"x" * 5000
    announce(client, data)
    (part,) = (server.place / "server" / "artifacts" / "sending").rglob("*.part")
    part.unlink()
    part.symlink_to("/dev/full")  # every byte that is written there is one too many
    with pytest.raises(NoRoom, match="no space is left on the server's disk"):
        send(client, data)
    assert kept(server) == []
    announce(client, data)
    assert send(client, data)["complete"]


def test_two_send_the_same_file_at_once(client: Client, server: Apart, tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(os.urandom(90_000))
    token = server.token("run", "read", owner="bob")
    answers: list[str] = []

    def go(secret: str | None) -> None:
        with Client(server.url, secret) as own:
            answers.append(upload(own, tmp_path / "net.onnx"))

    threads = [threading.Thread(target=go, args=(secret,)) for secret in (None, None, token, token)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4 and len(set(answers)) == 1
    (listed,) = client.artifacts()
    assert kept(server) == [listed["digest"]]
    with Client(server.url, server.token("admin")) as root:
        root.delete(f"/artifacts/{listed['digest']}")


def test_others_cannot_spoil_or_delete_what_somebody_sends(server: Apart, client: Client) -> None:
    token = server.token("run", owner="eve")
    data = b"precious bytes"
    announce(client, data)
    send(client, data, 0, 8)
    with Client(server.url, token) as eve:
        with pytest.raises(UsageError, match="there is no upload"):
            eve.send_piece(sha256(data), 8, iter([b"poison"]))
        assert announce(eve, data)["offset"] == 0
        eve.delete(f"/artifacts/{sha256(data)}")  # her own beginning
        assert send(client, data, 8)["complete"]
        with pytest.raises(UsageError, match="scope `admin`"):
            eve.delete(f"/artifacts/{sha256(data)}")
        with pytest.raises(UsageError, match="scope `read`"):
            eve.get(f"/artifacts/{sha256(data)}")


def test_a_killed_server_goes_on_where_it_was(apart: Apart) -> None:
    process = apart.serve(executor="none")
    data = os.urandom(300_000)
    with Client(apart.url) as client:
        announce(client, data)
        send(client, data, 0, 100_000)
        process.send_signal(signal.SIGKILL)
        process.wait()
        apart.serve(executor="none")
        assert announce(client, data)["offset"] == 100_000
        assert send(client, data, 100_000)["complete"]
    assert apart.http.get(f"/artifacts/{sha256(data)}").content == data


def test_the_same_folder_gives_the_same_bytes(tmp_path: Path) -> None:
    for number, names in enumerate((["b/2.png", "a/1.png"], ["a/1.png", "b/2.png"])):
        for name in names:
            path = tmp_path / str(number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
            os.utime(path, (number, number))
            path.chmod(0o600 + number)
        pack(tmp_path / str(number), tmp_path / f"{number}.tar")
    assert (tmp_path / "0.tar").read_bytes() == (tmp_path / "1.tar").read_bytes()


# Evaluating -----------------------------------------------------------------------------------------------------------


def write_files(place: Path) -> None:
    """A model and pictures, as somebody has them on a machine of their own."""
    from PIL import Image

    place.mkdir()
    for index in range(12):
        folder = place / "photos" / f"class{index % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (10, 10), (index * 20, 255 - index * 20, index * 7)).save(folder / f"{index}.png")
    (place / "net.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10}))
    (place / "labels.txt").write_text("".join(f"class{number}\n" for number in range(10)))
    features = "- type: logits\n    features_url: labels.txt"
    text = MODEL.replace("toy", "mine").replace("mine.json", "net.json").replace("- type: logits", features)
    (place / "my-model.yml").write_text(text)
    (place / "my-data.yml").write_text(DATASET.replace("pictures", "photos"))


def evaluate(world: World, place: Path, *flags: str) -> dict[str, Any]:
    with contextlib.chdir(place):
        code, told, wrong = world.say("evaluate", "./my-model.yml", "./my-data.yml", "--json", *flags, home="laptop")
    assert code == 0, wrong + world.logs()
    found: dict[str, Any] = json.loads(told)
    return found


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Apart, Client]]:
    """A user's machine, a server that evaluates nothing, and an agent elsewhere: three homes, three caches."""
    world = Apart(tmp_path_factory.mktemp("far"))
    write_files(world.place / "work")
    user, agent = world.token("run", "read", owner="ada"), world.token("agent", owner="lab")
    world.serve(executor="none", require_token=True)
    world.agent("lab", token=agent)
    yield world, world.client(user)
    world.close()
    assert user not in world.logs() and agent not in world.logs()


def test_a_model_and_pictures_that_nobody_else_has(far: tuple[Apart, Client]) -> None:
    world, client = far
    there = evaluate(world, world.place / "work", "--server", world.url, "--token", client.token or "")
    here = evaluate(world, world.place / "work")
    assert there["samples"] == here["samples"] == 12 and there["failed"] == 0
    assert there["metrics"] == here["metrics"]
    files = there["plan"]["dataset"]["sources"][0]["files"]
    assert files["url"].startswith("artifact:sha256:") and files["url"].endswith("/photos.tar#/")
    assert files["sha256"] == here["plan"]["dataset"]["sources"][0]["files"]["sha256"]
    sent = {each["name"]: each for each in client.artifacts()}
    assert {"net.json", "labels.txt", "photos.tar"} <= set(sent)
    assert {each["owner"] for each in sent.values()} == {"ada"}
    assert (world.place / "lab-cache" / "files").is_dir() and not (world.place / "server-cache" / "files").exists()
    text = manifest_text(client, world.place / "work" / "my-data.yml")
    assert sent["photos.tar"]["reference"] in text
    assert {each["name"]: each for each in client.artifacts()} == sent  # nothing was sent a second time
    world.until(lambda: "mine" in client.get("/agents/lab")["description"]["models"], "it says what it has")


def test_an_archive_that_leaves_its_folder_is_refused_by_the_agent(far: tuple[Apart, Client]) -> None:
    world, client = far
    place = world.place / "evil.tar"
    with tarfile.open(place, mode="w") as archive:
        entry = tarfile.TarInfo("../outside.png")
        entry.size = 4
        archive.addfile(entry, io.BytesIO(b"evil"))
    model = manifest_text(client, world.place / "work" / "my-model.yml")
    data = DATASET.replace("url: pictures", f"url: '{client.upload(place)}#/'")
    (asked,) = client.ask({"model": {"text": model}, "dataset": {"text": data}, "attempts": 1})
    with pytest.raises(MLModelScopeError, match="outside its folder"):
        asked.record()
    assert not list(world.place.rglob("outside.png"))


def test_a_file_that_was_deleted_meanwhile_is_said(far: tuple[Apart, Client]) -> None:
    world, client = far
    gone = world.place / "gone.json"
    gone.write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 7}))
    reference = client.upload(gone)
    request = {
        "model": {"text": MODEL.replace("toy.json", f"'{reference}'")},
        "dataset": {"text": manifest_text(client, world.place / "work" / "my-data.yml")},
        "where": {"labels": {"room": "none"}},
    }
    with pytest.raises(MLModelScopeError, match="no agent"):
        client.ask(request)  # it is there
    client.delete(f"/artifacts/{sha256(gone.read_bytes())}")
    with pytest.raises(UsageError, match="there is no artifact"):
        client.ask(request)


def test_a_file_that_is_missing_here_is_said_before_anything_is_asked(far: tuple[Apart, Client]) -> None:
    world, client = far
    text = (world.place / "work" / "my-model.yml").read_text().replace("net.json", "nowhere.json")
    (world.place / "work" / "wrong.yml").write_text(text)
    with pytest.raises(UsageError, match=r"nowhere.json, which is not there"):
        manifest_text(client, world.place / "work" / "wrong.yml")


def test_the_server_s_own_agent_evaluates_them_where_they_are(server: Apart, client: Client, tmp_path: Path) -> None:
    write_files(tmp_path / "work")
    server.until(client.agents, "its agent has joined")
    model, data = (manifest_text(client, tmp_path / "work" / f"my-{name}.yml") for name in ("model", "data"))
    record = client.evaluate({"text": model}, {"text": data}, options={"timed_runs": 1, "warm_up_runs": 1})
    assert record.samples == 12
    cached = [path for path in (server.place / "server-cache").glob("files/*/*") if path.is_file()]
    assert not [path for path in cached if path.stat().st_size > 10_000]  # the tar is in one place only


def test_a_manifest_cannot_have_a_private_file_sent(client: Client, tmp_path: Path) -> None:
    write_files(tmp_path / "work")
    (tmp_path / "secret").write_text("mine")
    text = (tmp_path / "work" / "my-model.yml").read_text()
    (tmp_path / "work" / "link.json").symlink_to(tmp_path / "secret")
    for name in ("../secret", str(tmp_path / "secret"), "link.json"):
        (tmp_path / "work" / "other.yml").write_text(text.replace("net.json", name))
        with pytest.raises(UsageError, match="lies outside"):
            manifest_text(client, tmp_path / "work" / "other.yml")
    (tmp_path / "work" / "photos" / "class0" / "x.png").symlink_to(tmp_path / "secret")
    with pytest.raises(UsageError, match="lies outside"):
        manifest_text(client, tmp_path / "work" / "my-data.yml")
    assert "secret" not in {each["name"] for each in client.artifacts()}


def test_a_file_elsewhere_with_its_checksum_is_for_the_server_to_know(client: Client, tmp_path: Path) -> None:
    """It is not sent; the server takes the manifest where it has that content, and refuses it where it has not."""
    (tmp_path / "work").mkdir()
    (tmp_path / "net.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10, "seed": 77}))
    digest = hashlib.sha256((tmp_path / "net.json").read_bytes()).hexdigest()
    text = MODEL.replace("name: toy", "name: elsewhere").partition("source:")[0]
    file = tmp_path / "work" / "model.yml"
    file.write_text(f"{text}source: {{graph_path: ../net.json, graph_checksum: 'sha256:{digest}'}}\n")
    sent = manifest_text(client, file)
    assert sent == file.read_text() and digest not in {each["sha256"] for each in client.artifacts()}
    with pytest.raises(ManifestError, match="a file of your machine"):
        client.put_manifest(sent)
    client.upload(tmp_path / "net.json")
    assert client.put_manifest(manifest_text(client, file))["name"] == "elsewhere"


def test_the_same_over_grpc(server: Apart, client: Client) -> None:
    from mlmodelscope.server.rpc.messages import methods

    data, known = os.urandom(70_000), {method.name: method for method in methods()}
    with grpc.insecure_channel(f"127.0.0.1:{server.rpc_port}") as channel:

        def ask(name: str, /, **fields: Any) -> Any:
            method = known[name]
            kind = channel.unary_stream if method.streams else channel.unary_unary
            call = kind(method.path, lambda each: each.SerializeToString(), method.answered.FromString)
            return call(method.asked(**fields), timeout=300)

        begun = ask("AnnounceArtifact", sha256=sha256(data), size=len(data), name="net.onnx")
        assert begun.offset == 0 and not begun.complete
        assert ask("SendArtifact", digest=sha256(data), data=data[:30_000]).offset == 30_000
        with pytest.raises(grpc.RpcError, match="30000 are there") as wrong:
            ask("SendArtifact", digest=sha256(data), data=data[:30_000])
        assert wrong.value.code() is grpc.StatusCode.FAILED_PRECONDITION
        assert ask("SendArtifact", digest=sha256(data), offset=30_000, data=data[30_000:]).complete
        whole = b"".join(each.data for each in ask("GetArtifact", digest=sha256(data), offset=10))
        assert whole == data[10:]
        (listed,) = ask("ListArtifacts", owner="local").items
        assert listed.reference == begun.reference == f"artifact:sha256:{sha256(data)}/net.onnx"
        with pytest.raises(grpc.RpcError, match="100000 are the most") as large:
            ask("AnnounceArtifact", sha256="0" * 64, size=100_001)
        assert large.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        ask("DeleteArtifact", digest=sha256(data))
        with pytest.raises(grpc.RpcError, match="there is no artifact") as gone:
            list(ask("GetArtifact", digest=sha256(data)))
        assert gone.value.code() is grpc.StatusCode.NOT_FOUND


def test_manifests_name_only_what_was_uploaded(server: Apart, client: Client) -> None:
    def ask(reference: str) -> None:
        text = MODEL.replace("toy.json", f"'{reference}'")
        client.resolve(
            {"model": {"text": text}, "dataset": {"text": DATASET.replace("url: pictures", f"url: '{url}'")}}
        )

    url = "https://x.example/a.zip#a/"
    with pytest.raises(UsageError, match=r"there is no artifact `0{64}`, which a manifest names"):
        ask(f"artifact:sha256:{'0' * 64}/net.json")
    for reference in ("artifact:sha256:abc", "artifact:../../etc/passwd", f"artifact:sha256:{'0' * 64}/.."):
        with pytest.raises(ManifestError, match="not of the form"):
            ask(reference)
    for reference in ("/etc/passwd", "file:///etc/passwd", "net.json"):
        with pytest.raises(ManifestError, match="a file of your machine"):
            ask(reference)
    announce(client, b"half")
    with pytest.raises(UsageError, match="there is no artifact"):
        ask(f"artifact:sha256:{sha256(b'half')}/net.json")
    client.delete(f"/artifacts/{sha256(b'half')}")

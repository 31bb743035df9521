"""What somebody on another machine might send to do harm, through the front door."""

from __future__ import annotations

import struct
import threading
import zipfile
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from mlmodelscope.client.client import Client
from mlmodelscope.confine.bubblewrap import why_not
from mlmodelscope.errors import ManifestError, MLModelScopeError, TrustError, UsageError
from mlmodelscope.manifest.shipped import shipped_pins
from small_world import MODEL

from .conftest import World

DATASET = "name: theirs\nversion: 1.0.0\ntask: classification\nformat: folder\nsources: [{url: '%s'}]\n"
QUICK = {"timed_runs": 1, "warm_up_runs": 1}


@pytest.fixture
def inner() -> Iterator[tuple[str, list[str]]]:
    """Something that only this machine can reach, and what it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}", asked
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A server that wants to know who asks."""
    found = World(tmp_path_factory.mktemp("world"))
    found.host(require_token=True)
    yield found
    found.close()


@pytest.fixture(scope="module")
def guest(world: World) -> Client:
    """Somebody from another machine who may run but not rule."""
    return world.client(world.token("read", "run", owner="eve"))


@pytest.fixture(scope="module")
def admin(world: World) -> Client:
    return world.client(world.token("admin", owner="root"))


def test_a_guests_manifest_does_not_reach_inside(guest: Client, admin: Client, inner: tuple[str, list[str]]) -> None:
    url, asked = inner
    dataset = {"text": DATASET % f"{url}/latest/meta-data.zip#x/"}
    (refused,) = guest.ask({"model": "toy", "dataset": dataset, "options": QUICK, "attempts": 1})
    assert refused.wait().state == "failed"
    assert "not a public one" in refused.facts["error"]["message"] and asked == []
    fake = MODEL.replace("framework: {name: fake}", "framework: {name: remote}").replace(
        "source: {graph_path: toy.json}", ""
    )
    options = {**QUICK, "predictor_options": {"url": url, "load": "never"}}
    request = {"model": {"text": fake}, "dataset": "pictures", "options": options, "attempts": 1}
    (refused,) = guest.ask(request)
    assert refused.wait().state == "failed" and asked == []
    assert "not a public one" in refused.facts["error"]["message"]
    options["predictor_options"]["token_variable"] = "HOME"
    (refused,) = guest.ask(request)
    assert "is not sent anywhere" in refused.wait().facts["error"]["message"] and asked == []
    (allowed,) = admin.ask({"model": "toy", "dataset": dataset, "options": QUICK, "attempts": 1})
    assert allowed.wait().state == "failed" and asked == ["/latest/meta-data.zip"]


def test_a_guest_chooses_no_secret_of_the_agent(world: World, guest: Client, inner: tuple[str, list[str]]) -> None:
    """The operator's own model asks a server; which variable is sent there as the key is not for a guest to say."""
    url, asked = inner
    remote = f"framework: {{name: remote}}\nremote: {{url: '{url}', model: toy}}"
    text = MODEL.replace("framework: {name: fake}", remote).replace("source: {graph_path: toy.json}", "")
    world.add_model("served", text)
    options = {**QUICK, "predictor_options": {"load": "never", "token_variable": "HOME"}}
    (refused,) = guest.ask({"model": "served", "dataset": "pictures", "options": options, "attempts": 1})
    assert "is not sent anywhere" in refused.wait().facts["error"]["message"] and asked == []


@pytest.mark.parametrize("code", ["mine.py", '"a = 1\\nb = 2\\n"'])
def test_a_reproduction_is_not_put_on_a_server(guest: Client, code: str) -> None:
    text = f"name: theirs\nversion: 1.0.0\nmine:\n  code:\n  - {code}\ninputs: [{{shape: [3]}}]\n"
    with pytest.raises(MLModelScopeError, match="a server keeps manifests of these kinds") as error:
        guest.put_manifest(text)
    assert "Traceback" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n", "request"),
        ("name: " + "[" * 5000, "request"),
        ("!!python/object/apply:os.system ['id']", "request"),
        ("name: x\nname: y\n", "request"),
        ("\x01\x02", "request"),
        (DATASET % "file:///etc/passwd", "a file of your machine"),
        (DATASET % "../../../etc/passwd", "a file of your machine"),
    ],
)
def test_manifests_that_are_none_are_refused(guest: Client, text: str, words: str) -> None:
    with pytest.raises(ManifestError, match=words):
        guest.put_manifest(text)
    guest.get("/health")


SOFTWARE = "name: theirs\nversion: 1.0.0\nframework: {name: fake}\nstack: {requirements: [%s], %s}\n"
(NAME, VERSION), HASHES = sorted(shipped_pins().items())[0]
PINNED = f"{NAME}=={VERSION} --hash={sorted(HASHES)[0]}"


@pytest.mark.parametrize(
    "software",
    [
        SOFTWARE % ("", "system_packages: ['-oDPkg::Pre-Invoke::=touch %s; exit 1']"),
        SOFTWARE % ("", "system_packages: ['-oAPT::Get::Simulate=false', '-c=%s', /path/of/any.deb]"),
        SOFTWARE % ("", "library_names: {'../../../../../..%s': libc.so.6}"),
        SOFTWARE % ('"some-wheel==1.0\\n-e %s"', ""),
        SOFTWARE % ('"some-wheel==1.0\\n--index-url http:%s/simple"', ""),
        SOFTWARE % ("'%s'", ""),
        SOFTWARE % ("'file:%s'", ""),
    ],
)
def test_a_recipe_that_is_more_than_a_recipe_is_no_manifest(guest: Client, software: str, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    request = {"model": "toy", "dataset": "pictures", "software": {"text": software % marker}, "options": QUICK}
    with pytest.raises(ManifestError):
        guest.ask(request)
    with pytest.raises(ManifestError):
        guest.put_manifest(software % marker)
    assert not marker.is_symlink() and not marker.exists()


@pytest.mark.parametrize(
    "software",
    [
        SOFTWARE % ("some-wheel==1.0", ""),
        SOFTWARE % (f"some-wheel==1.0 --hash=sha256:{'0' * 64}", ""),
        SOFTWARE % (PINNED, "index_url: 'https://example.org/simple'"),
        SOFTWARE % (PINNED, "find_links: ['https://example.org']"),
        SOFTWARE % ("", "root: 'https://example.org/root.tar'"),
        "name: theirs\nversion: 1.0.0\nframework: {name: fake}\nenv: {OPENCV_OPENCL_RUNTIME: evil.so}\n",
        "name: theirs\nversion: 1.0.0\nframework: {name: fake}\nenv: {OMP_NUM_THREADS: /evil.so}\n",
    ],
)
def test_packages_of_a_guests_choice_need_trust(guest: Client, software: str) -> None:
    request = {"model": "toy", "dataset": "pictures", "software": {"text": software}, "options": QUICK}
    with pytest.raises(TrustError, match="code in these manifests or their files would run"):
        guest.ask(request)
    with pytest.raises(MLModelScopeError, match="`trust`"):
        guest.ask({**request, "trust": True})


def test_an_option_that_runs_code_of_a_file_needs_trust(guest: Client, tmp_path: Path) -> None:
    """The file is never fetched: it is refused when it is asked for."""
    model = MODEL.replace("framework: {name: fake}", "framework: {name: sklearn}")
    model = model.replace("graph_path: toy.json", "graph_path: 'https://example.org/model.pkl'")
    request = {"model": {"text": model}, "dataset": "pictures"}
    for options in ({"trust_pickle": True}, {"trust_types": "os.system"}):
        with pytest.raises(TrustError, match="would run"):
            guest.ask({**request, "options": {**QUICK, "predictor_options": options}})


def test_a_guests_worker_is_closed_off(world: World, guest: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    if why_not() is not None:
        pytest.skip(f"processes cannot be confined here: {why_not()}")
    uploaded = guest.upload(str(world.place / "manifests" / "toy.json"))
    model = MODEL.replace("graph_path: toy.json", f"graph_path: '{uploaded}'")
    request = {"model": {"text": model}, "dataset": "pictures", "options": QUICK}
    (asked,) = guest.ask(request)
    assert asked.wait().state == "finished", asked.facts
    monkeypatch.setenv("MLMODELSCOPE_CONFINE", "never or what")
    (asked,) = guest.ask({**request, "again": True, "attempts": 1})
    assert "MLMODELSCOPE_CONFINE" in asked.wait().facts["error"]["message"]  # so it was asked
    (asked,) = world.client(world.token("admin", owner="root")).ask({**request, "again": True})
    assert asked.wait().state == "finished"  # the machine's own people are not strangers


def test_a_picture_that_would_explode_is_a_failed_sample(world: World, guest: Client) -> None:
    """A png of some hundred bytes that says it is 60,000 pixels wide and high."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">L", len(data)) + kind + data + struct.pack(">L", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">LLBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
    bomb = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(100_000))) + chunk(b"IEND", b"")
    folder = world.place / "manifests"
    (folder / "bombs" / "class0").mkdir(parents=True)
    (folder / "bombs" / "class0" / "bomb.png").write_bytes(bomb)
    (folder / "bombs" / "class0" / "good.png").write_bytes(next(folder.rglob("0000.png")).read_bytes())
    (folder / "bombs.yml").write_text((folder / "pictures.yml").read_text().replace("pictures", "bombs"))
    record = guest.evaluate("toy", "bombs", options=QUICK)
    assert (record.samples, record.failed) == (2, 1)


def hand_over(world: World, client: Client, bundle: Path) -> httpx.Response:
    """As an agent that has taken an evaluation would."""
    description = client.agents()[0]["description"] | {"id": "evil"}
    client.post("/agents", {"description": description, "incarnation": "1"})
    client.ask({"model": "bundled", "dataset": "pictures", "where": {"agent": "evil"}})
    taken = client.post("/agents/evil/take", {"incarnation": "1", "most": 1, "alone": True, "wait_s": 5})
    (mine,) = taken["evaluations"]
    return world.http.put(
        f"/evaluations/{mine['id']}/record",
        content=bundle.read_bytes(),
        headers={"X-Attempt": str(mine["attempt"]), **client._http.headers},
    )


def test_bombs_and_ways_out_in_bundles_are_refused(world: World, admin: Client, tmp_path: Path) -> None:
    client, model = admin, world.add_model("bundled")
    record = client.evaluate(model, "pictures", options=QUICK)
    good = tmp_path / "good.zip"
    client.download(f"/records/{record.id}/bundle", good)
    client.delete(f"/records/{record.id}")
    wrong: dict[str, tuple[dict[str, Any], str]] = {
        "bomb": ({"artifacts/zeros": bytes(70 << 20)}, "too much space"),
        "way out": ({"../../evil": b"evil"}, "outside its folder"),
    }
    for more, words in wrong.values():
        bundle = tmp_path / "wrong.zip"
        bundle.write_bytes(good.read_bytes())
        with zipfile.ZipFile(bundle, "a", zipfile.ZIP_DEFLATED) as written:
            for name, content in more.items():
                written.writestr(name, content)
        answer = hand_over(world, client, bundle)
        assert answer.status_code == 400 and words in answer.json()["detail"]
    assert client.records(model=model) == [] and not list(world.place.rglob("evil"))
    assert not list((world.place / "server" / "records").glob("draft-*"))
    answer = hand_over(world, client, good)
    assert answer.status_code == 200 and client.record(record.id) == record


@pytest.mark.parametrize(
    "options", [{"batch_size": "x"}, {"predictor_options": 5}, {"limit": [1]}, {"seed": 2**70}, {"timed_runs": {}}]
)
def test_options_are_of_the_right_kind(guest: Client, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="options|too large"):
        guest.ask({"model": "toy", "dataset": "pictures", "options": options})


@pytest.mark.parametrize(
    "body",
    [
        b'{"model": "a\\u0000b"}',
        b'{"model": "\\ud800"}',
        b'{"model": "x", "options": {"seed": NaN}}',
        b'{"model": "x", "options": {"seed": 1e999}}',
        b'{"model": "x", "options": {"seed": ' + b"9" * 5000 + b"}}",
        b"[" * 100_000,
        b'{"model": "x", "where": {"framework": {"name": "x", "version": "^^^"}}}',
        b'{"model": "x@not a version"}',
        b'{"model": "toy@^99"}',
        b'{"model": "%s"}' % (b"../" * 50),
    ],
)
def test_odd_bodies_are_refused_in_words(world: World, guest: Client, body: bytes) -> None:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {guest.token}"}
    answer = world.http.post("/requests/resolve", content=body, headers=headers)
    assert 400 <= answer.status_code < 500 and answer.json()["detail"]

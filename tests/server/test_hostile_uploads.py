"""Whatever somebody uploads, the server goes on answering and its memory hardly grows."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import signal
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from bombs import NAMES, bomb
from processes import children_of

from .conftest import PATIENCE_S, World

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="nothing here says how much memory a process took"
)
MOST_KB = 100 << 10
DATASET = """\
name: {name}
version: 1.0.0
task: classification
format: {format}
sources: [{{url: 'artifact:sha256:{digest}/data.zip#{member}'}}]
{more}
"""


class Guest:
    """Somebody who may read and run, and the server's memory while they do."""

    def __init__(self, world: World) -> None:
        headers = {"Authorization": f"Bearer {world.token('read', 'run', owner='eve')}"}
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{world.port}/api/v1", headers=headers)
        self._process = Path(f"/proc/{world.process_of('server').pid}")
        self._manifests = 0

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The answer; it fails where the server's memory grew by more than 100 MB on the way, or it does not answer."""
        before = self._memory_kb("VmRSS")
        (self._process / "clear_refs").write_text("5")  # forgets the highest it was
        found = self._http.request(method, path, **more)
        assert self._memory_kb("VmHWM") - before < MOST_KB
        assert self._http.get("/health").status_code == 200
        assert found.status_code < 500, found.text
        return found

    def _memory_kb(self, name: str) -> int:
        found = re.search(rf"{name}:\s*(\d+)", (self._process / "status").read_text())
        assert found is not None
        return int(found[1])

    def upload(self, body: bytes) -> str:
        digest = hashlib.sha256(body).hexdigest()
        self.ask("POST", "/artifacts", json={"sha256": digest, "size": len(body), "name": "data.zip"})
        self.ask("PATCH", f"/artifacts/{digest}", content=body)
        return digest

    def samples(self, body: bytes, format: str = "folder", member: str = "x/", more: str = "") -> httpx.Response:
        """A dataset of that archive, and its samples."""
        self._manifests += 1
        name = f"theirs-{self._manifests}"
        text = DATASET.format(name=name, format=format, digest=self.upload(body), member=member, more=more)
        put = self.ask("POST", "/manifests", json={"text": text})
        assert put.status_code == 201, put.text
        return self.ask("GET", f"/datasets/{name}/samples")


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    world = World(tmp_path_factory.mktemp("world"))
    try:
        world.serve(require_token=True, executor="none")
        found = Guest(world)
        found.samples(tar("x/c0/a.jpg"))  # it has imported and cached what it needs
        yield found
        assert "Traceback" not in world.log("server")
    finally:
        world.close()


def tar(*names: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        for name in names:
            packed.addfile(tarfile.TarInfo(name), io.BytesIO())
    return out.getvalue()


def coco(labels: bytes) -> bytes:
    """A picture, and what a JSON file says of it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("x/a.png", b"")
        packed.writestr("labels.json", labels)
    return out.getvalue()


def things(count: int, numbers: int) -> bytes:
    polygon = b"[" + b",".join([b"1"] * numbers) + b"]"
    thing = (
        b'{"id":%d,"image_id":1,"category_id":1,"bbox":[0,0,1,1],"area":1,"iscrowd":0,"segmentation":['
        + polygon
        + b"]}"
    )
    image = b'{"id":1,"file_name":"a.png","width":9,"height":9}'
    head = b'{"images":[%s],"categories":[{"id":1,"name":"<b>"}],"annotations":[' % image
    return head + b",".join(thing % number for number in range(count)) + b"]}"


LABELS: dict[str, Callable[[], bytes]] = {
    "deep": lambda: b"[" * (4 << 20),
    "lists": lambda: b"[" + b"[]," * (5 << 20) + b"[]]",
    "polygons": lambda: things(24, 190_000),
    "digits": lambda: b'{"images":[{"id":1,"file_name":"a.png","width":' + b"9" * 100_000 + b"}]}",
}


@pytest.mark.parametrize("name", LABELS)
def test_truth_that_explodes(guest: Guest, name: str) -> None:
    """What is true of a sample reaches the server as text, whatever it is."""
    digest = guest.upload(coco(LABELS[name]()))
    archive = f"artifact:sha256:{digest}/data.zip"
    text = (
        f"name: truth-{name}\nversion: 1.0.0\ntask: instance_segmentation\nformat: coco\n"
        f"sources: [{{url: '{archive}#x/', labels_url: '{archive}#labels.json'}}]\n"
    )
    assert guest.ask("POST", "/manifests", json={"text": text}).status_code == 201
    found = guest.ask("GET", f"/datasets/truth-{name}/samples")
    assert found.status_code == (200 if name == "polygons" else 404), found.text


def parquet() -> bytes:
    """Ten gigabytes in some kilobytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    words = pa.DictionaryArray.from_arrays(pa.array([0] * 5000, pa.int32()), pa.array(["x" * (2 << 20)]))
    out = io.BytesIO()
    pq.write_table(pa.table({"x": words, "y": [1] * 5000}), out, store_schema=False)
    return out.getvalue()


TABLES: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "parquet": ("table", parquet, "more than 512 MiB of memory"),
    "rows": ("table", lambda: b"x,y\n" + b"1,1\n" * 1_500_000, "more than 512 MiB of memory"),
    "lists": ("table", lambda: b"[" + b"[]," * (5 << 20) + b"[]]", "is not an object"),
    "quote": ("table", lambda: b'x,y\n"' + b"a\n" * (3 << 20), "field larger than"),
    "squad": ("squad", lambda: b'{"data":[' + b"[]," * (8 << 20) + b"[]]}", "more than 512 MiB of memory"),
    "conll": ("conll", lambda: b"a B-PER\n" * 1_200_000, "has more than 1,000,000 tokens"),
}


@pytest.mark.slow(reason="tables of many rows are packed, sent and read until they are refused")
@pytest.mark.parametrize("name", TABLES)
def test_tables_and_texts_that_explode(guest: Guest, name: str) -> None:
    format, make, reason = TABLES[name]
    archive = f"artifact:sha256:{guest.upload(zipped(make()))}/data.zip"
    task = {"squad": "question_answering", "conll": "token_classification"}.get(name, "tabular_classification")
    columns = "columns: {features: [x], target: y}\n" if format == "table" else ""
    text = f"name: table-{name}\nversion: 1.0.0\ntask: {task}\nformat: {format}\n"
    text += f"sources: [{{url: '{archive}#t'}}]\n{columns}"
    assert guest.ask("POST", "/manifests", json={"text": text}).status_code == 201
    found = guest.ask("GET", f"/datasets/table-{name}/samples")
    assert found.status_code == 404 and reason in found.json()["detail"], found.text


def zipped(table: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("t", table)
    return out.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_archives_that_explode(guest: Guest, name: str) -> None:
    found = guest.samples(bomb(name))
    if name not in ("zip-deflate", "tar-gz"):  # which are large, but no bombs
        assert found.status_code == 404 and "data.zip" in found.json()["detail"]


def test_a_pattern_that_never_ends(guest: Guest) -> None:
    more = r"labels: {pattern: '^(a+)+$|(\d+)'}"
    found = guest.samples(tar("a" * 40 + "!.jpg"), "list", "/", more)
    assert found.status_code == 404 and "of processor time" in found.json()["detail"]


@pytest.mark.slow(reason="a hundred thousand samples are packed, sent and refused")
def test_countless_samples(guest: Guest) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for number in range(100_000):
            packed.writestr(f"x/c0/{number:06}" + "y" * 100 + ".jpg", b"")
    assert guest.samples(out.getvalue()).status_code == 404


def test_code_that_is_as_long_as_a_book(guest: Guest) -> None:
    code = "  def preprocess(ctx, data):\n" + "    x = [1, 2, 3]\n" * 200_000
    text = f"name: a\nversion: 1.0.0\ninputs: []\npreprocess: |\n{code}"
    for path in ("/manifests", "/manifests/check", "/manifests/convert"):
        assert guest.ask("POST", path, json={"text": text}).status_code in (200, 413, 422)


def bundle(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, body in files.items():
            packed.writestr(name.replace("_", "."), body)
    return out.getvalue()


BUNDLES: dict[str, Callable[[], bytes]] = {
    "zeros": lambda: bundle(record_json=bytes(60 << 20)),
    "lists": lambda: bundle(record_json=b"[" + b"[]," * (4 << 20) + b"[]]"),
    "statement": lambda: bundle(
        record_json=b"{}", bundle_json=b"[" + b"[]," * (3 << 20) + b"[]]", signatures_json=b"{}"
    ),
    "signatures": lambda: bundle(record_json=b"{}", bundle_json=b"{}", signatures_json=b"[" + b"[]," * 20_000 + b"[]]"),
    "bzip2": lambda: bomb("zip-bzip2"),
}


@pytest.mark.parametrize("name", BUNDLES)
def test_bundles_that_explode(guest: Guest, name: str) -> None:
    assert 400 <= guest.ask("POST", "/bundles", content=BUNDLES[name]()).status_code < 500


def test_records_that_explode_where_anybody_may_push(tmp_path: Path) -> None:
    world = World(tmp_path)
    try:
        world.serve(require_token=True, executor="none", accept="any")
        anybody = Guest(world)
        for body in (
            b'{"a":[' + b"[]," * (4 << 20) + b"[]]}",
            b'{"a":[' + b"1," * (12 << 20) + b"1]}",
            bytes(60 << 20),
        ):
            refused = anybody.ask("POST", "/bundles", content=bundle(record_json=body))
            assert 400 <= refused.status_code < 500
    finally:
        world.close()


def test_a_server_that_reads_something_endless_stops_when_it_is_told_to(tmp_path: Path) -> None:
    world = World(tmp_path)
    try:
        process = world.serve(require_token=True, executor="none")
        guest = Guest(world)
        guest.samples(tar("x/c0/a.jpg"))
        with ThreadPoolExecutor(1) as pool:
            more = r"labels: {pattern: '^(a+)+$|(\d+)'}"
            asked = pool.submit(
                guest.samples, tar(*(f"{'a' * 40}{number}!.jpg" for number in range(3))), "list", "/", more
            )
            matching = lambda: any(map(children_of, children_of(process.pid)))  # noqa: E731
            world.until(lambda: matching() or asked.done(), "a pattern is being matched")
            process.terminate()
            assert process.wait(PATIENCE_S) in (0, -signal.SIGTERM)
            asked.exception()
    finally:
        world.close()


BODIES: dict[str, bytes] = {
    "lists": b"[" + b"[]," * (5 << 20) + b"[]]",
    "maps": b"[" + b"{}," * (5 << 20) + b"{}]",
    "keys": b"{" + b",".join(b'"%d":{}' % number for number in range(1 << 20)) + b"}",
    "deep": b"[" * (4 << 20),
}


@pytest.mark.parametrize("path", ["/requests", "/manifests", "/manifests/check"])
@pytest.mark.parametrize("name", BODIES)
def test_json_that_explodes(guest: Guest, name: str, path: str) -> None:
    found = guest.ask("POST", path, content=BODIES[name], headers={"Content-Type": "application/json"})
    assert 400 <= found.status_code < 500


def spans(count: int) -> bytes:
    """A message of OpenTelemetry with so many spans that say nothing."""

    def field(body: bytes) -> bytes:
        length, left = b"", len(body)
        while left > 127:
            length, left = length + bytes([left & 127 | 128]), left >> 7
        return length + bytes([left]) + body

    return b"\x0a" + field(b"\x12" + field(b"\x12\x00" * count))


@pytest.mark.parametrize("kind", ["application/x-protobuf", "application/json"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_traces_that_explode(guest: Guest, kind: str, is_packed: bool) -> None:
    json = b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + b"{}," * 4_000_000 + b"{}]}]}]}"
    body = spans(8_000_000) if kind == "application/x-protobuf" else json
    headers = {"Content-Type": kind, **({"Content-Encoding": "gzip"} if is_packed else {})}
    found = guest.ask("POST", "/otlp/v1/traces", content=gzip.compress(body, 1) if is_packed else body, headers=headers)
    assert found.status_code in (200, 400, 413, 422)


@pytest.mark.parametrize("name", ["zip-bzip2", "zip-deflate-lies"])
def test_model_files_that_explode(guest: Guest, name: str) -> None:
    found = guest.ask("POST", "/manifests/init?file=model.pt2", content=bomb(name))
    assert 400 <= found.status_code < 500

"""Every parser of foreign bytes gives an answer or an error of ours, whatever the bytes are.

`make fuzz` tries much; the tests try little. What was once found stays as an example.
"""

import contextlib
import io
import json
import socket
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from damage import damaged
from hypothesis import example, given
from hypothesis import strategies as st

from bombs import NAMES, bomb
from mlmodelscope.errors import ArtifactError, MLModelScopeError, UsageError
from mlmodelscope.lint.check import check_text
from mlmodelscope.lint.subject import NOWHERE
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.model_file.describe import describe_model
from mlmodelscope.model_file.model_file import ModelFileError
from mlmodelscope.provision.archive import extract_member
from mlmodelscope.provision.weights.read import read_tensors
from mlmodelscope.record.bundle import read_record
from mlmodelscope.record.journal import Journal
from mlmodelscope.record.packed import opened
from mlmodelscope.trace.intake import document_of_json, read_message
from mlmodelscope_worker.protocol import Channel, Closed

ROOT = Path(__file__).parent.parent.parent
MODELS = [path for path in sorted((ROOT / "tests" / "model_file" / "files").iterdir()) if path.is_file()]
MANIFESTS = [path.read_bytes() for path in sorted((ROOT / "manifests" / "models").glob("*.yml"))[:8]]
MANIFESTS += [path.read_bytes() for path in sorted((ROOT / "manifests" / "datasets").glob("*.yml"))[:4]]


@contextlib.contextmanager
def written(body: bytes, name: str = "data.bin") -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / name
        path.write_bytes(body)
        yield path


@given(damaged(*MANIFESTS))
@example(b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n")
@example(b"name: " + b"[" * 5000)
@example(b"!!python/object/apply:os.system ['id']")
@example(b"name: a\ninputs: []\npreprocess: |\n" + b"  x = [1, 2, 3]\n" * 20_000)
def test_manifests(body: bytes) -> None:
    with contextlib.suppress(MLModelScopeError):
        parse_document(body, "x.yml", NOWHERE).manifest()


@given(damaged(*MANIFESTS))
@example(b"name: x\nname: y\n")
def test_checks_of_manifests(body: bytes) -> None:
    with contextlib.suppress(MLModelScopeError):
        check_text(body.decode("utf-8", "replace"), "x.yml", NOWHERE)


def archives() -> list[bytes]:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("in/a", b"a" * 2000)
        packed.writestr("in/b", b"b", zipfile.ZIP_BZIP2)
        packed.writestr("in/c", b"c" * 300, zipfile.ZIP_LZMA)
    return [out.getvalue(), *(bomb(name)[:4096] for name in ("tar-gz", "tar-bz2", "tar-xz", "tar-gz-sparse"))]


@given(damaged(*archives()))
def test_archives(body: bytes) -> None:
    with written(body) as path, contextlib.suppress(ArtifactError):
        extract_member(path, "in/", path.parent / "out")


@pytest.mark.parametrize("name", NAMES)
def test_archives_that_were_once_a_trouble(name: str) -> None:
    with written(bomb(name)[: 1 << 16]) as path, contextlib.suppress(ArtifactError):
        extract_member(path, "x/", path.parent / "out")


def a_bundle() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("record.json", json.dumps({"id": "20260101-000000-abcdef", "status": "finished"}))
        packed.writestr("samples.parquet", b"PAR1")
    return out.getvalue()


@given(damaged(a_bundle()))
@example(bomb("zip-bzip2"))
def test_bundles(body: bytes) -> None:
    with written(body) as path, contextlib.suppress(UsageError), opened(path, 1 << 20, "bundle") as packed:
        read_record(packed)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_model_files(path: Path) -> None:
    @given(damaged(path.read_bytes()))
    def describe(body: bytes) -> None:
        with written(body, path.name) as copy, contextlib.suppress(ModelFileError):
            describe_model(copy)

    describe()


def safetensors() -> bytes:
    head = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    return len(head).to_bytes(8, "little") + head + bytes(8)


@given(damaged(safetensors(), *(path.read_bytes() for path in MODELS if path.suffix in (".pt", ".pth", ".onnx"))))
@example((1 << 62).to_bytes(8, "little") + b"{}")
def test_weights(body: bytes) -> None:
    with written(body) as path, contextlib.suppress(ArtifactError):
        read_tensors(path)


@given(st.binary(max_size=400))
@example(b"\xff" * 12)
def test_journals(body: bytes) -> None:
    with written(body) as path, contextlib.suppress(MLModelScopeError):
        list(Journal.read(path))


@given(damaged(b'\0\0\0\x0f{"buffers":[3]}abc', b"\0\0\0\x02{}"))
@example(b"\xff\xff\xff\xff")
@example(b'\0\0\0\x17{"buffers":[4294967295]}')
def test_frames_of_workers(body: bytes) -> None:
    ours, theirs = socket.socketpair()
    theirs.sendall(body)
    theirs.close()
    channel = Channel(ours)
    with contextlib.suppress(Closed):
        while True:
            channel.receive()
    channel.close()


SPAN = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%s","name":"a"}]}]}]}' % (
    b"1" * 32,
    b"2" * 16,
)


@given(damaged(SPAN))
@example(b"[" * 100_000)
def test_spans(body: bytes) -> None:
    with contextlib.suppress(UsageError):
        read_message(document_of_json(body))


@given(damaged(b"\x0a\x10\x12\x0e\x12\x0c\x0a\x02\x31\x32\x2a\x03abc\x30\x01"))
@example(b"\x0a\x06\x12\x04\x12\x00\x12\x00")
def test_spans_of_protocol_buffers(body: bytes) -> None:
    pytest.importorskip("grpc", reason="the server's packages are not installed")
    from mlmodelscope.server.rpc.otlp import protobuf_document

    with contextlib.suppress(UsageError):
        read_message(protobuf_document(body))

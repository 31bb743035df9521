"""The same protocol over gRPC, where `grpcio` is installed: a small server of our own, which serves fake models."""

import json
import subprocess
import sys
from concurrent import futures
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, Lost, ModelError, Predictor, protobuf
from mlmodelscope_worker.predictor.fake import fake
from mlmodelscope_worker.predictor.protobuf import each, text, write
from mlmodelscope_worker.predictor.remote_tensors import TYPES, WORDS
from mlmodelscope_worker.session import open_predictor
from worker_package.predictor.conformance import Conformance, Files, batch

grpc = pytest.importorskip("grpc")


class Server:
    """A model's name is the path of its file; what is loaded by the repository's call is kept by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.loaded = {}  # type: dict
        self.seen = []  # type: list
        self.mangle = lambda answer: answer  # type: Callable[[bytes], bytes]
        self.refusal = None  # type: Any
        unlimited = [("grpc.max_receive_message_length", -1)]
        self._server = grpc.server(futures.ThreadPoolExecutor(4), options=unlimited)
        handlers = {name: self._handler(getattr(self, name)) for name in dir(self) if name[0].isupper()}
        generic = grpc.method_handlers_generic_handler("inference.GRPCInferenceService", handlers)
        self._server.add_generic_rpc_handlers((generic,))
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()
        self.url = "grpc://127.0.0.1:%d" % self.port

    def close(self) -> None:
        self._server.stop(0).wait()

    def _handler(self, method: Callable[..., bytes]) -> Any:
        def answer(request: bytes, context: Any) -> bytes:
            self.seen.append(dict(context.invocation_metadata()))
            if self.refusal is not None and method.__name__ == "ModelInfer":
                context.abort(*self.refusal)
            return method(memoryview(request), context)

        return grpc.unary_unary_rpc_method_handler(answer)

    def model(self, request: memoryview, context: Any) -> Predictor:
        name = text(request, 1)
        try:
            return fake({"graph": str(self._folder / name) if name in self.loaded else name})
        except ModelError as error:
            context.abort(grpc.StatusCode.NOT_FOUND, "unknown model: %s" % error)
            raise

    def ServerLive(self, request: memoryview, context: Any) -> bytes:
        return write(1, 1)

    def ServerMetadata(self, request: memoryview, context: Any) -> bytes:
        return write(1, "toy") + write(2, "1.5") + write(3, "model_repository")

    def ModelReady(self, request: memoryview, context: Any) -> bytes:
        self.model(request, context)
        return write(1, 1)

    def ModelMetadata(self, request: memoryview, context: Any) -> bytes:
        model = self.model(request, context)
        answer = write(1, text(request, 1)) + write(2, "1") + write(3, "fake")
        for number, tensors in ((4, model.inputs), (5, model.outputs)):
            for tensor in tensors:
                sizes = b"".join(_signed(-1 if size is None else size) for size in tensor.shape)
                described = write(1, tensor.name) + write(2, WORDS[tensor.element_type]) + write(3, sizes)
                answer += write(number, described)
        return self.mangle(answer)

    def ModelInfer(self, request: memoryview, context: Any) -> bytes:
        model = self.model(request, context)
        (part,) = each(request, 5)
        values = np.frombuffer(each(request, 7)[0], TYPES[text(part, 2)])
        scores = model.run([values.reshape((-1,) + model.inputs[0].shape[1:])])[0]
        sizes = b"".join(_signed(size) for size in scores.shape)
        output = write(1, "logits") + write(2, "FP32") + write(3, sizes)
        return self.mangle(write(5, output) + write(6, scores.tobytes()))

    def ModelConfig(self, request: memoryview, context: Any) -> bytes:
        if text(request, 1) not in self.loaded:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no")
        config = self.loaded[text(request, 1)]
        entries = [
            write(14, write(1, key) + write(2, write(1, value["string_value"])))
            for key, value in config["parameters"].items()
        ]
        return write(1, write(1, text(request, 1)) + b"".join(entries))

    def RepositoryIndex(self, request: memoryview, context: Any) -> bytes:
        return write(1, write(1, "cats") + write(3, "READY")) + write(1, write(1, "dogs"))

    def RepositoryModelLoad(self, request: memoryview, context: Any) -> bytes:
        found = {}
        for entry in each(request, 3):
            (value,) = each(entry, 2)
            ((_, content),) = protobuf.fields(value)
            found[text(entry, 1)] = bytes(content)
        if found.get("file:1/model.json") == b"bad":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "this is no model")
        (self._folder / text(request, 2)).write_bytes(found["file:1/model.json"])
        self.loaded[text(request, 2)] = json.loads(found["config"].decode())
        return b""

    def RepositoryModelUnload(self, request: memoryview, context: Any) -> bytes:
        self.loaded.pop(text(request, 2), None)
        return b""


def _signed(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytearray([value]))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path)
    yield started
    started.close()


def save(folder: Path, **model: Any) -> str:
    (folder / "model.json").write_text(json.dumps(dict({"shape": [None, 3, 8, 8]}, **model)))
    return str(folder / "model.json")


def load(url: str, model: str, files: Any = None, **options: Any) -> Predictor:
    resolved = PREDICTORS["remote"].resolve(dict(options, url=url, model=model))
    return open_predictor(PredictorTask("remote", files or {}, resolved))


class TestRemoteOverGrpc(Conformance):
    name = "remote"
    output_name = "logits"

    @pytest.fixture(autouse=True)
    def _server(self, server: Server) -> None:
        self.server = server

    def save(self, folder: Path, seed: int = 0) -> Files:
        return {"graph": save(folder, seed=seed)}

    def save_wide(self, folder: Path) -> Files:
        return {"graph": save(folder, shape=[None, 3, 512, 512])}

    def open(self, files: Files, **options: Any) -> Predictor:
        return load(self.server.url, files["graph"], **options)

    def elsewhere(self, program: str, files: Files) -> Any:
        options = {"url": self.server.url, "model": files["graph"]}
        opening = (
            "import json, resource, sys; import numpy as np\n"
            "from mlmodelscope_worker.predictor import PREDICTORS\n"
            "declaration, options = PREDICTORS['remote'], json.loads(sys.argv[1])\n"
            "def predictor(): return declaration.function({}, **declaration.resolve(options))\n"
            "def peak_mib(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        )
        command = [sys.executable, "-c", opening + program, json.dumps(options)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True)
        return json.loads(done.stdout)

    def test_a_large_input_is_not_copied(self, tmp_path: Path) -> None:
        pytest.skip("a message of gRPC is one piece of memory")


def test_the_server_is_described_in_its_own_words(server: Server, tmp_path: Path) -> None:
    with load(server.url, save(tmp_path)) as predictor:
        said = predictor.server
    assert (said["name"], said["version"], said["platform"], said["model_versions"]) == ("toy", "1.5", "fake", ["1"])


def test_files_are_handed_over_and_taken_back(server: Server, tmp_path: Path) -> None:
    path = save(tmp_path)
    with load(server.url, path) as direct, load(server.url, "mine", {"graph": path}) as handed:
        assert np.array_equal(direct.run([batch(2)])[0], handed.run([batch(2)])[0])
        assert list(handed.server["files"]) == ["1/model.json"]
        with load(server.url, "mine", {"graph": path}), load(server.url, "mine"):
            pass
        assert "mine" in server.loaded  # who found it loaded leaves it
        with pytest.raises(ModelError, match="has a model `mine` already, and not from these files"):
            load(server.url, "mine", {"graph": path}, config='{"backend": "other"}')
    assert server.loaded == {}


def test_refusals_have_the_servers_own_words(server: Server, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="it answered NOT_FOUND: unknown model: .*; the server has cats, dogs$"):
        load(server.url, "nothing")
    (tmp_path / "bad.json").write_bytes(b"bad")
    with pytest.raises(ModelError, match="could not be loaded: it answered INVALID_ARGUMENT: this is no model"):
        load(server.url, "mine", {"graph": str(tmp_path / "bad.json")})
    with load(server.url, save(tmp_path)) as predictor:
        server.refusal = (grpc.StatusCode.INTERNAL, "out of\n\x1b[31mmemory")
        with pytest.raises(ModelError, match=r"answered INTERNAL: out of \[31mmemory$"):
            predictor.run([batch(1)])


def test_a_token_goes_with_every_question(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGE_TOKEN", "secret")
    with load(server.url, save(tmp_path), token_variable="EDGE_TOKEN", headers="X-Team: vision") as predictor:
        predictor.run([batch(1)])
    assert all(seen["authorization"] == "Bearer secret" and seen["x-team"] == "vision" for seen in server.seen)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"", "answered without `logits`; it gave none"),
        (b"\x2a\xff", "the server's message is broken off"),
        (
            write(5, write(1, "logits") + write(2, "FP32") + write(3, b"\x01\x0b")) + write(6, bytes(40)),
            "gave 10 values",
        ),
        (write(5, write(1, "logits") + write(2, "FP64") + write(3, b"\x05")) + write(6, bytes(40)), "promised float32"),
        (write(5, write(1, "logits") + write(2, "FP32") + write(3, b"\x0a")) + write(6, bytes(39)), "no tensor for"),
        (write(5, write(1, "a") + write(2, "FP32") + write(3, b"\x01")) * 2 + write(6, bytes(4)), "fewer tensors"),
    ],
)
def test_an_answer_that_is_none_is_refused(server: Server, tmp_path: Path, answer: bytes, message: str) -> None:
    with load(server.url, save(tmp_path)) as predictor:
        server.mangle = lambda _: answer
        with pytest.raises(ModelError, match=message):
            predictor.run([batch(1)])


def test_values_may_come_as_numbers(server: Server, tmp_path: Path) -> None:
    packed = np.arange(10, dtype=np.float32).tobytes()
    output = write(1, "logits") + write(2, "FP32") + write(3, b"\x01\x0a") + write(5, write(6, packed))
    with load(server.url, save(tmp_path)) as predictor:
        server.mangle = lambda _: write(5, output)
        assert predictor.run([batch(1)])[0].tolist() == [list(range(10))]


def test_a_server_that_is_gone_is_lost(server: Server, tmp_path: Path) -> None:
    with load(server.url, save(tmp_path), wait_s=0) as predictor:
        server.close()
        with pytest.raises(Lost, match="cannot be asked: .*; it was not there again within 0 s"):
            predictor.run([batch(1)])


def test_a_port_that_speaks_http_is_told(tmp_path: Path) -> None:
    from worker_package.predictor.device_agent import Agent

    with Agent([]) as agent, pytest.raises(ModelError, match="; a port for REST has an address with http://"):
        load(agent.url.replace("http", "grpc"), "toy")

"""Models behind a server: a small one of our own that speaks the Open Inference Protocol, started in this process.

MLMODELSCOPE_TEST_OPEN_INFERENCE may list further servers as `url model` pairs, separated by commas; their model takes
float32 [?, 3] (whatever its name) and answers with twice of it.
"""

import json
import os
import socket
import socketserver
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Dict, Iterator
from urllib.parse import unquote

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.predictor import PREDICTORS, Lost, ModelError, Predictor
from mlmodelscope_worker.predictor.fake import fake
from mlmodelscope_worker.predictor.remote_address import Address, headers_for
from mlmodelscope_worker.predictor.remote_tensors import TYPES, WORDS
from mlmodelscope_worker.session import open_predictor
from worker_package.predictor.conformance import Conformance, Files, batch

REAL = [pair.split() for pair in os.environ.get("MLMODELSCOPE_TEST_OPEN_INFERENCE", "").split(",") if pair.strip()]


class Server(socketserver.ThreadingMixIn, HTTPServer):
    """Serves fake models: a model's name is the path of its file."""

    daemon_threads = True

    def __init__(self) -> None:
        HTTPServer.__init__(self, ("127.0.0.1", 0), Handler)
        self.binary = True
        self.ready = True
        self.models = ["cats", "dogs"]
        self.seen = []  # type: list
        self.answer = None  # type: Any
        self.mangle = lambda answer: answer
        self.release = threading.Event()
        self.url = "http://127.0.0.1:%d" % self.server_port
        self.open = []  # type: list

    def get_request(self) -> Any:
        connection, place = HTTPServer.get_request(self)
        self.open.append(connection)
        return connection, place

    def drop_all(self) -> None:
        """End the connections that are still open, as the end of a process would."""
        for connection in self.open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed already


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: Any) -> None:
        pass

    def reply(self, status: int, answer: Any, rest: bytes = b"", **headers: str) -> None:
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) + len(rest)))
        if rest:
            self.send_header("Inference-Header-Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content + rest)

    def model(self) -> Predictor:
        """The fake model that the path names."""
        return fake({"graph": unquote(self.path.split("/v2/models/")[1].split("/")[0])})

    def do_GET(self) -> None:
        self.server.seen.append({"path": self.path, "headers": dict(self.headers)})
        if "/v2/health/" in self.path:
            return self.reply(200, b"")
        if self.path.endswith("/ready") and self.path.split("/v2/models/")[1].endswith("model.json/ready"):
            return self.reply(200 if self.server.ready else 400, b"")
        if self.server.answer is not None:
            return self.reply(*self.server.answer[0], **self.server.answer[1])
        if self.path.endswith("/v2"):
            extensions = ["binary_tensor_data"] if self.server.binary else []
            return self.reply(200, {"name": "toy", "version": "1", "extensions": extensions})
        try:
            model = self.model()
        except ModelError as error:
            return self.reply(404, {"error": "unknown model: %s" % error})
        described = {
            key: [
                {
                    "name": tensor.name,
                    "datatype": WORDS[tensor.element_type],
                    "shape": [-1 if size is None else size for size in tensor.shape],
                }
                for tensor in tensors
            ]
            for key, tensors in (("inputs", model.inputs), ("outputs", model.outputs))
        }
        self.reply(200, self.server.mangle(dict(described, name="toy", platform="fake")))

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        cut = int(self.headers.get("Inference-Header-Content-Length", len(content)))
        question = json.loads(content[:cut].decode())
        self.server.seen.append({"path": self.path, "headers": dict(self.headers), "question": question})
        if self.path.endswith("/repository/index"):
            return self.reply(200, [{"name": name, "state": "READY"} for name in self.server.models])
        part = question["inputs"][0]
        kind = TYPES[part["datatype"]]
        values = np.array(part["data"], kind) if "data" in part else np.frombuffer(content[cut:], kind)
        scores = self.model().run([values.reshape(part["shape"])])[0]
        output = {"name": "logits", "datatype": "FP32", "shape": list(scores.shape)}  # type: Dict[str, Any]
        rest = b""
        if (question["outputs"][0].get("parameters") or {}).get("binary_data"):
            rest = scores.tobytes()
            output["parameters"] = {"binary_data_size": len(rest)}
        else:
            output["data"] = scores.tolist()  # nested, which the protocol allows
        if self.server.answer is not None:
            if self.server.answer == "drop":
                self.close_connection = True
                return
            if self.server.answer == "wait":
                self.server.release.wait(300)
                return
            return self.reply(*self.server.answer[0], **self.server.answer[1])
        self.reply(200, self.server.mangle({"model_name": "toy", "outputs": [output]}), rest)


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as started:
        yield started


class running:
    def __enter__(self) -> Server:
        self.server = Server()
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self.server

    def __exit__(self, *exception: Any) -> None:
        self.server.release.set()
        self.server.shutdown()
        self.server.server_close()


def save(folder: Path, **model: Any) -> str:
    (folder / "model.json").write_text(json.dumps(dict({"shape": [None, 3, 8, 8]}, **model)))
    return str(folder / "model.json")


def load(url: str, model: str, **options: Any) -> Predictor:
    resolved = PREDICTORS["remote"].resolve(dict(options, url=url, model=model))
    return open_predictor(PredictorTask("remote", {}, resolved))


class TestRemote(Conformance):
    name = "remote"
    output_name = "logits"
    encoding = "auto"

    @pytest.fixture(autouse=True)
    def _server(self, server: Server) -> None:
        self.server = server

    def save(self, folder: Path, seed: int = 0) -> Files:
        return {"graph": save(folder, seed=seed)}

    def save_wide(self, folder: Path) -> Files:
        return {"graph": save(folder, shape=[None, 3, 512, 512])}

    def open(self, files: Files, **options: Any) -> Predictor:
        return load(self.server.url, files["graph"], encoding=self.encoding, **options)

    def elsewhere(self, program: str, files: Files) -> Any:
        """The server stays here; the predictor is elsewhere."""
        options = {"url": self.server.url, "model": files["graph"], "encoding": self.encoding}
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


class TestRemoteInJson(TestRemote):
    encoding = "json"

    def test_a_large_input_is_not_copied(self, tmp_path: Path) -> None:
        pytest.skip("JSON is a copy by nature, and a large one")

    def test_memory_comes_back(self, tmp_path: Path) -> None:
        pytest.skip("JSON of this size takes minutes; the connection is the same")


def test_binary_data_is_used_where_the_server_offers_it(server: Server, tmp_path: Path) -> None:
    for offers, encoding, expected in (
        (True, "auto", True),
        (False, "auto", False),
        (True, "json", False),
        (False, "binary", True),
    ):
        server.binary = offers
        with load(server.url, save(tmp_path), encoding=encoding) as predictor:
            predictor.run([batch(2)])
        part = server.seen[-1]["question"]["inputs"][0]
        assert ("data" not in part) == expected
        assert server.seen[-1]["headers"]["Content-Type"] == "application/%s" % ("octet-stream" if expected else "json")


def test_both_encodings_have_the_same_answer(server: Server, tmp_path: Path) -> None:
    with load(server.url, save(tmp_path), encoding="json") as words, load(server.url, save(tmp_path)) as bits:
        assert np.array_equal(words.run([batch(3)])[0], bits.run([batch(3)])[0])


def test_a_version_and_a_folder_are_part_of_the_path(server: Server, tmp_path: Path) -> None:
    model = save(tmp_path)
    with load(server.url + "/edge/", model, model_version="3") as predictor:
        predictor.run([batch(1)])
    assert server.seen[0]["path"] == "/edge/v2"
    assert server.seen[-1]["path"].startswith("/edge/v2/models/%2F")
    assert server.seen[-1]["path"].endswith("model.json/versions/3/infer")


def test_headers_and_a_token_are_sent(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGE_TOKEN", "secret")
    with load(server.url, save(tmp_path), headers="X-Team: vision\nX-Run: 7", token_variable="EDGE_TOKEN") as predictor:
        predictor.run([batch(1)])
    for seen in server.seen:
        assert seen["headers"]["X-Team"] == "vision" and seen["headers"]["X-Run"] == "7"
        assert seen["headers"]["Authorization"] == "Bearer secret"


def test_a_connection_is_kept_and_replaced_when_it_was_closed(server: Server, tmp_path: Path) -> None:
    with load(server.url, save(tmp_path)) as predictor:
        first = predictor.run([batch(1)])[0]
        connection = predictor._transport._lane.connection
        before = connection._socket.getsockname()
        predictor.run([batch(1)])
        assert connection._socket.getsockname() == before
        server.answer = ((200, b"{}"), {"Connection": "close"})
        with pytest.raises(ModelError, match="answered without `logits`; it gave none"):
            predictor.run([batch(1)])
        server.answer = None
        assert np.array_equal(predictor.run([batch(1)])[0], first)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://host", "`ftp://host` is no address of a server; expected something like http://host:8000"),
        ("host:8000", "is no address of a server"),
        ("http://", "is no address of a server"),
        ("http://host:port", "is no address of a server"),
        ("http://me:secret@host", "holds a user or password, which would be recorded; use netrc or a token"),
        ("http://@host", "holds a user or password"),
        ("http://me:se/cret@host", "^the address holds a user or password"),
        ("http://host\r\nX: 1", "is no address of a server"),
        ("http://h\u00f6st", "is no address of a server"),
        ("http://host/?x=1", "has a query or fragment"),
        ("http://127.0.0.1:9", "http://127.0.0.1:9 cannot be asked: .*refused"),
        ("http://no-such-host.invalid", "http://no-such-host.invalid cannot be asked"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(url: str, message: str) -> None:
    with pytest.raises((ModelError, ParameterError), match=message):
        load(url, "toy")


def test_an_address_and_a_model_must_be_named() -> None:
    with pytest.raises(ParameterError, match="`url` is required"):
        PREDICTORS["remote"].resolve({"model": "toy"})
    with pytest.raises(ParameterError, match="`model` is required"):
        PREDICTORS["remote"].resolve({"url": "http://host"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"headers": "nonsense"}, "`nonsense` is no header; expected `Name: value`"),
        ({"headers": "a b: c"}, "is no header"),
        ({"headers": "authorization: Bearer x"}, "authorization would be recorded; use `token_variable` or netrc"),
        ({"headers": "Content-Length: 0"}, "the header Content-Length is ours to set"),
        ({"token_variable": "NOT_SET_ANYWHERE"}, "variable NOT_SET_ANYWHERE, which should hold the token, is not set"),
    ],
)
def test_headers_are_checked_first(options: Dict[str, str], message: str) -> None:
    with pytest.raises((ModelError, ParameterError), match=message):
        load("http://127.0.0.1:9", "toy", **options)


def test_the_servers_own_words_are_passed_on(server: Server, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="it answered 404 Not Found: unknown model: the fake model cannot be .*"):
        load(server.url, str(tmp_path / "nothing.json"))


def test_the_models_that_there_are_are_named(server: Server, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="; the server has cats, dogs$"):
        load(server.url, str(tmp_path / "nothing.json"))
    server.models = ["model%02d" % number for number in range(50)]
    with pytest.raises(ModelError, match="model19, and 30 more$"):
        load(server.url, str(tmp_path / "nothing.json"))


def test_a_model_that_is_not_ready_is_not_asked(server: Server, tmp_path: Path) -> None:
    server.ready = False
    with pytest.raises(ModelError, match="it is not ready; the server has cats, dogs"):
        load(server.url, save(tmp_path))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (((500, {"error": "out of\nmemory"}), {}), "answered 500 .*: out of memory"),
        (((503, b"<html>busy</html>"), {}), "answered 503 .*: <html>busy</html>"),
        (((502, b""), {}), "answered 502 .*: no reason given"),
        (((302, b""), {"Location": "http://elsewhere/"}), "sends us on to http://elsewhere/; we ask only the server"),
        (((401, b""), {}), "answered 401 .*; no credentials were sent"),
        (((400, {"error": "\x1b[31mred\x07"}), {}), r"answered 400 .*: \[31mred$"),
        (((200, b"hello"), {}), "answered with something else than JSON"),
        (((200, b"[" * 100000), {}), "answered with something else than JSON"),
        (((200, b"[]"), {}), "answered with something else than an object"),
        (((200, {"outputs": 3}), {}), "something else than a list of outputs"),
        (
            ((200, {"outputs": [{"name": "logits", "datatype": "FP32", "shape": [1, 10]}]}), {}),
            "no tensor for `logits`",
        ),
    ],
)
def test_an_answer_that_is_none_is_refused(server: Server, tmp_path: Path, answer: Any, message: str) -> None:
    with load(server.url, save(tmp_path)) as predictor:
        server.answer = answer
        with pytest.raises(ModelError, match=message):
            predictor.run([batch(1)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": [1, 11]}, r"gave 10 values for `logits`, whose shape it says is \[1, 11\]"),
        ({"shape": [-1, -10]}, r"gave `logits` the shape \[-1, -10\]"),
        ({"shape": None}, "gave `logits` the shape None"),
        ({"shape": [10] * 100}, "gave `logits` the shape"),
        ({"shape": [10**30]}, "gave `logits` the shape"),
        ({"shape": [True, 10]}, "gave `logits` the shape"),
        ({"datatype": "FP64"}, "gave 5 values|promised float32 for `logits` and gave float64"),
        ({"parameters": {"binary_data_size": 4000}}, "with less binary data than it says"),
        ({"parameters": {"binary_data_size": -4}}, "with less binary data than it says"),
        ({"parameters": {"binary_data_size": 39}}, "no tensor for `logits`"),
        ({"parameters": {"binary_data_size": True}}, "with less binary data than it says"),
        ({"parameters": "?"}, "no tensor for `logits`"),
        ({"datatype": ["FP32"]}, "answered without `logits`; it gave none"),
        ({"name": "other"}, "answered without `logits`; it gave other"),
    ],
)
def test_a_server_that_contradicts_itself_is_refused(
    server: Server, tmp_path: Path, change: Dict[str, Any], message: str
) -> None:
    with load(server.url, save(tmp_path)) as predictor:
        server.mangle = lambda answer: {"outputs": [dict(answer["outputs"][0], **change)]}
        with pytest.raises(ModelError, match=message):
            predictor.run([batch(1)])


@pytest.mark.parametrize(
    ("described", "message"),
    [
        ({"inputs": []}, "does not say what the model takes and gives"),
        ({"inputs": None, "outputs": None}, "does not say what the model takes and gives"),
        (
            {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1]}]},
            "input `text` is BYTES, which is not a ten",
        ),
        ({"outputs": [{"name": "text", "datatype": "BYTES", "shape": [1]}]}, "does not say"),
        ({"inputs": "x"}, "something else than a list of inputs"),
        ({"inputs": [{"datatype": "FP32", "shape": [1]}]}, "has an input without a name"),
        ({"inputs": [{"name": "x", "datatype": "FP32", "shape": ["1"]}]}, "says that `x` has the shape"),
        ({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1e400]}]}, "says that `x` has the shape"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused(
    server: Server, tmp_path: Path, described: Dict[str, Any], message: str
) -> None:
    server.mangle = lambda answer: dict(answer, **described)
    with pytest.raises(ModelError, match=message):
        load(server.url, save(tmp_path))


def test_a_server_that_does_not_answer_is_given_up(server: Server, tmp_path: Path) -> None:
    with load(server.url, save(tmp_path)) as predictor:
        predictor._transport._timeout_s = 0.2  # after it was opened, which may take its time
        server.answer = "wait"
        with pytest.raises(ModelError, match=r"cannot be asked: no answer within 0\.2 s"):
            predictor.run([batch(1)])


def test_a_question_that_the_server_drops_is_a_failure_of_that_question(server: Server, tmp_path: Path) -> None:
    with load(server.url, save(tmp_path)) as predictor:
        server.answer = "drop"
        with pytest.raises(ModelError, match="cannot be asked: the server closed the connection$") as failure:
            predictor.run([batch(1)])
        assert not isinstance(failure.value, Lost)


def test_a_server_that_is_gone_is_lost_not_a_failure_of_what_was_asked(tmp_path: Path) -> None:
    with running() as server:
        predictor = load(server.url, save(tmp_path), wait_s=0)
    server.drop_all()
    with predictor, pytest.raises(Lost, match="cannot be asked: .*; it was not there again within 0 s"):
        predictor.run([batch(1)])


def test_a_model_that_is_gone_is_lost(server: Server, tmp_path: Path) -> None:
    with load(server.url, save(tmp_path)) as predictor:
        server.ready, server.answer = False, ((404, {"error": "unknown model"}), {})
        with pytest.raises(Lost, match="unknown model; the model is no longer ready there"):
            predictor.run([batch(1)])


def test_netrc_is_used_for_the_host_that_it_names(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "netrc"
    monkeypatch.setenv("NETRC", str(place))
    for text, expected in (
        ("machine 127.0.0.1 login me password secret\n", "Basic bWU6c2VjcmV0"),
        ("machine elsewhere login me password secret\n", None),
        ("default login me password secret\n", None),  # it would go to whoever a manifest names
        ("machine 127.0.0.1 nonsense\n", None),
    ):
        place.write_text(text)
        place.chmod(0o600)
        with load(server.url, save(tmp_path)) as predictor:
            predictor.run([batch(1)])
        assert server.seen[-1]["headers"].get("Authorization") == expected


def test_netrc_is_not_used_where_others_could_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine host login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert headers_for(Address("http://host"), "", None) == []
    assert headers_for(Address("https://host"), "", None) == [("Authorization", "Basic bWU6c2VjcmV0")]


def test_credentials_do_not_go_where_the_server_sends_us(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDGE_TOKEN", "secret")
    with running() as other:
        server.answer = ((307, b""), {"Location": other.url + "/v2"})
        with pytest.raises(ModelError, match="sends us on to %s/v2; we ask only the server" % other.url):
            load(server.url, save(tmp_path), token_variable="EDGE_TOKEN")
        assert server.seen and not other.seen


def test_a_token_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGE_TOKEN", "secret\r\nX: 1")
    with pytest.raises(ModelError, match="EDGE_TOKEN holds something that no token has in it") as refusal:
        load("http://127.0.0.1:9", "toy", token_variable="EDGE_TOKEN")
    assert "secret" not in str(refusal.value)


def test_grpc_says_what_it_needs() -> None:
    try:
        import grpc  # noqa: F401
    except ImportError:
        with pytest.raises(ModelError, match="grpc://127.0.0.1:9 needs gRPC, .*: pip install grpcio"):
            load("grpc://127.0.0.1:9", "toy")
    else:
        with pytest.raises(ModelError, match="grpc://127.0.0.1:9 cannot be asked: .*refused"):
            load("grpc://127.0.0.1:9", "toy")


@pytest.mark.skipif(not REAL, reason="MLMODELSCOPE_TEST_OPEN_INFERENCE names no server")
@pytest.mark.parametrize(("url", "model"), REAL)
def test_a_real_server_answers(url: str, model: str) -> None:
    question = np.random.default_rng(0).random((4, 3)).astype(np.float32)
    with load(url, model) as predictor:
        predictor.check([question])
        answer = predictor.run([question])[0]
        assert answer.dtype == np.float32 and np.allclose(answer, question * 2)
    with pytest.raises(ModelError):
        load(url, "no-such-model")

"""What a server adds to an answer: the same picture is asked about in this process, over REST and over gRPC, in turns.

All of them ask a model that is open. In this process that is an `OpenModel`; the server's own agent has another one of
the same plan, so that the difference is the way there and back: HTTP or gRPC, finding the manifests and an agent, and
the threads that an answer goes through. Over gRPC there is also a stream, which finds manifests and agents once.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc
import harness
import material

from mlmodelscope import Options, Settings
from mlmodelscope.prediction import OpenModel, plan_prediction
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.server.rpc.messages import methods

CALLS = 5  # of each in turn
STEPS = {
    "decode": {"color_layout": "RGB"},
    "resize": {"dimensions": [224, 224]},
    "mean": 127.0,
    "rescale": 128.0,
    "layout": "NCHW",
}
Ask = Callable[[], tuple[list[int], float]]
"""The classes, and the seconds from the question to the answer."""


def write_manifest(place: Path, graph: Path) -> Path:
    manifest = {
        "name": graph.stem,
        "version": "1.0.0",
        "task": "classification",
        "framework": {"name": "onnxruntime", "version": "*"},
        "inputs": [{"type": "image", "element_type": "float32", "processing": STEPS}],
        "outputs": [{"type": "logits", "processing": {"softmax": None}}],
        "source": {"graph_path": graph.name},
    }
    path = place / "manifests" / f"{graph.stem}.yml"
    path.write_text(json.dumps(manifest))
    return path


@contextmanager
def serving(place: Path) -> Iterator[tuple[int, int]]:
    """A server with an agent: (its port, its port for gRPC)."""
    ports = []
    for _ in range(2):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            ports.append(int(listener.getsockname()[1]))
    config = {"port": ports[0], "rpc_port": ports[1], "requests_per_minute": 10_000_000, "log_level": "warning"}
    (place / "server.json").write_text(json.dumps(config))
    environment = {
        **os.environ,
        "MLMODELSCOPE_HOME": str(place / "home"),
        "MLMODELSCOPE_CACHE": str(place / "cache"),
        "MLMODELSCOPE_MANIFESTS": str(place / "manifests"),
    }
    command = [sys.executable, "-m", "mlmodelscope", "serve", "--config", str(place / "server.json")]
    with (place / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(600):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", ports[0])
                connection.request("GET", "/api/v1/agents")
                if json.loads(connection.getresponse().read()).get("items"):
                    break
            except OSError:
                pass
            finally:
                connection.close()
            time.sleep(0.1)
        else:
            sys.exit(f"the server does not start: {(place / 'server.log').read_text()}")
        yield ports[0], ports[1]
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def in_process(opened: OpenModel, picture: bytes) -> Ask:
    def ask() -> tuple[list[int], float]:
        started = time.perf_counter()
        (found,) = opened.answer([picture])
        return list(found.classes), time.perf_counter() - started

    return ask


def over_rest(port: int, model: str, picture: bytes) -> Ask:
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def ask() -> tuple[list[int], float]:
        started = time.perf_counter()
        body = json.dumps({"model": model, "input": {"base64": base64.b64encode(picture).decode()}})
        connection.request("POST", "/api/v1/predictions", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = json.loads(response.read())
        took = time.perf_counter() - started
        if response.status != 200:
            sys.exit(f"the server says: {answer}")
        return list(answer["classes"]), took

    return ask


def over_grpc(channel: Any, model: str, picture: bytes) -> Ask:
    method = next(each for each in methods() if each.name == "Predict")
    call = channel.unary_unary(method.path, method.asked.SerializeToString, method.answered.FromString)
    question = method.asked(question={"model": {"name": model}}, input={"content": picture})

    def ask() -> tuple[list[int], float]:
        started = time.perf_counter()
        answer = call(question, timeout=120)
        return list(answer.classes), time.perf_counter() - started

    return ask


def over_stream(channel: Any, model: str, picture: bytes, said: queue.Queue[Any]) -> Ask:
    method = next(each for each in methods() if each.name == "PredictMany")
    talk = channel.stream_stream(method.path, method.asked.SerializeToString, method.answered.FromString)
    said.put(method.asked(question={"model": {"name": model}}))
    answers = talk(iter(said.get, None))
    question = method.asked(input={"content": picture})

    def ask() -> tuple[list[int], float]:
        started = time.perf_counter()
        said.put(question)
        answer = next(answers)
        return list(answer.prediction.classes), time.perf_counter() - started

    return ask


def measure(place: Path, graph: Path, rounds: int) -> tuple[dict[str, list[float]], list[str]]:
    path, picture = write_manifest(place, graph), material.photograph(0)
    settings = Settings(home=place / "here", cache=place / "cache")
    artifacts = ArtifactStore(settings)
    said: queue.Queue[Any] = queue.Queue()
    with ExitStack() as held:
        opened = held.enter_context(OpenModel(plan_prediction(path, Options(), settings=artifacts.settings), artifacts))
        port, rpc_port = held.enter_context(serving(place))
        channel = held.enter_context(grpc.insecure_channel(f"127.0.0.1:{rpc_port}"))
        held.callback(said.put, None)
        asks = {
            "in process": in_process(opened, picture),
            "REST": over_rest(port, graph.stem, picture),
            "gRPC": over_grpc(channel, graph.stem, picture),
            "gRPC, a stream": over_stream(channel, graph.stem, picture, said),
        }
        expected = asks["in process"]()[0]
        faults = [f"{name} has another answer" for name, ask in asks.items() if ask()[0] != expected]
        contenders = {name: lambda ask=ask: [ask()[1] for _ in range(CALLS)] for name, ask in asks.items()}
        harness.interleave(contenders, 2)  # uncounted
        seen = harness.interleave(contenders, rounds)
    return {name: [each for turn in turns for each in turn] for name, turns in seen.items()}, faults


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    rounds = 6 if arguments.quick else 60
    results: dict[str, Any] = {}
    faults: list[str] = []
    networks = {"small": material.write_small_model, "efficientnet": material.write_efficientnet}
    for name, write in networks.items():
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "manifests").mkdir()
            seen, wrong = measure(place, write(place / "manifests" / f"{name}.onnx"), rounds)
        faults += [f"{name}: {each}" for each in wrong]
        results[name] = {way: {"p50_s": _at(raw, 0.5), "raw_s": raw} for way, raw in seen.items()}
        base = _at(seen["in process"], 0.5)
        print(f"{name}, a photograph of 500 x 375 pixels")
        harness.print_table(
            ("milliseconds", "p10", "p50", "p90", "added to p50"),
            [
                (
                    way,
                    *(f"{1e3 * _at(raw, share):.2f}" for share in (0.1, 0.5, 0.9)),
                    f"{1e3 * (_at(raw, 0.5) - base):.2f}",
                )
                for way, raw in seen.items()
            ],
        )
        print()
    last = results["efficientnet"]
    ratio = last["REST"]["p50_s"] / last["in process"]["p50_s"]
    meaning = "p50 of a warm answer over REST / by an OpenModel in this process, EfficientNet-Lite0"
    harness.finish("predict_server", ratio, meaning, arguments.quick, results, faults)


def _at(raw: list[float], share: float) -> float:
    return sorted(raw)[int(share * (len(raw) - 1))]


if __name__ == "__main__":
    main()

"""What asking a server costs beside what other clients take for the same question: ours, a bare `http.client` loop and,
where it is installed, Triton's own client take turns at one local server.

The server is a small one of our own, which reads the question and answers at once; with `--url http://host:8000 --model
NAME --shape 1,3,8,8` it is a real one, whose model takes one float32 tensor of that shape."""

from __future__ import annotations

import argparse
import http.client
import json
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Any
from urllib.parse import urlsplit

import harness
import numpy as np

from mlmodelscope_worker.predictor import PREDICTORS

GOAL = 1.0
CALLS = 25  # of each in turn, so that all of them see the same machine
SHAPES = {"small": (1, 3, 8, 8), "image": (1, 3, 224, 224)}
CLASSES = 1000


def serve() -> None:
    """A server that costs next to nothing: it reads what it is sent and answers with the same scores each time."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(8)
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    scores = np.arange(CLASSES, dtype=np.float32).tobytes()
    output = {"name": "scores", "datatype": "FP32", "shape": [1, CLASSES]}
    inferred = {"outputs": [{**output, "parameters": {"binary_data_size": len(scores)}}]}
    described = {
        "name": "toy",
        "versions": ["1"],
        "inputs": [{"name": "input", "datatype": "FP32", "shape": [-1, 3, -1, -1]}],
        "outputs": [{**output, "shape": [-1, CLASSES]}],
    }
    server = {"name": "canned", "version": "1", "extensions": ["binary_tensor_data"]}
    answers = {
        "/v2": _reply(server),
        "/v2/models/toy": _reply(described),
        "/v2/models/toy/ready": _reply({}),
        "/v2/models/toy/infer": _reply(inferred, scores),
    }
    buffer = bytearray(1 << 20)
    while True:
        held = b""
        while b"\r\n\r\n" not in held:
            piece = connection.recv(1 << 16)
            if not piece:
                return
            held += piece
        head, _, body = held.partition(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        left = int(lengths[0].partition(b":")[2]) - len(body) if lengths else 0
        while left > 0:
            left -= connection.recv_into(buffer, min(left, len(buffer)))
        connection.sendall(answers[head.split(b" ", 2)[1].decode()])


def _reply(said: dict[str, Any], rest: bytes = b"") -> bytes:
    text = json.dumps(said).encode()
    cut = f"Inference-Header-Content-Length: {len(text)}\r\n" if rest else ""
    head = f"HTTP/1.1 200 OK\r\n{cut}Content-Length: {len(text) + len(rest)}\r\n\r\n"
    return head.encode() + text + rest


@contextmanager
def local_server() -> Iterator[str]:
    command = harness.part(__file__, "serve")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


Ask = Callable[[Any], Any]


def ours(url: str, model: str) -> tuple[Ask, str, str]:
    declaration = PREDICTORS["remote"]
    predictor = declaration.function({}, **declaration.resolve({"url": url, "model": model}))
    (name,) = [tensor.name for tensor in predictor.inputs]
    return lambda tensor: predictor.run([tensor])[0], name, predictor.outputs[0].name


def bare(url: str, model: str, input_name: str, output_name: str) -> Ask:
    """What one writes by hand: one connection that is kept, binary tensors."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    path = f"/v2/models/{model}/infer"

    def ask(tensor: Any) -> Any:
        part = {"name": input_name, "shape": list(tensor.shape), "datatype": "FP32"}
        question = {
            "inputs": [{**part, "parameters": {"binary_data_size": tensor.nbytes}}],
            "outputs": [{"name": output_name, "parameters": {"binary_data": True}}],
        }
        text = json.dumps(question).encode()
        connection.request("POST", path, text + tensor.tobytes(), {"Inference-Header-Content-Length": str(len(text))})
        response = connection.getresponse()
        content = response.read()
        cut = int(response.headers["Inference-Header-Content-Length"])
        shape = json.loads(content[:cut])["outputs"][0]["shape"]
        return np.frombuffer(content[cut:], np.float32).reshape(shape)

    return ask


def tritons(url: str, model: str, input_name: str, output_name: str) -> Ask | None:
    try:
        from tritonclient import http as client
    except ImportError:
        return None
    server = client.InferenceServerClient(urlsplit(url).netloc)

    def ask(tensor: Any) -> Any:
        given = client.InferInput(input_name, list(tensor.shape), "FP32")
        given.set_data_from_numpy(tensor)
        return server.infer(model, [given], outputs=[client.InferRequestedOutput(output_name)]).as_numpy(output_name)

    return ask


def timed(ask: Ask, tensor: Any) -> list[int]:
    raw = [0] * CALLS
    for call in range(CALLS):
        start = perf_counter_ns()
        ask(tensor)
        raw[call] = perf_counter_ns() - start
    return raw


def measure(url: str, model: str, shape: tuple[int, ...], rounds: int) -> tuple[dict[str, Any], list[str]]:
    mine, input_name, output_name = ours(url, model)
    clients: dict[str, Ask | None] = {
        "http.client": bare(url, model, input_name, output_name),
        "remote": mine,
        "tritonclient": tritons(url, model, input_name, output_name),
    }
    asked = {name: ask for name, ask in clients.items() if ask is not None}
    tensor = np.random.default_rng(0).random(shape).astype(np.float32)
    expected = asked["http.client"](tensor)
    faults = [f"{name} has another answer" for name, ask in asked.items() if not np.array_equal(ask(tensor), expected)]
    contenders = {name: (lambda ask=ask: timed(ask, tensor)) for name, ask in asked.items()}
    harness.interleave(contenders, 4)  # uncounted
    seen = harness.interleave(contenders, rounds)
    return {
        name: {f"p{p}_us": float(np.percentile(np.concatenate(raw), p)) / 1e3 for p in (10, 50, 90, 99)}
        for name, raw in seen.items()
    }, faults


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--part", choices=["serve"], help=argparse.SUPPRESS)
    parser.add_argument("--url", help="a real server")
    parser.add_argument("--model", default="toy", help="its model")
    parser.add_argument("--shape", help="what that model takes, such as 1,3,8,8")
    arguments = parser.parse_args()
    if arguments.part:
        serve()
    rounds = 8 if arguments.quick else 80
    results, faults = {}, []
    shapes = {"given": tuple(map(int, arguments.shape.split(",")))} if arguments.shape else SHAPES
    with local_server() as local:
        for name, shape in shapes.items():
            results[name], wrong = measure(arguments.url or local, arguments.model, shape, rounds)
            faults += [f"{name}: {each}" for each in wrong]
    for name, rows in results.items():
        print(f"{name}, float32 {list(shapes[name])}, {int(np.prod(shapes[name])) * 4} bytes")
        harness.print_table(
            ("microseconds", "p10", "p50", "p90", "p99"),
            [(client, *(f"{value:.1f}" for value in values.values())) for client, values in rows.items()],
        )
        print()
    last = list(results)[-1]
    ratio = results[last]["remote"]["p50_us"] / results[last]["http.client"]["p50_us"]
    meaning = f"p50 of a question by `remote` / by a bare http.client loop, {last}; goal <= {GOAL:g}"
    harness.finish("remote", ratio, meaning, arguments.quick, results, faults)


if __name__ == "__main__":
    main()

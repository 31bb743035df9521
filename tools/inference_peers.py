"""Real servers of the Open Inference Protocol, each in an environment of its own: do they say what the model says here?

    python tools/inference_peers.py                    all of them, installed where they are not yet
    python tools/inference_peers.py mlserver triton --place FOLDER

Each serves one small ONNX file; our client asks it over every way that it has, and the answers are compared with
onnxruntime's own in this process. What cannot be installed or started here is said and counted, not passed over.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np

FOLDER = Path(__file__).parent / "peers"
SHAPE = (1, 3, 224, 224)
MODEL = "net"
_START_S = 120


@dataclass(frozen=True)
class Peer:
    """A server: what is installed, how it is started, and how tensors may travel over REST."""

    packages: tuple[str, ...]
    command: Callable[[Path, Path, Path, int, int], list[str]]
    """From its interpreter, the model, a folder of its own and two ports."""
    binary: bool


def _mlserver(python: Path, model: Path, place: Path, port: int, rpc_port: int) -> list[str]:
    settings = {"host": "127.0.0.1", "http_port": port, "grpc_port": rpc_port, "parallel_workers": 0}
    (place / "settings.json").write_text(json.dumps({**settings, "metrics_port": free_port()}))
    described = {
        "name": MODEL,
        "implementation": "mlserver_runtime.Onnx",
        "parameters": {"uri": str(model)},
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, *SHAPE[1:]]}],
        "outputs": [{"name": "scores", "datatype": "FP32", "shape": [-1, 1000]}],
    }
    (place / "model-settings.json").write_text(json.dumps(described))
    return [str(python.with_name("mlserver")), "start", str(place)]


def _kserve(python: Path, model: Path, place: Path, port: int, rpc_port: int) -> list[str]:
    ports = ["--http_port", str(port), "--grpc_port", str(rpc_port)]
    return [str(python), str(FOLDER / "kserve_server.py"), str(model), *ports]


def _triton(python: Path, model: Path, place: Path, port: int, rpc_port: int) -> list[str]:
    return [str(python), str(FOLDER / "pytriton_server.py"), str(model), str(port), str(rpc_port)]


PEERS = {
    "mlserver": Peer(("mlserver", "onnxruntime", "setuptools<81"), _mlserver, binary=False),
    "kserve": Peer(("kserve", "onnxruntime"), _kserve, binary=True),
    "triton": Peer(("nvidia-pytriton", "onnxruntime"), _triton, binary=True),
}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def write_model(path: Path) -> None:
    """Cheap to run and large to send, so that what is measured is the way there and back."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weights = np.random.default_rng(0).standard_normal((3, 1000)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("GlobalAveragePool", ["x"], ["means"]),
            helper.make_node("Flatten", ["means"], ["flat"]),
            helper.make_node("MatMul", ["flat", "w"], ["scores"]),
        ],
        MODEL,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", *SHAPE[1:]])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", 1000])],
        [numpy_helper.from_array(weights, "w")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def in_process(path: Path) -> Callable[[Any], Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    return lambda tensor: session.run(None, {"x": tensor})[0]


def client(url: str, **options: Any) -> Any:
    """Our client of the protocol, open."""
    from mlmodelscope_worker.predictor import PREDICTORS

    declaration = PREDICTORS["remote"]
    return declaration.function({}, **declaration.resolve({"url": url, "model": MODEL, **options}))


def install(name: str, place: Path) -> Path:
    """The interpreter of the peer's environment, which is made where it is not there."""
    python = place / name / "bin" / "python"
    if not python.exists():
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, str(place / name)], check=True)
        subprocess.run([*uv, "pip", "install", "--quiet", "--python", str(python), *PEERS[name].packages], check=True)
    return python


@contextlib.contextmanager
def started(name: str, python: Path, model: Path) -> Iterator[tuple[str, str]]:
    """(address over REST, address over gRPC) of a server that is ready."""
    port, rpc_port = free_port(), free_port()
    library = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_config_var('LIBDIR'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    environment = {**os.environ, "PYTHONPATH": str(FOLDER), "LD_LIBRARY_PATH": library}
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+") as log:
        command = PEERS[name].command(python, model, Path(folder), port, rpc_port)
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder, start_new_session=True)
        try:
            _wait(process, f"http://127.0.0.1:{port}/v2/models/{MODEL}/ready", Path(folder) / "log")
            yield f"http://127.0.0.1:{port}", f"grpc://127.0.0.1:{rpc_port}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), urlopen(url, timeout=5) as answer:
            if answer.status == 200:
                return
        time.sleep(0.2)
    raise RuntimeError(f"it did not become ready\n{log.read_text(errors='replace')[-1500:]}")


def check(name: str, place: Path, model: Path) -> list[tuple[str, str]]:
    """(way, verdict) for each way of asking."""
    expect, found = in_process(model), []
    generator = np.random.default_rng(1)
    tensors = [generator.random((rows, *SHAPE[1:]), np.float32) for rows in (1, 1, 3)]
    with started(name, install(name, place), model) as (rest, rpc):
        ways = {"gRPC": (rpc, {}), "REST, JSON": (rest, {"encoding": "json"})}
        if PEERS[name].binary:
            ways["REST, binary"] = (rest, {"encoding": "binary"})
        for way, (url, options) in ways.items():
            with client(url, **options) as asked:
                who = f"{asked.server['name']} {asked.server['version']}"
                pairs = [(asked.run([each])[0], expect(each)) for each in tensors]
            same = all(np.array_equal(*pair) for pair in pairs)
            far = max(float(np.abs(had - wanted).max()) for had, wanted in pairs)
            found.append((f"{who}, {way}", "the same bytes" if same else f"off by {far:.3g}"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("peers", nargs="*", help=f"some of {', '.join(PEERS)}")
    parser.add_argument("--place", type=Path, help="where their environments are kept; by default in the cache")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.peers) - set(PEERS))
    if unknown:
        sys.exit(f"no such peer: {', '.join(unknown)}\nknown: {', '.join(PEERS)}")
    if arguments.place is None:
        from mlmodelscope.settings import Settings

        arguments.place = Settings.from_environment().cache / "peers"
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "net.onnx"
        write_model(model)
        for name in arguments.peers or PEERS:
            try:
                for way, verdict in check(name, arguments.place.resolve(), model):
                    print(f"{name:10} {way:40} {verdict}", flush=True)
                    wrong += verdict != "the same bytes"
            except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
                print(f"{name:10} NOT RUN: {error}", flush=True)
                wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

"""What a tensor of 600 KB costs on its way to a server of the Open Inference Protocol and back: ours, and real peers.

One small ONNX model, asked in turns: by onnxruntime in this process, by our client at our server over REST and gRPC, by
Triton's client where a Python has it (MLMODELSCOPE_TEST_TRITONCLIENT), and with `--peers mlserver kserve triton` at
those servers, each in an environment of its own (tools/inference_peers.py installs them). Overhead is what a question
takes more than the model in process."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import harness
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import inference_peers as peers  # noqa: E402

GOAL_MS = 3.0
CALLS = 10  # of each in turn, so that all of them see the same machine
MANIFEST = """\
name: net
version: 1.0.0
task: classification
framework: {name: onnxruntime}
inputs: [{type: image, processing: {decode: , layout: NCHW}}]
outputs: [{type: logits}]
source: {graph_path: net.onnx}
"""
Turn = Callable[[], list[int]]


def serve(manifest: str) -> None:
    """Our server, in a process of its own as it would be."""
    from mlmodelscope.inference.door import LoneDoor
    from mlmodelscope.inference.listening import Listening
    from mlmodelscope.inference.models import Models
    from mlmodelscope.inference.server import InferenceServer
    from mlmodelscope.settings import Settings

    async def run() -> None:
        models = Models(Settings.from_environment(), [manifest])
        server = InferenceServer(models, LoneDoor("127.0.0.1", None), Listening(port=0, rpc_port=0))
        await server.start()
        while not models.is_ready:
            await asyncio.sleep(0.05)
        print(server.port, server.rpc_port, flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await server.stop()

    asyncio.run(run())


@contextlib.contextmanager
def our_server(folder: Path) -> Iterator[tuple[str, str]]:
    (folder / "net.yml").write_text(MANIFEST)
    command = harness.part(__file__, "serve", folder / "net.yml")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        port, rpc_port = process.stdout.readline().split()
        yield f"http://127.0.0.1:{port}", f"grpc://127.0.0.1:{rpc_port}"
        process.stdin.close()


def repeated(ask: Callable[[Any], Any], tensor: Any) -> list[int]:
    raw = [0] * CALLS
    for call in range(CALLS):
        start = perf_counter_ns()
        ask(tensor)
        raw[call] = perf_counter_ns() - start
    return raw


class Bench:
    """Contenders by name, each checked once for its answer."""

    def __init__(self, model: Path) -> None:
        self.tensor = np.random.default_rng(0).random(peers.SHAPE, np.float32)
        bare = peers.in_process(model)
        self.expected = bare(self.tensor)
        self.turns: dict[str, Turn] = {"in process": lambda: repeated(bare, self.tensor)}
        self.faults: list[str] = []

    def ours(self, name: str, url: str, ends: contextlib.ExitStack, **options: Any) -> None:
        asked = ends.enter_context(peers.client(url, **options))
        self._check(name, asked.run([self.tensor])[0])
        self.turns[name] = lambda: repeated(lambda tensor: asked.run([tensor]), self.tensor)

    def tritons(self, name: str, url: str, ends: contextlib.ExitStack) -> None:
        python = os.environ.get("MLMODELSCOPE_TEST_TRITONCLIENT")
        if python is None:
            if importlib.util.find_spec("tritonclient") is None:
                return
            python = sys.executable
        scheme, _, address = url.partition("://")
        program = Path(__file__).with_name("triton_turns.py")
        process = ends.enter_context(
            subprocess.Popen(
                [python, str(program), scheme, address, peers.MODEL, str(CALLS)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
            )
        )
        assert process.stdin is not None and process.stdout is not None
        given, taken = process.stdin, process.stdout
        ends.callback(given.close)
        first = taken.readline()
        if not first:
            self.faults.append(f"{name}: Triton's client got no answer")
            return
        self._check(name, np.array(json.loads(first), np.float32).reshape(1, -1))

        def turn() -> list[int]:
            given.write("go\n")
            given.flush()
            found: list[int] = json.loads(taken.readline())
            return found

        self.turns[name] = turn

    def _check(self, name: str, answer: Any) -> None:
        if not np.array_equal(answer, self.expected):
            self.faults.append(f"{name} has another answer")


def measure(turns: dict[str, Turn], rounds: int) -> dict[str, dict[str, float]]:
    harness.interleave(turns, 2)  # uncounted
    seen = harness.interleave(turns, rounds)
    return {
        name: {f"p{p}_ms": float(np.percentile(np.concatenate(raw), p)) / 1e6 for p in (10, 50, 90, 99)}
        for name, raw in seen.items()
    }


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--peers", nargs="*", default=[], choices=list(peers.PEERS), help="real servers beside ours")
    parser.add_argument("--place", type=Path, help="where their environments are kept")
    arguments = parser.parse_args()
    if arguments.part:
        serve(arguments.part[1])
        return
    rounds = 4 if arguments.quick else 40
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as ends:
        folder = Path(place)
        peers.write_model(folder / "net.onnx")
        bench = Bench(folder / "net.onnx")
        servers = {"mlmodelscope": ends.enter_context(our_server(folder))}
        for name in arguments.peers:
            python = peers.install(name, (arguments.place or folder).resolve())
            servers[name] = ends.enter_context(peers.started(name, python, folder / "net.onnx"))
        for name, (rest, rpc) in servers.items():
            bench.ours(f"{name}, gRPC, our client", rpc, ends)
            bench.tritons(f"{name}, gRPC, tritonclient", rpc, ends)
            if name not in peers.PEERS or peers.PEERS[name].binary:
                bench.ours(f"{name}, REST binary, our client", rest, ends, encoding="binary")
                bench.tritons(f"{name}, REST binary, tritonclient", rest, ends)
        results = measure(bench.turns, rounds)
    base = results["in process"]["p50_ms"]
    harness.print_table(
        ("milliseconds, float32 [1, 3, 224, 224]", "p10", "p50", "p90", "p99", "overhead at p50"),
        [
            (name, *(f"{value:.2f}" for value in row.values()), f"{row['p50_ms'] - base:.2f}")
            for name, row in results.items()
        ],
    )
    print()
    own = [row["p50_ms"] - base for name, row in results.items() if name.startswith("mlmodelscope") and "our" in name]
    meaning = f"the larger overhead of our client at our server, REST binary or gRPC, / {GOAL_MS:g} ms; goal <= 1"
    harness.finish("inference_protocol", max(own) / GOAL_MS, meaning, arguments.quick, results, bench.faults)


if __name__ == "__main__":
    main()

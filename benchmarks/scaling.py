"""One evaluation in parts on one Ray node and on two, each with one core; then the same cluster, grown on paper.

Both times are of the same cluster: for the first, the request names one node. Fixed costs (starting a process for each
part, opening the model, joining the parts) are measured by an evaluation of one sample a part, printed, and taken off.
What was measured feeds a simulation of the same protocol with more nodes than fit here.
"""

from __future__ import annotations

import heapq
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import harness
import material
from real_server import Server

TOKEN = secrets.token_hex(32)
PARTS, MANY = 8, 40
GOAL = 0.6
NODES = (1, 2, 10, 30, 100, 300, 1000)
DATASET = """\
name: photographs
version: 1.0.0
task: classification
format: list
sources: [{url: photographs/}]
labels: {pattern: '_(\\d+)\\.jpg$'}
"""
MODEL = """\
name: small
version: 1.0.0
task: classification
framework: {name: onnxruntime}
inputs:
  - type: image
    processing:
      decode: {library: pillow, color_layout: RGB}
      resize: {dimensions: [3, 224, 224], method: bilinear, library: pillow}
      mean: 127.5
      rescale: 127.5
      layout: NCHW
outputs: [{type: logits}]
source: {graph_path: small.onnx}
"""


@dataclass(frozen=True)
class Costs:
    """What the simulation takes from the measurement, in seconds."""

    sample_s: float
    """One sample, decoded and answered, on one core."""
    part_s: float
    """What a part takes beside its samples: a process, the plan, the model opened."""
    server_part_s: float
    """The server's own time for a part: handing it out, its events, keeping its answers."""
    server_sample_s: float
    """The server's own time for a sample when the parts are joined."""
    beat_s: float
    """The server's own time for a heartbeat."""


def simulate(
    costs: Costs, nodes: int, samples: int, parts_per_node: int = 4, lease_s: float = 30.0
) -> dict[str, float]:
    """A server that does one thing at a time, nodes that take part after part, and the joining at the end."""
    parts = min(samples, nodes * parts_per_node)
    size, rest = divmod(samples, parts)
    beating = min(nodes * costs.beat_s / (lease_s / 3), 0.99)  # share of the server that heartbeats take
    server_s = costs.server_part_s / (1 - beating)
    free = [(0.0, node) for node in range(nodes)]
    server_at, last = 0.0, 0.0
    for part in range(parts):
        asked_at, node = heapq.heappop(free)
        server_at = max(server_at, asked_at) + server_s
        done_at = server_at + costs.part_s + (size + (part < rest)) * costs.sample_s
        last = max(last, done_at)
        heapq.heappush(free, (done_at, node))
    joined_s = samples * costs.server_sample_s / (1 - beating)
    return {"nodes": nodes, "parts": parts, "wall_s": last + joined_s, "joining_s": joined_s, "beating": beating}


def best(costs: Costs, nodes: int, samples: int) -> dict[str, float]:
    """With one, two or four parts for each node: more even out what nodes differ by, and each has its fixed cost."""
    return min((simulate(costs, nodes, samples, each) for each in (1, 2, 4)), key=lambda found: found["wall_s"])


@contextmanager
def two_nodes(place: Path) -> Iterator[Any]:
    """A Ray cluster of two nodes on this machine, one core each; what they start stays on that core."""
    os.environ.update(
        RAY_USAGE_STATS_ENABLED="0",
        RAY_AUTH_MODE="token",
        RAY_AUTH_TOKEN=TOKEN,
        MLMODELSCOPE_HOME=str(place / "home"),
        MLMODELSCOPE_CACHE=str(place / "cache"),
        MLMODELSCOPE_MANIFESTS=str(place / "manifests"),
    )
    from ray.cluster_utils import Cluster

    all_cores = sorted(os.sched_getaffinity(0))
    if len(all_cores) < 2:
        sys.exit("this needs a machine with two cores")
    try:
        os.sched_setaffinity(0, {all_cores[0]})
        head = {"num_cpus": 1, "node_ip_address": "127.0.0.2", "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        os.sched_setaffinity(0, {all_cores[1]})
        cluster.add_node(num_cpus=1, node_ip_address="127.0.0.3")
    finally:
        os.sched_setaffinity(0, set(all_cores))
    try:
        yield cluster
    finally:
        cluster.shutdown()


def evaluate(client: Any, agent: str | None, seed: int, limit: int | None, parts: int = PARTS) -> float:
    """Seconds from the question until the record is there. Another seed is another plan: nothing is answered twice."""
    options = {"seed": seed, "timed_runs": 1, "warm_up_runs": 1, "timed_budget_s": 0.1, "limit": limit}
    where = {"agent": agent} if agent else {}
    started = time.perf_counter()
    (asked,) = client.ask(
        {"model": "small", "dataset": "photographs", "options": options, "shards": parts, "where": where}
    )
    asked.wait()
    taken_s = time.perf_counter() - started
    asked.record()  # an error where there is none
    return taken_s


class Meter:
    """The server's own time for something, without what it takes when nobody wants anything."""

    def __init__(self, server: Server, seconds: float = 10.0) -> None:
        self._server = server
        before = server.cpu_s
        time.sleep(seconds)
        self._idle = (server.cpu_s - before) / seconds

    def of(self, do: Callable[[], float]) -> tuple[float, float]:
        """(how long it took, the server's time)."""
        before = self._server.cpu_s
        wall_s = do()
        return wall_s, max(0.0, self._server.cpu_s - before - self._idle * wall_s)


@dataclass
class Seen:
    """Wall-clock and the server's own time, for each way of evaluating, and once in many parts."""

    taken: dict[str, list[float]]
    used: dict[str, list[float]]
    many_s: float
    many_server_s: float

    def net(self, name: str) -> float:
        """Without what a sample for each part takes already."""
        return median(self.taken[name]) - median(self.taken[f"{name}, fixed"])

    def costs(self, samples: int) -> Costs:
        more = MANY - PARTS
        return Costs(
            sample_s=self.net("one") / samples,
            part_s=2 * (self.many_s - median(self.taken["two, fixed"])) / more,  # two nodes share them
            server_part_s=(self.many_server_s - median(self.used["two, fixed"])) / more,
            server_sample_s=max(0.0, median(self.used["one"]) - median(self.used["one, fixed"])) / samples,
            beat_s=0.18 / (1000 / 10),  # benchmarks/server.py: 1,000 agents that beat every 10 s take 0.18 of a core
        )


def write_catalogue(manifests: Path, samples: int) -> None:
    manifests.mkdir()
    material.write_images(manifests / "photographs", samples)
    material.write_small_model(manifests / "small.onnx")
    (manifests / "photographs.yml").write_text(DATASET)
    (manifests / "small.yml").write_text(MODEL)


def measure(client: Any, server: Server, rounds: int) -> Seen:
    while len(client.agents()) < 2:
        time.sleep(0.2)
    one = sorted(each["id"] for each in client.agents())[0]
    evaluate(client, one, -1, PARTS)  # what is fetched and built, is fetched and built now
    evaluate(client, None, -2, PARTS)
    meter = Meter(server)
    ways = {"one, fixed": (one, PARTS), "two, fixed": (None, PARTS), "one": (one, None), "two": (None, None)}
    many = meter.of(lambda: evaluate(client, None, -3, MANY, MANY))
    seen = Seen({name: [] for name in ways}, {name: [] for name in ways}, *many)
    for turn in range(rounds):
        for name, (agent, limit) in ways.items():
            seed = 2 * turn + (agent is None)
            wall_s, server_s = meter.of(partial(evaluate, client, agent, seed, limit))
            seen.taken[name].append(wall_s)
            seen.used[name].append(server_s)
    return seen


def show(seen: Seen, samples: int, imagined: list[dict[str, float]]) -> None:
    rows = [[name, harness.spread(times)] for name, times in seen.taken.items()]
    harness.print_table([f"{samples} photographs in {PARTS} parts, s", "wall"], rows)
    print(f"\nwithout fixed costs: {seen.net('one'):.2f} s on one node, {seen.net('two'):.2f} s on two")
    print("\n50,000 photographs, simulated with the costs measured here")
    alone = imagined[0]["wall_s"]
    harness.print_table(
        ["nodes", "parts", "wall, s", "times as fast", "of it joining, s", "server busy with heartbeats"],
        [
            [
                int(each["nodes"]),
                int(each["parts"]),
                f"{each['wall_s']:.1f}",
                f"{alone / each['wall_s']:.1f}",
                f"{each['joining_s']:.1f}",
                f"{100 * each['beating']:.1f} %",
            ]
            for each in imagined
        ],
    )


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    samples, rounds = (400, 1) if arguments.quick else (4000, arguments.rounds)
    from mlmodelscope.client.client import Client

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_catalogue(place / "manifests", samples)
        with two_nodes(place) as cluster:
            server = Server(place, executor="ray", ray_address=cluster.address, slots=1)
            try:
                with Client(f"http://127.0.0.1:{server.port}", server.token) as client:
                    seen = measure(client, server, rounds)
            finally:
                server.close()
    costs = seen.costs(samples)
    imagined = [best(costs, nodes, 50_000) for nodes in NODES]
    show(seen, samples, imagined)
    meaning = f"time on two nodes / on one, without fixed costs; goal <= {GOAL}"
    results = {"samples": samples, "parts": PARTS, "seen": asdict(seen)}
    results |= {"costs": asdict(costs), "simulated": imagined}
    harness.finish("scaling", seen.net("two") / seen.net("one"), meaning, arguments.quick, results)


if __name__ == "__main__":
    main()

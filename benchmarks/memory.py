"""Peak memory of the evaluating process for ten times as many images, beside a loop that keeps its answers in a list.

Only the host counts here: the worker, which decodes and predicts, is a process of its own.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import harness
import material

GOAL_MIB = 50
CLASSES = material.CLASSES
STEPS = {"decode": {"library": "pillow"}, "layout": "NCHW"}


def run_ours(folder: Path, model: Path) -> int:
    from mlmodelscope import Options, Settings, evaluate

    with tempfile.TemporaryDirectory() as place:
        settings = Settings(home=Path(place) / "home", cache=Path(place) / "cache")
        manifest = material.model_manifest(model, "fake", STEPS)
        once = Options(warm_up_runs=1, timed_runs=1)
        return evaluate(manifest, material.dataset_manifest(folder), once, settings=settings).samples


def run_list(folder: Path, model: Path) -> int:
    """A loop as one writes it: read, answer, keep, and write one table at the end."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = []
    for path in sorted(folder.iterdir()):
        seed = zlib.crc32(path.read_bytes())
        rows.append({"id": path.name, "classes": [(seed + n) % CLASSES for n in range(5)], "scores": [0.2] * 5})
    pq.write_table(pa.Table.from_pylist(rows), folder.parent / "list.parquet")
    return len(rows)


def peak_mib() -> float:
    """Not `ru_maxrss` where it can be avoided: on Linux a child begins with its parent's."""
    try:
        found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        found = None
    if found:
        return int(found[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1024)


PARTS: dict[str, Any] = {"mlmodelscope": run_ours, "list and table": run_list}


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--part", nargs=3, help="for the benchmark itself: contender, folder, model")
    arguments = parser.parse_args()
    if arguments.part:
        contender, folder, model = arguments.part
        samples = PARTS[contender](Path(folder), Path(model))
        harness.say({"samples": samples, "peak_mib": peak_mib()})
        return
    small, large = (200, 2000) if arguments.quick else (1000, 10000)
    seen: dict[str, dict[int, float]] = {name: {} for name in PARTS}
    faults = []
    with tempfile.TemporaryDirectory() as place:
        model = Path(place) / "fake.json"
        model.write_text(json.dumps({"shape": [None, 3, 32, 32], "classes": CLASSES}))
        for count in (small, large):
            folder = material.write_images(Path(place) / f"images{count}", count, material.thumbnail)
            for name in PARTS:
                said = harness.run_child(harness.part(__file__, name, folder, model)).said
                seen[name][count] = said["peak_mib"]
                if said["samples"] != count:
                    faults.append(f"{name} evaluated {said['samples']} of {count} images")
    growth = {name: peaks[large] - peaks[small] for name, peaks in seen.items()}
    harness.print_table(
        ("peak memory of the host, MiB", f"{small} images", f"{large} images", "growth"),
        [(name, *(f"{peak:.1f}" for peak in peaks.values()), f"{growth[name]:.1f}") for name, peaks in seen.items()],
    )
    print()
    ours = seen["mlmodelscope"]
    more = growth["mlmodelscope"] * 9000 / (large - small)
    meaning = (
        f"peak for {large} images / peak for {small}; goal <= {GOAL_MIB} MiB more for 10,000 than for 1,000, "
        f"seen {more:.1f} MiB{' by extrapolation' if arguments.quick else ''}"
    )
    harness.finish("memory", ours[large] / ours[small], meaning, arguments.quick, seen, faults)


if __name__ == "__main__":
    main()

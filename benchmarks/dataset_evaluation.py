"""Dataset evaluation beside a hand-written loop: what an image costs more, and how near the limit of the machine it is.

Each contender runs in a process of its own, over a small and a large dataset; the difference is the cost of an image,
what is left is the fixed cost (imports, worker start, database). CPU is compared while contenders take turns, and
throughput while each has the machine to itself. The limit is what perfect overlap of decoding and inference would
reach: cores / CPU seconds that an image takes in the hand-written loop.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import harness
import material
from turns import take_turns

GOAL_MS, GOAL_SHARE = 0.3, 0.9
STEPS = {
    "decode": {"library": "pillow", "color_layout": "RGB"},
    "crop": {"method": "center", "percentage": 87.5, "square": True, "offset": "ceil"},
    "resize": {"dimensions": [3, 224, 224], "method": "bicubic", "library": "pillow"},
    "mean": 127,
    "rescale": 128,
    "layout": "NCHW",
}
CONTENDERS = {
    "bare": "hand-written loop",
    "copies": "one loop for each core",
    "pool": "process pool decodes",
    "first": "mlmodelscope, first time",
    "again": "mlmodelscope, files known",
}


def prepare(path: str) -> Any:
    """The same steps as above, as one would write them by hand."""
    import numpy as np
    from PIL import Image

    with Image.open(path) as file:
        picture = file.convert("RGB")
    width, height = picture.size
    side = int(0.875 * min(width, height))
    left, top = -(-(width - side) // 2), -(-(height - side) // 2)
    picture = picture.crop((left, top, left + side, top + side)).resize((224, 224), Image.Resampling.BICUBIC)
    values = np.asarray(picture).astype(np.float32)
    values -= 127
    values /= 128
    return np.ascontiguousarray(values.transpose(2, 0, 1))


def open_session(model: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def answer(session: Any, values: Any) -> tuple[list[int], list[float]]:
    """The five best classes and their probabilities."""
    import numpy as np

    logits = session.run(["logits"], {"images": values[None]})[0][0]
    powers = np.exp(logits - logits.max())
    best = np.argsort(-logits, kind="stable")[:5]
    return best.tolist(), (powers[best] / powers.sum()).tolist()


def run_bare(model: Path, paths: list[str]) -> list[int]:
    session = open_session(model)
    answers = [answer(session, prepare(path)) for path in paths]
    return [classes[0] for classes, _ in answers]


def run_copies(model: Path, paths: list[str]) -> list[int]:
    """As many loops as there are cores, each with its share: what this machine can do now, whoever else is on it."""
    import multiprocessing

    cores = harness.cores()
    with multiprocessing.Pool(cores) as pool:
        parts = pool.starmap(run_bare, [(model, paths[core::cores]) for core in range(cores)], chunksize=1)
    return [parts[index % cores][index // cores] for index in range(len(paths))]


def run_pool(model: Path, paths: list[str]) -> list[int]:
    """As a data loader does it: processes decode ahead, the main process infers."""
    import multiprocessing

    with multiprocessing.Pool(harness.cores()) as pool:
        session = open_session(model)
        answers = [answer(session, values) for values in pool.imap(prepare, paths)]
    return [classes[0] for classes, _ in answers]


def run_ours(model: Path, folder: Path, cache: Path) -> list[int]:
    from mlmodelscope import Options, Settings, Store, evaluate

    home = Path(tempfile.mkdtemp(dir=folder.parent))
    settings = Settings(home=home / "home", cache=cache)
    manifest = material.model_manifest(model, "onnxruntime", STEPS)
    # Latency is measured apart from the dataset and costs seconds of its own: one call will do here.
    once = Options(warm_up_runs=1, timed_runs=1)
    record = evaluate(manifest, material.dataset_manifest(folder), once, settings=settings)
    store = Store(settings)
    try:
        classes = store.samples(record)["classes"].to_pylist()
    finally:
        store.close()
        shutil.rmtree(home)
    return [best[0] for best in classes]


def list_images(folder: Path) -> list[str]:
    return sorted(entry.path for entry in os.scandir(folder))


def run_part(contender: str, model: Path, folder: Path, cache: Path) -> list[int]:
    loops = {"bare": run_bare, "copies": run_copies, "pool": run_pool}
    return loops[contender](model, list_images(folder)) if contender in loops else run_ours(model, folder, cache)


class Case:
    """One model over a small and a large dataset, every contender."""

    def __init__(self, name: str, model: Path, folders: list[Path], caches: Path) -> None:
        self.name, self.model, self.folders, self.caches = name, model, folders, caches
        self.counts = [len(list_images(folder)) for folder in folders]
        self.faults: list[str] = []
        self._expected: dict[Path, list[int]] = {}
        self._others: list[float] = []

    def measure(self, rounds: int) -> dict[str, Any]:
        self._in_full("again")  # what it is to remember
        cpu = [self._in_turns() for _ in range(rounds)]
        full = harness.interleave({name: lambda name=name: self._in_full(name) for name in CONTENDERS}, rounds)
        limits = [harness.cores() / self._slope(runs, "cpu_s") for runs in full["bare"]]
        return {
            name: {
                "cpu_ms": [1e3 * self._slope(runs[name], "cpu_s") for runs in cpu],
                "added_ms": [
                    1e3 * (self._slope(runs[name], "cpu_s") - self._slope(runs["bare"], "cpu_s")) for runs in cpu
                ],
                "images_per_s": [1 / self._slope(runs, "wall_s") for runs in full[name]],
                "share_of_limit": [
                    1 / self._slope(runs, "wall_s") / limit for runs, limit in zip(full[name], limits, strict=True)
                ],
                "fixed_cpu_s": [self._rest(runs[name], "cpu_s") for runs in cpu],
                "fixed_wall_s": [self._rest(runs, "wall_s") for runs in full[name]],
            }
            for name in CONTENDERS
        }

    @property
    def others(self) -> float:
        return median(self._others)

    def _slope(self, runs: list[harness.Run], kind: str) -> float:
        small, large = (getattr(run, kind) for run in runs)
        return float(large - small) / (self.counts[1] - self.counts[0])

    def _rest(self, runs: list[harness.Run], kind: str) -> float:
        return float(getattr(runs[0], kind)) - self._slope(runs, kind) * self.counts[0]

    def _in_turns(self) -> dict[str, list[harness.Run]]:
        seen: dict[str, list[harness.Run]] = {name: [] for name in CONTENDERS}
        for folder in self.folders:
            for name, run in take_turns({name: self._command(name, folder) for name in CONTENDERS}).items():
                seen[name].append(self._checked(run, name, folder))
        return seen

    def _in_full(self, contender: str) -> list[harness.Run]:
        return [
            self._checked(harness.run_child(self._command(contender, folder)), contender, folder)
            for folder in self.folders
        ]

    def _command(self, contender: str, folder: Path) -> list[str]:
        cache = self.caches / "known" if contender == "again" else Path(tempfile.mkdtemp(dir=self.caches))
        return harness.part(__file__, contender, self.model, folder, cache)

    def _checked(self, run: harness.Run, contender: str, folder: Path) -> harness.Run:
        self._others.append(run.others)
        expected = self._expected.setdefault(folder, run.said)
        if run.said != expected:
            differ = sum(one != other for one, other in zip(run.said, expected, strict=False))
            self.faults.append(f"{contender} answers {differ} of {len(expected)} images of {self.name} differently")
        return run


def report(case: Case, results: dict[str, Any]) -> None:
    small, large = case.counts
    print(f"{case.name}: {small} and {large} images; others had {case.others:.0%} of the machine")
    harness.print_table(
        ("", "CPU ms/image", "added CPU ms/image", "images/s", "share of limit", "fixed CPU s", "fixed wall s"),
        [
            (
                CONTENDERS[name],
                f"{median(result['cpu_ms']):.2f}",
                harness.spread(result["added_ms"]),
                f"{median(result['images_per_s']):.0f}",
                harness.spread(result["share_of_limit"]),
                f"{median(result['fixed_cpu_s']):.2f}",
                f"{median(result['fixed_wall_s']):.2f}",
            )
            for name, result in results.items()
        ],
    )
    print(flush=True)


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--rounds", type=int, help="how often everything is repeated")
    parser.add_argument("--part", nargs=4, help="for the benchmark itself: contender, model, folder, cache")
    arguments = parser.parse_args()
    if arguments.part:
        contender, *places = arguments.part
        harness.say(run_part(contender, *map(Path, places)))
        return
    quick = arguments.quick
    rounds = arguments.rounds or (1 if quick else 5)
    decode_sizes, inference_sizes = ((50, 250), (10, 60)) if quick else ((100, 1000), (30, 300))
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        folders = {
            count: material.write_images(root / f"images{count}", count) for count in {*decode_sizes, *inference_sizes}
        }
        small_model = material.write_small_model(root / "small.onnx")
        efficientnet = material.write_efficientnet(root / "efficientnet.onnx")
        time.sleep(2.1)  # digests of files that have just been written are not remembered
        results, faults = {}, []
        for name, model, sizes in (
            ("decode-bound (one convolution)", small_model, decode_sizes),
            ("inference-bound (EfficientNet-Lite0)", efficientnet, inference_sizes),
        ):
            case = Case(name, model, [folders[size] for size in sizes], Path(tempfile.mkdtemp(dir=root)))
            results[name] = case.measure(rounds)
            report(case, results[name])
            faults += case.faults
    worst = min(median(result["first"]["share_of_limit"]) for result in results.values())
    added = max(median(result["first"]["added_ms"]) for result in results.values())
    meaning = (
        f"images/s of a first evaluation / limit of the machine, worse model; goal >= {GOAL_SHARE}; "
        f"added CPU {added:.2f} ms/image, goal <= {GOAL_MS}"
    )
    harness.finish("dataset_evaluation", worst, meaning, quick, results, faults)


if __name__ == "__main__":
    main()

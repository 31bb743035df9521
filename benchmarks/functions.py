"""What a sample costs when a manifest's own functions do the work, beside a bare loop over the same functions."""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path
from statistics import median

import harness

GOAL_MS = 0.1
BATCH = 100
MANIFEST = """\
name: nearest-mean
version: 1.0.0
task: classification
inputs: [{type: image}]
outputs: [{type: classes}]
preprocess:
  gets: sample
  code: |
    import numpy as np

    def preprocess(ctx, data):
        return np.asarray(data, np.float32).reshape(-1) / 255
run: |
  def run(ctx, data):
      if "means" not in ctx:
          ctx["means"] = np.random.RandomState(0).rand(10, data[0].shape[1]).astype(np.float32)
      means = ctx["means"]
      return ((means * means).sum(axis=1) - 2 * data[0] @ means.T).argmin(axis=1)
postprocess: |
  def postprocess(ctx, data):
      return [int(label) for label in data]
"""
DATASET = """\
name: squares
version: 1.0.0
task: classification
format: arrays
sources: [{url: images.npy, labels_url: labels.npy}]
"""


def make_dataset(folder: Path, count: int) -> None:
    import numpy as np

    random = np.random.RandomState(1)
    folder.mkdir()
    np.save(folder / "images.npy", random.randint(0, 255, (count, 28, 28), dtype=np.uint8))
    np.save(folder / "labels.npy", random.randint(0, 10, count))
    (folder / "model.yml").write_text(MANIFEST)
    (folder / "dataset.yml").write_text(DATASET)


def bare_loop(folder: Path) -> None:
    """The same functions, called as anybody would."""
    import numpy as np
    import yaml

    model = yaml.safe_load(MANIFEST)
    space: dict = {}
    for code in (model["preprocess"]["code"], model["run"], model["postprocess"]):
        exec(code, space)
    images, labels = np.load(folder / "images.npy", mmap_mode="r"), np.load(folder / "labels.npy")
    right, context = 0, {}
    for start in range(0, len(images), BATCH):
        rows = np.stack([space["preprocess"](context, image) for image in images[start : start + BATCH]])
        answers = space["postprocess"](context, space["run"](context, [rows]))
        right += sum(a == b for a, b in zip(answers, labels[start : start + BATCH], strict=True))
    harness.say({"right": int(right)})


def evaluation(folder: Path) -> None:
    from mlmodelscope import Options, Settings, evaluate

    with tempfile.TemporaryDirectory() as place:
        settings = Settings(Path(place) / "home", Path(place) / "cache", offline=True)
        options = Options(batch_size=BATCH, warm_up_runs=1, timed_runs=1)
        record = evaluate(folder / "model.yml", folder / "dataset.yml", options, trust=True, settings=settings)
    assert record.metrics.get("top1") is not None
    harness.say({"right": round(record.metrics["top1"].value * record.samples)})


PARTS = {"bare": bare_loop, "evaluation": evaluation}


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        PARTS[arguments.part[0]](Path(arguments.part[1]))
        return
    few, many = (2_000, 22_000) if arguments.quick else (5_000, 65_000)
    with tempfile.TemporaryDirectory() as place:
        for count in (few, many):
            make_dataset(Path(place) / str(count), count)
        contenders = {
            (name, count): partial(harness.run_child, harness.part(__file__, name, Path(place) / str(count)))
            for name in PARTS
            for count in (few, many)
        }
        seen = harness.interleave(contenders, 1 if arguments.quick else 3)
    faults = []
    for count in (few, many):
        answers = {run.said["right"] for name in PARTS for run in seen[name, count]}
        if len(answers) != 1:
            faults.append(f"the contenders do not agree on {count} samples: {sorted(answers)} right")
    cost_ms = {
        name: [
            1000 * (much.cpu_s - little.cpu_s) / (many - few)
            for little, much in zip(seen[name, few], seen[name, many], strict=True)
        ]
        for name in PARTS
    }
    harness.print_table(
        ("", "CPU ms per sample"), [(name, harness.spread(values, 4)) for name, values in cost_ms.items()]
    )
    added_ms = median(cost_ms["evaluation"]) - median(cost_ms["bare"])
    meaning = (
        f"CPU of a sample in an evaluation / in the bare loop, with journal, table and metrics; "
        f"goal <= {GOAL_MS} ms more, seen {added_ms:.3f} ms more"
    )
    ratio = median(cost_ms["evaluation"]) / median(cost_ms["bare"])
    harness.finish("functions", ratio, meaning, arguments.quick, {"cost_ms": cost_ms}, faults)


if __name__ == "__main__":
    main()

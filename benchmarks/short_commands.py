"""What short commands cost beside an empty Python, and what an evaluation and a prediction add to a bare loop.

A bare loop opens the same model with the same library, makes as many calls to warm up and to time as an evaluation, and
answers the same pictures. Everything that a command starts is counted, its worker included. The least disturbed run
counts: other programs can only add to a time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import harness
import material
from dataset_evaluation import answer, list_images, open_session, prepare

GOAL_S, GOAL_EVALUATION_S, GOAL_PREDICTION_S = 0.45, 1.2, 0.8
RECORDS = 20
PICTURES = 20
MODEL = """\
name: small
version: 1.0.0
task: classification
framework: {name: onnxruntime, version: "*"}
inputs:
  - type: image
    element_type: float32
    processing:
      decode: {library: pillow, color_layout: RGB}
      crop: {method: center, percentage: 87.5, square: true, offset: ceil}
      resize: {dimensions: [3, 224, 224], method: bicubic, library: pillow}
      mean: 127
      rescale: 128
      layout: NCHW
outputs:
  - {type: logits, processing: {softmax: }}
source: {graph_path: small.onnx}
"""
DATASET = """\
name: pictures
version: 1.0.0
task: classification
format: list
sources: [{url: pictures/}]
labels: {pattern: '_(\\d+)\\.jpg$'}
"""
EMPTY = "python -c pass"
SHORT = {
    "records": ["records"],
    "models": ["models"],
    "check one file": ["check", "small.yml"],
    "evaluate, from the store": ["evaluate", "small.yml", "pictures.yml"],
}
HELP = "--help"
FRESH, ONE = "evaluate, in a new home", "predict one picture"
BARE_FRESH, BARE_ONE = "bare loop over the pictures", "bare loop for one picture"
# A worker's source has another path in each run: bytecode of it that lies beside the source is all that is found again.
_BESIDE_THE_SOURCE = {"PYTHONPYCACHEPREFIX": ""}


def run_bare(folder: Path, pictures: int, calls: int) -> list[int]:
    session = open_session(folder / "small.onnx")
    paths = list_images(folder / "pictures")[:pictures]
    first = prepare(paths[0])
    for _ in range(calls):
        session.run(["logits"], {"images": first[None]})
    return [answer(session, prepare(path))[0][0] for path in paths]


class Place:
    """A model, pictures, and a home with some records."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        material.write_small_model(folder / "small.onnx")
        material.write_images(folder / "pictures", PICTURES)
        (folder / "small.yml").write_text(MODEL)
        (folder / "pictures.yml").write_text(DATASET)
        os.environ |= {"MLMODELSCOPE_HOME": str(folder / "home"), "MLMODELSCOPE_CACHE": str(folder / "cache")}
        os.environ["MLMODELSCOPE_OFFLINE"] = "1"
        os.chdir(folder)
        time.sleep(2.1)  # digests of files that have just been written are not remembered
        self.calls = _fill_home(folder)

    def command(self, *words: str) -> harness.Run:
        return self._run([sys.executable, "-m", "mlmodelscope", *words])

    def fresh(self) -> harness.Run:
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            homes = {"MLMODELSCOPE_HOME": f"{place}/home", "MLMODELSCOPE_CACHE": f"{place}/cache"}
            command = [sys.executable, "-m", "mlmodelscope", "evaluate", "small.yml", "pictures.yml"]
            return self._run(command, homes)

    def empty(self) -> harness.Run:
        return self._run([sys.executable, "-c", "pass"])

    def bare(self, pictures: int, calls: int) -> harness.Run:
        return self._run(harness.part(__file__, "bare", self.folder, pictures, calls))

    def picture(self) -> str:
        return list_images(self.folder / "pictures")[0]

    def _run(self, command: list[str], more: dict[str, str] | None = None) -> harness.Run:
        return harness.run_child(command, {**_BESIDE_THE_SOURCE, **(more or {})})


def _fill_home(folder: Path) -> int:
    """Records as a user has them after a while; how many calls an evaluation makes before its samples."""
    from mlmodelscope import Options, Settings, Store, evaluate
    from mlmodelscope.record.record import new_record_id

    settings = Settings.from_environment()
    record = evaluate(folder / "small.yml", folder / "pictures.yml", settings=settings)
    store = Store(settings)
    for days in range(1, RECORDS):
        moment = datetime.now(UTC) - timedelta(days=days)
        other = {"id": new_record_id(moment), "created_at": moment, "plan_digest": f"{days:064}"}
        store.files.place(other["id"]).mkdir(parents=True)
        store.add(record.model_copy(update=other))
    store.close()
    return Options().warm_up_runs + Options().timed_runs


def check(place: Place) -> list[str]:
    """That the contenders do the same."""
    classes = place.bare(PICTURES, 0).said
    right = sum(each == index % material.CLASSES for index, each in enumerate(classes))
    record = json.loads(place.command("evaluate", "small.yml", "pictures.yml", "--json").said)
    predicted = json.loads(place.command("predict", "small.yml", place.picture(), "--json").said)
    listed = json.loads(place.command("records", "--json").said)
    faults = []
    if round(record["metrics"]["top1"]["value"] * PICTURES) != right:
        faults.append(f"evaluate has a top-1 of {record['metrics']['top1']}, the bare loop {right} of {PICTURES}")
    if predicted[0]["classes"][0] != classes[0]:
        faults.append(f"predict says {predicted[0]['classes'][0]}, the bare loop {classes[0]}")
    if len(listed) != RECORDS:
        faults.append(f"records lists {len(listed)} records, not {RECORDS}")
    return faults


def measure(place: Place, rounds: int) -> dict[str, list[harness.Run]]:
    contenders: dict[str, Any] = {EMPTY: place.empty, HELP: lambda: place.command("--help")}
    contenders |= {name: lambda words=words: place.command(*words) for name, words in SHORT.items()}
    contenders |= {
        BARE_FRESH: lambda: place.bare(PICTURES, place.calls),
        FRESH: place.fresh,
        BARE_ONE: lambda: place.bare(1, 0),
        ONE: lambda: place.command("predict", "small.yml", place.picture()),
    }
    harness.interleave(contenders, 1)  # uncounted: bytecode and page cache
    return harness.interleave(contenders, rounds)


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--part", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        _, folder, pictures, calls = arguments.part
        harness.say(run_bare(Path(folder), int(pictures), int(calls)))
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder).resolve())
        faults = check(place)
        seen = measure(place, 3 if arguments.quick else 20)
    least = {name: min(run.cpu_s for run in runs) for name, runs in seen.items()}
    added = {FRESH: least[FRESH] - least[BARE_FRESH], ONE: least[ONE] - least[BARE_ONE]}
    goals = {**dict.fromkeys(SHORT, GOAL_S), FRESH: GOAL_EVALUATION_S, ONE: GOAL_PREDICTION_S}
    harness.print_table(
        ("", "CPU s", "least", "over the bare loop", "goal", "times an empty Python"),
        [
            (
                name,
                harness.spread([run.cpu_s for run in runs], 3),
                f"{least[name]:.3f}",
                f"{added[name]:.3f}" if name in added else "",
                f"<= {goals[name]}" if name in goals else "",
                f"{least[name] / least[EMPTY]:.1f}",
            )
            for name, runs in seen.items()
        ],
    )
    slowest = max(SHORT, key=lambda name: least[name])
    meaning = (
        f"CPU of the slowest short command, `{slowest}` / CPU of an empty Python; goal <= {GOAL_S} s, "
        f"seen {least[slowest]:.2f} s; a fresh evaluation adds {added[FRESH]:.2f} s to a bare loop, "
        f"goal <= {GOAL_EVALUATION_S}, a prediction {added[ONE]:.2f} s, goal <= {GOAL_PREDICTION_S}"
    )
    results = {"cpu_s": {name: [run.cpu_s for run in runs] for name, runs in seen.items()}, "added_s": added}
    harness.finish("short_commands", least[slowest] / least[EMPTY], meaning, arguments.quick, results, faults)


if __name__ == "__main__":
    main()

"""What it costs to check 1,000 manifests with every rule, beside a bare loop that only parses their YAML."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

import harness

GOAL_S = 10
ROOT = Path(__file__).parent.parent
SWAPPED = """\
name: {name}
version: 1.0
framework: {{name: TensorFlow, version: 1.10}}
container:
  amd64:
    cpu: example/tensorflow:amd64-gpu
    gpu: example/tensorflow:amd64-cpu
inputs:
  - type: image
    parameters: {{element_type: float32, input_layer: input, layout: HWC, color_mode: RGB, dimensions: [3, 224, 224],
                 mean: [123.68, 116.78, 103.94], scale: 1.0}}
output:
  type: classification
  parameters: {{probabilities_layer: prob, features_url: https://example.org/synset.txt, features_checksum: }}
model:
  base_url: http://example.org/graphs
  graph_path: {name}.pb
  graph_checksum: 328f68f37ae0c180191e96c9b73a813e
attributes: {{kind: CNN, training_dataset: ImageNet, Top1: 70.1}}
"""


def make_files(folder: Path, count: int) -> int:
    """Manifests of the catalogue over and over, and a third in the old form, which has more to find.

    Model files at hand are opened, once each: here many manifests share one, as variants do."""
    shipped = sorted((ROOT / "manifests").rglob("*.yml"))
    wanted = 0
    for number in range(count):
        source = shipped[number % len(shipped)]
        old = number % 3 == 0
        text = SWAPPED.format(name=f"old{number}") if old else source.read_text()
        # Graphs and lists of classes lie beside the shipped manifests.
        for key in ("graph_path: graphs/", "classes_url: classes/"):
            word, _, inside = key.partition(": ")
            text = text.replace(key, f"{word}: {source.parent / inside}/")
        (folder / f"{number:04d}.yml").write_text(text)
        wanted += old
    return wanted


def bare_loop(folder: Path) -> None:
    import yaml

    for path in sorted(folder.glob("*.yml")):
        with path.open("rb") as file:
            yaml.load(file, Loader=yaml.CSafeLoader)
    harness.say({})


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        bare_loop(Path(arguments.part[1]))
        return
    count = 100 if arguments.quick else 1000
    with tempfile.TemporaryDirectory() as place:
        swapped = make_files(Path(place), count)
        check = [sys.executable, "-m", "mlmodelscope", "check", place, "--format", "json"]
        contenders = {
            "yaml.load(CSafeLoader)": lambda: harness.run_child(harness.part(__file__, "bare", place)),
            "mlmodelscope check": lambda: harness.run_child(["sh", "-c", f"{' '.join(check)} | {_count_line()}"]),
        }
        harness.interleave(contenders, 1)  # uncounted: bytecode and page cache
        seen = harness.interleave(contenders, 2 if arguments.quick else 5)
    said = seen["mlmodelscope check"][0].said
    expected = {"files": count, "swapped": swapped}
    faults = [] if said == expected else [f"check found {said}, not {expected}"]
    cpu_s = {name: median(run.cpu_s for run in runs) for name, runs in seen.items()}
    harness.print_table(
        ("", "CPU s", "wall s"),
        [
            (name, harness.spread([run.cpu_s for run in runs]), harness.spread([run.wall_s for run in runs]))
            for name, runs in seen.items()
        ],
    )
    meaning = (
        f"CPU of checking {count} manifests / CPU of parsing them, both with the start of Python; "
        f"goal <= {GOAL_S} s, seen {cpu_s['mlmodelscope check']:.2f} s"
    )
    ratio = cpu_s["mlmodelscope check"] / cpu_s["yaml.load(CSafeLoader)"]
    harness.finish("check", ratio, meaning, arguments.quick, {"cpu_s": cpu_s, "files": count}, faults)


def _count_line() -> str:
    """The answer in one line, so that it can be compared; its cost is counted, and small."""
    code = (
        "import json, sys; files = json.load(sys.stdin); "
        "found = [each for file in files for each in file['findings'] if each['code'] == 'M020']; "
        "print(json.dumps(dict(files=len(files), swapped=len(found))))"
    )
    return f'{sys.executable} -c "{code}"'


if __name__ == "__main__":
    main()

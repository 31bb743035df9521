"""The same network in every framework: does it say the same?

    python tools/agreement.py                                    every network in every stack
    python tools/agreement.py --network conformance ncnn opencv-4    one network in some stacks
    python tools/agreement.py --write docs/agreement.md          and write the page

A network is written down in each framework's own format, inside that framework's stack, and evaluated like anybody's
model: a manifest, a stack, a record. Every score of every sample is compared with the same arithmetic in double
precision, computed from the very tensors that the worker prepared, and with every other row. What cannot be fetched,
built, written or run on this machine is said and counted, not passed over.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.schema import SoftwareManifest
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.settings import Settings
from worker_package.predictor.nets.bench import HERE, Bench, Row, Subject, Way
from worker_package.predictor.nets.subjects import SUBJECTS
from worker_package.predictor.nets.tables import label, line, matrix, page_of, renew, told

FOLDER = Path(__file__).resolve().parents[1] / "build" / "agreement"
"""Models and records stay here, to be looked at."""


OWN = "the stack itself"
# How each predictor's stacks run a network: form, who writes it, layout.
FORMS = {
    "onnxruntime": (("onnx", HERE, "NCHW"),),
    "tflite": (("tflite", HERE, "NHWC"),),
    "openvino": (("openvino", OWN, "NCHW"), ("onnx", HERE, "NCHW")),
    "opencv": (("onnx", HERE, "NCHW"),),
    "ncnn": (("ncnn", HERE, "NCHW"),),
    "pytorch": (("torchscript", OWN, "NCHW"),),
    "tensorflow": (("frozen", OWN, "NHWC"),),
    "jax": (("jax", OWN, "NCHW"),),
    "mxnet": (("mxnet", OWN, "NCHW"),),
    "caffe2": (("caffe2", OWN, "NCHW"),),
    "cntk": (("cntk", OWN, "NCHW"),),
    "caffe": (("caffe", HERE, "NCHW"),),
}
NO_WAY = {
    "sklearn": "it runs no convolutions",
    "xgboost": "it runs no convolutions",
    "lightgbm": "it runs no convolutions",
    "transformers": "it runs language models",
    "tensorrt": "it needs a GPU, and compiles the network for it",
}
"""Predictors of catalogued stacks that are not asked, and why."""
# Beyond that: other forms, and files that one framework wrote and another one reads.
MORE = (
    Way("onnxruntime-1.31", "onnxruntime", "onnx-new"),
    Way("onnxruntime-1.31", "onnxruntime", "shipped"),
    Way("litert-2.3", "tflite", "tflite-converted", "tensorflow-2.21", "NHWC"),
    Way("openvino-2026", "openvino", "tflite", layout="NHWC"),
    Way("openvino-2026", "openvino", "frozen", "tensorflow-1.13", "NHWC"),
    Way("openvino-2026", "openvino", "saved_model", "tensorflow-2.21", "NHWC"),
    Way("opencv-5", "opencv", "onnx-new"),
    Way("opencv-5", "opencv", "tflite"),
    Way("opencv-5", "opencv", "frozen", "tensorflow-1.13"),
    Way("opencv-4", "opencv", "caffe"),
    Way("opencv-4", "opencv", "frozen", "tensorflow-1.13"),
    Way("opencv-3.4", "opencv", "caffe"),
    Way("pytorch-2.13", "pytorch", "pt2", "pytorch-2.13"),
    Way("pytorch-2.13", "pytorch", "torchscript", "pytorch-1.12"),
    Way("tensorflow-1.13", "tensorflow", "h5", "tensorflow-1.13", "NHWC"),
    Way("tensorflow-1.15", "tensorflow", "saved_model", "tensorflow-1.15", "NHWC"),
    Way("tensorflow-2.15", "tensorflow", "h5", "tensorflow-2.15", "NHWC"),
    Way("tensorflow-2.21", "tensorflow", "frozen", "tensorflow-1.13", "NHWC"),
    Way("tensorflow-2.21", "tensorflow", "saved_model", "tensorflow-1.15", "NHWC"),
    Way("tensorflow-2.21", "tensorflow", "saved_model", "tensorflow-2.21", "NHWC"),
    Way("tensorflow-2.21", "tensorflow", "keras", "tensorflow-2.21", "NHWC"),
    Way("mxnet-1.9", "mxnet", "mxnet", "mxnet-1.9", options={"subgraph_backend": "MKLDNN"}),
)


def all_ways() -> list[Way]:
    """Every catalogued stack in its own way, then in what others there are; by stack."""
    ways = []
    for entry in list_catalog("software"):
        software = find_manifest(SoftwareManifest, entry.path)
        if software.stack is None or software.framework is None:
            continue
        predictor = framework_word(software.framework)
        for form, writer, layout in FORMS.get(predictor, ()):
            ways.append(Way(software.name, predictor, form, software.name if writer == OWN else writer, layout))
        ways += [way for way in MORE if way.stack == software.name]
    return ways


# Ways that a framework goes wrong on without a word, and what must be said of them instead; or nothing, where it runs
# because it is told to, and shows what the refusal is good for.
DEFECTS = (
    (
        "MXNet's fusion",
        Way("mxnet-1.9", "mxnet", "mxnet-inside", "mxnet-1.9", options={"subgraph_backend": "MKLDNN"}),
        "known defect: its MKLDNN fusion computes a model wrongly",
    ),
    ("ONNX that is too new", Way("onnxruntime-1.17", "onnxruntime", "onnx-new"), "too new for onnxruntime 1.17"),
    ("OpenCV 4's lost bias", Way("opencv-4", "opencv", "tflite"), "known defect: it drops the bias of FULLY_CONNECTED"),
    ("OpenCV 4's lost bias", Way("opencv-4", "opencv", "tflite", options={"allow_known_defects": True}), None),
)


def ways_of(stacks: Sequence[str], subject: Subject) -> list[Way]:
    """All of them, or those of some stacks that need no other stack to write their files."""
    there = subject.ways or [way for way in all_ways() if way.form != "shipped" or way.form in subject.files]
    return [way for way in there if not stacks or (way.stack in stacks and way.writer in (HERE, *stacks))]


def run(bench: Bench, ways: Iterable[Way]) -> list[Row]:
    rows = []
    for way in ways:
        rows.append(bench.run(way))
        print(line(rows[-1], bench), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stacks", nargs="*", help="some stacks, instead of all")
    parser.add_argument("--network", choices=SUBJECTS, action="append", help="some networks, instead of all")
    parser.add_argument("--samples", type=int, help="pictures for each network")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where models and records go")
    parser.add_argument("--write", type=Path, help="the page whose tables are renewed")
    chosen = parser.parse_args()
    sys.exit(0 if check(chosen.stacks, chosen.network, chosen.samples, chosen.folder, chosen.write) else 1)


def check(
    stacks: Sequence[str] = (),
    networks: Sequence[str] | None = None,
    samples: int | None = None,
    folder: Path = FOLDER,
    page: Path | None = None,
) -> bool:
    """Whether everything that could be run here agrees, and every known defect was refused."""
    settings = replace(Settings.from_environment(), home=folder / "records")
    good, lines = True, []
    for name in networks or SUBJECTS:
        try:
            bench = Bench(SUBJECTS[name](settings), folder, settings, samples, say)
        except MLModelScopeError as error:
            print(f"{name} cannot be had here: {error.message}")
            lines += [f"## {name}", "", f"It could not be had: {error.message}.", ""]
            continue
        print(f"\n{name}: {bench.samples} pictures of {bench.subject.dataset}, tolerance {bench.subject.tolerance:.0e}")
        rows = run(bench, ways_of(stacks, bench.subject))
        if rows:
            print("\n".join(matrix(rows)))
        lines += page_of(name, bench, rows)
        good = count(bench, rows) and good
        if name == "conformance":
            named, more = check_defects(bench, stacks)
            good, lines = good and named, lines + more
    if page is not None:
        renew(page, lines)
    return good


def count(bench: Bench, rows: Sequence[Row]) -> bool:
    """Whether nothing is wrong; a stack that this machine cannot build, or a format that cannot say a layer, is not."""
    agree = [row for row in rows if row.agrees(bench.subject.tolerance)]
    missing = [row for row in rows if not row.is_built]
    excused = [row for row in rows if row.failure and (row.way.stack, row.way.form) in bench.subject.excused]
    wrong = len(rows) - len(agree) - len(missing) - len(excused)
    print(f"{len(agree)} agree, {wrong} disagree or failed, {len(excused)} cannot be said, {len(missing)} not run here")
    return not wrong


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def check_defects(bench: Bench, stacks: Sequence[str]) -> tuple[bool, list[str]]:
    """Defects of frameworks, provoked: each must be refused by name, or show as a disagreement where it is let run."""
    lines = ["| defect | stack, file | what is said |", "|---|---|---|"]
    good = True
    for name, way, words in DEFECTS:
        if stacks and way.stack not in stacks:
            continue
        row = bench.run(way)
        print(f"{name}: {line(row, bench)}")
        lines.append(f"| {name} | `{way.stack}`, {label(way)} | {told(row, bench)} |")
        if row.is_built:
            refused = row.failure is not None and words is not None and words in row.failure
            shown = words is None and row.difference is not None and not row.agrees(bench.subject.tolerance)
            good = good and (refused or shown)
    return good, ["## Known defects, provoked", "", *lines, ""]


if __name__ == "__main__":
    main()

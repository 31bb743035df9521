"""What the worker adds to a framework's own call, in every predictor: ours and the leanest call that the framework's
Python has, on the same model, in turns, inside the framework's own stack.

    python benchmarks/predictor_overhead.py                      stacks that are there
    python benchmarks/predictor_overhead.py mxnet-1.9 ncnn       some stacks, built where they are not there
    python benchmarks/predictor_overhead.py --build              every stack

The network is so small that the call itself is short: only the difference counts.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import harness
import remote
import tiny

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.settings import Settings

GOAL_US = 50
FORMS = {
    "onnxruntime": ("onnx",),
    "tflite": ("tflite",),
    "openvino": ("openvino",),
    "opencv": ("onnx",),
    "ncnn": ("ncnn",),
    "pytorch": ("torchscript",),
    "tensorflow": ("frozen", "saved_model", "h5"),
    "jax": ("jax",),
    "mxnet": ("mxnet",),
    "caffe": ("caffe",),
    "caffe2": ("caffe2",),
    "cntk": ("cntk",),
    "sklearn": ("skops",),
    "xgboost": ("json",),
    "lightgbm": ("txt",),
}
MORE = {"pytorch-2.13": ("pt2",), "tensorflow-2.21": ("keras",)}
QUICK = ("litert-2.3", "ncnn", "onnxruntime-1.17", "opencv-5", "openvino-2026", "xgboost")
"""Quickly imported."""


def cases(stacks: list[tiny.Stack]) -> Iterator[tuple[tiny.Stack, str]]:
    yield tiny.this_python("fake"), "json"
    yield tiny.this_python("remote"), "http"
    yield tiny.this_python("onnxruntime"), "onnx"
    for stack in sorted(stacks, key=lambda stack: (stack.predictor, stack.name)):
        for form in FORMS.get(stack.predictor, ()) + MORE.get(stack.name, ()):
            yield stack, form


def measure(stack: tiny.Stack, form: str, folder: Path, budget_s: float) -> dict[str, Any]:
    with ExitStack() as beside:
        arguments = tiny.prepare(stack, form, folder)
        place = Path(arguments[-1])
        if stack.predictor == "remote":
            url = beside.enter_context(remote.local_server())
            (place / "files.json").write_text(json.dumps({"url": url, "model": "toy"}))
        done = stack.call([*arguments, str(budget_s)], place)
    row = {"stack": stack.name, "predictor": stack.predictor, "form": form}
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
        return {**row, "failure": f"exit code {done.returncode}: {said[-1][:300]}"}
    answer = json.loads(done.stdout.strip().rpartition("\n")[2])
    seen: dict[str, list[float]] = answer["us"]
    added = {
        name: [ours - bare for ours, bare in zip(values, seen["bare"], strict=True)] for name, values in seen.items()
    }
    return {
        **row,
        "agrees": answer["agrees"],
        "calls_in_a_block": answer["calls"],
        "blocks": len(seen["bare"]),
        "least_us": {name: min(values) for name, values in seen.items()},
        "median_us": {name: median(values) for name, values in seen.items()},
        "added_us": {name: quantiles(values, n=4) for name, values in added.items() if name != "bare"},
    }


def show(rows: list[dict[str, Any]]) -> None:
    table: list[tuple[object, ...]] = []
    for row in rows:
        start = (row["stack"], row["predictor"], row["form"])
        if "failure" in row:
            table.append((*start, "failed", *[""] * 5))
            continue
        least, (low, middle, high) = row["least_us"], row["added_us"]["worker"]
        table.append(
            (
                *start,
                f"{least['bare']:.1f}",
                f"{row['median_us']['bare']:.1f}",
                f"{row['added_us']['run'][1]:+.1f}",
                f"{middle:+.1f}",
                f"{low:+.1f} … {high:+.1f}",
                f"{least['worker'] - least['bare']:+.1f}",
            )
        )
    head = ("microseconds", "predictor", "file", "bare, least", "median", "run adds", "worker adds", "quartiles")
    harness.print_table((*head, "least"), table)


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("stacks", nargs="*", help="some stacks, instead of those that are there")
    parser.add_argument("--build", action="store_true", help="build every stack that is not there yet")
    arguments = parser.parse_args()
    names = arguments.stacks or (QUICK if arguments.quick else ())
    try:
        stacks, missing = tiny.find_stacks(
            names, arguments.build or bool(arguments.stacks), Settings.from_environment()
        )
    except MLModelScopeError as error:
        sys.exit(error.message)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for stack, form in cases(stacks):
            print(f"{stack.name} {form}", file=sys.stderr, flush=True)
            rows.append(measure(stack, form, Path(folder), 0.5 if arguments.quick else 2))
    show(rows)
    if missing:
        print(f"\nnot built here, so not measured (--build): {', '.join(missing)}")
    print()
    good = [row for row in rows if "failure" not in row]
    faults = [f"{row['stack']} {row['form']}: {row['failure']}" for row in rows if "failure" in row]
    faults += [
        f"{row['stack']} {row['form']}: another answer than the framework's" for row in good if not row["agrees"]
    ]
    worst = max(good, key=lambda row: row["added_us"]["worker"][1])
    seen = worst["added_us"]["worker"][1]
    within = sum(row["added_us"]["worker"][1] <= GOAL_US for row in good)
    meaning = (
        f"worker's check and call / the framework's own call, {worst['stack']} {worst['form']}, which has the largest "
        f"difference; goal <= {GOAL_US} us more, seen {seen:.1f} us more; {within} of {len(good)} within the goal"
    )
    ratio = worst["median_us"]["worker"] / worst["median_us"]["bare"]
    harness.finish("predictor_overhead", ratio, meaning, arguments.quick, {"rows": rows, "missing": missing}, faults)


if __name__ == "__main__":
    main()

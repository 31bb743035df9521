"""Faults planted in single layers: does `diff` name the layer, and what was done to it?

    python tools/diff_mutations.py                          every fault, ONNX Runtime on both sides
    python tools/diff_mutations.py --stack openvino-2026    the faulty network in another stack
    python tools/diff_mutations.py --unseen                 faults that `diff` was not written for
    python tools/diff_mutations.py --correct                no fault: pairs of right implementations, in every stack
    python tools/diff_mutations.py --json results.json      and keep what came out

The networks and the faults are those of `tests/diff`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "diff"))

from diff_cases import FRAMEWORKS, judged, model_manifest
from diff_mutations import Mutation, all_mutations
from diff_networks import NETWORKS
from diff_pairs import all_pairs, written
from diff_unseen import unseen_mutations

from mlmodelscope.diff.diff import compare_sides
from mlmodelscope.diff.reading import Reading
from mlmodelscope.diff.result import Difference
from mlmodelscope.diff.side import Place, RandomInput, Side, SideRequest
from mlmodelscope.diff.tolerance import Tolerance
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.process import shared_folder


def compared(
    first: Path, second: Path, stack: str | None, seed: int, options: Mapping[str, object] | None = None
) -> Difference:
    """Of the first network in ONNX Runtime, and the second in a stack."""
    with ExitStack() as held:
        folder = Path(held.enter_context(shared_folder()))
        place = Place(Settings.from_environment(), Watcher(), True, folder, 1 << 30)
        opened = []
        for label, graph, name, chosen in (("A", first, None, {}), ("B", second, stack, options or {})):
            manifest = model_manifest(graph, FRAMEWORKS.get((name or "").partition("-")[0], "onnxruntime"))
            side = Side(label, SideRequest(manifest, name, chosen), None, 1, place)
            opened.append((side, held.enter_context(side.open())))
        readings: list[Reading] = []
        for side, worker in opened:
            readings.append(side.read(worker, readings[0] if readings else RandomInput(seed)))
        return compare_sides(opened, Tolerance(), folder, readings)


def correct(folder: Path, only: str | None) -> Iterator[dict[str, object]]:
    for pair in all_pairs():
        if only is not None and only not in pair.name:
            continue
        first = written(pair.network, pair.first_type, folder)
        second = written(pair.network, pair.element_type, folder)
        try:
            found = compared(first, second, pair.stack, 0, pair.options)
        except MLModelScopeError as error:
            yield {"pair": pair.name, "outcome": "not run", "sentence": error.message.splitlines()[0]}
            continue
        yield {"pair": pair.name, "outcome": found.outcome, "named": found.named, "sentence": found.sentence}


def planted(
    stack: str | None, only: str | None, folder: Path, mutations: Sequence[Mutation]
) -> Iterator[dict[str, object]]:
    models = {name: make() for name, make in NETWORKS.items()}
    for name, model in models.items():
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
    for mutation in mutations:
        if only is not None and only not in mutation.name:
            continue
        graph = folder / "mutated.onnx"
        graph.write_bytes(mutation.mutated(models[mutation.network]).SerializeToString())
        start = time.monotonic()
        found = compared(folder / f"{mutation.network}.onnx", graph, stack, 0)
        row = {"fault": mutation.name, "kinds": mutation.kinds, **judged(mutation, found)}
        row["seconds"] = round(time.monotonic() - start, 2)
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stack", help="the stack of the faulty network")
    parser.add_argument("--correct", action="store_true", help="no fault: pairs of right implementations")
    parser.add_argument("--unseen", action="store_true", help="faults that diff was not written for")
    parser.add_argument("--only", help="faults whose names have this in them")
    parser.add_argument("--json", type=Path, help="where the results go")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = correct_rows(Path(folder), asked.only) if asked.correct else planted_rows(Path(folder), asked)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1))


def correct_rows(folder: Path, only: str | None) -> list[dict[str, object]]:
    rows = []
    for row in correct(folder, only):
        rows.append(row)
        print(f"{row['pair']}: {row['outcome']}: {row['sentence']}", flush=True)
    alarms = sum(row["outcome"] == "different" for row in rows)
    missing = sum(row["outcome"] not in ("same", "different") for row in rows)
    print(f"{len(rows)} pairs: {alarms} false alarms, {missing} not compared")
    return rows


def planted_rows(folder: Path, asked: argparse.Namespace) -> list[dict[str, object]]:
    rows = []
    mutations = unseen_mutations() if asked.unseen else all_mutations()
    for row in planted(asked.stack, asked.only, folder, mutations):
        rows.append(row)
        mark = "" if row["layer_right"] and row["kind_right"] else "   <-"
        print(f"{row['fault']}: {row['layer']} | {row['kind']}{mark}", flush=True)
        if mark:
            print(f"      {row['sentence']}\n      {row['words']}", flush=True)
    layers = sum(bool(row["layer_right"]) for row in rows)
    kinds = sum(bool(row["kind_right"]) for row in rows)
    print(f"{len(rows)} faults: layer {layers} ({layers / len(rows):.1%}), kind {kinds} ({kinds / len(rows):.1%})")
    return rows


if __name__ == "__main__":
    main()

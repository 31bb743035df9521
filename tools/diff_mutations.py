"""Faults planted in single layers: does `diff` name the layer, and what was done to it?

    python tools/diff_mutations.py                          every fault, ONNX Runtime on both sides
    python tools/diff_mutations.py --stack openvino-2026    the faulty network in another stack
    python tools/diff_mutations.py --form pt2               the faulty network in a framework that reads no ONNX:
                                                            torchscript, pt2, saved_model, tflite, ncnn
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
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "diff"))

from diff_cases import FRAMEWORKS, judged, model_manifest
from diff_forms import FORMS, options_of, write_all, written_manifest
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
    framework = FRAMEWORKS.get((stack or "").partition("-")[0], "onnxruntime")
    return sides_compared(
        SideRequest(model_manifest(first)), SideRequest(model_manifest(second, framework), stack, options or {}), seed
    )


def sides_compared(first: SideRequest, second: SideRequest, seed: int) -> Difference:
    with ExitStack() as held:
        folder = Path(held.enter_context(shared_folder()))
        place = Place(Settings.from_environment(), Watcher(), True, folder, 1 << 30)
        opened = []
        for label, asked in (("A", first), ("B", second)):
            side = Side(label, asked, None, 1, place)
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


def correct_forms(folder: Path, forms: Sequence[str]) -> Iterator[dict[str, object]]:
    """The same networks in the files of frameworks that read no ONNX."""
    for form in forms:
        models = {name: NETWORKS[name]() for name in FORMS[form].networks}
        for name, place in write_all(form, models, folder).items():
            pair = f"{name} float32 in onnxruntime, {form} in {FORMS[form].stack}"
            if isinstance(place, str):
                yield {"pair": pair, "outcome": "not run", "sentence": place}
                continue
            first = SideRequest(model_manifest(written(name, "float32", folder)))
            manifest, options = written_manifest(form, place, models[name]), options_of(form, models[name])
            second = SideRequest(manifest, FORMS[form].stack, options)
            try:
                found = sides_compared(first, second, 0)
            except MLModelScopeError as error:
                yield {"pair": pair, "outcome": "not run", "sentence": error.message.splitlines()[0]}
                continue
            yield {"pair": pair, "outcome": found.outcome, "named": found.named, "sentence": found.sentence}


def planted(asked: argparse.Namespace, folder: Path, mutations: Sequence[Mutation]) -> Iterator[dict[str, object]]:
    models = {name: make() for name, make in NETWORKS.items()}
    for name, model in models.items():
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
    chosen = [each for each in mutations if asked.only is None or asked.only in each.name][:: asked.every]
    written: Mapping[str, Path | str] = {}
    if asked.form:
        chosen = [each for each in chosen if each.network in FORMS[asked.form].networks]
        changed = {each.name: each.mutated(models[each.network]) for each in chosen}
        written = write_all(asked.form, changed, folder)
    for mutation in chosen:
        first, graph = SideRequest(model_manifest(folder / f"{mutation.network}.onnx")), folder / "mutated.onnx"
        start = time.monotonic()
        if asked.form:
            place = written[mutation.name]
            if isinstance(place, str):
                yield {"fault": mutation.name, "not_expressed": place}
                continue
            manifest = written_manifest(asked.form, place, models[mutation.network])
            second = SideRequest(manifest, FORMS[asked.form].stack, options_of(asked.form, models[mutation.network]))
        else:
            graph.write_bytes(mutation.mutated(models[mutation.network]).SerializeToString())
            framework = FRAMEWORKS.get((asked.stack or "").partition("-")[0], "onnxruntime")
            second = SideRequest(model_manifest(graph, framework), asked.stack)
        try:
            found = sides_compared(first, second, 0)
        except MLModelScopeError as error:
            yield {"fault": mutation.name, "not_expressed": error.message.splitlines()[0]}
            continue
        row = {"fault": mutation.name, "kinds": mutation.kinds, **judged(mutation, found)}
        row["seconds"] = round(time.monotonic() - start, 2)
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stack", help="the stack of the faulty network")
    parser.add_argument("--form", choices=sorted(FORMS), help="the format of the faulty network, where it is not ONNX")
    parser.add_argument("--every", type=int, default=1, help="only every such fault")
    parser.add_argument("--correct", action="store_true", help="no fault: pairs of right implementations")
    parser.add_argument("--unseen", action="store_true", help="faults that diff was not written for")
    parser.add_argument("--only", help="faults whose names have this in them")
    parser.add_argument("--json", type=Path, help="where the results go")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = correct_rows(Path(folder), asked) if asked.correct else planted_rows(Path(folder), asked)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1))


def correct_rows(folder: Path, asked: argparse.Namespace) -> list[dict[str, object]]:
    rows = []
    of_onnx = () if asked.form else correct(folder, asked.only)
    forms = [asked.form] if asked.form else () if asked.only else sorted(FORMS)
    for row in chain(of_onnx, correct_forms(folder, forms)):
        rows.append(row)
        print(f"{row['pair']}: {row['outcome']}: {row['sentence']}", flush=True)
    alarms = sum(row["outcome"] == "different" for row in rows)
    missing = sum(row["outcome"] not in ("same", "different") for row in rows)
    print(f"{len(rows)} pairs: {alarms} false alarms, {missing} not compared")
    return rows


def planted_rows(folder: Path, asked: argparse.Namespace) -> list[dict[str, object]]:
    rows = []
    mutations = unseen_mutations() if asked.unseen else all_mutations()
    for row in planted(asked, folder, mutations):
        rows.append(row)
        if "not_expressed" in row:
            print(f"{row['fault']}: not expressed: {row['not_expressed']}", flush=True)
            continue
        mark = "" if row["layer_right"] and row["kind_right"] else "   <-"
        print(f"{row['fault']}: {row['layer']} | {row['kind']}{mark}", flush=True)
        if mark:
            print(f"      {row['sentence']}\n      {row['words']}", flush=True)
    asked_about = [row for row in rows if "not_expressed" not in row]
    layers = sum(bool(row["layer_right"]) for row in asked_about)
    kinds = sum(bool(row["kind_right"]) for row in asked_about)
    count = max(1, len(asked_about))
    print(f"{len(asked_about)} faults: layer {layers} ({layers / count:.1%}), kind {kinds} ({kinds / count:.1%})")
    return rows


if __name__ == "__main__":
    main()

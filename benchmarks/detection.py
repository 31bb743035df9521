"""Time that COCO's twelve numbers of 5,000 pictures with 100 boxes each take, beside faster-coco-eval.

Both get the same boxes in memory and take turns in one run, each in a fresh process. Ours scores 64 pictures at a time,
as the measuring process does, and computes the twelve numbers from the scores; theirs evaluates, accumulates and
summarizes. Reading files and building either's inputs is not counted.
"""

from __future__ import annotations

import contextlib
import io
import resource
import sys
import time
from statistics import median
from typing import Any

import harness
import numpy as np

PICTURES, BOXES, CLASSES = 5000, 100, 80
_AT_ONCE = 64
_SIDE = (480, 640)


def drawn(pictures: int) -> list[tuple[dict[str, np.ndarray], dict[str, Any]]]:
    """(answer, truth) of each picture: things of all sizes, some crowds; boxes near them, twice there, and nonsense."""
    chance, found = np.random.default_rng(0), []
    for _ in range(pictures):
        things = int(chance.integers(1, 15))
        true = _boxes(chance, things)
        kinds = chance.integers(0, CLASSES, things)
        near = chance.integers(0, things, BOXES // 2)
        moved = true[near] + chance.normal(0, 6, (BOXES // 2, 4))
        moved[:, 2:] = np.maximum(moved[:, 2:], moved[:, :2] + 1)
        boxes = np.concatenate([moved, _boxes(chance, BOXES - BOXES // 2)])
        classes = np.concatenate([kinds[near], chance.integers(0, CLASSES, BOXES - BOXES // 2)]).astype(np.int32)
        scores = chance.random(BOXES)
        areas = (true[:, 2] - true[:, 0]) * (true[:, 3] - true[:, 1]) * 0.7
        target = {"boxes": true.tolist(), "classes": kinds.tolist(), "areas": areas.tolist()}
        target["crowd"] = (chance.random(things) < 0.02).tolist()
        found.append(({"boxes": boxes, "scores": scores, "classes": classes}, target))
    return found


def _boxes(chance: np.random.Generator, count: int) -> np.ndarray:
    low = chance.uniform(0, 400, (count, 2))
    return np.concatenate([low, low + np.exp(chance.uniform(2, 5.2, (count, 2)))], axis=1)


def ours(pictures: int) -> dict[str, Any]:
    from mlmodelscope.measure.coco_sums import names_of
    from mlmodelscope.measure.detection import RULE

    pairs = drawn(pictures)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, started = time.perf_counter(), time.process_time()
    scores: list[Any] = []
    for start in range(0, len(pairs), _AT_ONCE):
        scores += RULE.score_together([(arrays, {}, target) for arrays, target in pairs[start : start + _AT_ONCE]], {})
    matched = time.process_time()
    found = RULE.numbers(scores, names_of("box"), None)
    done = time.process_time()
    return {
        "cpu_s": done - started,
        "wall_s": time.perf_counter() - began,
        "matching_s": matched - started,
        "numbers": [found[name] for name in names_of("box")],
        "scores_bytes": sum(map(len, scores)),
        "memory_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before,
    }


def theirs(pictures: int) -> dict[str, Any]:
    from faster_coco_eval import COCO, COCOeval_faster

    truth: dict[str, Any] = {"images": [], "annotations": [], "categories": []}
    truth["categories"] = [{"id": number + 1, "name": str(number)} for number in range(CLASSES)]
    answers = []
    for image, (arrays, target) in enumerate(drawn(pictures), 1):
        truth["images"].append({"id": image, "height": _SIDE[0], "width": _SIDE[1]})
        for (left, top, right, bottom), kind, area, crowd in zip(
            target["boxes"], target["classes"], target["areas"], target["crowd"], strict=True
        ):
            entry = {"id": len(truth["annotations"]) + 1, "image_id": image, "category_id": kind + 1, "area": area}
            entry |= {"bbox": [left, top, right - left, bottom - top], "iscrowd": int(crowd)}
            truth["annotations"].append(entry)
        for (left, top, right, bottom), score, kind in zip(
            arrays["boxes"].tolist(), arrays["scores"].tolist(), arrays["classes"].tolist(), strict=True
        ):
            box = [left, top, right - left, bottom - top]
            answers.append({"image_id": image, "category_id": kind + 1, "bbox": box, "score": score})
    with contextlib.redirect_stdout(io.StringIO()):
        known = COCO(truth)
        evaluation = COCOeval_faster(known, known.loadRes(answers), iouType="bbox", print_function=lambda *_: None)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began, started = time.perf_counter(), time.process_time()
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        done, wall_s = time.process_time(), time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    numbers = list(map(float, evaluation.stats[:12]))
    return {"cpu_s": done - started, "wall_s": wall_s, "numbers": numbers, "memory_kib": memory}


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--part", choices=("ours", "theirs"))
    parser.add_argument("pictures", nargs="?", type=int)
    arguments = parser.parse_args()
    if arguments.part:
        harness.say({"ours": ours, "theirs": theirs}[arguments.part](arguments.pictures))
        return
    pictures, rounds = (500, 1) if arguments.quick else (PICTURES, 3)
    seen = harness.interleave(
        {
            name: lambda name=name: harness.run_child(harness.part(__file__, name, pictures))
            for name in ("ours", "theirs")
        },
        rounds,
    )
    said = {name: [run.said for run in runs] for name, runs in seen.items()}
    harness.print_table(
        (f"{pictures:,} pictures x {BOXES} boxes", "CPU s", "wall s", "more memory, MiB"),
        [
            (
                {"ours": "mlmodelscope", "theirs": "faster-coco-eval"}[name],
                harness.spread([each["cpu_s"] for each in runs]),
                harness.spread([each["wall_s"] for each in runs]),
                f"{median(each['memory_kib'] for each in runs) / 1024:.0f}",
            )
            for name, runs in said.items()
        ],
    )
    pairs = zip(said["ours"][0]["numbers"], said["theirs"][0]["numbers"], strict=True)
    apart = max(abs(one - other) for one, other in pairs)
    print(f"\nlargest difference of the twelve numbers: {apart:.1e}")
    faults = [f"the twelve numbers differ by up to {apart:.2g}"] if apart > 1e-9 else []
    ratio = median(each["cpu_s"] for each in said["ours"]) / median(each["cpu_s"] for each in said["theirs"])
    meaning = "our CPU seconds / those of faster-coco-eval; goal: at most 1.5"
    harness.finish("detection", ratio, meaning, arguments.quick, said, faults)


if __name__ == "__main__":
    sys.exit(main())

"""A search for the pitfall, and a table of what each would cost, in evaluations of the same dataset.

A right manifest of EfficientNet-Lite0 is made wrong, and `replicate` searches all edits for the one that explains the
right one's number. What it takes beyond the evaluation itself is set against that evaluation, in CPU time of host and
workers together, and against a plain grid, which evaluates every variant that was tried on every sample. The same is
done with 250 samples, where a search may take twelve evaluations. Three mechanisms save work, and the tables show what
each saves: variants that cannot be the cause are dropped early, what pipelines share is computed once, and equal
tensors are predicted once.

The photographs are those of the development data folder (`shared` beside the checkout, or MLMODELSCOPE_SHARED); where
it is not there, the seventy of the dataset `imagenet-70`, again and again until they are a thousand.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

import harness
from turns import take_turns

SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[2] / "shared")
GOAL_SEARCH, GOAL_SENSITIVITY, GOAL_SMALL = 6, 8, 12
SMALL = 250
MODEL = "efficientnet-lite0"
CROP = "      crop: {method: center, percentage: 87.5, square: true, offset: ceil}\n"
FAULTS = {"BGR": ("color_layout: RGB", "color_layout: BGR"), "no crop": (CROP, "")}
TABLE = ("color-layout", "data-layout", "exif", "cropping", "normalization", "normalization-order", "label-offset")
"""Pitfalls whose variants are some twenty."""


def wrong_manifest(fault: str) -> Any:
    from mlmodelscope.manifest.catalog import find_model
    from mlmodelscope.manifest.load import parse_document

    file = Path(find_model(MODEL).file)
    old, new = FAULTS[fault]
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    return parse_document(text.replace(old, new), fault, file.absolute().parent).manifest()


def dataset_of(folder: Path) -> Any:
    from mlmodelscope import load_manifest

    return load_manifest(
        {
            "name": "photographs",
            "version": "1.0.0",
            "task": "classification",
            "format": "list",
            "sources": [{"url": str(folder)}],
            "labels": {"pattern": r"_(\d+)\.(?:jpg|png)$"},
            "size": sum(1 for _ in folder.iterdir()),
        }
    )


def write_photographs(folder: Path, count: int, cache: Path) -> str:
    """Links to labelled photographs; which ones is said."""
    folder.mkdir()
    photographs = sorted((SHARED / "data" / "imagenet-sample-images").glob("*.JPEG"))
    if photographs:  # one of each class; the order of their names is that of the classes
        step = len(photographs) / count
        for number in range(count):
            chosen = int(number * step)
            (folder / f"{number:04d}_{chosen}.jpg").symlink_to(photographs[chosen])
        return "photographs"
    for number, file in zip(range(count), _again_and_again(cache), strict=False):
        (folder / f"{number:04d}_{file.stem.rpartition('_')[2]}{file.suffix}").symlink_to(file)
    return "photographs, the same seventy again and again"


def _again_and_again(cache: Path) -> Any:
    from itertools import cycle

    from mlmodelscope.manifest.catalog import find_dataset
    from mlmodelscope.provision.artifact import ArtifactStore

    store = ArtifactStore(_settings(cache, cache))
    folders = [store.fetch(source.url, source.checksum).path for source in find_dataset("imagenet-70").sources]
    return cycle(sorted(file for folder in folders for file in folder.rglob("*") if file.suffix in (".jpg", ".png")))


def _settings(home: Path, cache: Path) -> Any:
    from mlmodelscope import Settings

    return Settings(home=home, cache=cache, mirrors=Settings.from_environment().mirrors)


def options() -> Any:
    from mlmodelscope import Options

    return Options(warm_up_runs=0, timed_runs=1, timed_budget_s=0)  # latency is not what is asked for here


def cpu_s() -> float:
    """Of this process and of all workers that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Steps:
    """Counts the steps that trials run, and those that they would run if every pipeline ran alone."""

    def __init__(self) -> None:
        self.alone: Counter[str] = Counter()
        self.shared: Counter[str] = Counter()

    def watch(self) -> None:
        from mlmodelscope.replicate.trial import Trials

        run = Trials._run

        def counting(trials: Any, bench: str, missing: Any, wanted: Any) -> Any:
            pipelines = [
                tuple(json.dumps(step.model_dump(mode="json"), sort_keys=True) for step in plan.input.steps)
                for key, plan in wanted.items()
                if key not in trials._impossible
            ]
            beginnings = {steps[: at + 1] for steps in pipelines for at in range(len(steps))}
            for step in (step for steps in pipelines for step in steps):
                self.alone[json.loads(step)["name"]] += len(missing)
            for steps in beginnings:
                self.shared[json.loads(steps[-1])["name"]] += len(missing)
            return run(trials, bench, missing, wanted)

        Trials._run = counting  # type: ignore[method-assign]


def run_evaluation(home: Path, cache: Path, folder: Path) -> dict[str, Any]:
    from mlmodelscope import evaluate

    before = cpu_s()
    record = evaluate(MODEL, dataset_of(folder), options(), settings=_settings(home, cache))
    assert record.metrics.get("top1") is not None
    return {"cpu_s": cpu_s() - before, "top1": record.metrics["top1"].value, "failed": record.failed}


def run_search(home: Path, cache: Path, folder: Path, fault: str, claim: str) -> dict[str, Any]:
    from mlmodelscope import evaluate
    from mlmodelscope.plan.claim import Claim
    from mlmodelscope.replicate.replication import replicate

    settings, manifest, dataset = _settings(home, cache), wrong_manifest(fault), dataset_of(folder)
    evaluate(manifest, dataset, options(), settings=settings)
    steps, before = Steps(), cpu_s()
    steps.watch()
    done = replicate(
        manifest, dataset, options(), claim=Claim("top1", claim, "photographs"), settings=settings
    )  # its evaluation is answered from the store
    spent = cpu_s() - before
    assert done.found is not None and done.cost is not None
    return {
        "cpu_s": spent,
        "named": [f"{'+'.join(each.variant.pitfalls)} ({each.variant.words})" for each in done.found.explained],
        "is_cut_short": done.found.is_cut_short,
        "variants": max(variants for _, variants in done.found.rounds),
        "grid": sum(1 + len(each.alike) for each in done.found.candidates),
        "rounds": done.found.rounds,
        **_costs(done.cost, steps),
    }


def run_sensitivity(home: Path, cache: Path, folder: Path) -> dict[str, Any]:
    from mlmodelscope import evaluate
    from mlmodelscope.replicate import sensitivity as table
    from mlmodelscope.watcher import Watcher

    settings = _settings(home, cache)
    record = evaluate(MODEL, dataset_of(folder), options(), settings=settings)
    steps, before, seen = Steps(), cpu_s(), []
    steps.watch()
    opened = table.open_trials
    table.open_trials = lambda *a, **k: seen.append(opened(*a, **k)) or seen[-1]
    found = table.measure(record, settings, TABLE, watcher=Watcher(), exact=False)
    return {
        "cpu_s": cpu_s() - before,
        "variants": len(found.effects),
        "rounds": [(len(found.samples), len(found.effects))],
        **_costs(seen[0].cost, steps),
    }


def _costs(cost: Any, steps: Steps) -> dict[str, Any]:
    return {
        "pipelines": cost.pipelines,
        "calls": cost.calls,
        "steps_alone": steps.alone,
        "steps_run": steps.shared,
    }


def mechanisms(said: dict[str, Any], samples: int) -> list[tuple[str, str, str, str]]:
    """What each mechanism had before it, what it left, and the saving."""
    every = said["variants"] * samples
    rows = [
        ("dropped early, or other labels only", "pipelines × samples", every, said["pipelines"]),
        *(
            (f"what pipelines share: `{name}`", "times", said["steps_alone"][name], said["steps_run"][name])
            for name in ("decode", "resize")
        ),
        (
            "what pipelines share: all steps",
            "times",
            sum(said["steps_alone"].values()),
            sum(said["steps_run"].values()),
        ),
        ("equal tensors", "calls of the model", said["pipelines"], said["calls"]),
    ]
    return [
        (name, f"{before:,} {what}", f"{after:,}", f"{100 * (1 - after / before):.0f} %")
        for name, what, before, after in rows
    ]


def planted_in(seen: dict[str, list[Any]]) -> list[str]:
    """The searches of the whole dataset."""
    return [name for name in seen if name in FAULTS]


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--part", nargs="+", help="for the benchmark itself")
    arguments = parser.parse_args()
    if arguments.part:
        name, home, cache, folder, *more = arguments.part
        parts: dict[str, Any] = {"evaluation": run_evaluation, "search": run_search, "sensitivity": run_sensitivity}
        harness.say(parts[name](Path(home), Path(cache), Path(folder), *more))
        return
    count, rounds = (100, 1) if arguments.quick else (1000, 1)
    faults = ["BGR"] if arguments.quick else list(FAULTS)
    with tempfile.TemporaryDirectory() as place:
        measure(Path(place), count, rounds, faults, arguments.quick)


def measure(place: Path, count: int, rounds: int, planted: list[str], quick: bool) -> None:
    cache, folder = place / "cache", place / "photographs"
    what = write_photographs(folder, count, cache)
    # The model and all digests are known before anything is measured.
    first = harness.run_child(harness.part(__file__, "evaluation", place / "first", cache, folder)).said
    claim = f"{100 * first['top1']:.1f}"
    few, few_claim = (None, "") if quick else _few(place, cache)
    seen: dict[str, list[Any]] = {}
    for number in range(rounds):
        commands = {"evaluation": harness.part(__file__, "evaluation", place / f"e{number}", cache, folder)}
        for fault in planted:
            home = place / f"s{number}-{fault.replace(' ', '-')}"
            commands[fault] = harness.part(__file__, "search", home, cache, folder, fault, claim)
            if few is not None:
                home = place / f"f{number}-{fault.replace(' ', '-')}"
                commands[f"{fault}, {SMALL} samples"] = harness.part(
                    __file__, "search", home, cache, few, fault, few_claim
                )
        commands["sensitivity"] = harness.part(__file__, "sensitivity", place / f"t{number}", cache, folder)
        for name, run in take_turns(commands).items():
            seen.setdefault(name, []).append(run.said)
        shutil.rmtree(cache / "trials", ignore_errors=True)
    report(seen, count, what, claim, quick)


def _few(place: Path, cache: Path) -> tuple[Path, str]:
    """A small dataset, and the right manifest's number on it."""
    folder = place / "few"
    write_photographs(folder, SMALL, cache)
    said = harness.run_child(harness.part(__file__, "evaluation", place / "few-first", cache, folder)).said
    return folder, f"{100 * said['top1']:.1f}"


def report(seen: dict[str, list[Any]], count: int, what: str, claim: str, quick: bool) -> None:
    bare = median(said["cpu_s"] for said in seen["evaluation"])
    taken = {name: median(said["cpu_s"] for said in runs) / bare for name, runs in seen.items()}
    print(f"{MODEL} on {count} {what}: {claim} %, an evaluation takes {bare:.1f} s CPU\n")
    rows = []
    faults = []
    for name, runs in seen.items():
        said = runs[-1]
        if name != "evaluation":
            is_small = name.endswith(f"{SMALL} samples")
            goal = GOAL_SENSITIVITY if name == "sensitivity" else GOAL_SMALL if is_small else GOAL_SEARCH
            title = name if name == "sensitivity" else f"search: {name}"
            calls = said["calls"] / (SMALL if is_small else count)
            cpu = "" if is_small else f"{taken[name]:.1f}"
            rows.append((title, said.get("grid", said["variants"]), f"{calls:.1f}", cpu, f"≤ {goal}"))
            if "named" in said and not said["named"]:
                if said["is_cut_short"]:  # a gap of few samples wants more than a search takes by itself
                    print(f"{name}: the budget was spent before anything explained it")
                else:
                    faults.append(f"nothing explains {name}")
    harness.print_table(("", "plain grid", "calls of the model", "CPU", "goal"), rows)
    print("(all in evaluations of the whole dataset; a plain grid takes one for each variant)")
    for name, runs in seen.items():
        if name != "evaluation" and not name.endswith(f"{SMALL} samples"):
            print()
            harness.print_table((name, "without", "with", "saved"), mechanisms(runs[-1], count))
    searches = [taken[name] for name in planted_in(seen)]
    harness.finish(
        "replicate",
        max(searches),
        f"evaluations that a search takes; goal at most {GOAL_SEARCH}; "
        f"sensitivity {taken['sensitivity']:.1f}, goal at most {GOAL_SENSITIVITY}",
        quick,
        {"samples": count, "claim": claim, "evaluations": taken, "runs": seen},
        faults,
    )


if __name__ == "__main__":
    main()

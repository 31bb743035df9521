"""Twenty-five variants of a prompt: what they cost where prefixes are shared, and what a search among them takes.

Each variant is one edit that `replicate` tries: other examples, delimiters, normalizations, tokens for the beginning.
All of them are asked about every document, once together, so that what prompts have in common goes through the model
once, and once each by itself. Then one of them is planted, and a search finds it. Costs are counted in tokens that went
through the model, and one evaluation is what the plan's own prompts take; a count is the same on every machine.

Without options the model is one of n-grams, made on the spot. `--folder FOLDER` takes a folder for `transformers`, such
as `tools/stories_model.py` writes, and shows CPU time beside the count.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import harness

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

VARIANTS, GOAL = 25, 8
ANIMALS = {"cat": "milk", "dog": "bones", "cow": "grass", "bee": "nectar", "fox": "hens", "owl": "mice"}
WORDS = ["Question", "what does the", " like?\nAnswer:", " forever", *ANIMALS, *ANIMALS.values()]


def documents(count: int, seed: int) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        animal, label = draw.choice(list(ANIMALS)), draw.randrange(2)
        wrong = draw.choice([food for name, food in ANIMALS.items() if name != animal]) + draw.choice(["", " forever"])
        pair = (ANIMALS[animal], wrong)[:: -1 if label else 1]
        found.append({"animal": animal, "a": pair[0], "b": pair[1], "label": label})
    return found


def texts(count: int) -> list[str]:
    draw = random.Random(0)
    found = []
    for each in documents(count, 0):
        right = (each["a"], each["b"])[each["label"]] if draw.random() < 0.7 else draw.choice(list(ANIMALS.values()))
        more = " forever" if draw.random() < 0.3 else ""
        found.append(f"Question: what does the {each['animal']} like?\nAnswer: {right}{more}\n")
    return found


def manifests(place: Path, count: int, folder: Path | None) -> tuple[Any, Any, Any]:
    """(model, dataset, the same dataset with its choices exchanged)."""
    import language_world as world

    graph = folder or world.write_arpa(place / "animals.arpa", [world.pieces_of(each, WORDS) for each in texts(200)], 6)
    world.write_documents(place / "animals.jsonl", documents(count, 1))
    world.write_documents(place / "shots.jsonl", documents(20, 2))
    prompt = {
        "question": "Question: what does the {{animal}} like?\nAnswer:",
        "choices": ["{{a}}", "{{b}}"],
        "answer": "label",
        "shots": 2,
        "shots_file": "shots",
    }
    files = {"files": {"shots": {"url": str(place / "shots.jsonl")}}, "size": count}
    made = [
        world.dataset_of(place / "animals.jsonl", "multiple_choice", {**prompt, "choices": each}, **files)
        for each in (["{{a}}", "{{b}}"], ["{{b}}", "{{a}}"])
    ]
    framework = {"framework": {"name": "transformers" if folder else "ngram"}}
    return world.model_of(graph, **framework), *made


def chosen(plan: Any) -> list[Any]:
    """Variants of as many pitfalls as there are: the first of each, then the second."""
    from mlmodelscope.replicate.pitfall import PITFALLS, variants_of

    groups: dict[str, list[Any]] = {}
    for each in variants_of(plan):
        if not PITFALLS[each.pitfalls[0]].is_about_stack:
            groups.setdefault(each.pitfalls[0], []).append(each)
    turns = [
        each
        for turn in range(max(map(len, groups.values())))
        for some in groups.values()
        for each in some[turn : turn + 1]
    ]
    return turns[:VARIANTS]


def asked(record: Any, settings: Any, variants: Sequence[Any]) -> dict[str, float]:
    """What it costs to ask these variants together about every document."""
    from mlmodelscope.replicate.replication import open_trials
    from mlmodelscope.watcher import Watcher

    forget(settings)
    before = cpu_s()
    with open_trials(record, settings, Watcher(), [], others=variants) as trials:
        trials.ask([each.plan for each in variants], trials.labelled)
        missing = len(variants) - sum(map(trials.is_possible, variants))
        cost = trials.cost
    return {"tokens": cost.tokens, "calls": cost.calls, "missing": missing, "cpu_s": cpu_s() - before}


def searched(record: Any, settings: Any, claimed: float, variants: Sequence[Any]) -> dict[str, Any]:
    """The search among these variants for the one that explains a claim."""
    from mlmodelscope.plan.claim import Claim
    from mlmodelscope.replicate.replication import judge_record, open_trials
    from mlmodelscope.replicate.search import Goal, search
    from mlmodelscope.watcher import Watcher

    forget(settings)
    claim = Claim("choice-accuracy", f"{100 * claimed:.2f}", "animals", factor=100)
    (verdict,), _, _ = judge_record(record, claim, None, None, settings)
    goal = Goal(claim, verdict.measured.value, verdict.low, verdict.high, verdict.noise, None)
    before = cpu_s()
    with open_trials(record, settings, Watcher(), [], others=variants) as trials:
        found = search(goal, trials)
        cost = trials.cost
    named = [each.variant.pitfalls[0] for each in found.explained]
    return {"tokens": cost.tokens, "calls": cost.calls, "named": named, "cpu_s": cpu_s() - before}


def forget(settings: Any) -> None:
    for each in (settings.cache / "trials").glob("*.sqlite*"):
        each.unlink()


def cpu_s() -> float:
    """Of this process and of workers that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure(place: Path, count: int, folder: Path | None) -> dict[str, Any]:
    from mlmodelscope import Options, Settings, evaluate

    settings, options = Settings(home=place / "home", cache=place / "cache"), Options(8, warm_up_runs=0, timed_runs=1)
    model, right, wrong = manifests(place, count, folder)
    claimed = evaluate(model, right, options, settings=settings).metrics["choice-accuracy"]
    record = evaluate(model, wrong, options, settings=settings)
    variants = chosen(record.plan)
    together = asked(record, settings, variants)
    alone = [asked(record, settings, [each]) for each in variants]
    return {
        "documents": record.samples,
        "variants": len(variants),
        "pitfalls": sorted({each.pitfalls[0] for each in variants}),
        "together": together,
        "alone": {key: sum(each[key] for each in alone) for key in alone[0]},
        "search": searched(record, settings, claimed.value, variants),
    }


def main() -> None:
    parser = harness.options(__doc__ or "")
    parser.add_argument("--folder", type=Path, help="a folder for `transformers`, in place of n-grams")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        said = measure(Path(place), 60 if arguments.quick else 240, arguments.folder)
    rows = []
    for name, words in (("alone", "each by itself"), ("together", "together"), ("search", "a search among them")):
        each = said[name]
        cpu = (f"{each['cpu_s']:.1f}",) if arguments.folder else ()
        rows.append((words, f"{each['calls'] / said['documents']:.1f}", f"{each['tokens']:,}", *cpu))
    head = (f"{said['variants']} variants, {said['documents']} documents", "evaluations", "tokens")
    harness.print_table((*head, "s CPU") if arguments.folder else head, rows)
    evaluations = said["search"]["calls"] / said["documents"]
    print(f"\nthe search names {', '.join(said['search']['named']) or 'nothing'}; goal at most {GOAL} evaluations")
    faults = [] if said["variants"] == VARIANTS else [f"there are {said['variants']} variants, not {VARIANTS}"]
    if "answer-order" not in said["search"]["named"] and not arguments.folder:
        faults.append("the search does not name what was planted")
    meaning = (
        "tokens that go through the model for 25 variants, together / each by itself; "
        f"a search among them takes {evaluations:.1f} evaluations, goal at most {GOAL}"
    )
    ratio = said["together"]["tokens"] / said["alone"]["tokens"]
    harness.finish("prompt_variants", ratio, meaning, arguments.quick, said, faults)


if __name__ == "__main__":
    main()

"""Which models fit, which may, which do not; in which order; and never two datasets in one ranking."""

from typing import Any

from mlmodelscope.suggestion.evidence import Evidence, Known
from mlmodelscope.suggestion.suggest import suggest
from mlmodelscope.suggestion.wish import Wish, bound_of, make_wish


def number(value: float, kind: Any = "claimed", source: str = "paper table 1") -> Evidence:
    return Evidence(value, f"{100 * value:g} %", kind, source)


def model(name: str, top1: float | None, dataset: str = "imagenet-val", **more: Any) -> Known:
    known = Known(
        reference=f"zoo:{name}",
        name=name,
        task="classification",
        license=more.get("license", "mit"),
        license_source="zoo",
        parameters=number(more["parameters"]) if more.get("parameters") else None,
        size_bytes=number(more["size"]) if more.get("size") else None,
        gflops=None,
        is_runnable=True,
    )
    if top1 is not None:
        known.numbers[dataset, "top1"] = [number(top1)]
    if more.get("latency"):
        known.latencies.append(number(more["latency"]))
    return known


def wish(*bounds: str, **more: Any) -> Wish:
    return make_wish("classification", tuple(bound_of(each, True) for each in bounds), **more)


def names(found: Any) -> list[str]:
    return [each.reference.removeprefix("zoo:") for each in found]


def test_what_is_not_known_is_never_fulfilled() -> None:
    models = [model("fast", 0.8, latency=0.01), model("slow", 0.9, latency=0.1), model("unmeasured", 0.95)]
    (ranking,) = suggest(models, wish("top1=70", latency="20ms"))
    assert names(ranking.fitting) == ["fast"] and names(ranking.open) == ["unmeasured"]
    assert ranking.open[0].unknown == ("latency",) and ranking.left_out == {"latency": 1}


def test_every_wish_counts() -> None:
    models = [
        model("good", 0.8, parameters=5e6, size=2e7, license="apache-2.0"),
        model("weak", 0.6, parameters=5e6, size=2e7),
        model("large", 0.8, parameters=5e7, size=2e7),
        model("heavy", 0.8, parameters=5e6, size=2e9),
        model("bound", 0.8, parameters=5e6, size=2e7, license="cc-by-nc-4.0"),
        model("untold", 0.8, parameters=5e6, size=2e7, license=None),
    ]
    (ranking,) = suggest(models, wish("top1=70", parameters="10M", size="100MB", license="permissive"))
    assert names(ranking.fitting) == ["good"] and names(ranking.open) == ["untold"]
    assert ranking.left_out == {"top1 ≥ 70 %": 1, "parameters": 1, "size": 1, "license": 1}


def test_datasets_have_rankings_of_their_own() -> None:
    models = [model("a", 0.8), model("b", 0.9, "imagenet-v2"), model("c", 0.7)]
    found = suggest(models, wish())
    assert [(each.dataset, names(each.fitting)) for each in found] == [
        ("imagenet-val", ["a", "c"]),
        ("imagenet-v2", ["b"]),
    ]
    assert [each.dataset for each in suggest(models, wish(dataset="imagenet-v2"))] == ["imagenet-v2"]


def test_the_order_is_paretos_and_unknown_costs_come_last() -> None:
    models = [
        model("worse", 0.79, parameters=5e7),
        model("cheap", 0.7, parameters=1e6),
        model("unknown", 0.99),
        model("best", 0.9, parameters=9e7),
        model("middle", 0.8, parameters=2e7),
    ]
    (ranking,) = suggest(models, wish())
    assert names(ranking.fitting) == ["best", "middle", "cheap", "worse", "unknown"]
    assert [each.front for each in ranking.fitting] == [1, 1, 1, 2, None]


def test_errors_are_better_the_lower() -> None:
    models = []
    for name, value in (("good", 0.03), ("poor", 0.2), ("bad", 0.5)):
        known = model(name, None)
        known.numbers["librispeech-test-clean", "wer"] = [number(value)]
        models.append(known)
    (ranking,) = suggest(models, make_wish("speech", (bound_of("wer=25", False),)))
    assert names(ranking.fitting) == ["good", "poor"] and ranking.left_out == {"wer ≤ 25 %": 1}


def test_measured_numbers_decide() -> None:
    known = model("claims", 0.9)
    known.numbers["imagenet-val", "top1"].insert(0, number(0.6, "measured", "record 1"))
    (ranking,) = suggest([known], wish("top1=80"))
    assert ranking.fitting == () and ranking.left_out == {"top1 ≥ 80 %": 1}


def test_a_second_metric_is_looked_up_on_the_same_dataset() -> None:
    both, one = model("both", 0.8), model("one", 0.8)
    both.numbers["imagenet-val", "top5"] = [number(0.95)]
    one.numbers["imagenet-v2", "top5"] = [number(0.99)]
    found = {each.dataset: each for each in suggest([both, one], wish("top1=70", "top5=90"))}
    assert names(found["imagenet-val"].fitting) == ["both"] and names(found["imagenet-val"].open) == ["one"]
    assert found["imagenet-val"].fitting[0].others[0].value == 0.95

"""Records of older releases are read for ever, with every number that they had."""

import json
from collections.abc import Callable

from mlmodelscope import Record, Settings, Store, evaluate
from mlmodelscope.record.told import Told


def as_version_1(record: Record) -> dict:
    """As the release before wrote it."""
    data = json.loads(record.model_dump_json())
    details, refused = data.pop("details"), data.pop("refused")
    numbers = {
        name: {key: data["metrics"][name][key] for key in ("value", "low", "high", "confidence")}
        for name in ("top1", "top5")
    }
    per_class = {str(each["class"]): {"right": each["right"], "seen": each["seen"]} for each in details["per_class"]}
    metrics = {**numbers, **details, "per_class": per_class, "refused": refused, "more": {"kappa": 0.25}}
    return {**data, "schema_version": 1, "metrics": metrics}


def test_a_record_of_version_1_has_all_of_its_numbers(
    settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable
) -> None:
    record = evaluate(make_model(), make_dataset(make_pictures()), settings=settings)
    old = as_version_1(record)
    found = Record.model_validate_json(json.dumps(old))
    assert found.metrics.pop("kappa").model_dump(include={"value", "unit"}) == {"value": 0.25, "unit": "number"}
    assert found == record.model_copy(update={"details": json.loads(json.dumps(record.details))})
    told = Told.model_validate_json(json.dumps(old))
    assert told.metrics["top1"].value == record.metrics["top1"].value and told.id == record.id


def test_a_record_of_version_1_without_numbers_is_one_of_version_2_without_numbers(
    settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable
) -> None:
    record = evaluate(make_model(), make_dataset(make_pictures()), settings=settings)
    bare = {**as_version_1(record), "metrics": {"refused": {"calibration": "logits"}}}
    found = Record.model_validate(bare)
    assert found.metrics == {} and found.details == {}
    assert found.refused == {"calibration": "logits", "ece": "logits"} and found.schema_version == 2


def test_what_is_stored_is_the_newest_form_and_knows_what_stands_for_it(
    settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable
) -> None:
    record = evaluate(make_model(), make_dataset(make_pictures()), settings=settings)
    store = Store(settings)
    (row,) = store.list()
    found = row["headline"]
    assert (found["name"], found["title"], found["unit"]) == ("top1", "top-1", "share")
    assert found["value"] == row["top1"] == record.metrics["top1"].value
    store.close()

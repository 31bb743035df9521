"""Claims and the training dataset, which V1 keeps among the attributes."""

from __future__ import annotations

import re
from typing import Any

from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.words import (
    attributes_of,
    drop_empty,
    take,
)
from mlmodelscope.manifest.source import SourceFloat, SourceInt, SourceList, SourceMap


def convert_claims(data: SourceMap, notes: Notes) -> None:
    """`attributes.Top1` and the like are claims; `training_dataset` is a field of its own."""
    attributes = attributes_of(data)
    dataset = attributes.get("training_dataset")
    if "training_dataset" not in data and dataset is not None and dataset != "":
        _move_training_dataset(data, attributes, notes)
    else:
        drop_empty(attributes, "training_dataset")
    if "claims" in data:
        return
    claims = SourceList()
    for key in ("top1", "Top1", "top5", "Top5"):
        place = attributes.places.get(key)
        value = attributes.get(key)
        if place is None:
            continue
        if value is None or value == "":
            take(attributes, key)
            continue
        number = percentage(value)
        if number is None:
            notes.add("unclear", f"`{key}: {value}` is no number in percent and stays under `attributes`", place)
            continue
        attributes[key] = number
        claim = SourceMap()
        claim.place = place
        claim.put("metric", key.lower(), place, f"is what `attributes.{key}` claims")
        attributes.move(key, claim, "value")
        if any(other["metric"] == claim["metric"] for other in claims):
            notes.add("unclear", f"`{claim['metric']}` is claimed twice", place)
        claims.put(claim, place)
    if claims:
        claims.place = claims.places[0]
        data.put("claims", claims, claims.place)


def percentage(value: Any) -> SourceFloat | SourceInt | None:
    """A number in percent as it was written: `46.` is 46, `78.8 %` is 78.8."""
    text = str(getattr(value, "text", value)).strip().removesuffix("%").strip().removesuffix(".")
    if isinstance(value, bool) or not re.fullmatch(r"\d{1,6}(\.\d{1,10})?", text):
        return None
    number = SourceFloat(text) if "." in text else SourceInt(text)
    number.text = text
    return number


def _move_training_dataset(data: SourceMap, attributes: SourceMap, notes: Notes) -> None:
    place = attributes.places["training_dataset"]
    dataset = attributes["training_dataset"]
    if isinstance(dataset, list):  # the CLOUD'20 paper writes a list: name, then version
        names = [str(getattr(item, "text", item)) for item in dataset if isinstance(item, (str, int, float))]
        if len(names) != len(dataset) or not names:
            notes.add("unclear", "the training dataset is not a name and is left under `attributes`", place)
            return
        take(attributes, "training_dataset")
        dataset = ", ".join(names)
    elif isinstance(dataset, SourceMap):
        attributes.move("training_dataset", data)
        return
    else:
        take(attributes, "training_dataset")
    named = SourceMap()
    named.place = place
    named.put("name", getattr(dataset, "text", None) or str(dataset), place)
    data.put("training_dataset", named, place)

"""JSON Schema of every kind: what loads is valid by it, what is unknown to the one is unknown to the other."""

import copy
import random
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from manifest.dialect import test_cloud20, test_dlspec, test_v0, test_v1, test_v2
from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.convert import convert_document
from mlmodelscope.manifest.json_schema import manifest_schema
from mlmodelscope.manifest.load import load_manifest, parse_document, parse_manifest
from mlmodelscope.manifest.schema import KINDS
from mlmodelscope.manifest.source import parse_source
from reproduction.reproduction_world import MANIFEST as REPRODUCTION

TOP = Path(__file__).parent.parent.parent
SHIPPED = sorted((TOP / "manifests").rglob("*.yml")) + [Path(__file__).parent / "listing1.yml"]
OLD = {
    "v0": test_v0.V0,
    "v1": test_v1.V1,
    "detector": test_v1.DETECTOR,
    "v2": test_v2.V2,
    "v2-old": test_v2.OLD,
    "cloud20": test_cloud20.CLOUD,
    "framework": test_cloud20.FRAMEWORK,
    "dlspec": test_dlspec.MODEL,
    "hardware": test_dlspec.HARDWARE,
    "software": test_dlspec.SOFTWARE,
    "dataset": test_dlspec.DATASET,
}
LOG = """\
name: log
version: 1.0.0
manifests: {model: {name: toy, version: 1.10, id: 2e61}, dataset: {name: d, version: 1}}
created_at: 2026-01-02T03:04:05Z
samples: 2
metrics: {top1: {value: 1, low: 0.5, high: 1}}
performance: {latency_s: {value: 0.25, unit: s}}
outputs: {rows: [{sample: 1, classes: [1, 2], scores: [1, 0]}, {sample: b, answer: {a: [1]}}]}
curve: [{progress: 0.5, metrics: {loss: 1}}]
options: {batch_size: 1}
"""


@cache
def validator(kind: str) -> Any:
    schema = manifest_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def texts() -> dict[str, str]:
    """One text in today's form for everything that is shipped or tested."""
    converted = {name: convert_document(parse_document(text)) for name, text in OLD.items()}
    return {path.name: path.read_text() for path in SHIPPED} | converted | {"log": LOG, "reproduction": REPRODUCTION}


def is_valid(kind: str, data: Any) -> bool:
    return bool(validator(kind).is_valid(data))


@pytest.mark.parametrize("name", texts())
def test_what_loads_is_valid(name: str) -> None:
    text = texts()[name]
    kind = parse_document(text).kind
    assert list(validator(kind).iter_errors(plain(parse_source(text)))) == []


def test_every_kind_is_tried() -> None:
    assert {parse_document(text).kind for text in texts().values()} == set(KINDS)


@pytest.mark.parametrize("name", texts())
def test_an_unknown_key_is_refused_by_both(name: str) -> None:
    text = texts()[name]
    kind = parse_document(text).kind
    for path in holders(plain(parse_source(text)), ()):
        data = plain(parse_source(text))
        holder = data
        for part in path:
            holder = holder[part]
        holder["unheard_of"] = 1
        with pytest.raises(ManifestError):
            load_manifest({**data, "kind": kind})
        assert not is_valid(kind, data), path


def holders(data: Any, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    """Mappings with keys of ours, not the author's own."""
    found: list[tuple[str | int, ...]] = []
    free = {"attributes", "envvars", "env", "container", "hyperparameters", "options", "metrics", "performance"}
    if isinstance(data, dict):
        found.append(path)
        for key, value in data.items():
            if key not in free | {"environment", "answer", "measure", "prompt", "map", "in_each"}:
                found += holders(value, (*path, key))
    elif isinstance(data, list):
        for index, item in enumerate(data):
            found += holders(item, (*path, index))
    return found


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(inputs=data["inputs"][0]),
        lambda data: data.update(envvars={"A": 1, "B": True}),
        lambda data: data["framework"].update(TF_FLAG=0, container=data.pop("container")),
        lambda data: data["container"].update(TF_FLAG="x"),
        lambda data: data.update(kind="model", id=7),
    ],
)
def test_the_liberties_of_print_are_valid(change: Any) -> None:
    data = plain(parse_source((Path(__file__).parent / "listing1.yml").read_text()))
    change(data)
    load_manifest(data)
    assert is_valid("model", data)


ODD: list[Any] = [None, "", 0, -1, 1.5, True, [], {}, [[]], "x", {"a": 1}, [None], "\n", float("nan"), ["a", "b"]]


@pytest.mark.parametrize("seed", range(60))
def test_a_mangled_manifest_is_read_or_refused_and_never_an_accident(seed: int) -> None:
    chance = random.Random(seed)
    sources = [plain(parse_source(text)) for text in (*OLD.values(), LOG, SHIPPED[-1].read_text())]
    words = sorted({key for source in sources for key in source} | {"kind", "steps", "parameters", "model", "output"})
    for _ in range(10):
        data = copy.deepcopy(chance.choice(sources))
        for _ in range(chance.randint(1, 3)):
            path = chance.choice(holders(data, ()))
            holder = data
            for part in path:
                holder = holder[part]
            holder[chance.choice([*holder, chance.choice(words)])] = copy.deepcopy(chance.choice([*ODD, *sources]))
        try:
            document = parse_document(write(data))
            text = convert_document(document, explain=True)
            digest = document.manifest().digest
        except ManifestError as error:
            assert all(problem.message for problem in error.problems)
        else:
            assert parse_manifest(text).digest == digest


def write(data: Any) -> str:
    from mlmodelscope.manifest.write import write_manifest

    return write_manifest(data)

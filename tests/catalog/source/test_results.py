"""Tables of results become claims: what is recognized, what is left out with a reason, and what attacks come to."""

import json
import os
from pathlib import Path

import pytest

from catalog.samples import FORMS, write
from mlmodelscope.catalog.entry import Entry
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.source.form import Reading, find_form, read_entries
from mlmodelscope.errors import UsageError


def read(folder: Path) -> tuple[dict[str, Entry], Reading]:
    reading = Reading(Files(folder))
    return {each.name: each for each in read_entries(find_form(reading.files), reading)}, reading


def rows(tmp_path: Path, text: str, name: str = "own.csv") -> tuple[dict[str, Entry], Reading]:
    return read(write(tmp_path, {name: text.encode()}))


def test_numbers_of_several_files_belong_to_one_model(tmp_path: Path) -> None:
    found, reading = read(write(tmp_path, FORMS["results"]))
    (net,) = found.values()
    assert (net.name, net.architecture, net.framework, net.task) == (
        "ours-Net-50",
        "ours/Net-50",
        "onnxruntime",
        "image_enhancement",  # the task of the metric that stands first
    )
    assert net.weights[0].url == "https://host.example/net50.onnx"
    assert [(each.metric, each.value, each.unit, each.dataset, each.split) for each in net.claims] == [
        ("psnr", "31.40", "dB", "set5", "x"),
        ("top1", "76.10", "percent", "imagenet-val", ""),
        ("top5", "0.9310", "share", "imagenet-val", ""),
    ]
    assert [each.place for each in net.claims] == ["2026/day.jsonl:1", "2026/night.csv:2", "2026/night.csv:3"]
    assert dict(reading.left_out) == {
        "a value that is not a number": 1,
        "a number of an unknown metric without a unit": 1,
    }


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_titles_are_recognized_by_the_usual_words(tmp_path: Path, delimiter: str) -> None:
    text = (
        delimiter.join(("Arch", "Metric Name", "Score", "Test-Set")) + "\n" + delimiter.join(("a", "acc1", "70", "b"))
    )
    (claim,) = rows(tmp_path, text)[0]["a"].claims
    assert (claim.metric, claim.value, claim.dataset, claim.metric_as_written) == ("top1", "70", "b", "acc1")


@pytest.mark.parametrize(
    ("value", "unit", "metric", "expected"),
    [
        ("76.1", "", "top1", "percent"),
        ("0.761", "", "top1", "share"),
        ("0.761%", "", "top1", "percent"),
        ("0.9", "percent", "top1", "percent"),
        ("31.4", "", "psnr", "dB"),
        ("3.2", "number", "latency ratio", "number"),
        ("3.2", "", "latency ratio", "a number of an unknown metric without a unit"),
        ("76.1", "share", "top1", "a number that is no share, and is said to be one"),
        ("76.1", "furlongs", "top1", "a number in a unit that is not known"),
        ("NaN", "", "top1", "a value that is not a number"),
        ("1e3", "%", "top1", "a value that is not a number"),
        ("about 76", "%", "top1", "a value that is not a number"),
        ("", "%", "top1", "a row without a value"),
    ],
)
def test_a_unit_is_recognized_or_asked_for(tmp_path: Path, value: str, unit: str, metric: str, expected: str) -> None:
    found, reading = rows(tmp_path, f"model,metric,value,unit\nx,top5,50%,\na,{metric},{value},{unit}\n")
    told = [each.unit for each in found["a"].claims] if "a" in found else list(reading.left_out)
    assert told == [expected]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ([{"model": "a", "metric": "top1", "value": 69.10}], "own.json:0"),
        ({"about": "a night", "results": [{"model": "a", "metric": "top1", "value": "69.10"}]}, "own.json:0"),
    ],
)
def test_json_keeps_the_digits_as_published(tmp_path: Path, data: object, place: str) -> None:
    text = json.dumps(data).replace("69.1}", "69.10}")
    (claim,) = rows(tmp_path, text, "own.json")[0]["a"].claims
    assert (claim.value, claim.place) == ("69.10", place)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("own.csv", ""),
        ("own.csv", "a,b\n1,2\n"),
        ("own.csv", "model,metric,value\n"),
        ("own.csv", "model,metric,value\n" + '"' + "x" * 200_000),
        ("own.csv", ",".join(f"c{each}" for each in range(10_000)) + "\n"),
        ("own.json", "[" * 100_000),
        ("own.json", "3"),
        ("own.json", '{"model": "a", "metric": "top1", "value": 3}'),
        ("own.jsonl", '{"model": ["a"], "metric": "top1", "value": 3}\n'),
        ("own.jsonl", '{"model": "a", "metric": "top1", "value": {"x": 1}}\nnull\n3\n'),
        ("own.jsonl", "\x00\x01\x02"),
        ("own.tsv", "model\tmetric\n"),
    ],
)
def test_files_without_a_result_are_not_a_source_of_results(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(UsageError, match="not a source of a known form"):
        rows(tmp_path, text, name)


def test_hostile_rows_are_left_out_and_stop_no_other(tmp_path: Path) -> None:
    good = "good,top1,70,%,https://host.example/a.onnx\n"
    text = "model,metric,value,unit,url\n" + good + "///,top1,70,%,\n" + "\x1b[31mred,top1,70,%,file:///etc/passwd\n"
    text += "long" * 5_000 + ",top1,70,%,\n" + f"good,top1,{'9' * 400},%,\n"
    found, reading = rows(tmp_path, text)
    assert found["good"].weights and len(found["good"].claims) == 1
    others = [entry for name, entry in found.items() if name != "good"]
    assert all("\x1b" not in entry.name + entry.architecture and not entry.weights for entry in others)
    assert all(len(entry.name) <= 100 for entry in others)
    assert reading.left_out["a model without a name that can be written"] == 1
    assert reading.left_out["a value that is not a number"] == 1


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    secret = write(tmp_path / "other", {"own.csv": b"model,metric,value\nsecret,top1,70%\n"}) / "own.csv"
    folder = write(tmp_path / "here", {"own.csv": b"model,metric,value\na,top1,70%\n"})
    os.symlink(secret, folder / "link.csv")
    found, _ = read(folder)
    assert found.keys() == {"a"}

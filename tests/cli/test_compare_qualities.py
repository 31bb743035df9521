"""`compare` of records whose answers are more or less good: which samples differ, the most first."""

import json
from pathlib import Path

import yaml

from cli.command import Call
from seen_world import write_enhancer


def ids(call: Call) -> set[str]:
    return {each["id"] for each in json.loads(call("records", "--json"))}


def test_samples_that_differ_come_with_both_qualities_the_largest_change_first(call: Call, tmp_path: Path) -> None:
    model, dataset = write_enhancer(tmp_path / "world")
    call("evaluate", str(model), str(dataset))
    (first,) = ids(call)
    other = yaml.safe_load(model.read_text())
    steps = other["inputs"][0]["processing"]
    other["inputs"][0]["processing"] = [each for each in steps if "scale" not in each]  # nothing is lost
    model.write_text(yaml.safe_dump(other, sort_keys=False))
    call("evaluate", str(model), str(dataset))
    (second,) = ids(call) - {first}
    text = call("compare", first, second)
    assert "samples in both: 3" in text and "better in the second: 3" in text and "same answer: 0" in text
    assert text.index("2.png") < text.index("1.png") < text.index("0.png")
    found = json.loads(call("compare", first, second, "--json"))["answers"]
    assert found["apart"][0]["sample"] == "2.png" and found["apart"][0]["second"] == 1.0
    call("compare", first, second, "--output", "both.csv")
    assert (tmp_path / "both.csv").read_text().splitlines()[1].startswith("2.png,")
    assert "same answer: 3" in call("compare", first, first)

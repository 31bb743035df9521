"""On the manifests that the original project published, the rules find what an independent count finds."""

import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlmodelscope.lint.check import check_text
from mlmodelscope.lint.finding import Finding
from mlmodelscope.lint.fix import mend

SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parent.parent.parent.parent / "shared")
CORPUS = SHARED / "corpus"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the development data folder is not here"),
]


@cache
def found() -> dict[Path, list[Finding]]:
    return {path: check_text(path.read_bytes(), str(path), path.parent)[1] for path in sorted(CORPUS.rglob("*.yml"))}


@cache
def readable() -> dict[Path, dict[str, Any]]:
    """Plain YAML, of which PyYAML keeps the last where a key stands twice."""
    return {
        path: yaml.load(path.read_text(), yaml.BaseLoader)
        for path, findings in found().items()
        if not any(each.code == "M000" for each in findings)
    }


def files_with(code: str) -> set[Path]:
    return {path for path, findings in found().items() if any(each.code == code for each in findings)}


def images(data: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (architecture, device, image)
        for architecture, pair in (data.get("container") or {}).items()
        for device, image in pair.items()
    ]


def test_all_files_are_right_and_three_have_a_key_twice() -> None:
    assert len(found()) == len(readable()) == 443
    assert files_with("M001") == set()
    assert len(files_with("M002")) == 3


def test_swapped_images() -> None:
    swapped = {
        path
        for path, data in readable().items()
        if re.search(r"gpu$", data.get("container", {}).get("amd64", {}).get("cpu", ""))
        and re.search(r"cpu$", data["container"]["amd64"]["gpu"])
    }
    assert files_with("M020") == swapped and len(swapped) > 380


def test_images_of_the_wrong_device() -> None:
    single = {
        path
        for path, data in readable().items()
        if data.get("container", {}).get("ppc64le", {}).get("cpu", "").endswith("gpu")
    }
    assert files_with("M021") == single and len(single) > 430


def test_images_of_another_framework() -> None:
    foreign = {
        path
        for path, data in readable().items()
        for _, _, image in images(data)
        if re.search(r"carml-(\w+)", image)[1] != data["framework"]["name"].lower()  # type: ignore[index]
    }
    assert files_with("M022") == foreign and len(foreign) > 100


def test_versions_that_are_numbers() -> None:
    pattern = re.compile(r"^\s*version:\s*[\d.]+\s*(#.*)?$", re.MULTILINE)
    number = re.compile(r"\d+(\.\d*)?")
    expected = {
        path: sum(bool(number.fullmatch(line.partition(":")[2].partition("#")[0].strip())) for line in lines)
        for path in readable()
        if (lines := [match[0] for match in pattern.finditer(path.read_text())])
    }
    seen = Counter(path for path, findings in found().items() for each in findings if each.code == "M030")
    assert seen == Counter(expected) and seen.total() > 600


def test_empty_checksums() -> None:
    expected = {
        path: len(re.findall(r"^\s*\w*checksum:[ \t]*(?:''|\"\")?[ \t]*(?:#.*)?$", path.read_text(), re.MULTILINE))
        for path in readable()
    }
    seen = Counter(path for path, findings in found().items() for each in findings if each.code == "M041")
    assert seen == Counter({path: count for path, count in expected.items() if count}) and seen.total() > 100


def test_missing_checksums() -> None:
    def misses(data: dict[str, Any]) -> int:
        model = data.get("model") or {key.replace("_url", "_path"): data[key] for key in data if key.endswith("_url")}
        files = [role for role in ("graph", "weights") if model.get(f"{role}_path") and f"{role}_checksum" not in model]
        if "graph_path" not in model:
            files += [role for role in ("trained_path", "onnx_url") if role in model and "onnx_checksum" not in model]
        output = (data.get("output") or {}).get("parameters") or data
        lists = bool(output.get("features_url")) and "features_checksum" not in output
        return len(files) + lists

    expected = Counter({path: count for path, data in readable().items() if (count := misses(data))})
    seen = Counter(path for path, findings in found().items() for each in findings if each.code == "M040")
    assert seen == expected and seen.total() > 10


def test_misspelt_words() -> None:
    misspelt = {
        path for path in found() if re.search(r"probailities_layer|float32s|trailing_dataset", path.read_text())
    }
    assert files_with("M010") == misspelt and len(misspelt) == 2


def test_plain_http() -> None:
    assert {path for path in readable() if re.search(r"(?:_url|_path):\s*['\"]?http:", path.read_text())} == files_with(
        "M081"
    )


def test_mending_all_of_them_leaves_none_of_these_and_makes_none_worse() -> None:
    for path, before in found().items():
        subject, _ = check_text(path.read_bytes(), str(path), path.parent)
        done = mend(subject, before)
        left = Counter(each.code for each in done.left)
        assert not left & Counter({"M010": 1, "M020": 1, "M030": 1}), path
        assert left <= Counter(each.code for each in before), path
        removed = len(subject.text.splitlines()) - len(done.text.splitlines())
        assert removed == 0 or (removed <= 2 and any(each.code == "M002" for each in done.applied))

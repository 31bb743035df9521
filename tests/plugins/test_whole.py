"""A stranger's package through its own wheel: a manifest is begun, checked and evaluated, and its mistake is found."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
SIDE, CLASSES, SAMPLES = 8, 4, 48


def corner(y: int, x: int) -> int:
    return 2 * (y >= SIDE // 2) + (x >= SIDE // 2)


def grid() -> bytes:
    """Negatives of pictures in which one corner, which is the class, is brighter than the rest."""
    random, places = Random(0), [(y, x) for y in range(SIDE) for x in range(SIDE)]
    content = bytearray(b"TOYGRID" + bytes([SIDE, SIDE]))
    for sample in range(SAMPLES):
        label = sample % CLASSES
        bright = [random.randrange(60, 120) + 100 * (corner(y, x) == label) for y, x in places]
        content += bytes([label, *(255 - value for value in bright)])
    return bytes(content)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy model with its configuration, one that says the truth and one that does not, and a toy grid."""
    folder = tmp_path_factory.mktemp("place")
    rows = [corner(y, x) for y in range(SIDE) for x in range(SIDE)]
    weights = [[float(row == label) for label in range(CLASSES)] for row in rows]
    (folder / "linear.json").write_text(json.dumps({"shape": [1, SIDE, SIDE], "weights": weights}))
    (folder / "grid.toy").write_bytes(grid())
    (folder / "grid.yml").write_text(
        "name: grid\nversion: 1.0.0\ntask: classification\nlicense: MIT\nformat: toygrid\nsources: [{url: grid.toy}]\n"
    )
    for name, negatives in (("right", True), ("wrong", False)):
        (folder / f"{name}.json").write_text(json.dumps({"toy_model": "linear.json", "negatives": negatives}))
    return folder


@pytest.fixture(scope="module")
def run(place: Path, toy: Path) -> Run:
    environment = {
        **os.environ,
        "PYTHONPATH": str(toy),
        "MLMODELSCOPE_HOME": str(place / "home"),
        "MLMODELSCOPE_CACHE": str(place / "cache"),
    }

    def command(*words: str, exits: int = 0) -> subprocess.CompletedProcess[str]:
        asked = [sys.executable, "-m", "mlmodelscope", *words]
        done = subprocess.run(asked, cwd=place, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == exits, done.stderr + done.stdout
        return done

    return command


@pytest.fixture(scope="module")
def begun(run: Run, place: Path) -> Path:
    """Both manifests, as `init` writes them from the toy's own configuration."""
    for name in ("right", "wrong"):
        words = ("--name", name, "--license", "MIT", "--claim", "top1=100@grid", "--output", f"{name}.yml")
        run("init", f"{name}.json", "--yes", *words)
    return place


def test_one_of_everything_is_listed_with_version_and_origin(run: Run, toy: Path) -> None:
    rows = json.loads(run("plugins", "--json").stdout)
    kinds = ["predictor", "step", "output step", "answer step", "reader", "task", "rule", "measure"]
    kinds += ["dataset format", "importer", "lint", "pitfall"]
    assert list(dict.fromkeys(row["kind"] for row in rows)) == kinds
    about = {(row["package"], row["version"], row["origin"], row["state"]) for row in rows}
    assert about == {("mlmodelscope-toy", "1.2.3", str(toy / "mlmodelscope_toy"), "ok")}


def test_its_importer_begins_a_manifest_and_its_lint_checks_it(run: Run, begun: Path) -> None:
    text = (begun / "right.yml").read_text()
    assert "name: toylinear" in text and "- toy_invert:" in text and "- toy_temper: 2.0" in text
    warned = [
        found
        for each in json.loads(run("check", "right.yml", "wrong.yml", "grid.yml", "--json").stdout)
        for found in each["findings"]
        if found["code"] == "TOY100"
    ]
    assert [Path(found["file"]).name for found in warned] == ["wrong.yml"]


def test_a_whole_evaluation_uses_predictor_steps_and_format(run: Run, begun: Path) -> None:
    record = json.loads(run("evaluate", "right.yml", "grid.yml", "--json").stdout)
    assert record["metrics"]["top1"]["value"] == 1.0 and record["samples"] == SAMPLES and record["failed"] == 0
    used = [(each["kind"], each["name"], each["package"], each["version"]) for each in record["plan"]["plugins"]]
    package = ("mlmodelscope-toy", "1.2.3")
    assert used == [
        ("datasets", "toygrid", *package),
        ("output_steps", "toy_temper", *package),
        ("predictors", "toylinear", *package),
        ("steps", "toy_invert", *package),
    ]


def test_replicate_names_the_pitfall(run: Run, begun: Path) -> None:
    found = run("replicate", "wrong.yml", "grid.yml", exits=1).stdout
    assert "toy-invert (inverted) explains the gap of -100.00 points: with it, 100.00 % is measured." in found


def test_without_the_package_what_it_adds_is_unknown(run: Run, begun: Path) -> None:
    environment = {**os.environ, "MLMODELSCOPE_HOME": str(begun / "home"), "MLMODELSCOPE_CACHE": str(begun / "cache")}
    asked = [sys.executable, "-m", "mlmodelscope", "evaluate", "right.yml", "grid.yml"]
    done = subprocess.run(asked, cwd=begun, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "unknown step `toy_invert`" in done.stderr and "Traceback" not in done.stderr


def test_the_examples_of_the_docs_are_those_of_the_toy() -> None:
    root = Path(__file__).parent.parent.parent
    page = (root / "docs" / "extend.md").read_text()
    sources = [
        path.read_text()
        for path in [*(root / "tests" / "plugins").rglob("*.py"), *(root / "tests").rglob("toy/*.toml")]
    ]
    examples = re.findall(r"```(?:python|toml)\n(.*?)```", page, re.DOTALL)
    assert len(examples) >= 6
    for example in examples:
        assert any(example in source for source in sources), example

"""`reproduce` as people and programs use it."""

import importlib.util
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from reproduction.reproduction_world import MANIFEST, twin, write_world

from .command import Run


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return write_world(tmp_path)


def test_the_component_to_fix_first_stands_above_the_table(run: Run, tmp_path: Path) -> None:
    write_world(tmp_path, twin("leaky activation"))
    done = run("reproduce", "check", "reproduction.yml", "--trust")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].startswith("failed: fix the model first: fixed-weights: the first layer that differs is act")
    assert any(line.startswith("step") and "waits for fixed-weights" in line for line in lines)


@pytest.mark.usefixtures("world")
def test_json_has_every_check_with_seed_and_tolerance(run: Run) -> None:
    done = run("reproduce", "check", "reproduction.yml", "--trust", "--json", "--only", "loss,metric", "--seed", "5")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["outcome"] == "passed" and found["first_failed"] is None
    told = [(each["check"], each["verdict"], each["seed"], each["tolerance"]) for each in found["checks"]]
    assert told == [("loss", "passed", 5, 1e-5), ("metric", "passed", 5, 1e-6)]


@pytest.mark.usefixtures("world")
def test_a_page_and_a_junit_file_are_written(run: Run, tmp_path: Path) -> None:
    done = run("reproduce", "check", "reproduction.yml", "--trust", "--report", "page.html", "--junit", "tests.xml")
    assert done.returncode == 0
    assert "Layers with fixed weights" in (tmp_path / "page.html").read_text()
    suite = ElementTree.parse(tmp_path / "tests.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("14", "0", "2")


@pytest.mark.usefixtures("world")
def test_without_trust_there_is_no_verdict_and_trust_lasts_until_the_code_changes(run: Run, tmp_path: Path) -> None:
    refused = run("reproduce", "check", "reproduction.yml")
    assert refused.returncode == 3 and "mlmodelscope trust reproduction.yml" in refused.stderr
    assert run("trust", "reproduction.yml").returncode == 0
    assert run("reproduce", "check", "reproduction.yml", "--only", "loss").returncode == 0
    write_world(tmp_path, twin("label smoothing"))
    assert run("reproduce", "check", "reproduction.yml", "--only", "loss").returncode == 3


def test_nothing_to_compare_with_is_undecided(run: Run, tmp_path: Path) -> None:
    write_world(tmp_path, manifest=MANIFEST.replace("original: {code: [original.py]}\n", ""))
    done = run("reproduce", "check", "reproduction.yml", "--trust", "--only", "loss")
    assert done.returncode == 2 and "neither `cases` nor an original" in done.stdout


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reproduction.yml", "--only", "los"], "did you mean `loss`"),
        (["gone.yml"], "gone.yml"),
        (["reproduction.yml", "--timeout", "0"], "--timeout"),
    ],
)
def test_a_wrong_request_is_explained(run: Run, words: list[str], said: str) -> None:
    done = run("reproduce", "check", *words)
    assert done.returncode in (2, 3) and said in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_check_reads_the_manifest(run: Run, tmp_path: Path) -> None:
    write_world(tmp_path, manifest=MANIFEST.replace("values: integers, below: 4", "values: integer"))
    done = run("check", "reproduction.yml")
    assert done.returncode == 1 and "targets.values" in done.stderr and "did you mean `integers`" in done.stderr


def test_each_check_leaves_a_row_and_log_shows_what_changed(run: Run, tmp_path: Path) -> None:
    write_world(tmp_path)
    assert "was not checked yet" in run("reproduce", "log", "reproduction.yml").stdout
    for name in ("label smoothing", None):
        write_world(tmp_path, **({"mine": twin(name)} if name else {}))
        run("reproduce", "check", "reproduction.yml", "--trust", "--only", "loss,metric,gradients")
    lines = run("reproduce", "log", "reproduction.yml").stdout.splitlines()
    assert len(lines) == 3 and "failed" in lines[1] and "passed" in lines[2]
    assert "loss: failed → passed, gradients: waits → passed" in lines[2]
    kept = json.loads(run("reproduce", "log", "reproduction.yml", "--json", "--limit", "1").stdout)
    assert [each["outcome"] for each in kept] == ["passed"] and kept[0]["checks"][0]["check"] == "loss"


def test_check_names_the_files_that_are_missing_and_the_code_that_would_run(run: Run, tmp_path: Path) -> None:
    write_world(tmp_path, manifest=MANIFEST + "samples: [gone.txt]\n")
    (tmp_path / "original.py").unlink()
    done = run("check", "reproduction.yml")
    assert (
        done.returncode == 1 and "cannot read original.py" in done.stderr and "there is no file gone.txt" in done.stderr
    )
    write_world(tmp_path)
    done = run("check", "reproduction.yml", "--verbose")
    assert done.returncode == 0 and "runs Python code: mine: mine.py (line 4," in done.stdout + done.stderr


def test_a_framework_that_is_not_installed_is_explained(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    if importlib.util.find_spec("tensorflow") is not None:
        pytest.skip("TensorFlow is installed")
    write_world(tmp_path, manifest=MANIFEST.replace("[mine.py]}", "[mine.py], framework: tensorflow}"))
    done = run("reproduce", "check", "reproduction.yml", "--trust")
    assert done.returncode == 3 and "this Python has no tensorflow" in done.stderr and "`software`" in done.stderr

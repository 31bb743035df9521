"""Several seeds of a training, and trainings compared with each other."""

import json
from pathlib import Path

import pytest

from small_world import Once
from training_world import CODE

from .command import Run, command_in

MANIFEST = """\
name: {name}
version: 1.0.0
task: classification
job_type: training
hyperparameters: {{learning_rate: {rate}}}
training: {{code: mine.py, batch_size: 16, epochs: 2}}
"""


def write(place: Path) -> None:
    (place / "numbers").write_text("1")
    (place / "mine.py").write_text(CODE)
    (place / "good.yml").write_text(MANIFEST.format(name="good", rate=0.05))
    (place / "bad.yml").write_text(MANIFEST.format(name="bad", rate=-0.05))
    (place / "numbers.yml").write_text("name: numbers\nversion: 1.0.0\nformat: files\nsources: [{url: numbers}]\n")


@pytest.fixture(scope="module")
def run(once: Once) -> Run:
    def make(place: Path) -> None:
        write(place)
        here = command_in(place)
        for name in ("good", "bad"):
            done = here("train", f"{name}.yml", "numbers.yml", "--trust", "--seeds", "1,2,3", "--json")
            assert done.returncode == 0, done.stderr
            (place / f"{name}.json").write_text(done.stdout)

    return command_in(once("trained-with-seeds", make))


def ids(run: Run, name: str) -> list[str]:
    place: Path = run.keywords["cwd"]  # type: ignore[attr-defined]
    found = json.loads((place / f"{name}.json").read_text())
    assert found["seeds"] == [1, 2, 3] and found["metrics"]["accuracy"]["low"] <= found["metrics"]["accuracy"]["value"]
    return [each["id"] for each in found["records"]]


def test_the_seeds_are_summed_up(run: Run) -> None:
    done = run("train", "good.yml", "numbers.yml", "--trust", "--seeds", "1,2,3")
    assert done.returncode == 0 and "1, 2, 3" in done.stdout and "final accuracy" in done.stdout
    for wrong in ("", "1,x", "1,,2", "-1", "99999999999"):
        refused = run("train", "good.yml", "numbers.yml", "--trust", f"--seeds={wrong}")
        assert refused.returncode == 2 and "is not a list of seeds" in refused.stderr


def test_two_trainings_are_compared_by_all_their_seeds(run: Run) -> None:
    first, second = ids(run, "good")[1], ids(run, "bad")[0]
    done = run("compare", first, second)
    assert done.returncode == 0, done.stderr
    assert "the second is worse" in done.stdout and "over 3 seeds and 3 seeds" in done.stdout.replace("\n", " ")
    found = json.loads(run("compare", second, first, "--json").stdout)["trainings"]
    accuracy = next(each for each in found["finals"] if each["metric"] == "accuracy")
    loss = next(each for each in found["finals"] if each["metric"] == "loss")
    assert accuracy["verdict"] == loss["verdict"] == "better" and accuracy["difference"]["low"] > 0
    assert loss["difference"]["high"] < 0 and found["seeds"] == [[1, 2, 3], [1, 2, 3]]
    points = found["bands"]["accuracy"][0]
    assert [point["progress"] for point in points] == [0.5, 1.0]
    assert all(point["runs"] == 3 and point["low"] <= point["mean"] <= point["high"] for point in points)


def test_curves_can_be_written(run: Run) -> None:
    place: Path = run.keywords["cwd"]  # type: ignore[attr-defined]
    first, second = ids(run, "good")[0], ids(run, "bad")[0]
    for name in ("curves.html", "curves.csv"):
        assert run("compare", first, second, "--output", name).returncode == 0
    assert (place / "curves.csv").read_text().startswith("metric,side,progress")
    assert "<svg" in (place / "curves.html").read_text()


def test_one_training_with_two_seeds_is_not_better_than_itself(run: Run) -> None:
    one, other = ids(run, "good")[:2]
    done = run("compare", one, other)
    assert done.returncode == 0 and "not judged" in done.stdout and "one training with different seeds" in done.stdout
    again = run("compare", one, one)
    assert again.returncode == 0 and "no difference" in again.stdout


def test_a_training_is_compared_with_trainings_that_came_to_their_end(run: Run, tmp_path: Path) -> None:
    write(tmp_path)
    here = command_in(tmp_path)
    (tmp_path / "mine.py").write_text(
        CODE.replace(
            "    outputs = forward(model, inputs)\n    wrong",
            "    state['n'] = state.get('n', 0) + 1\n    assert state['n'] < 8\n"
            "    outputs = forward(model, inputs)\n    wrong",
        )
    )
    assert here("train", "good.yml", "numbers.yml", "--trust").returncode == 1
    (tmp_path / "mine.py").write_text(CODE)
    assert here("train", "good.yml", "numbers.yml", "--trust").returncode == 0
    listed = json.loads(here("records", "list", "--json").stdout)
    (broken,) = [each["id"] for each in listed if each["status"] == "interrupted"]
    done = here("compare", broken, "latest")
    assert done.returncode == 2 and "was interrupted and has no final numbers" in done.stderr
    assert "mlmodelscope train" in done.stderr


def test_training_steps_can_be_profiled(run: Run) -> None:
    done = run("profile", "good.yml", "numbers.yml", "--trust", "--level", "model", "--runs", "8", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["profile"]["levels"] == ["application", "model"] and found["profile"]["run_ns"] > 0
    assert [each["compared"] for each in found["overheads"]] == ["batch"]
    shown = run("profile", "good.yml", "numbers.yml", "--trust", "--runs", "4")
    assert shown.returncode == 0 and "layers of a training step are not traced" in shown.stdout
    assert run("profile", "good.yml", "numbers.yml", "--trust", "--cold").returncode == 2
    refused = run("compare", ids(run, "good")[0], "latest")
    assert refused.returncode in (0, 2) and "Traceback" not in refused.stderr

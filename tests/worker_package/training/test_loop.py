"""The loop of a training: what it sees does not depend on how it runs, nor on what interrupts it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.functions import FunctionError
from training_world import CODE

from .loops import loop_in, run_in


class Killed(BaseException):
    pass


def without_times(points: list[Any]) -> list[Any]:
    return [{name: value for name, value in each.items() if name != "wall_s"} for each in points]


def interrupted(folder: Path, steps: int, **settings: Any) -> None:
    """A training that goes away after so many steps, in the middle of whatever it does then."""
    folder.mkdir(exist_ok=True)
    loop = loop_in(folder, **settings)
    made = loop.train

    def train(*batch: Any) -> None:
        if loop.step >= steps:
            raise Killed
        made(*batch)

    loop.train = train
    with pytest.raises(Killed):
        loop.run()


def test_a_training_learns_and_tells_how(tmp_path: Path) -> None:
    _, metrics, facts, points = run_in(tmp_path)
    assert [each["step"] for each in points] == [6, 12, 18] and points[-1]["samples"] == 270
    assert [each["epoch"] for each in points] == [1, 2, 3] and points[-1]["progress"] == 1
    assert metrics["accuracy"] > 0.85 and points[0]["metrics"]["loss"] > points[-1]["metrics"]["loss"]
    assert metrics == points[-1]["metrics"] and facts["step"] == facts["steps"] == 18 and facts["per_epoch"] == 6
    with np.load(tmp_path / "weights.npz") as weights:
        assert {name: weights[name].shape for name in weights.files} == {"w": (2, 3), "b": (3,)}


@pytest.mark.parametrize("steps", range(0, 18))
def test_interrupted_after_any_step_it_ends_the_same(tmp_path: Path, steps: int) -> None:
    whole, metrics, _, points = run_in(tmp_path / "whole")
    interrupted(tmp_path / "other", steps)
    again, found, facts, resumed = run_in(tmp_path / "other")
    assert again == whole and found == metrics and without_times(resumed) == without_times(points)
    assert facts["resumed"] == (1 if steps else 0)
    lines = (tmp_path / "other" / "curve.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [6, 12, 18]


def test_checkpoints_may_be_rare(tmp_path: Path) -> None:
    whole = run_in(tmp_path / "whole")[0]
    interrupted(tmp_path / "other", 11, checkpoint_every=None)  # the only one is that of step 6
    again, _, facts, _ = run_in(tmp_path / "other", checkpoint_every=None)
    assert again == whole and facts["resumed"] == 1


def test_a_torn_checkpoint_costs_a_step_and_no_training(tmp_path: Path) -> None:
    whole = run_in(tmp_path / "whole")[0]
    interrupted(tmp_path / "other", 9)
    newest = max((tmp_path / "other" / "checkpoints").glob("*.bin"))
    newest.write_bytes(newest.read_bytes()[:-7])
    assert newest.name == "checkpoint-000000000009.bin" and run_in(tmp_path / "other")[0] == whole


@pytest.mark.parametrize("content", [b"", b"junk", b"mlmodelscope checkpoint 1\n" + b"0" * 64 + b"\nxx"])
def test_a_file_that_is_no_checkpoint_is_passed_over(tmp_path: Path, content: bytes) -> None:
    whole = run_in(tmp_path / "whole")[0]
    folder = tmp_path / "other" / "checkpoints"
    folder.mkdir(parents=True)
    (folder / "checkpoint-000000000017.bin").write_bytes(content)
    (folder / "checkpoint-000000000017.bin.1.draft").write_bytes(content)
    assert run_in(tmp_path / "other")[0] == whole and not list(folder.glob("*.draft"))


def test_a_point_without_a_checkpoint_behind_it_is_made_again(tmp_path: Path) -> None:
    run_in(tmp_path / "whole")
    interrupted(tmp_path / "other", 13)
    with (tmp_path / "other" / "curve.jsonl").open("a") as file:
        file.write('{"step": 15, "metrics": {"accuracy": 9.0}}\n{"step": 16, "met')
    points = run_in(tmp_path / "other")[3]
    assert [each["step"] for each in points] == [6, 12, 18]


@pytest.mark.parametrize("changes", [{"prefetch": 0}, {"workers": 4, "prefetch": 9}, {"cache": True}])
def test_how_batches_are_made_changes_nothing(tmp_path: Path, changes: dict[str, Any]) -> None:
    steps = [{"name": "noise", "parameters": {"deviation": 0.1}}]
    one = run_in(tmp_path / "one", augmentation=steps)[0]
    assert run_in(tmp_path / "other", augmentation=steps, **changes)[0] == one != run_in(tmp_path / "none")[0]


def test_how_often_it_is_evaluated_changes_nothing(tmp_path: Path) -> None:
    one, _, _, points = run_in(tmp_path / "one", evaluate_every=2, evaluation_batch_size=7)
    other, _, _, fewer = run_in(tmp_path / "other", evaluate_every=1000)
    assert one == other and len(points) == 9 and len(fewer) == 1
    assert points[-1]["metrics"]["accuracy"] == fewer[-1]["metrics"]["accuracy"]


def test_the_seed_counts_and_steps_may_stand_for_epochs(tmp_path: Path) -> None:
    one, other = run_in(tmp_path / "one", seed=1), run_in(tmp_path / "other", seed=2)
    assert one[0] != other[0] and run_in(tmp_path / "again", seed=1)[0] == one[0]
    assert [each["step"] for each in run_in(tmp_path / "steps", steps=8, epochs=None)[3]] == [6, 8]
    assert [each["step"] for each in run_in(tmp_path / "dropped", drop_last=True)[3]] == [5, 10, 15]


def test_a_training_ends_where_its_target_is_reached(tmp_path: Path) -> None:
    _, metrics, facts, points = run_in(tmp_path / "one", target={"accuracy": 0.6}, evaluate_every=1)
    assert metrics["accuracy"] >= 0.6 and len(points) < 18
    assert facts["target"]["step"] == facts["step"] == points[-1]["step"]
    assert all(each["metrics"]["accuracy"] < 0.6 for each in points[:-1])
    assert run_in(tmp_path / "other", target={"accuracy": 2.0})[2]["target"] is None
    with pytest.raises(FunctionError, match=r"the target is a `f1`, and the training reports accuracy, loss"):
        run_in(tmp_path / "third", target={"f1": 0.6})


def test_a_validation_step_is_weighted_by_its_samples(tmp_path: Path) -> None:
    code = CODE + (
        "\n\ndef validation_step(model, inputs, targets):\n"
        "    return {'right': (forward(model, inputs).argmax(axis=1) == targets).mean()}\n"
    )
    by_step = run_in(tmp_path / "one", code, evaluation_batch_size=7)[1]
    assert by_step["right"] == pytest.approx(run_in(tmp_path / "other")[1]["accuracy"], abs=1e-12)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("def build(", "def make("), r"the training has no `build`: its code must define it \(model\)"),
        (
            ("return model, state, loss(outputs, targets)", "return model"),
            r"`train_step` must return \(model, state, loss\)",
        ),
        (("return points(1, 90)", "return 5"), r"`training_data` returned int: it returns two arrays"),
        (("return points(1, 90)", "return points(1, 90)[0], [1]"), "returned 90 inputs and 1 targets"),
        (("return points(1, 90)", "return []"), "`training_data` returned no samples"),
        (("return points(1, 90)", "return [1, 2]"), "sample 0 of `training_data`: it is int, not a pair|sample 1"),
        (("return points(1, 90)", "return [([1], 0), ([1, 2], 0)]"), "the inputs of a batch .* have different shapes"),
        (
            ("return points(1, 90)", "raise ValueError('no file')"),
            r"ValueError: no file \(mine.py:\d+, in training_data",
        ),
        (('return {"accuracy": ', 'return {"accuracy": "x", "b": '), "`metrics` returned no number for `accuracy`"),
        (
            ("return model, state, loss(outputs, targets)", "return model, state, outputs"),
            "no single number as the loss",
        ),
        (("def start(", "def parameters(model):\n    return [1]\n\n\ndef start("), "the model is no mapping of arrays"),
        (
            ("state[name] = ", "state['f'] = lambda: 0\n        state[name] = "),
            "the training's state cannot be pickled",
        ),
        (("return {name: np.zeros", "return 1 / 0, {name: np.zeros"), r"ZeroDivisionError.*\(mine.py:\d+, in start\)"),
    ],
)
def test_a_part_that_does_not_do_says_which(tmp_path: Path, change: tuple[str, str], reason: str) -> None:
    code = CODE.replace(*change)
    assert code != CODE
    with pytest.raises(FunctionError, match=reason):
        run_in(tmp_path, code)


def test_a_loss_that_is_not_a_number_is_kept_as_such(tmp_path: Path) -> None:
    code = CODE.replace("return model, state, loss(outputs, targets)", "return model, state, float('nan')")
    interrupted(tmp_path, 8, code=code)
    _, metrics, _, points = run_in(tmp_path, code)
    assert all(np.isnan(each["metrics"]["loss"]) for each in points) and "loss" not in metrics


def test_what_else_is_to_be_kept_the_module_saves(tmp_path: Path) -> None:
    code = CODE + "\n\ndef save(model, folder):\n    np.savetxt(folder + '/b.txt', model['b'])\n"
    run_in(tmp_path, code)
    assert len((tmp_path / "b.txt").read_text().splitlines()) == 3

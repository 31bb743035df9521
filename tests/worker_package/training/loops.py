"""A loop of the worker in this process, as a session makes it."""

from pathlib import Path
from typing import Any

from mlmodelscope.manifest.schema.training import TrainingFunctions
from mlmodelscope_worker.messages import PredictorTask, Task
from mlmodelscope_worker.training.loop import Loop
from mlmodelscope_worker.training.session import TrainingSession
from training_world import CODE

SETTINGS = {
    "framework": "numpy",
    "functions": TrainingFunctions().model_dump(),
    "epochs": 3,
    "steps": None,
    "batch_size": 16,
    "evaluation_batch_size": 16,
    "evaluate_every": None,
    "checkpoint_every": 1,
    "checkpoint_every_s": 1e6,
    "shuffle": True,
    "drop_last": False,
    "cache": False,
    "prefetch": 2,
    "workers": 1,
    "processing": [],
    "augmentation": [],
    "head": [],
    "target": {},
    "threads": 1,
}


def session_of(code: str = CODE, seed: int = 0, inputs: Any = (), **settings: Any) -> TrainingSession:
    spec = {"code": code, "function": "train_step", "file": "mine.py", "line": 1}
    task = Task(
        PredictorTask(None, {}, {}),
        list(inputs),
        [],
        {},
        1,
        functions={"training": spec},
        hyperparameters={"learning_rate": 0.05},
        seed=seed,
        training={**SETTINGS, **settings},
    )
    return TrainingSession(task)


def loop_in(folder: Path, code: str = CODE, report: Any = lambda point: None, **settings: Any) -> Loop:
    return session_of(code, **settings).loop({}, report, str(folder))


def run_in(
    folder: Path, code: str = CODE, **settings: Any
) -> tuple[bytes, dict[str, float], dict[str, Any], list[Any]]:
    """The file of weights, final metrics, facts and points."""
    folder.mkdir(exist_ok=True)
    points: list[Any] = []
    metrics, facts = loop_in(folder, code, points.append, **settings).run()
    return (folder / "weights.npz").read_bytes(), metrics, facts, points

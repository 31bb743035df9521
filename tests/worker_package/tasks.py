"""Tasks as a host sends them: what a plan becomes on its way to the worker."""

import json
from pathlib import Path
from typing import Any

from mlmodelscope_worker.messages import PredictorTask, Task
from mlmodelscope_worker.output import OUTPUT_STEPS
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.predictor import PREDICTORS

STEPS_OF_A_CLASSIFIER = [
    ("decode", None),
    ("crop", {"percentage": 87.5}),
    ("resize", {"dimensions": [8, 8]}),
    ("normalize", {"mean": [123.7, 116.3, 103.5], "std": [58.4, 57.1, 57.4]}),
    ("layout", "NCHW"),
]


def steps(known: dict, written: list[tuple[str, Any]]) -> list[dict]:
    return [{"name": name, "parameters": known[name].resolve(value)} for name, value in written]


def task(
    files: dict[str, str],
    predictor: str = "fake",
    processing: list[tuple[str, Any]] | None = None,
    *,
    batch_size: int = 1,
    element_type: str = "float32",
    input_layer: str | int | None = None,
    output_layer: str | int | None = None,
    output_steps: list[tuple[str, Any]] | None = None,
    probabilities: bool = False,
    top_k: int = 5,
    **options: Any,
) -> Task:
    written = STEPS_OF_A_CLASSIFIER if processing is None else processing
    return Task(
        predictor=PredictorTask(predictor, files, PREDICTORS[predictor].resolve(options)),
        inputs=[
            {
                "part": "image",
                "layer_name": input_layer,
                "element_type": element_type,
                "steps": steps(STEPS, written),
            }
        ],
        outputs=[
            {
                "role": "logits",
                "layer_name": output_layer,
                "place": 0,
                "steps": steps(OUTPUT_STEPS, output_steps or []),
            }
        ],
        answer={"steps": [], "probabilities": probabilities, "top_k": top_k, "label_offset": 0},
        batch_size=batch_size,
    )


def fake_model(folder: Path, **changes: Any) -> dict[str, str]:
    (folder / "model.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10, **changes}))
    return {"graph": str(folder / "model.json")}

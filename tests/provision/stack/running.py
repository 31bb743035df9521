"""A worker started in a stack, as a check that the stack is what a worker needs."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mlmodelscope.provision.stack import Needs, Runnable
from mlmodelscope.worker.process import WorkerProcess
from mlmodelscope_worker.messages import Open, Opened, PredictorTask, Task


def environment_of(
    stack: Runnable, needs: Needs | None = None, plugins: Sequence[Mapping[str, str]] = ()
) -> dict[str, object]:
    """What a worker in the stack says of its environment, once it has opened a model there."""
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder, "model.json")
        graph.write_text(json.dumps({"shape": [None, 3, 8, 8]}))
        task = Task(
            predictor=PredictorTask("fake", {"graph": str(graph)}, {}),
            inputs=[{"part": "image", "layer_name": None, "element_type": "float32", "steps": []}],
            outputs=[{"role": "logits", "layer_name": None, "place": 0, "steps": []}],
            answer={"steps": [], "probabilities": False, "top_k": 1, "label_offset": 0},
            batch_size=1,
            plugins=[dict(each) for each in plugins],
        )
        needs = needs or Needs()
        with WorkerProcess(stack, replace(needs, reads=(*needs.reads, graph))) as worker:
            worker.send(Open(task))
            opened, _ = worker.receive(Opened)
    environment: dict[str, object] = opened.environment
    return environment

"""Calls a model from Python inside a stack, and says what each call took. Python 3.6, the worker package and numpy.

    python calls.py TASK.json

One request a line on standard input, one answer a line on standard output, both JSON. The model is opened by the
worker's own predictor, so that every framework can be called.
"""

import gc
import json
import sys
import time
from typing import Any

_WARM_UP = 2


def main(path: str) -> None:
    # Frameworks print to standard output; the answers must stay readable among them.
    answers, sys.stdout = sys.stdout, sys.stderr
    with open(path) as file:
        caller = Caller(json.load(file))
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = getattr(caller, request.pop("do"))(**request)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


class Caller:
    def __init__(self, task: Any) -> None:
        from mlmodelscope_worker.messages import PredictorTask
        from mlmodelscope_worker.session import open_predictor

        self.predictor = open_predictor(PredictorTask(**task["predictor"]))
        self.forms: Any = {}

    def describe(self) -> Any:
        """Where the framework's own code lies, and what the model's inputs and outputs are called."""
        module = sys.modules.get("onnxruntime")
        return {
            "onnxruntime": getattr(module, "__file__", None),
            "inputs": [tensor.describe() for tensor in self.predictor.inputs],
            "outputs": [tensor.describe() for tensor in self.predictor.outputs],
        }

    def tensor(self, path: str, shape: Any, element_type: str) -> Any:
        """The same numbers as NumPy's memory and as Python's own lists."""
        import numpy as np

        array = np.fromfile(path, dtype=element_type).reshape(shape)
        self.forms = {"numpy": array, "lists": array.tolist()}
        self.predictor.check([array])
        try:
            self.predictor.run([self.forms["lists"]])
            takes_lists = True
        except Exception:
            takes_lists = False
        self.convert = None if takes_lists else array.dtype
        return {"takes_lists": takes_lists}

    def run(self, form: str, count: int) -> Any:
        import numpy as np

        value, call = self.forms[form], self.predictor.run
        convert = self.convert if form == "lists" else None
        wall, cpu = [], []
        gc.collect()
        gc.disable()
        try:
            for _ in range(count):
                before_cpu, before = time.process_time(), time.perf_counter()
                call([value if convert is None else np.asarray(value, dtype=convert)])
                wall.append(int(1e9 * (time.perf_counter() - before)))
                cpu.append(int(1e9 * (time.process_time() - before_cpu)))
        finally:
            gc.enable()
        return {"wall_ns": wall, "cpu_ns": cpu}

    def answer(self, path: str, output: int) -> Any:
        """What the model answers, as bytes in a file."""
        import numpy as np

        np.ascontiguousarray(self.predictor.run([self.forms["numpy"]])[output]).tofile(path)
        return {}

    def profile(self) -> Any:
        """Layers in the order of their execution."""
        array = self.forms["numpy"]
        for _ in range(_WARM_UP):
            self.predictor.run([array])
        return {"layers": [layer.describe() for layer in self.predictor.profile([array])]}


if __name__ == "__main__":
    main(sys.argv[1])

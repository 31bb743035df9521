"""A training that is open in a worker: its module executed, its parts found."""

import os

from ..function_session import NoPredictor
from ..functions import FunctionError, Functions
from ..predictor import ModelError
from .code import Code
from .data import Samples
from .frameworks import adapter_for
from .loop import Loop


class TrainingSession(object):
    load_ns = 0
    output = None
    batch_size = 1

    def __init__(self, task):
        self.predictor = NoPredictor()
        self.settings = task.training
        self._task = task
        functions = Functions({"training": task.functions["training"]}, {})
        code = Code(functions, self.settings["functions"], task.hyperparameters)
        self.adapter = adapter_for(self.settings["framework"], code)
        self.adapter.prepare(self.settings["threads"])
        self.code = code

    def loop(self, data, report, folder=None):
        """The training on these files, {source name: [paths]}."""
        files = dict({name: [path] for name, path in self._task.named_files.items()}, **data)
        training = self._samples("training_data", files, self._task.training["processing"])
        evaluation = None
        if "evaluation_data" in self.code:
            steps = self._task.inputs[0]["steps"] if self._task.inputs else ()
            evaluation = self._samples("evaluation_data", files, steps)
        elif self.settings["target"]:
            raise FunctionError("a target needs `%s`: what is measured on" % self.code.name("evaluation_data"))
        folder = folder or self._task.folder
        if not folder or not os.path.isdir(folder):
            raise ModelError("a training needs a folder for what it makes")
        return Loop(self.settings, self._task.seed, self.adapter, training, evaluation, folder, report)

    def _samples(self, component, files, steps):
        found = self.code.call(component, files)
        return Samples(self.code.name(component), found, steps, self.settings["cache"])

    def close(self):
        pass

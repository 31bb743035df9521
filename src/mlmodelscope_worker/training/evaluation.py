"""How good a model is while it is trained: the manifest's metrics over all samples of the evaluation."""

import math

import numpy as np

from ..functions import FunctionError
from .data import Batches


class Evaluation(object):
    """All samples of `evaluation_data`, in their order; its batches are its own."""

    def __init__(self, adapter, samples, batch_size):
        self._adapter, self._code = adapter, adapter.code
        self._batches = Batches(samples)
        self._asked = [
            (0, range(at, min(at + batch_size, samples.count))) for at in range(0, samples.count, batch_size)
        ]

    def __call__(self, model):
        """{metric: number}; what is drawn at random meanwhile does not change the training."""
        drawn = self._adapter.randomness()
        self._adapter.evaluating(model)
        try:
            by_step = "validation_step" in self._code
            return self._by_step(model) if by_step else self._at_once(model)
        finally:
            self._adapter.training(model)
            self._adapter.restore_randomness(drawn)

    def _by_step(self, model):
        """Each batch's numbers, weighted by its samples."""
        sums, count = {}, 0
        for asked in self._asked:
            inputs, targets, rows = self._batches(asked)
            tensors = self._adapter.tensors(inputs), self._adapter.tensors(targets)
            found = numbers_of(self._code, "validation_step", self._code.call("validation_step", model, *tensors))
            if sums and set(sums) != set(found):
                raise FunctionError("`%s` returned other metrics than before" % self._code.name("validation_step"))
            for name, value in found.items():
                sums[name] = sums.get(name, 0.0) + value * rows
            count += rows
        return {name: value / count for name, value in sums.items()}

    def _at_once(self, model):
        """Metrics of all outputs together: they are the same whatever the batches."""
        outputs, targets, loss, count = [], [], 0.0, 0
        for asked in self._asked:
            given, wanted, rows = self._batches(asked)
            found = self._adapter.forward(model, given)
            if "loss" in self._code:
                value = self._code.call("loss", found, self._adapter.tensors(wanted))
                loss += self._adapter.number(value, self._code.name("loss")) * rows
            count += rows
            if "metrics" in self._code:
                outputs.append(self._arrays(found))
                targets.append(wanted)
        metrics = {"validation_loss": loss / count} if "loss" in self._code else {}
        if "metrics" in self._code:
            found = self._code.call("metrics", joined(outputs), joined(targets))
            metrics.update(numbers_of(self._code, "metrics", found))
        return metrics

    def _arrays(self, value):
        if isinstance(value, dict):
            return {key: self._arrays(each) for key, each in value.items()}
        if isinstance(value, (tuple, list)):
            return tuple(self._arrays(each) for each in value)
        found = self._adapter.array(value)
        if found is None:
            raise FunctionError("the model answered with %s, which is no tensor" % type(value).__name__)
        return found


def joined(parts):
    """Batches of arrays as one."""
    first = parts[0]
    if isinstance(first, dict):
        return {key: joined([each[key] for each in parts]) for key in first}
    if isinstance(first, tuple):
        return tuple(joined([each[at] for each in parts]) for at in range(len(first)))
    return np.concatenate(parts) if first.ndim else np.asarray(parts)


def numbers_of(code, component, found):
    """What a function of metrics returned, as {name: number}; one number alone is called `metric`."""
    found = found if isinstance(found, dict) else {"metric": found}
    numbers = {}
    for name, value in found.items():
        try:
            numbers[str(name)] = float(value)
        except (TypeError, ValueError):
            raise FunctionError("`%s` returned no number for `%s`" % (code.name(component), name))
    return numbers


def reached(name, value, target):
    """Whether a metric is as good as its target."""
    if not math.isfinite(value):
        return False
    return value <= target if smaller_is_better(name) else value >= target


def smaller_is_better(name):
    return any(word in name.lower() for word in ("loss", "error", "perplexity", "mse", "mae"))

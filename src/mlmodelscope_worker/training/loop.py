"""The loop: steps, evaluations, checkpoints. Killed at any moment, it resumes as if nothing had happened.

A training is at a step, and everything else follows from it: the epoch, the samples of the next batch, whether an
evaluation is due. Points of the curve are on the disk before the checkpoint behind them; what a checkpoint does not
know of is forgotten and made again.
"""

import itertools
import math
import os
import time
import zipfile

import numpy as np

from ..clock import nanoseconds
from ..functions import FunctionError
from .ahead import made_ahead, pool_of
from .checkpoint import CheckpointError, newest_checkpoint, write_checkpoint, write_durably
from .curve import CurveFile
from .data import Batches
from .evaluation import Evaluation, reached
from .order import batches_of, order_of, steps_in_epoch

CHECKPOINTS = "checkpoints"
CURVE = "curve.jsonl"
WEIGHTS = "weights.npz"
_SPENT = ("wall_ns", "step_ns", "wait_ns", "evaluation_ns", "checkpoint_ns")


class Loop(object):
    def __init__(self, settings, seed, adapter, training, evaluation, folder, report):
        """`training` and `evaluation` are Samples, the second may be None; `report` is called with each point."""
        self._settings, self._seed, self._adapter = settings, seed, adapter
        self._training = training
        self.prepare = Batches(training, seed, augmentation_of(settings, adapter.code))
        size = settings["evaluation_batch_size"] or settings["batch_size"]
        self._evaluation = Evaluation(adapter, evaluation, size) if evaluation is not None else None
        self._folder, self._report = folder, report
        self._per_epoch = steps_in_epoch(training.count, settings["batch_size"], settings["drop_last"])
        self.total = settings["steps"] or settings["epochs"] * self._per_epoch
        self._every = settings["evaluate_every"] or self._per_epoch
        self._curve = CurveFile(os.path.join(folder, CURVE))
        self._model = self._state = None
        self._orders = {}
        self.step = self.samples = 0
        self._losses = [0.0, 0]
        self._metrics, self._target = {}, None
        self._spent = dict.fromkeys(_SPENT, 0)
        self._before_ns = self._started_ns = 0
        self._resumed = 0
        self._written_at = time.monotonic()

    def run(self):
        """The facts of a training that is done; its weights and its curve are in the folder."""
        self.begin()
        for point in self._curve.back_to(self.step):
            self._report(point)
        for inputs, targets, rows in self.waited_for():
            self.train(inputs, targets, rows)
            due = self.step % self._every == 0 or self.step == self.total
            if due:
                self._evaluate()
            if due or self._is_due():
                self._keep()
        return self._end()

    # The parts of it.

    def begin(self):
        """A new model, or the one of the newest checkpoint."""
        adapter = self._adapter
        adapter.seed(self._seed)
        self._model = adapter.build(self._seed)
        self._state = adapter.start(self._model)
        adapter.weights(self._model)  # what cannot be kept in the end should not be trained
        kept = newest_checkpoint(os.path.join(self._folder, CHECKPOINTS))
        if kept is not None:
            self.step, content = kept
            self._model, self._state = adapter.restored(self._model, self._state, content["state"])
            adapter.restore_randomness(content["randomness"])
            self.samples, self._losses = content["samples"], list(content["losses"])
            self._metrics, self._target = content["metrics"], content["target"]
            self._spent, self._resumed = dict(content["spent"]), content["resumed"] + 1
        adapter.training(self._model)
        self._before_ns, self._started_ns = self._spent["wall_ns"], nanoseconds()

    def waited_for(self):
        """Batches from this step on, made ahead by threads."""
        pool = pool_of(self._settings["workers"], self._settings["prefetch"])
        source = made_ahead(self.prepare, self._asked(), self._settings["prefetch"], pool)
        try:
            while self._target is None:
                begun = nanoseconds()
                batch = next(source, None)
                self._spent["wait_ns"] += nanoseconds() - begun
                if batch is None:
                    return
                yield batch
        finally:
            source.close()
            if pool is not None:
                pool.shutdown()

    def _asked(self):
        """(epoch, numbers of samples) of each batch that is left."""
        for step in range(self.step, self.total):
            yield self._batch_of(step)

    def asked_again(self):
        """Batches without end: those of the training, and then again."""
        for step in itertools.count():
            yield self._batch_of(step % self.total)

    def _batch_of(self, step):
        epoch, place = divmod(step, self._per_epoch)
        if epoch not in self._orders:
            order = order_of(self._training.count, self._seed, epoch, self._settings["shuffle"])
            self._orders = {epoch: batches_of(order, self._settings["batch_size"], self._settings["drop_last"])}
        return epoch, self._orders[epoch][place]

    def train(self, inputs, targets, rows):
        begun = nanoseconds()
        self._model, self._state, loss = self._adapter.step(self._model, self._state, inputs, targets)
        self._spent["step_ns"] += nanoseconds() - begun
        self.step += 1
        self.samples += rows
        self._losses = [self._losses[0] + loss, self._losses[1] + 1]

    def _evaluate(self):
        begun = nanoseconds()
        mean = self._losses[0] / self._losses[1] if self._losses[1] else float("nan")
        self._losses = [0.0, 0]
        self._metrics = dict({"loss": mean}, **(self._evaluation(self._model) if self._evaluation else {}))
        self._spent["evaluation_ns"] += nanoseconds() - begun
        point = {
            "step": self.step,
            "epoch": self.step / float(self._per_epoch),
            "samples": self.samples,
            "progress": self.step / float(self.total),
            "wall_s": self._so_far()["wall_ns"] / 1e9,
            "metrics": self._metrics,
        }
        self._judge(point)
        self._curve.add(point)
        self._report(point)

    def _judge(self, point):
        """Whether the target is reached: then the training is over."""
        for name, value in self._settings["target"].items():
            if name not in self._metrics:
                known = ", ".join(sorted(self._metrics))
                raise FunctionError("the target is a `%s`, and the training reports %s" % (name, known))
            if not reached(name, self._metrics[name], value):
                return
        if self._settings["target"]:
            self._target = {each: point[each] for each in ("step", "epoch", "samples", "wall_s")}

    def _so_far(self):
        """Where the time went, all attempts together; what was lost with a kill is in none of it."""
        return dict(self._spent, wall_ns=self._before_ns + nanoseconds() - self._started_ns)

    def _is_due(self):
        every, seconds = self._settings["checkpoint_every"], self._settings["checkpoint_every_s"]
        if every:
            return self.step % every == 0
        return time.monotonic() - self._written_at > seconds

    def _keep(self):
        begun = nanoseconds()
        content = {
            "state": self._adapter.state_of(self._model, self._state),
            "randomness": self._adapter.randomness(),
            "samples": self.samples,
            "losses": self._losses,
            "metrics": self._metrics,
            "target": self._target,
            "spent": self._so_far(),
            "resumed": self._resumed,
        }
        try:
            write_checkpoint(os.path.join(self._folder, CHECKPOINTS), self.step, content)
        except CheckpointError as error:
            raise FunctionError(str(error))
        self._spent["checkpoint_ns"] += nanoseconds() - begun
        self._written_at = time.monotonic()

    def _end(self):
        write_weights(os.path.join(self._folder, WEIGHTS), self._adapter.weights(self._model))
        if "save" in self._adapter.code:
            self._adapter.code.call("save", self._model, self._folder)
        facts = {name[:-3] + "_s": value / 1e9 for name, value in self._so_far().items()}
        facts.update(step=self.step, steps=self.total, per_epoch=self._per_epoch, samples=self.samples)
        facts.update(resumed=self._resumed, target=self._target, training_samples=self._training.count)
        return {name: value for name, value in self._metrics.items() if math.isfinite(value)}, facts


def augmentation_of(settings, code):
    """The declared augmentation, and behind it the manifest's own function."""
    steps = [dict(each) for each in settings["augmentation"]]
    if "augment" in code:
        steps.append({"function": lambda value, random: code.call("augment", value, random), "parameters": {}})
    return steps


def write_weights(path, weights):
    """A file of arrays by name, the same bytes for the same weights."""
    import io

    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for name, value in weights.items():
            part = io.BytesIO()
            np.lib.format.write_array(part, np.ascontiguousarray(value) if value.ndim else value, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(name + ".npy"), part.getvalue())
    write_durably(path, content.getvalue())

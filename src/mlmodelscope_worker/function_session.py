"""A task whose manifest carries functions: dataset → pre-process → run → post-process, in memory, batch by batch.

    preprocess   `files`:  data is {source name: [samples]} of the batch, each as `function/samples.py` has it
                 `sample`: called for each sample with it (or its number in the global list `dataset`)
    run          data is what preprocess returned; without this function the framework runs the model
    postprocess  data is what run returned, or the list of output arrays; returns one answer for each sample

A stage may return an iterator: the next one reads it item by item, and nothing is kept in between.
"""

import operator
import threading

from .clock import nanoseconds
from .failure import describe_failure
from .function.answers import ClassAnswers, TextAnswers
from .function.batch import Loaded, Prepared, Work
from .function.context import Numbers, make_context
from .function.readers import readers_of
from .function.samples import plain_sample
from .function.training import train
from .function.watch import Watch
from .functions import FunctionError, Functions, is_stream
from .messages import BatchAnswer
from .pipeline import Pipeline
from .predictor import Lost, ModelError
from .predictor.predictor import pick
from .sample import Loader
from .session import errors_of, open_predictor
from .stacking import Prepared as PreparedSample
from .task import OURS, reader_of


class FunctionSession(object):
    """Everything between samples and answers, as the manifest's own code does it."""

    def __init__(self, task):
        start = nanoseconds()
        self.predictor = open_predictor(task.predictor) if task.predictor.name else NoPredictor()
        self.load_ns = nanoseconds() - start
        self.output = 0
        if self.predictor.outputs:
            name = task.outputs[0]["layer_name"]
            self.output = pick(self.predictor.outputs, name, "output") if name is not None else 0
        self.batch_size = task.batch_size
        self._task = task
        self._pipeline = Pipeline(task.inputs[0]["steps"]) if task.inputs else None
        self._part = task.inputs[0].get("part", "image") if task.inputs else "image"
        self._read = reader_of("classification", task.outputs[:1], task.answer)
        self._answers = self._answer_form(list(task.features))
        self._readers = readers_of(task)
        self._load = Loader()
        self._one_at_a_time = threading.RLock()
        self._numbers = Numbers()
        self.context = make_context(task, self.predictor)
        given = {"ctx": self.context}
        specs = task.functions
        if "init" not in specs:
            given["dataset"] = self._numbers
        self._functions = Functions(specs, given)
        self._by_sample = specs.get("preprocess", {}).get("gets") == "sample"
        self._by_number = "init" in specs
        if "init" in self._functions:
            self.count = self._count(self._functions.call("init", task.count or 0))

    def _answer_form(self, names):
        if OURS.get(self._task.task) != "classification":
            return TextAnswers()
        offset = self._task.answer["label_offset"]
        return ClassAnswers(self._task.answer["top_k"], self._output_names(names, offset), offset)

    def _output_names(self, names, offset):
        """Class names by output number, also where their file names the dataset's classes without the background."""
        shape = (self.predictor.outputs[self.output].shape or ()) if self.predictor.outputs else ()
        if offset > 0 and len(shape) == 2 and shape[1] == len(names) + offset:
            return [None] * offset + names
        return names

    @staticmethod
    def _count(answer):
        try:
            count = -1 if isinstance(answer, bool) else operator.index(answer)
        except TypeError:
            count = -1
        if count < 0:
            raise FunctionError("`init` must return the number of samples, it returned %.100r" % (answer,))
        return count

    def prepare(self, sample, buffers):
        """What a sample is to the functions: nothing is done before the batch is together."""
        if self._pipeline is not None:
            value = self._pipeline(self._load(sample, buffers, self._part))
            return PreparedSample((value,), value)
        if "number" in sample:
            return sample["number"]
        return plain_sample(sample, buffers, self._load)

    def infer(self, batch):
        """A batch's answer, as (BatchAnswer, buffers) for the host."""
        content, buffers, run_ns = {}, (), 0
        with self._one_at_a_time:  # to the end: answers may be views of memory that the next batch changes
            work = Work(batch)
            if work.good:
                try:
                    content, buffers = self._answer(work)
                    run_ns = work.watch.spent_ns
                except Lost:
                    raise
                except BaseException as error:  # even an exit: without an answer the host would wait for ever
                    work.fail(describe_failure(error))
        return BatchAnswer(batch.index, errors_of(batch), run_ns, content), buffers

    def _answer(self, work):
        """(content, buffers) of the good samples. Whatever was loaded or opened for the batch is let go."""
        with self._loaded(work):
            data = self._prepared(work)
            if not work.good:
                return {}, ()
            return self._finish(self._run(data, work), work)

    def _loaded(self, work):
        return Loaded(self._functions, list(work.values()) if self._by_number else None, work)

    def _prepared(self, work):
        """The data that `run` gets."""
        if self._pipeline is not None:
            for slot in list(work.good):
                work.join(slot, work.batch.tensors[slot].tensors, True)
            return work.stacked([None])
        if "preprocess" not in self._functions:
            return self._files(work)
        if self._by_sample:
            return self._sample_by_sample(work)
        data = self._functions.call("preprocess", self.context, self._files(work))
        return self._stream("preprocess", data, work)

    def _sample_by_sample(self, work):
        for slot in list(work.good):
            try:
                work.join(slot, self._call_for_sample(work.batch.tensors[slot]), bool(self.predictor.inputs))
            except ModelError as error:
                work.fail(describe_failure(error), slot)
        shapes = [tensor.shape for tensor in self.predictor.inputs]
        return work.stacked([None if shape is None else len(shape) for shape in shapes])

    def _files(self, work):
        if self._by_number:
            return {"dataset": list(work.values())}
        data = {}
        for slot in work.good:
            source = work.batch.samples[slot].get("source") or self._task.source
            data.setdefault(source, []).append(work.batch.tensors[slot])
        return data

    def _call_for_sample(self, value):
        """One row: a tensor for each input."""
        import numpy as np

        if not self._by_number and self._functions.mentions("preprocess", "dataset"):
            with self._numbers.lend(value) as number:
                row = self._functions.call("preprocess", self.context, number)
        else:
            row = self._functions.call("preprocess", self.context, value)
        if row is None:
            raise FunctionError("preprocess returned nothing")
        try:
            return tuple(np.asarray(each) for each in (row if isinstance(row, tuple) else (row,)))
        except ValueError as error:
            raise FunctionError("preprocess returned no array: %s" % error)

    def _stream(self, stage, value, work):
        """A stage's result; items that come one by one are explained, and let go when the batch is done."""
        return work.open(self._functions.items(stage, value)) if is_stream(value) else value

    def _run(self, data, work):
        watch = work.watch
        if "run" in self._functions:
            given = watch.outside(data) if is_stream(data) else data
            with watch:
                outputs = self._functions.call("run", self.context, given)
            return watch.around(self._stream("run", outputs, work)) if is_stream(outputs) else outputs
        if is_stream(data):
            return work.open(self._predict(item, watch) for item in data)
        return self._predict(data, watch)

    def _predict(self, data, watch):
        """The framework's own call; a bare array is the only input."""
        import numpy as np

        tensors = list(data) if isinstance(data, (list, tuple)) else [data]
        tensors = [np.ascontiguousarray(tensor) for tensor in tensors]
        rows = tensors[0].shape[0] if tensors and tensors[0].ndim else 0
        tensors = [_filled(tensor, expected) for tensor, expected in zip(tensors, self.predictor.inputs)] + tensors[
            len(self.predictor.inputs) :
        ]
        self.predictor.check(tensors)
        with watch:
            outputs = self.predictor.run(tensors)
        if rows and tensors[0].shape[0] > rows:  # a model of fixed batch size: the filling is dropped
            outputs = [each[:rows] if each.ndim and each.shape[0] == tensors[0].shape[0] else each for each in outputs]
        return outputs

    def _finish(self, outputs, work):
        """(content, buffers): one answer for each sample."""
        import numpy as np

        count = len(work.good)
        if "postprocess" in self._functions:
            answers = self._functions.call("postprocess", self.context, outputs)
            if is_stream(answers):
                answers = list(self._stream("postprocess", answers, work))
            for reader in self._readers:
                if reader.takes(answers, work):
                    return reader.settle(work, answers)
            if isinstance(answers, (dict, str, bytes)) or not hasattr(answers, "__len__"):
                raise FunctionError("postprocess must return a list with one answer for each sample")
            if len(answers) != count:
                raise FunctionError("postprocess returned %d answers for %d samples" % (len(answers), count))
            return self._answers.settle(work, list(answers))
        if is_stream(outputs):
            parts = [self._scores(item) for item in outputs]
            scores = np.concatenate([part if part.ndim > 1 else part.reshape(1, -1) for part in parts])
        else:
            scores = self._scores(outputs)
        found = self._read([scores], [None] * count)
        for slot, reason in [(work.good[row], reason) for row, reason in found.failed.items()]:
            work.fail(reason, slot)
        return found.content, found.buffers

    def _scores(self, outputs):
        """Samples x classes: one of a list of output arrays, or the rows themselves where `run` returned these."""
        import numpy as np

        if isinstance(outputs, (list, tuple)) and len(outputs) > self.output:
            chosen = np.asarray(outputs[self.output])
            if chosen.ndim > 1:
                return chosen
        return np.asarray(outputs)

    def measure(self, samples, warm_up_runs, max_runs, budget_s):
        """Latency of the run stage alone, on one batch that is prepared once."""
        with self._one_at_a_time:
            work = Work(Prepared(samples, [self.prepare(sample, ()) for sample in samples]))
            with self._loaded(work):
                return self._measure(work, warm_up_runs, max_runs, budget_s)

    def _measure(self, work, warm_up_runs, max_runs, budget_s):
        data = self._prepared(work)
        streamed = is_stream(data)
        data = list(data) if streamed else data
        warm_up, raw = [], []
        if not work.good:
            return warm_up, raw
        for _ in range(warm_up_runs):
            warm_up.append(self._run_time(data, streamed, work))
        start = nanoseconds()
        while len(raw) < max_runs:
            raw.append(self._run_time(data, streamed, work))
            if nanoseconds() - start > budget_s * 1e9:
                break
        return warm_up, raw

    def _run_time(self, data, streamed, work):
        work.watch = Watch()
        outputs = self._run(iter(data) if streamed else data, work)
        if is_stream(outputs):
            for _ in outputs:
                pass
        return work.watch.spent_ns

    def train(self, data, report):
        """Run a training task on all of the data; what the last stage returns."""
        with self._one_at_a_time:
            return train(self._functions, self.context, data, report)

    def close(self):
        self.predictor.close()


def _filled(tensor, expected):
    """The last sample repeated until a model of fixed batch size has its rows."""
    import numpy as np

    fixed = expected.shape[0] if expected.shape else None
    if fixed is None or not tensor.ndim or not 0 < tensor.shape[0] < fixed:
        return tensor
    return np.concatenate([tensor] + [tensor[-1:]] * (fixed - tensor.shape[0]))


class NoPredictor(object):
    """Stands where no framework is needed."""

    concurrent = False
    inputs = ()
    outputs = ()
    server = None

    def close(self):
        pass

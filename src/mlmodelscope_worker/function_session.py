"""A task whose manifest carries functions: dataset → pre-process → run → post-process, in memory, batch by batch.

    preprocess   `files`:  data is {source name: [paths]} of the batch
                 `sample`: called for each sample with its path (or its number in the global list `dataset`)
    run          data is what preprocess returned; without this function the framework runs the model
    postprocess  data is what run returned, or the list of output arrays; returns one answer for each sample

A stage may return an iterator: the next one reads it item by item, and nothing is kept in between.
"""

import inspect
import threading

from .clock import nanoseconds
from .functions import FunctionError, Functions
from .output.answer import AnswerError, classify, spell
from .output.classification import Classification
from .pipeline import Pipeline
from .pipeline.image import Image
from .predictor import ModelError
from .predictor.predictor import pick
from .sample import Loader
from .scenario.offline import describe_failure
from .session import open_predictor


class FunctionSession(object):
    """Everything between samples and answers, as the manifest's own code does it."""

    def __init__(self, task):
        start = nanoseconds()
        self.predictor = open_predictor(task["predictor"]) if task["predictor"]["name"] else _Nothing()
        self.load_ns = nanoseconds() - start
        self.output = 0
        if self.predictor.outputs:
            names = task["output"]["layer_name"]
            self.output = pick(self.predictor.outputs, names, "output") if names is not None else 0
        self.batch_size = task["batch_size"]
        self._task = task
        self._is_classification = task["task"] == "classification"
        self._pipeline = Pipeline(task["input"]["steps"]) if task["input"] else None
        self._classify = Classification(task["output"])
        self._load = Loader()
        self._one_at_a_time = threading.RLock()
        self._numbers = _Numbers()
        self.context = make_context(task, self.predictor)
        given = {"ctx": self.context}
        specs = task["functions"]
        if "init" not in specs:
            given["dataset"] = self._numbers
        self._functions = Functions(specs, given)
        self._by_sample = specs.get("preprocess", {}).get("gets") == "sample"
        self._by_number = "init" in specs
        if "init" in self._functions:
            self.count = self._count(self._functions.call("init", task.get("count") or 0))

    @staticmethod
    def _count(answer):
        if isinstance(answer, bool) or not isinstance(answer, int) or answer < 0:
            raise FunctionError("`init` must return the number of samples, it returned %r" % (answer,))
        return answer

    def prepare(self, sample, buffers):
        """What a sample is to the functions: nothing is done before the batch is together."""
        if self._pipeline is not None:
            return self._pipeline(self._load(sample, buffers)).array
        if "number" in sample:
            return sample["number"]
        if "file" in sample:
            return sample["file"]
        loaded = self._load(sample, buffers)
        return loaded.pixels if isinstance(loaded, Image) else loaded

    def infer(self, batch):
        """A batch's answer, as (header, buffers) for the host."""
        good = [slot for slot in range(len(batch.samples)) if slot not in batch.errors]
        header = {"batch": batch.index, "k": 0, "run_ns": 0, "improbable": 0}
        buffers = ()
        if good:
            try:
                with self._one_at_a_time:
                    answers, header["run_ns"] = self._answer(
                        [batch.tensors[slot] for slot in good], [batch.samples[slot] for slot in good]
                    )
                good, answers, buffers, header["k"] = self._settle(batch, good, answers)
                if answers is not None:
                    header["answers"] = answers
            except BaseException as error:  # even an exit: without an answer the host would wait for ever
                for slot in good:
                    batch.errors[slot] = describe_failure(error)
                header["k"], buffers = 0, ()
                header.pop("answers", None)
        header["errors"] = {str(slot): batch.errors[slot] for slot in sorted(batch.errors)}
        return header, buffers

    def _answer(self, values, samples):
        numbers = [value for value in values] if self._by_number else None
        if numbers is not None and "load" in self._functions:
            self._functions.call("load", numbers)
        try:
            data = self._prepared(values, samples)
            watch = _Watch()
            outputs = self._run(data, watch)
            answers = self._finish(outputs, len(values))
        finally:
            if numbers is not None and "unload" in self._functions:
                self._functions.call("unload", numbers)
        return answers, watch.spent_ns

    def _prepared(self, values, samples):
        """The data that `run` gets."""
        if self._pipeline is not None:
            return [_stack(values)]
        if "preprocess" not in self._functions:
            return self._files(values, samples)
        if self._by_sample:
            rows = [self._call_for_sample(value) for value in values]
            ranks = [None if tensor.shape is None else len(tensor.shape) for tensor in self.predictor.inputs]
            ranks += [None] * len(rows[0])
            return [_stack(column, rank) for column, rank in zip(zip(*rows), ranks)]
        return self._stream(
            "preprocess", self._functions.call("preprocess", self.context, self._files(values, samples))
        )

    def _files(self, values, samples):
        if self._by_number:
            return {"dataset": list(values)}
        data = {}
        for value, sample in zip(values, samples):
            data.setdefault(sample.get("source") or self._task.get("source", "data"), []).append(value)
        return data

    def _call_for_sample(self, value):
        """One row: a tensor for each input."""
        if not self._by_number and self._functions.mentions("preprocess", "dataset"):
            with self._numbers.lend(value) as number:
                row = self._functions.call("preprocess", self.context, number)
        else:
            row = self._functions.call("preprocess", self.context, value)
        return tuple(row) if isinstance(row, tuple) else (row,)

    def _stream(self, stage, value):
        return self._functions.items(stage, value) if inspect.isgenerator(value) else value

    def _run(self, data, watch):
        if "run" in self._functions:
            with watch:
                outputs = self._functions.call("run", self.context, data)
            return watch.around(self._stream("run", outputs)) if inspect.isgenerator(outputs) else outputs
        if inspect.isgenerator(data):
            return (self._predict(item, watch) for item in data)
        return self._predict(data, watch)

    def _predict(self, data, watch):
        """The framework's own call; a bare array is the only input."""
        import numpy as np

        tensors = list(data) if isinstance(data, (list, tuple)) else [data]
        tensors = [np.ascontiguousarray(tensor) for tensor in tensors]
        self.predictor.check(tensors)
        with watch:
            return self.predictor.run(tensors)

    def _finish(self, outputs, count):
        """One answer for each sample, or (classes, scores) arrays where no function makes answers."""
        import numpy as np

        if "postprocess" in self._functions:
            answers = self._functions.call("postprocess", self.context, outputs)
            answers = list(self._stream("postprocess", answers)) if inspect.isgenerator(answers) else answers
            if isinstance(answers, (dict, str, bytes)) or not hasattr(answers, "__len__"):
                raise FunctionError("postprocess must return a list with one answer for each sample")
            if len(answers) != count:
                raise FunctionError("postprocess returned %d answers for %d samples" % (len(answers), count))
            return list(answers)
        if inspect.isgenerator(outputs):
            parts = [item[self.output] if isinstance(item, (list, tuple)) else item for item in outputs]
            outputs = [np.concatenate([np.asarray(part) for part in parts])]
            scores = outputs[0]
        else:
            scores = outputs[self.output] if isinstance(outputs, (list, tuple)) else outputs
        classes, best, _ = self._classify(np.asarray(scores), count)
        return [
            {"classes": (row + self._classify.label_offset).tolist(), "scores": value.tolist()}
            for row, value in zip(classes, best)
        ]

    def _settle(self, batch, good, answers):
        """Answers in the form that the host keeps; one that is none is a failed sample."""
        import numpy as np

        if not self._is_classification:
            texts = []
            for slot, answer in zip(good, answers):
                try:
                    texts.append(spell(answer))
                except (AnswerError, ValueError, TypeError) as error:
                    batch.errors[slot] = "postprocess: %s" % error
            return good, texts, (), 0
        k, rows = self._task["output"]["top_k"], []
        for slot, answer in zip(good, answers):
            try:
                rows.append(classify(answer, k, self.context.get("features") or ()))
            except (AnswerError, ValueError, TypeError) as error:
                batch.errors[slot] = "postprocess: %s" % error
        if not rows:
            return good, None, (), 0
        width = min(len(classes) for classes, _ in rows)
        classes = np.array([classes[:width] for classes, _ in rows], np.int32) - np.int32(self._classify.label_offset)
        scores = np.array([scores[:width] for _, scores in rows], np.float32)
        return good, None, (np.ascontiguousarray(classes), np.ascontiguousarray(scores)), int(width)

    def measure(self, samples, warm_up_runs, max_runs, budget_s):
        """Latency of the run stage alone, on one batch that is prepared once."""
        with self._one_at_a_time:
            values = [self.prepare(sample, ()) for sample in samples]
            numbers = values if self._by_number else None
            if numbers is not None and "load" in self._functions:
                self._functions.call("load", numbers)
            data = self._prepared(values, samples)
            streamed = inspect.isgenerator(data)
            data = list(data) if streamed else data
            warm_up, raw = [], []
            start = nanoseconds()
            for number in range(warm_up_runs + max_runs):
                watch = _Watch()
                outputs = self._run((item for item in data) if streamed else data, watch)
                if inspect.isgenerator(outputs):
                    for _ in outputs:
                        pass
                (warm_up if number < warm_up_runs else raw).append(watch.spent_ns)
                if raw and nanoseconds() - start > budget_s * 1e9:
                    break
            if numbers is not None and "unload" in self._functions:
                self._functions.call("unload", numbers)
            return warm_up, raw

    def train(self, data, report):
        """Run a training task on all of the data; what the last stage returns."""
        with self._one_at_a_time:
            self.context["report"] = report
            for stage in ("preprocess", "run", "postprocess"):
                if stage in self._functions:
                    data = self._functions.call(stage, self.context, data)
                    if stage == "run" and inspect.isgenerator(data):
                        data = _report_all(self._functions.items(stage, data), report)
                    elif inspect.isgenerator(data):
                        data = self._functions.items(stage, data)
            return list(data) if inspect.isgenerator(data) else data

    def close(self):
        self.predictor.close()


def _report_all(items, report):
    """A `run` that yields mappings reports its progress by them; the last one is its result."""
    last = None
    for last in items:
        if isinstance(last, dict) and "progress" in last:
            values = dict(last)
            report(values.pop("progress"), **values)
    return last


def _stack(rows, rank=None):
    """The batch of one input. A function may give a sample with its batch axis of 1 already there."""
    import numpy as np

    arrays = [np.asarray(row) for row in rows]
    if len(set(array.shape for array in arrays)) > 1:
        raise ModelError(
            "preprocess gave tensors of different shapes in one batch: %s"
            % ", ".join(sorted(set(str(list(array.shape)) for array in arrays)))
        )
    has_batch_axis = rank is not None and arrays[0].ndim == rank and arrays[0].shape[0] == 1
    return np.concatenate(arrays) if has_batch_axis else np.stack(arrays)


def make_context(task, predictor):
    """The `ctx` of every function: a plain dictionary, described in docs/functions.md."""
    context = dict(task["context"])
    context["artifacts"] = dict(task["files"])
    context["model"] = predictor if task["predictor"]["name"] else None
    context["options"] = dict(task["predictor"]["options"], batch_size=task["batch_size"], seed=task["seed"])
    context["hyperparameters"] = dict(task["hyperparameters"])
    context["seed"] = task["seed"]
    context["batch_size"] = task["batch_size"]
    context["features"] = task.get("features") or []
    if task.get("folder"):
        context["folder"] = task["folder"]
    return context


class _Numbers(object):
    """The list `dataset` of V2's functions: a sample by its number, or by whatever else it is called."""

    def __init__(self):
        self._values = {}
        self._next = 0

    def __getitem__(self, number):
        return self._values.get(number, number)

    def __len__(self):
        return len(self._values)

    def lend(self, value):
        return _Lent(self._values, self, value)

    def take_number(self):
        self._next += 1
        return self._next - 1


class _Lent(object):
    def __init__(self, values, numbers, value):
        self._values, self._numbers, self._value = values, numbers, value

    def __enter__(self):
        self._number = self._numbers.take_number()
        self._values[self._number] = self._value
        return self._number

    def __exit__(self, *exception):
        del self._values[self._number]


class _Watch(object):
    """Adds up the time of the run stage, also where it comes in pieces."""

    def __init__(self):
        self.spent_ns = 0

    def __enter__(self):
        self._start = nanoseconds()

    def __exit__(self, *exception):
        self.spent_ns += nanoseconds() - self._start

    def around(self, stream):
        stream = iter(stream)
        while True:
            with self:
                try:
                    item = next(stream)
                except StopIteration:
                    return
            yield item


class _Nothing(object):
    """Stands where no framework is needed."""

    concurrent = False
    inputs = ()
    outputs = ()

    def close(self):
        pass

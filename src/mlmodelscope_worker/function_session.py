"""A task whose manifest carries functions: dataset → pre-process → run → post-process, in memory, batch by batch.

    preprocess   `files`:  data is {source name: [paths]} of the batch
                 `sample`: called for each sample with its path (or its number in the global list `dataset`)
    run          data is what preprocess returned; without this function the framework runs the model
    postprocess  data is what run returned, or the list of output arrays; returns one answer for each sample

A stage may return an iterator: the next one reads it item by item, and nothing is kept in between.
"""

import operator
import threading

from .clock import nanoseconds
from .failure import describe_failure
from .functions import FunctionError, Functions, is_stream
from .output.answer import NO_CLASS, AnswerError, classify, spell
from .output.classification import Classification
from .pipeline import Pipeline
from .pipeline.image import Image
from .predictor import Lost, ModelError
from .predictor.predictor import pick
from .protocol import MAX_HEADER
from .sample import Loader
from .session import alike, open_predictor, spell_tensor

_MOST_BYTES = MAX_HEADER // 2  # of a batch's answers: they travel in a header, with others


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
        self._names = self._output_names(list(task.get("features") or ()))
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

    def _output_names(self, names):
        """Class names by output number, also where their file names the dataset's classes without the background."""
        offset = self._classify.label_offset
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
            return self._pipeline(self._load(sample, buffers)).array
        if "number" in sample:
            return sample["number"]
        if "file" in sample:
            return sample["file"]
        loaded = self._load(sample, buffers)
        return loaded.pixels if isinstance(loaded, Image) else loaded

    def infer(self, batch):
        """A batch's answer, as (header, buffers) for the host."""
        header = {"batch": batch.index, "k": 0, "run_ns": 0, "improbable": 0}
        buffers = ()
        with self._one_at_a_time:  # to the end: answers may be views of memory that the next batch changes
            work = _Work(batch)
            if work.good:
                try:
                    answers = self._answer(work)
                    buffers = self._settle(work, answers, header)
                    header["run_ns"], header["improbable"] = work.watch.spent_ns, work.improbable
                except Lost:
                    raise
                except BaseException as error:  # even an exit: without an answer the host would wait for ever
                    work.fail(describe_failure(error))
                    header["k"], buffers = 0, ()
                    header.pop("answers", None)
        header["errors"] = {str(slot): batch.errors[slot] for slot in sorted(batch.errors)}
        return header, buffers

    def _answer(self, work):
        """One answer for each good sample. Whatever was loaded or opened for the batch is let go."""
        with self._loaded(work):
            data = self._prepared(work)
            if not work.good:
                return []
            return self._finish(self._run(data, work), work)

    def _loaded(self, work):
        return _Loaded(self._functions, list(work.values()) if self._by_number else None, work)

    def _prepared(self, work):
        """The data that `run` gets."""
        if self._pipeline is not None:
            for slot in list(work.good):
                work.join(slot, (work.batch.tensors[slot],), True)
            return work.stacked([None])
        if "preprocess" not in self._functions:
            return self._files(work)
        if self._by_sample:
            for slot in list(work.good):
                try:
                    work.join(slot, self._call_for_sample(work.batch.tensors[slot]), bool(self.predictor.inputs))
                except ModelError as error:
                    work.fail(describe_failure(error), slot)
            shapes = [tensor.shape for tensor in self.predictor.inputs]
            return work.stacked([None if shape is None else len(shape) for shape in shapes])
        data = self._functions.call("preprocess", self.context, self._files(work))
        return self._stream("preprocess", data, work)

    def _files(self, work):
        if self._by_number:
            return {"dataset": list(work.values())}
        data = {}
        for slot in work.good:
            source = work.batch.samples[slot].get("source") or self._task.get("source", "data")
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
        """One answer for each sample."""
        import numpy as np

        count = len(work.good)
        if "postprocess" in self._functions:
            answers = self._functions.call("postprocess", self.context, outputs)
            if is_stream(answers):
                answers = list(self._stream("postprocess", answers, work))
            if isinstance(answers, (dict, str, bytes)) or not hasattr(answers, "__len__"):
                raise FunctionError("postprocess must return a list with one answer for each sample")
            if len(answers) != count:
                raise FunctionError("postprocess returned %d answers for %d samples" % (len(answers), count))
            return list(answers)
        if is_stream(outputs):
            parts = [self._scores(item) for item in outputs]
            scores = np.concatenate([part if part.ndim > 1 else part.reshape(1, -1) for part in parts])
        else:
            scores = self._scores(outputs)
        classes, best, work.improbable = self._classify(scores, count)
        for row, slot in enumerate(list(work.good)):
            if np.isnan(best[row]).any():
                work.fail("the model answered with not-a-number", slot)
        return [
            {"classes": (row + self._classify.label_offset).tolist(), "scores": value.tolist()}
            for row, value in zip(classes, best)
            if not np.isnan(value).any()
        ]

    def _scores(self, outputs):
        """Samples x classes: one of a list of output arrays, or the rows themselves where `run` returned these."""
        import numpy as np

        if isinstance(outputs, (list, tuple)) and len(outputs) > self.output:
            chosen = np.asarray(outputs[self.output])
            if chosen.ndim > 1:
                return chosen
        return np.asarray(outputs)

    def _settle(self, work, answers, header):
        """Answers in the form that the host keeps; one that is none is a failed sample."""
        settled, size = [], 0
        for slot, answer in zip(list(work.good), answers):
            try:
                if self._is_classification:
                    settled.append(classify(answer, self._task["output"]["top_k"], self._names))
                    continue
                text = spell(answer)
                size += _size_inside_json(text)
                if size > _MOST_BYTES:
                    raise AnswerError("the answers of one batch are larger than %d MiB" % (_MOST_BYTES >> 20))
                settled.append(text)
            except Exception as error:
                reason = str(error) if isinstance(error, AnswerError) else describe_failure(error)
                work.fail("postprocess: %s" % reason, slot)
        if not self._is_classification:
            header["answers"] = settled
            return ()
        return self._buffers(settled, header) if settled else ()

    def _buffers(self, rows, header):
        """(classes, scores) as rectangles. A shorter answer is filled up with NO_CLASS: no other may be cut for it."""
        import numpy as np

        header["k"] = width = max(len(classes) for classes, _ in rows)
        kept = np.full((len(rows), width), NO_CLASS, np.int32)
        scores = np.zeros((len(rows), width), np.float32)
        for row, (classes, values) in enumerate(rows):
            kept[row, : len(classes)] = np.array(classes, np.int64) - self._classify.label_offset
            scores[row, : len(values)] = values
        return kept, scores

    def measure(self, samples, warm_up_runs, max_runs, budget_s):
        """Latency of the run stage alone, on one batch that is prepared once."""
        with self._one_at_a_time:
            work = _Work(_Prepared(samples, [self.prepare(sample, ()) for sample in samples]))
            with self._loaded(work):
                data = self._prepared(work)
                streamed = is_stream(data)
                data = list(data) if streamed else data
                warm_up, raw = [], []
                start = nanoseconds()
                for number in range(warm_up_runs + max_runs if work.good else 0):
                    work.watch = _Watch()
                    outputs = self._run(iter(data) if streamed else data, work)
                    if is_stream(outputs):
                        for _ in outputs:
                            pass
                    (warm_up if number < warm_up_runs else raw).append(work.watch.spent_ns)
                    if number + 1 == warm_up_runs:
                        start = nanoseconds()
                    if raw and nanoseconds() - start > budget_s * 1e9:
                        break
            return warm_up, raw

    def train(self, data, report):
        """Run a training task on all of the data; what the last stage returns."""
        with self._one_at_a_time:
            self.context["report"] = report
            for stage in ("preprocess", "run", "postprocess"):
                if stage in self._functions:
                    data = self._functions.call(stage, self.context, data)
                    if is_stream(data):
                        data = self._functions.items(stage, data)
                        if stage == "run":
                            data = _report_all(data, report)
            return list(data) if is_stream(data) else data

    def close(self):
        self.predictor.close()


def _report_all(items, report):
    """A `run` that yields mappings reports its progress by them; what it returns is its result, or the last one."""
    last = None
    while True:
        try:
            last = next(items)
        except StopIteration as end:
            return last if end.value is None else end.value
        if isinstance(last, dict) and "progress" in last:
            values = dict(last)
            try:
                report(values.pop("progress"), **values)
            except (TypeError, ValueError) as error:
                raise FunctionError("run yielded a progress that is none: %s" % error)


def _size_inside_json(text):
    """Bytes that it takes as a text in the header of a message."""
    return len(text.encode("ascii", "backslashreplace")) + text.count('"') + text.count("\\")


class _Prepared(object):
    """A batch that was never sent: what is measured with."""

    def __init__(self, samples, tensors):
        self.samples, self.tensors, self.errors = samples, tensors, {}


class _Work(object):
    """A batch on its way through the stages: which samples are still good, and what must be let go."""

    def __init__(self, batch):
        self.batch = batch
        self.good = [slot for slot in range(len(batch.samples)) if slot not in batch.errors]
        self.watch = _Watch()
        self.improbable = 0
        self._rows = {}
        self._streams = []

    def values(self):
        return [self.batch.tensors[slot] for slot in self.good]

    def fail(self, reason, slot=None):
        """One sample, or all that are left."""
        for each in list(self.good) if slot is None else [slot]:
            self.batch.errors[each] = reason
            self.good.remove(each)

    def join(self, slot, row, strict):
        """A sample's tensors join the batch; the first sample sets how many there are, their shapes and types.

        Without a framework that insists on one (`strict`), numbers of different types go together.
        """
        first = self._rows.get(self.good[0], row)
        if len(row) != len(first):
            self.fail("preprocess returned %d tensors, for others of the batch %d" % (len(row), len(first)), slot)
            return
        for have, want in zip(row, first):
            if not (alike(have, want) if strict else have.shape == want.shape):
                spelled = (spell_tensor(have), spell_tensor(want))
                self.fail("its tensor is %s, the batch has %s" % spelled, slot)
                return
        self._rows[slot] = row

    def stacked(self, ranks):
        """The batch of each input."""
        columns = zip(*(self._rows[slot] for slot in self.good))
        return [_stack(column, ranks[index] if index < len(ranks) else None) for index, column in enumerate(columns)]

    def open(self, stream):
        self._streams.append(stream)
        return stream

    def close(self):
        """Let go of what was not read to its end, the last stage first, so that its own clean-up runs now."""
        failure = None
        while self._streams:
            try:
                self._streams.pop().close()
            except Exception as error:
                failure = failure or error
        if failure is not None:
            raise failure


class _Loaded(object):
    """The samples of a batch between a dataset's `load` and `unload`, which runs whatever happens in between."""

    def __init__(self, functions, numbers, work):
        self._functions, self._numbers, self._work = functions, numbers, work

    def __enter__(self):
        if self._numbers is not None and "load" in self._functions:
            self._functions.call("load", self._numbers)

    def __exit__(self, kind, error, trace):
        failures = []
        for let_go in (self._work.close, self._unload):
            try:
                let_go()
            except Exception as failure:
                failures.append(failure)
        if failures and error is None:  # else what failed first is what the user must know
            raise failures[0]

    def _unload(self):
        if self._numbers is not None and "unload" in self._functions:
            self._functions.call("unload", self._numbers)


def _stack(arrays, rank=None):
    """The batch of one input. A function may give a sample with its batch axis of 1 already there."""
    import numpy as np

    has_batch_axis = rank is not None and arrays[0].ndim == rank and arrays[0].shape[0] == 1
    return np.concatenate(arrays) if has_batch_axis else np.stack(arrays)


def _filled(tensor, expected):
    """The last sample repeated until a model of fixed batch size has its rows."""
    import numpy as np

    fixed = expected.shape[0] if expected.shape else None
    if fixed is None or not tensor.ndim or not 0 < tensor.shape[0] < fixed:
        return tensor
    return np.concatenate([tensor] + [tensor[-1:]] * (fixed - tensor.shape[0]))


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
        try:
            return self._values.get(number, number)
        except TypeError:  # pixels, which are no key
            return number

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
    """Adds up the time of the run stage, also where it comes in pieces; what it waits for is not its own."""

    def __init__(self):
        self.spent_ns = 0
        self._start = None

    def __enter__(self):
        self._start = nanoseconds()

    def __exit__(self, *exception):
        self.spent_ns += nanoseconds() - self._start
        self._start = None

    def around(self, stream):
        """The items of the run stage."""
        while True:
            with self:
                try:
                    item = next(stream)
                except StopIteration:
                    return
            yield item

    def outside(self, stream):
        """The items that the run stage reads: making them is the work of the stage before."""
        while True:
            item = self._waited(stream)
            if item is _END:
                return
            yield item

    def _waited(self, stream):
        if self._start is None:  # a later stage reads what `run` handed on
            return next(stream, _END)
        self.__exit__()
        try:
            return next(stream, _END)
        finally:
            self.__enter__()


_END = object()


class _Nothing(object):
    """Stands where no framework is needed."""

    concurrent = False
    inputs = ()
    outputs = ()
    server = None

    def close(self):
        pass

"""A model opened with its pipelines: from samples to answers."""

from . import pipeline
from .clock import nanoseconds
from .failure import describe_failure
from .generation import Generator, Whole, as_table
from .messages import BatchAnswer
from .naming import pick_output, refuse_names
from .pipeline import library
from .pipeline.header import ImageError
from .pipeline.image import Image, shared
from .pipeline.together import Failed, Together, joined
from .predictor import PREDICTORS, Lost, ModelError
from .predictor.predictor import pick
from .sample import Loader
from .stacking import Prepared, Stacker, alike, prepared_rows, spell_tensors
from .task import reader_of

_TOGETHER = 64
"""Samples that one thread prepares in one go, where steps have a form for that: more would leave other threads idle."""


class Input(object):
    """One input of the model: the steps before it, and what it takes."""

    def __init__(self, spec, common):
        self.spec = spec
        self.part = spec["part"]
        self.pipeline = pipeline.Pipeline(spec["steps"][common:])
        """Its own steps, after those that all inputs have in common."""
        self._decodes = bool(spec["steps"]) and spec["steps"][0]["name"] == "decode"
        for step in spec["steps"]:  # a missing library must be known before the first sample, not at each one
            if "library" in step["parameters"]:
                library.load(step["parameters"]["library"])
            ready = getattr(pipeline.STEPS[step["name"]], "ready", None)
            if ready is not None:
                ready(step["parameters"])

    def checked(self, value):
        """A part of a sample that the steps can take."""
        if self.part == "image" and not self._decodes and not isinstance(value, Image):
            raise ImageError("this is an encoded image: the processing must start with `decode`")
        return value


class Session(object):
    """Everything between a sample and an answer, as one plan says it. Threads may share it."""

    def __init__(self, task):
        self.batch_size = task.batch_size
        self._load = Loader()
        common = common_steps(task.inputs)
        self._inputs = [Input(spec, common) for spec in task.inputs]
        self._has_common = common > 0
        self._common = pipeline.Pipeline(task.inputs[0]["steps"][:common])
        start = nanoseconds()
        self.predictor = open_predictor(task.predictor)
        self.load_ns = nanoseconds() - start
        refuse_names(self.predictor, task.inputs, task.outputs)
        self._places = self._places_in_the_model()
        self._outputs = [pick_output(self.predictor, each, len(task.outputs)) for each in task.outputs]
        self.output = self._outputs[0]
        self._generate = self._generator(task)
        self._read = reader_of(task.task, with_tokens(task.outputs, task.generation), task.answer)
        shapes = [tensor.shape for tensor in self.predictor.inputs]
        self._rows = next((shape[0] for shape in shapes if shape), None)
        if self._rows is not None and self.batch_size > self._rows:
            words = (self._rows, self.batch_size)
            raise ModelError("the model's batch size is fixed to %d, the plan asks for %d" % words)
        self.stack = Stacker(self._rows)

    def _generator(self, task):
        """What asks a decoder token by token; None where the model answers at once."""
        if task.generation is None:
            return None
        decoder = self.predictor
        if task.generation["graph"] is not None:
            files = {"graph": task.generation["graph"]}
            decoder = open_predictor(task.predictor._replace(files=files))
        return Generator(task.generation, decoder, self.predictor)

    def _places_in_the_model(self):
        """For each input of the model the number of the manifest's that feeds it."""
        expected = self.predictor.inputs
        places = {}
        for number, each in enumerate(self._inputs):
            place = pick(expected, each.spec["layer_name"], "input")
            if place in places:
                raise ModelError("two inputs of the manifest are `%s`" % expected[place].name)
            places[place] = number
        return [places[place] for place in sorted(places)]

    def prepare(self, sample, buffers):
        """One sample's tensors."""
        if len(self._inputs) == 1:
            value = self._inputs[0].pipeline(self._loaded(sample, buffers, self._inputs[0]))
            return Prepared((value,), value)
        if self._has_common:
            value = self._common(self._loaded(sample, buffers, self._inputs[0]))
            return self.joined([each.pipeline(shared(value)) for each in self._inputs])
        return self.joined([each.pipeline(self._loaded(sample, buffers, each)) for each in self._inputs])

    @property
    def together(self):
        """How many samples a thread should prepare in one go."""
        pipelines = [self._common] + [each.pipeline for each in self._inputs]
        return _TOGETHER if any(each.goes_together for each in pipelines) else 1

    def prepare_all(self, samples, buffers):
        """What `prepare` gives for each of some samples, or a Failed in its place."""
        first, several = self._inputs[0], Together(samples)
        if self._has_common:
            values = self._common.all(several.each(lambda sample: self._loaded(sample, buffers, first)))
            columns = [each.pipeline.all(values.each(shared)) for each in self._inputs]
        else:
            columns = [
                given.pipeline.all(several.each(lambda sample, given=given: self._loaded(sample, buffers, given)))
                for given in self._inputs
            ]
        return joined(columns).each(self.joined).listed()

    def joined(self, values):
        """What steps made of a sample for each input of the manifest, in the model's order."""
        return Prepared([values[number] for number in self._places], values[0])

    def prepare_in_steps(self, sample, buffers, mark):
        """The same, with a `mark` at the end of each step."""
        values = []
        if self._has_common:
            value = self._loaded(sample, buffers, self._inputs[0])
            mark("load")
            value = self._common.in_steps(value, mark)
            return self.joined([each.pipeline.in_steps(shared(value), mark) for each in self._inputs])
        for each in self._inputs:
            value = self._loaded(sample, buffers, each)
            mark("load")
            values.append(each.pipeline.in_steps(value, mark))
        return self.joined(values)

    def see_steps(self, sample, buffers, see):
        """One sample's tensors; `see` gets an input's number, a step's name, and what the step made."""
        shared_by_all, values = None, []
        if self._has_common:
            whole = self._loaded(sample, buffers, self._inputs[0])
            shared_by_all = self._common.seen(whole, lambda name, value: see(0, name, value))
        for number, each in enumerate(self._inputs):
            value = self._loaded(sample, buffers, each) if shared_by_all is None else shared(shared_by_all)
            values.append(each.pipeline.seen(value, lambda name, made, number=number: see(number, name, made)))
        return self.joined(values)

    def read_in_steps(self, tensors, prepared, see):
        """The Read of the model's outputs, by name; `see` gets an output's role, a step's name, and what it made."""
        missing = [self.predictor.outputs[place].name for place in self._outputs]
        missing = [name for name in missing if name not in tensors]
        if missing or self._generate is not None:
            raise ModelError("output `%s` is not there" % missing[0] if missing else "a decoder is asked word by word")
        rows = sum(map(prepared_rows, prepared))
        chosen = [tensors[self.predictor.outputs[place].name] for place in self._outputs]
        return self._read.seen([tensor[:rows] if tensor.ndim else tensor for tensor in chosen], prepared, see)

    def _loaded(self, sample, buffers, given):
        return given.checked(self._load(sample, buffers, given.part))

    def answer(self, samples, buffers):
        """One batch from its samples to its answers, in this thread: what a traced batch is compared with."""
        if self.together == 1:
            return self._predict([self.prepare(sample, buffers) for sample in samples])
        prepared = self.prepare_all(samples, buffers)
        for each in prepared:
            if isinstance(each, Failed):
                raise each.error
        return self._predict(prepared)

    def answer_in_steps(self, samples, buffers, mark):
        """The same, with a `mark` at the end of each step; (what `answer` answers, what the predictor was given)."""
        prepared = [self.prepare_in_steps(sample, buffers, mark) for sample in samples]
        stacked = self.stack(prepared)
        self.predictor.check(stacked)
        mark("collate")
        rows = sum(map(prepared_rows, prepared))
        if rows > len(stacked[0]):  # more than the model takes at once: several calls, which are told as one
            _, found = self.call(prepared)
            mark("run")
        else:
            outputs = self.predictor.run(stacked)
            mark("run")
            found = self._chosen(outputs, rows)
            if self._generate is not None:
                found.append(self._generate.decode(stacked, outputs, self._longest(prepared, rows))[1])
                mark("generate")
        answers = self._read(found, prepared)
        mark("post")
        return answers, stacked

    @property
    def generator(self):
        """What asks a decoder token by token; None where the model answers at once."""
        return self._generate

    def timed(self, prepared):
        """What is called to answer these samples, with `run(tensors)`: the model, and its decoder where it has one."""
        if self._generate is None:
            return self.predictor
        return Whole(self.predictor, self._generate, self._longest(prepared, sum(map(prepared_rows, prepared))))

    def infer(self, batch):
        """A prepared batch's answer, as (BatchAnswer, buffers) for the host."""
        good = self._alike(batch)
        run_ns, content, buffers = 0, {}, ()
        if good:
            try:
                run_ns, found = self._predict([batch.tensors[slot] for slot in good])
                content, buffers = found.content, found.buffers
                for row, reason in found.failed.items():
                    batch.errors[good[row]] = reason
            except Lost:
                raise  # no fault of these samples, and the next ones would fare no better
            except BaseException as error:  # even an exit: without an answer the host would wait for ever
                for slot in good:
                    batch.errors[slot] = describe_failure(error)
        return BatchAnswer(batch.index, errors_of(batch), run_ns, content), buffers

    def _alike(self, batch):
        """The slots whose tensors go together; the first one sets the shape."""
        good = []
        for slot, prepared in enumerate(batch.tensors):
            if slot in batch.errors:
                continue
            first = batch.tensors[good[0]] if good else prepared
            if (good or prepared_rows(prepared) > 1) and not alike(prepared, first):
                words = (spell_tensors(prepared), spell_tensors(first))
                batch.errors[slot] = "its tensor is %s, the batch has %s" % words
            else:
                good.append(slot)
        return good

    def _predict(self, prepared):
        run_ns, outputs = self.call(prepared)
        return run_ns, self._read(outputs, prepared)

    def call(self, prepared):
        """(nanoseconds of the framework, the declared outputs), a row for each row of the samples.

        Samples with more rows than a model of fixed batch size takes at once need several calls.
        """
        import numpy as np

        run_ns, found, rows = 0, [], sum(map(prepared_rows, prepared))
        bounds = self._longest(prepared, rows)
        for start, count, stacked in self.stack.parts(prepared):
            self.predictor.check(stacked)
            begin = nanoseconds()
            outputs = self.predictor.run(stacked)
            run_ns += nanoseconds() - begin
            found.append(self._chosen(outputs, count))
            if self._generate is not None:
                more_ns, tokens = self._generate.decode(stacked, outputs, bounds[start : start + count])
                run_ns += more_ns
                found[-1].append(tokens)
            if count < rows:
                found[-1] = [tensor.copy() for tensor in found[-1]]
        if len(found) == 1:
            return run_ns, found[0]
        *others, tokens = zip(*found)
        joined = as_table([row for each in tokens for row in each]) if self._generate else np.concatenate(tokens)
        return run_ns, [np.concatenate(each) for each in others] + [joined]

    def _longest(self, prepared, rows):
        """How many tokens each row may become: what is said in a second bounds it where the manifest says so."""
        if self._generate is None:
            return ()
        spec = self._generate.spec
        if spec["per_second"] is None:
            return [spec["longest"]] * rows
        seconds = [getattr(each.frame, "lasts", None) for each in prepared]
        if None in seconds or len(seconds) != rows:
            raise ModelError("`per_second` bounds the tokens of sounds, and nobody knows how long these samples last")
        return [int(spec["per_second"] * each) + spec["plus"] for each in seconds]

    def _chosen(self, outputs, rows):
        """The outputs that the manifest declares, without what a model of fixed batch size was filled up with."""
        chosen = [outputs[place] for place in self._outputs]
        return [tensor[:rows] if tensor.ndim else tensor for tensor in chosen] if self._rows else chosen

    def close(self):
        if self._generate is not None and self._generate.decoder is not self.predictor:
            self._generate.decoder.close()
        self.predictor.close()


def with_tokens(outputs, generation):
    """The outputs that a reader gets: a decoder's tokens come behind those of the model."""
    if generation is None:
        return outputs
    return list(outputs) + [{"role": "tokens", "layer_name": None, "place": len(outputs), "steps": []}]


def common_steps(inputs):
    """How many steps all inputs begin with; none where there is one input, or they take other parts of a sample."""
    if len(inputs) < 2 or any(each["part"] != inputs[0]["part"] for each in inputs):
        return 0
    count = 0
    for steps in zip(*(each["steps"] for each in inputs)):
        if any(each != steps[0] for each in steps):
            break
        count += 1
    return count


def errors_of(batch):
    """Why samples of a batch failed, by their places, as JSON has it."""
    return {str(slot): batch.errors[slot] for slot in sorted(batch.errors)}


def open_predictor(spec):
    declaration = PREDICTORS[spec.name]
    try:
        return declaration.function(spec.files, **spec.options)
    except ImportError as error:
        raise ModelError(
            "this stack cannot use %s (%s); install it with: pip install %s"
            % (spec.name, error, declaration.packages[0] if declaration.packages else spec.name)
        )

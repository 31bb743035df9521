"""Traced: a few batches, level by level, each level in runs of its own.

    application   a clock before and after each batch, nothing inside it
    model         what a batch is made of: load, each step, collate, run, post
    framework     the layers of the run, by the framework's own profiler
    library       what the layers call

A lower level disturbs those above it, so every level is measured apart from the next one, and the host puts them
together. Nothing of this runs unless it is asked for: the code that evaluates and measures does not know of it.
"""

import gc

from ..clock import nanoseconds
from ..disk import disk_use, since
from ..failure import describe_failure
from ..messages import Traced
from ..predictor import Lost, ModelError, NotSupported
from ..predictor.cuda import counted
from ..predictor.predictor import RUN
from .first_call import first_call
from .offline import Batch
from .spans import Spans, add_profile

LEVELS = ("application", "model", "framework", "library")
_OF_A_BATCH = ("collate", "preprocess", "run", "answer")  # marks after which nothing belongs to a single sample


def trace(session, asked, buffers):
    """The answer to a request: a run for each level, down to the one asked for or the last that can be had."""
    if asked.level == "cold":
        return first_call(session, asked, buffers)
    if asked.level == "counted":
        return count(session, asked, buffers)
    level = "library" if asked.level == "hardware" else asked.level  # counters come from outside
    wanted = LEVELS[: LEVELS.index(level) + 1]
    bench = Bench(session, asked, buffers)
    warm_up = bench.warm_up(asked.warm_up_runs)
    plain, model = bench.batches("model" in wanted)
    runs = [{"level": "application", "compared": None, "spans": _application(session.load_ns, warm_up, plain)}]
    notes = bench.notes  # to which looking closer adds
    if "model" in wanted:
        runs.append({"level": "model", "compared": "batch", "spans": model})
        if len(bench.model.parts()) > 1 and bench.tensors is not None:
            runs.append({"level": "model", "compared": "run", "spans": bench.parts()})
    for level, ask in (("framework", "profile_runs"), ("library", "library_runs")):
        if level in wanted:
            try:
                spans, without, told = bench.profile(ask)
                compared = "run" if told else None
                runs.append({"level": level, "compared": compared, "spans": spans, "without_ns": without})
            except NotSupported as error:
                notes.append("%s: %s" % (level, error))
    if asked.level == "hardware":
        used = bench.disk()
        if used is not None:
            runs.append({"level": "hardware", "compared": None, "spans": used})
    return Traced(runs, notes, session.batch_size)


def count(session, asked, buffers):
    """One call of the model that a program around this process counts: NVIDIA's driver tells it from when till when."""
    bench = Bench(session, asked, buffers, tried=True)
    bench.warm_up(asked.warm_up_runs)
    bench.batches(True)
    if bench.tensors is None:
        raise NotSupported("the manifest's own functions run the model, so that its kernels cannot be counted")
    session.predictor.run(bench.tensors)
    with counted():
        session.predictor.run(bench.tensors)
    return Traced([], bench.notes, session.batch_size)


class Bench(object):
    """A model and the batches that it is traced with; samples that were tried are not tried again."""

    def __init__(self, session, asked, buffers, tried=False):
        self._session = session
        self._buffers = buffers
        self._runs = asked.runs
        way = session if hasattr(session, "answer") else Functions(session)
        self._answer, self._answer_in_steps = way.answer, way.answer_in_steps
        self.model = getattr(session, "whole", session.predictor)
        """What is run: the predictor, or what stands for it where a run is made of several calls."""
        self.notes = []
        self._plain = []
        self.tensors = None
        """What the predictor was given last, as it would be given again to a profiler."""
        samples = asked.samples if tried else self._usable(asked.samples)
        size = session.batch_size
        self._batches = [
            [samples[(run * size + slot) % len(samples)] for slot in range(size)] for run in range(self._runs)
        ]

    def _usable(self, samples):
        """Samples that go through, each tried in a batch of its own; this also reads their files a first time."""
        usable, shape, reason = [], None, "there are none"
        for sample in samples:
            try:
                tensors = getattr(self._session.prepare(sample, self._buffers), "tensors", ())
                prepared = [tensor.shape for tensor in tensors]
                self._answer([sample], self._buffers)
                if usable and prepared != shape:
                    raise ModelError("its tensor has another shape than the first sample's")
                usable.append(sample)
                shape = prepared
            except Lost:
                raise
            except Exception as error:
                reason = describe_failure(error)
        if not usable:
            raise ModelError("none of the samples can be traced: %s" % reason)
        if len(usable) < len(samples):
            self.notes.append("%d samples that fail are left out: %s" % (len(samples) - len(usable), reason))
        return usable

    def warm_up(self, runs):
        return [_timed(self._answer, self._batches[0], self._buffers) for _ in range(runs)]

    def batches(self, with_steps):
        """(nanoseconds of each batch, spans of the same batches traced): plain and traced ones take turns."""
        plain, recorder = [], Recorder()
        collecting = gc.isenabled()
        gc.disable()
        try:
            for place, samples in enumerate(self._batches):
                first_plain = place % 2 == 0  # whoever comes second finds warmer caches
                if first_plain:
                    plain.append(_timed(self._answer, samples, self._buffers))
                if with_steps:
                    recorder.begin()
                    _, self.tensors = self._answer_in_steps(samples, self._buffers, recorder.mark)
                if not first_plain:
                    plain.append(_timed(self._answer, samples, self._buffers))
        finally:
            if collecting:
                gc.enable()
        return plain, recorder.spans()

    def disk(self):
        """The same batches once more, each with what it reads and writes; nothing where the kernel does not tell."""
        first, second = disk_use(), disk_use()
        if first is None or second is None:
            return None
        own, spans = since(first, second), Spans()
        for samples in self._batches:
            before, start = disk_use(), nanoseconds()
            self._answer(samples, self._buffers)
            end = nanoseconds()
            used = since(before, disk_use(), own)
            batch = spans.add("batch", "application", start, end, 0)
            if any(used.values()):
                spans.add("disk", "hardware", start, end, batch, kind="disk", lane="disk", **used)
        return spans.finish()

    def parts(self):
        """The run of each batch with its copies, which wait for one another here and not in a plain run."""
        spans = Spans()
        self._session.predictor.run_in_parts(self.tensors)  # the first time may take memory of its own
        for _ in range(self._runs):
            _, parts = self._session.predictor.run_in_parts(self.tensors)
            run = spans.add_run(parts[0][1], parts[-1][2])
            for name, start, end in parts:
                spans.add("compute" if name == RUN else name, "model", start, end, run)
        return spans.finish()

    def profile(self, ask):
        """(spans of the profiled runs, nanoseconds of a plain run just before each, of the same input, whether the
        framework tells how long a profiled run took). Where a profiler stays, plain runs are from before it came."""
        if self.tensors is None:
            raise NotSupported("the manifest's own functions run the model, so that its layers cannot be asked for")
        run, without = self.model.run, []

        def between():
            run(self.tensors)
            without.append(_timed(run, self.tensors))

        if self.model.profiler_stays and not self._plain:
            for _ in range(self._runs):
                between()
            self._plain = list(without)
        profiles = getattr(self.model, ask)(self.tensors, self._runs, between)
        while len(without) < self._runs:  # the profiler tells a mean of several runs; so do these
            between()
        without = self._plain or without[-self._runs :]
        spans = Spans()
        for profile in profiles:
            add_profile(spans, profile)
        notes = [getattr(profile, "note", None) for profile in profiles]
        self.notes += [note for note in notes[-1:] if note is not None]
        return spans.finish(), without, all(profile.call_ns is not None for profile in profiles)


class Recorder(object):
    """Marks while a batch runs, one reading of the clock each; they become spans afterwards."""

    def __init__(self):
        self._batches = []
        self.mark = None

    def begin(self):
        marks = []

        def mark(name, at=None):
            marks.append((name, nanoseconds() if at is None else at, at is not None))

        self.mark = mark
        self._batches.append((nanoseconds(), marks))

    def spans(self):
        spans = Spans()
        for start, marks in self._batches:
            batch = spans.add("batch", "application", start, marks[-1][1], 0)
            sample, slot, run = None, 0, None
            for name, end, is_of_run in marks:
                if name == "load":
                    sample = spans.add("sample", "model", start, end, batch, slot=slot)
                    slot += 1
                elif name in _OF_A_BATCH:
                    sample = None
                if is_of_run:  # a step of the run, which told when it was
                    sample = None
                    run = spans.add("run", "model", start, end, batch) if run is None else run
                    spans.add(name, "model", start, end, run)
                    spans.rows[run][3] = start = end
                    continue
                if name == "run" and run is not None:  # it ends behind the last of its steps
                    spans.rows[run][3] = start = end
                    continue
                spans.add(name, "model", start, end, batch if sample is None else sample)
                if sample is not None:
                    spans.rows[sample][3] = end
                start = end
        return spans.finish()


class Functions(object):
    """A manifest's own functions, which are watched from outside: what comes before, in and after the model's call."""

    def __init__(self, session):
        self._session = session

    def answer(self, samples, buffers):
        self._infer(samples, [self._session.prepare(sample, buffers) for sample in samples], buffers)

    def answer_in_steps(self, samples, buffers, mark):
        tensors, given, predictor = [], [], self._session.predictor
        for sample in samples:
            tensors.append(self._session.prepare(sample, buffers))
            mark("load")
        run = predictor.run

        def watched(tensors):
            mark("preprocess")
            outputs = run(tensors)
            mark("run")
            given[:] = tensors
            return outputs

        predictor.run = watched
        try:
            self._infer(samples, tensors, buffers)
        finally:
            del predictor.run
        mark("postprocess" if given else "answer")
        return None, given or None

    def _infer(self, samples, tensors, buffers):
        batch = Batch(0, samples, buffers)
        batch.tensors = tensors
        self._session.infer(batch)
        if batch.errors:
            raise ModelError(sorted(batch.errors.items())[0][1])


def _application(load_ns, warm_up, plain):
    """Everything end to end: what was measured in between, for another level, is not of this run."""
    spans, cursor = Spans(), 0
    for name, durations in (("open", [load_ns]), ("warm up", warm_up), ("batch", plain)):
        for duration in durations:
            spans.add(name, "application", cursor, cursor + duration, 0)
            cursor += duration
    return spans.finish()


def _timed(function, *arguments):
    start = nanoseconds()
    function(*arguments)
    return nanoseconds() - start

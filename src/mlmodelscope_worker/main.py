"""The worker process: read what the host asks for, do it, stream answers back (`messages` declares both).

One worker has one model open. When the host goes away the connection ends, and so does the worker.
"""

import argparse
import gc
import json
import os
import queue
import sys
import threading
import traceback

from . import __version__, environment, messages
from .clock import nanoseconds
from .failure import describe_failure
from .messages import REQUESTS, MessageError, from_header, to_header
from .outbox import Outbox
from .parameters import ParameterError
from .pipeline.library import MissingLibrary
from .predictor import Lost, ModelError
from .predictor.build import describe_builds
from .protocol import Closed, connect
from .sample import Loader, part_to_see
from .scenario.offline import Batch, Offline
from .scenario.single_stream import measure_latency, measure_parts
from .sessions import open_session
from .stacking import alike
from .view import look

_WITHOUT_MODEL = (
    *(messages.Open, messages.BeginReproduction, messages.RunCheck),
    *(messages.RecordOriginal, messages.ReadSide),
)
_FORESEEN = (ModelError, MissingLibrary, ParameterError, MessageError)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="mlmodelscope_worker")
    parser.add_argument("--connect", required=True, metavar="PATH", help="the host's Unix socket")
    channel = connect(parser.parse_args(arguments).connect)
    code = 1
    try:
        stopped = threading.Event()
        serve(channel, listen(channel, lambda: os._exit(1), stopped), stopped)
        code = 0
    except Closed:
        pass  # the host is gone, and so are we
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # frameworks with threads of their own may hang or crash in an orderly exit


def listen(channel, gone, stopped=None):
    """Requests as they arrive, in a queue, read by a thread of their own.

    It sleeps in a system call unless the host speaks. When the host is gone it says so at once, even if the worker is
    in the middle of a framework's call that takes hours: whatever still runs has nobody to answer to. `stopped` is set
    while nobody wants more of the text that is being written.
    """
    inbox = queue.Queue()
    stopped = stopped or threading.Event()

    def read():
        try:
            while True:
                header, buffers = channel.receive()
                if header.get("do") == "stop":
                    stopped.set()
                    continue
                if header.get("do") == "converse":  # what stopped an earlier text is none of its business
                    stopped.clear()
                inbox.put((header, buffers))
        except Closed:
            pass
        except BaseException:
            traceback.print_exc()
        gone()

    threading.Thread(target=read, daemon=True).start()
    return inbox


def serve(channel, inbox, stopped=None):
    """Do what is asked for until `close` is."""
    desk = Desk(channel, stopped or threading.Event())
    while True:
        header, buffers = inbox.get()
        try:
            asked = from_header(REQUESTS, header)
            if isinstance(asked, messages.Close):
                desk.close()
                return
            if not isinstance(asked, _WITHOUT_MODEL) and desk.session is None:
                raise ModelError("`%s` needs an open model" % header["do"])
            getattr(desk, header["do"])(asked, buffers)
        except Lost as error:
            desk.say(messages.Gone(str(error)))
        except _FORESEEN as error:
            desk.say(messages.Refused(str(error)))
        except Closed:
            raise
        except Exception as error:
            desk.say(messages.Refused("%s: %s" % (type(error).__name__, error), traceback.format_exc()))


class Desk(object):
    """What the host may ask for, each request a method of its name; at most one model is open."""

    def __init__(self, channel, stopped):
        self._channel, self._stopped = channel, stopped
        self._load = Loader()
        self._offline = None
        self._bench = None
        self._side = None
        self.session = None

    def say(self, message, buffers=()):
        self._channel.send(to_header(message), buffers)

    def open(self, asked, buffers):
        self.close()
        self.session = open_session(asked.task)
        gc.collect()
        getattr(gc, "freeze", gc.collect)()  # what is loaded stays: the collector need not look at it each time
        self.say(describe_session(self.session, asked.task.predictor.name))

    def prepare(self, asked, buffers):
        self.say(*prepare_tensors(self.session, asked.samples, buffers))

    def spell(self, asked, buffers):
        self.say(*spell_samples(self.session, asked.samples, buffers))

    def latency(self, asked, buffers):
        self.say(probe_latency(self.session, asked, buffers))

    def load(self, asked, buffers):
        from .scenario.load import Load

        if self._bench is None:
            self._bench = Load(self.session)
        self.say(*self._bench(asked, buffers))

    def batches(self, asked, buffers):
        if self._offline is None:
            session = self.session
            lanes = asked.lanes if session.predictor.concurrent else 1
            ways = {}
            if getattr(session, "together", 1) > 1:
                ways = {"prepare_all": session.prepare_all, "together": session.together}
            self._offline = Offline(session.prepare, self._infer, Outbox(self.say), asked.threads, lanes, **ways)
        if asked.active is not None:  # the host changes it only when nothing is under way
            self.session.active = set(asked.active)
        self._offline.submit([Batch(each["batch"], each["samples"], buffers) for each in asked.batches])

    def ask(self, asked, buffers):
        from .scenario.asked import answer

        self.say(*answer(self.session, asked.samples, buffers))

    def converse(self, asked, buffers):
        if not hasattr(self.session, "converse"):
            raise ModelError("only language models write texts")
        self.say(
            *self.session.converse(asked, buffers, lambda text: self.say(messages.Piece(text)), self._stopped.is_set)
        )

    def _infer(self, batch):
        try:
            return self.session.infer(batch)
        except Lost as error:  # the host gives up on this worker; the batches that are under way go to another one
            self.say(messages.Gone(str(error)))
            raise SystemExit

    def infer(self, asked, buffers):
        from .tensor_session import infer

        self.say(*infer(self.session, asked, buffers))

    def look(self, asked, buffers):
        views, pictures = look(lambda: self._load(asked.sample, buffers, part_to_see(asked.sample)), asked.pipelines)
        self.say(messages.Seen(views), pictures)

    def read_layers(self, asked, buffers):
        from .layers import read_layers

        self.say(read_layers(self.session, asked, buffers))

    def read_steps(self, asked, buffers):
        from .steps import read_steps

        self.say(*read_steps(self.session, asked, buffers))

    def read_weights(self, asked, buffers):
        from .layers import read_weights

        self.say(read_weights(self.session, asked))

    def try_changes(self, asked, buffers):
        from .changes import try_changes

        self.say(try_changes(self.session, asked))

    def trace(self, asked, buffers):
        from .scenario.traced import trace

        self.say(trace(self.session, asked, buffers))

    def watch(self, asked, buffers):
        from .scenario.watched import watch

        self.say(watch(self.session, asked, buffers))

    def peak(self, asked, buffers):
        from .scenario.peak import peak

        self.say(peak(asked))

    def train(self, asked, buffers):
        run = train_in_steps if hasattr(self.session, "loop") else train
        self.say(run(self.say, self.session, asked.data))

    def trace_steps(self, asked, buffers):
        from .training.traced import trace_steps

        loop = self.session.loop(asked.data, lambda point: None)
        self.say(trace_steps(loop, asked.runs, asked.warm_up_runs, self.session.settings["batch_size"]))

    def begin_reproduction(self, asked, buffers):
        from .reproduction.checking import open_side

        self._side = open_side(asked)
        self.say(messages.Recorded(None))

    def run_check(self, asked, buffers):
        from .reproduction.checking import run_check

        self.say(run_check(self._side, asked))

    def record_original(self, asked, buffers):
        from .reproduction.checking import record_original

        self.say(record_original(self._side, asked))

    def read_side(self, asked, buffers):
        from .reproduction.checking import read_side

        self.say(read_side(self._side, asked))

    def close(self):
        if self._offline is not None:
            self._offline.finish()
        if self.session is not None:
            self.session.close()
        self._offline = self._bench = self.session = None


def describe_session(session, predictor):
    return messages.Opened(
        worker=__version__,
        load_ns=session.load_ns,
        inputs=[tensor.describe() for tensor in session.predictor.inputs],
        outputs=[tensor.describe() for tensor in session.predictor.outputs],
        output=session.output,
        count=getattr(session, "count", None),
        missing=getattr(session, "missing", {}),
        server=session.predictor.server,
        environment=dict(environment.describe(), builds=describe_builds(predictor)),
    )


def prepare_tensors(session, samples, buffers):
    """The tensors of some samples, as the predictor would get them: (Prepared, their values)."""
    import numpy as np

    shapes, errors, content = [], {}, []
    for slot, sample in enumerate(samples):
        try:
            tensors = [np.ascontiguousarray(each) for each in tensors_of(session.prepare(sample, buffers))]
            shapes.append([{"shape": list(each.shape), "element_type": each.dtype.name} for each in tensors])
            content.extend(each.reshape(-1).view(np.uint8) for each in tensors)  # Python's own buffers know no float16
        except Exception as error:
            shapes.append(None)
            errors[str(slot)] = describe_failure(error)
    return messages.Prepared(shapes, errors), content


def spell_samples(session, samples, buffers):
    """What a language model would be shown of samples: (Spelled, a JSON text for each)."""
    if not hasattr(session, "spelled"):
        raise ModelError("only language models have a prompt that could be spelled out")
    errors, texts = {}, []
    for slot, sample in enumerate(samples):
        try:
            texts.append(json.dumps(session.spelled(sample, buffers)).encode("utf-8"))
        except Exception as error:
            errors[str(slot)] = describe_failure(error)
    return messages.Spelled(errors), texts


def tensors_of(prepared):
    """The tensors of a sample; what a manifest's own functions take may be one by itself."""
    return prepared.tensors if hasattr(prepared, "tensors") else (prepared,)


def probe_functions(session, asked):
    """Latency of a manifest's own functions; samples that they cannot take are found out in the evaluation."""
    samples = asked.samples[: session.batch_size]
    try:
        warm_up, raw = session.measure(samples, asked.warm_up_runs, asked.max_runs, asked.budget_s)
    except Exception:
        warm_up, raw = [], []
    return messages.Latency(len(samples), warm_up, raw, apart=getattr(session, "apart", None))


def train(say, session, data):
    """Run a training task, telling the host how it goes."""
    from .output.answer import keep

    def report(progress, **metrics):
        share = float(progress)
        if not 0 <= share <= 1:
            raise ValueError("progress is the share that is done, between 0 and 1, not %s" % (progress,))
        say(messages.Progress(share, {name: float(value) for name, value in metrics.items()}))

    start = nanoseconds()
    result = session.train(data, report)
    return messages.Trained(keep(result), nanoseconds() - start)


def train_in_steps(say, session, data):
    """Run a training whose loop is ours; what was reported before an interruption is reported again."""

    def report(point):
        at = {name: point[name] for name in ("step", "epoch", "samples", "wall_s")}
        say(messages.Progress(point["progress"], point["metrics"], at))

    metrics, facts = session.loop(data, report).run()
    return messages.Trained(metrics, int(facts["wall_s"] * 1e9), facts)


def probe_latency(session, asked, buffers):
    """Time the predictor alone on a batch of the first samples that can be prepared and go together."""
    if hasattr(session, "measure"):
        return probe_functions(session, asked)
    prepared = []
    for sample in asked.samples:
        try:
            found = session.prepare(sample, buffers)
        except Exception:
            continue  # it will be a failed sample in the evaluation; here any sample will do
        if not prepared or alike(found, prepared[0]):
            prepared.append(found)
        if len(prepared) == session.batch_size:
            break
    if not prepared:
        return messages.Latency(0, [], [])
    while len(prepared) < session.batch_size:
        prepared.append(prepared[-1])
    stacked = session.stack(prepared)
    session.predictor.check(stacked)
    timed = session.timed(prepared)
    warm_up, raw = measure_latency(timed, stacked, asked.warm_up_runs, asked.max_runs, asked.budget_s)
    parts = measure_parts(timed, stacked, asked.budget_s)
    return messages.Latency(session.batch_size, warm_up, raw, parts)

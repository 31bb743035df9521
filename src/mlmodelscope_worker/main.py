"""The worker process: read what the host asks for, do it, stream answers back.

    host -> worker   open, prepare, latency, load, batches, ask, infer, look, trace, watch, peak, train, close
    worker -> host   opened, prepared, latency, loaded, answers, asked, inferred, seen, traced, watched, peak, progress,
                     trained, refused, lost

One worker has one model open. When the host goes away the connection ends, and so does the worker.
"""

import argparse
import gc
import os
import queue
import sys
import threading
import traceback

from . import __version__, environment
from .clock import nanoseconds
from .failure import describe_failure
from .outbox import Outbox
from .parameters import ParameterError
from .pipeline.library import MissingLibrary
from .predictor import Lost, ModelError
from .protocol import Closed, connect
from .sample import Loader
from .scenario.offline import Batch, Offline
from .scenario.single_stream import measure_latency, measure_parts
from .session import alike
from .sessions import open_session
from .view import look

_FORESEEN = (ModelError, MissingLibrary, ParameterError)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="mlmodelscope_worker")
    parser.add_argument("--connect", required=True, metavar="PATH", help="the host's Unix socket")
    channel = connect(parser.parse_args(arguments).connect)
    code = 1
    try:
        serve(channel, listen(channel, gone=lambda: os._exit(1)))
        code = 0
    except Closed:
        pass  # the host is gone, and so are we
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # frameworks with threads of their own may hang or crash in an orderly exit


def listen(channel, gone):
    """Requests as they arrive, in a queue, read by a thread of their own.

    It sleeps in a system call unless the host speaks. When the host is gone it says so at once, even if the worker is
    in the middle of a framework's call that takes hours: whatever still runs has nobody to answer to.
    """
    requests = queue.Queue()

    def read():
        try:
            while True:
                requests.put(channel.receive())
        except Closed:
            pass
        except BaseException:
            traceback.print_exc()
        gone()

    threading.Thread(target=read, daemon=True).start()
    return requests


def serve(channel, requests):
    """Do what is asked for until `close` is."""
    desk = Desk(channel)
    while True:
        header, buffers = requests.get()
        wanted = header.get("do")
        try:
            if wanted == "close":
                desk.close()
                return
            if wanted not in Desk.REQUESTS:
                raise ModelError("the worker does not know how to `%s`" % wanted)
            if wanted != "open" and desk.session is None:
                raise ModelError("`%s` needs an open model" % wanted)
            getattr(desk, wanted)(header, buffers)
        except Lost as error:
            channel.send({"do": "lost", "message": str(error)})
        except _FORESEEN as error:
            channel.send({"do": "refused", "message": str(error)})
        except Closed:
            raise
        except Exception as error:
            message = "%s: %s" % (type(error).__name__, error)
            channel.send({"do": "refused", "message": message, "traceback": traceback.format_exc()})


class Desk(object):
    """What the host may ask for, each request a method; at most one model is open."""

    REQUESTS = ("open", "prepare", "latency", "load", "batches", "ask", "infer") + (
        "look",
        "trace",
        "watch",
        "peak",
        "train",
    )

    def __init__(self, channel):
        self._channel = channel
        self._load = Loader()
        self._offline = None
        self._bench = None
        self.session = None

    def open(self, header, buffers):
        self.close()
        self.session = open_session(header["task"])
        gc.collect()
        getattr(gc, "freeze", gc.collect)()  # what is loaded stays: the collector need not look at it each time
        self._channel.send(describe_session(self.session))

    def prepare(self, header, buffers):
        send_tensors(self._channel, self.session, header["samples"], buffers)

    def latency(self, header, buffers):
        self._channel.send(probe_latency(self.session, header, buffers))

    def load(self, header, buffers):
        from .scenario.load import Load

        if self._bench is None:
            self._bench = Load(self.session)
        self._channel.send(*self._bench(header, buffers))

    def batches(self, header, buffers):
        if self._offline is None:
            session = self.session
            lanes = header["lanes"] if session.predictor.concurrent else 1
            outbox = Outbox(self._channel)
            self._offline = Offline(session.prepare, self._infer, outbox, header["threads"], lanes)
        if "active" in header:  # the host changes it only when nothing is under way
            self.session.active = set(header["active"])
        self._offline.submit([Batch(each["batch"], each["samples"], buffers) for each in header["batches"]])

    def ask(self, header, buffers):
        from .scenario.asked import answer

        self._channel.send(*answer(self.session, header, buffers))

    def _infer(self, batch):
        try:
            return self.session.infer(batch)
        except Lost as error:  # the host gives up on this worker; the batches that are under way go to another one
            self._channel.send({"do": "lost", "message": str(error)})
            raise SystemExit

    def infer(self, header, buffers):
        from .tensor_session import infer

        self._channel.send(*infer(self.session, header, buffers))

    def look(self, header, buffers):
        views, pictures = look(lambda: self._load(header["sample"], buffers), header["pipelines"])
        self._channel.send({"do": "seen", "views": views}, pictures)

    def trace(self, header, buffers):
        from .scenario.traced import trace

        self._channel.send(trace(self.session, header, buffers))

    def watch(self, header, buffers):
        from .scenario.watched import watch

        self._channel.send(watch(self.session, header, buffers))

    def peak(self, header, buffers):
        from .scenario.peak import peak

        self._channel.send(peak(header))

    def train(self, header, buffers):
        self._channel.send(train(self._channel, self.session, header))

    def close(self):
        if self._offline is not None:
            self._offline.finish()
        if self.session is not None:
            self.session.close()
        self._offline = self._bench = self.session = None


def describe_session(session):
    return {
        "do": "opened",
        "worker": __version__,
        "load_ns": session.load_ns,
        "inputs": [tensor.describe() for tensor in session.predictor.inputs],
        "outputs": [tensor.describe() for tensor in session.predictor.outputs],
        "output": session.output,
        "count": getattr(session, "count", None),
        "missing": getattr(session, "missing", {}),
        "server": session.predictor.server,
        "environment": environment.describe(),
    }


def send_tensors(channel, session, samples, buffers):
    """The tensors of some samples, as the predictor would get them."""
    import numpy as np

    shapes, errors, content = [], {}, []
    for slot, sample in enumerate(samples):
        try:
            tensor = np.ascontiguousarray(session.prepare(sample, buffers))
            shapes.append({"shape": list(tensor.shape), "element_type": tensor.dtype.name})
            content.append(tensor.reshape(-1).view(np.uint8))  # Python's own buffers know no float16
        except Exception as error:
            shapes.append(None)
            errors[str(slot)] = describe_failure(error)
    channel.send({"do": "prepared", "tensors": shapes, "errors": errors}, content)


def probe_functions(session, header):
    """The same for a manifest's own functions; samples that they cannot take are found out in the evaluation."""
    samples = header["samples"][: session.batch_size]
    try:
        warm_up, raw = session.measure(samples, header["warm_up_runs"], header["max_runs"], header["budget_s"])
    except Exception:
        warm_up, raw = [], []
    return {"do": "latency", "batch_size": len(samples), "warm_up_ns": warm_up, "raw_ns": raw}


def train(channel, session, header):
    """Run a training task, telling the host how it goes."""
    from .output.answer import keep

    def report(progress, **metrics):
        share = float(progress)
        if not 0 <= share <= 1:
            raise ValueError("progress is the share that is done, between 0 and 1, not %s" % (progress,))
        values = {name: float(value) for name, value in metrics.items()}
        channel.send({"do": "progress", "progress": share, "metrics": values})

    start = nanoseconds()
    result = session.train(header["data"], report)
    return {"do": "trained", "result": keep(result), "train_ns": nanoseconds() - start}


def probe_latency(session, header, buffers):
    """Time the predictor alone on a batch of the first samples that can be prepared and go together."""
    if hasattr(session, "measure"):
        return probe_functions(session, header)
    tensors = []
    for sample in header["samples"]:
        try:
            tensor = session.prepare(sample, buffers)
        except Exception:
            continue  # it will be a failed sample in the evaluation; here any sample will do
        if not tensors or alike(tensor, tensors[0]):
            tensors.append(tensor)
        if len(tensors) == session.batch_size:
            break
    if not tensors:
        return {"do": "latency", "batch_size": 0, "warm_up_ns": [], "raw_ns": []}
    while len(tensors) < session.batch_size:
        tensors.append(tensors[-1])
    stacked = [session.stack(tensors)]
    session.predictor.check(stacked)
    warm_up, raw = measure_latency(
        session.predictor, stacked, header["warm_up_runs"], header["max_runs"], header["budget_s"]
    )
    parts = measure_parts(session.predictor, stacked, header["budget_s"])
    return {
        "do": "latency",
        "batch_size": session.batch_size,
        "warm_up_ns": warm_up,
        "raw_ns": raw,
        "parts_ns": parts,
    }

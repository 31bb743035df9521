"""The worker process: read what the host asks for, do it, stream answers back.

    host -> worker   open, prepare, latency, batch, close
    worker -> host   opened, prepared, latency, answers, refused

One worker has one model open. When the host goes away the connection ends, and so does the worker.
"""

import argparse
import os
import sys
import traceback

from . import __version__, environment
from .parameters import ParameterError
from .pipeline.library import MissingLibrary
from .predictor import ModelError
from .protocol import Closed, connect
from .scenario.offline import Batch, Offline
from .scenario.single_stream import measure_latency
from .session import Session

_FORESEEN = (ModelError, MissingLibrary, ParameterError)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="mlmodelscope_worker")
    parser.add_argument("--connect", required=True, metavar="PATH", help="the host's Unix socket")
    channel = connect(parser.parse_args(arguments).connect)
    try:
        serve(channel)
    except Closed:
        # The host is gone: whatever still runs in other threads has nobody to answer to.
        os._exit(1)
    sys.stdout.flush()
    os._exit(0)  # frameworks with threads of their own may hang or crash in an orderly exit


def serve(channel):
    session = offline = None
    while True:
        header, buffers = channel.receive()
        wanted = header["do"]
        try:
            if wanted == "open":
                session = Session(header["task"])
                channel.send(describe_session(session))
            elif wanted == "prepare":
                send_tensors(channel, session, header["samples"], buffers)
            elif wanted == "latency":
                channel.send(probe_latency(session, header, buffers))
            elif wanted == "batch":
                if offline is None:
                    lanes = header["lanes"] if session.predictor.concurrent else 1
                    offline = Offline(session.prepare, session.infer, channel.send, header["preparing_threads"], lanes)
                offline.submit(Batch(header["batch"], header["samples"], buffers))
            elif wanted == "close":
                if offline is not None:
                    offline.finish()
                if session is not None:
                    session.close()
                return
        except _FORESEEN as error:
            channel.send({"do": "refused", "message": str(error)})
        except Closed:
            raise
        except Exception as error:
            message = "%s: %s" % (type(error).__name__, error)
            channel.send({"do": "refused", "message": message, "traceback": traceback.format_exc()})


def describe_session(session):
    return {
        "do": "opened",
        "worker": __version__,
        "load_ns": session.load_ns,
        "inputs": [tensor.describe() for tensor in session.predictor.inputs],
        "outputs": [tensor.describe() for tensor in session.predictor.outputs],
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
            content.append(tensor)
        except Exception as error:
            shapes.append(None)
            errors[str(slot)] = str(error)
    channel.send({"do": "prepared", "tensors": shapes, "errors": errors}, content)


def probe_latency(session, header, buffers):
    """Time the predictor alone on a batch of the first samples that can be prepared."""
    tensors = []
    for sample in header["samples"]:
        try:
            tensors.append(session.prepare(sample, buffers))
        except Exception:
            continue  # it will be a failed sample in the evaluation; here any sample will do
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
    return {"do": "latency", "batch_size": session.batch_size, "warm_up_ns": warm_up, "raw_ns": raw}

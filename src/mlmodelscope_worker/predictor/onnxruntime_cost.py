"""What ONNX Runtime's profiler itself takes, layer by layer.

It writes down shapes and sizes of a node before it stops the node's clock, which takes some microseconds: nothing
beside a large convolution, and a fifth of all beside small ones. How much, a graph of known nodes tells: additions of a
single number, whose true time is that of a chain of them without the profiler less that of a single one.
"""

import json
import os
import shutil
import tempfile

from ..clock import nanoseconds
from .protobuf import write

_NODES = 9
_ROUNDS, _LEAST_ROUNDS, _BUDGET_NS = 50, 9, 10**9
_FLOAT = 1
_IR, _OPERATORS = 4, 8  # which every release since 1.4 reads


def profiler_ns(start, disturb):
    """Nanoseconds too many that a node is told to take; `start(model, profile_prefix=None)` opens a session.

    `disturb` runs the model in question: between its layers the profiler does not find its own code in the caches.
    """
    import numpy as np

    feed = {"x0": np.zeros((1, 1, 1, 1), np.float32)}
    folder = tempfile.mkdtemp(prefix="mlmodelscope-profile-")
    try:
        short, long, watched = start(chain(1)), start(chain(_NODES)), start(chain(_NODES), os.path.join(folder, "ort"))
        for session in (short, long, watched):
            session.run(None, feed)
        plain, until = [], nanoseconds() + _BUDGET_NS
        while len(plain) < _ROUNDS and (len(plain) < _LEAST_ROUNDS or nanoseconds() < until):
            disturb()
            whole = _timed(long, feed)
            disturb()
            plain.append((whole - _timed(short, feed)) / float(_NODES - 1))
            disturb()
            watched.run(None, feed)
        with open(watched.end_profiling(), "rb") as file:
            events = json.loads(file.read().decode("utf-8", "replace"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    told = [event["dur"] for event in events if event.get("name", "").endswith("_kernel_time")][_NODES:]
    # Without the first node, as the short chain is its like: what beginning costs is in neither.
    rest = [told[at + 1 : at + _NODES] for at in range(0, len(told) - _NODES + 1, _NODES)]
    runs = [sum(each) * 1000.0 / len(each) for each in rest]
    return max(0, int(_median(runs) - _median(plain))) if runs else 0


def chain(nodes):
    """A model of so many nodes, each of which adds what the one before gave to itself, twice: three inputs, as many as
    a convolution has. ModelProto: ir_version 1, graph 7, opset_import 8; GraphProto: node 1, name 2, input 11,
    output 12."""
    graph = write(2, "chain")
    for number in range(nodes):
        own = "x%d" % number
        graph += write(1, 3 * write(1, own) + write(2, "x%d" % (number + 1)) + write(3, own) + write(4, "Sum"))
    graph += write(11, _value("x0")) + write(12, _value("x%d" % nodes))
    return write(1, _IR) + write(7, graph) + write(8, write(2, _OPERATORS))


def _value(name):
    shape = 4 * write(1, write(1, 1))
    return write(1, name) + write(2, write(1, write(1, _FLOAT) + write(2, shape)))


def _timed(session, feed):
    start = nanoseconds()
    session.run(None, feed)
    return nanoseconds() - start


def _median(values):
    return sorted(values)[len(values) // 2]

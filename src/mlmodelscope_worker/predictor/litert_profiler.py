"""What LiteRT's operators cost. Its Python has no profiler, its C interface has one, which this asks.

That interface promises nothing, so it is asked in a process of its own: where it has changed, that process dies alone.
"""

import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from ..clock import nanoseconds
from .predictor import Layer, NotSupported, Profile

_TYPES = {"float32": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9, "float16": 10}
_CPU, _HOST_MEMORY, _WRITE = 1, 1, 1
_ROUNDED_OFF_NS = 500
_ROW = re.compile(r"^\s*(\S.*?)\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+([\d.]+)%\s+[\d.]+%\s+[\d.]+\s+\d+\s+(\S.*)$")
_START = (
    "import sys; sys.path.insert(0, sys.argv[1])\n"
    "from mlmodelscope_worker.predictor.litert_profiler import main\n"
    "main(*sys.argv[2:])"
)


def profile_runs(path, threads, xnnpack, tensor, answers, runs, between):
    """A Profile for each of some runs of the model in this file, asked this tensor, to which these were its answers."""
    import numpy as np

    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with tempfile.TemporaryDirectory(prefix="mlmodelscope-profile-") as folder:
        np.save(os.path.join(folder, "input.npy"), tensor)
        with open(os.path.join(folder, "answers.json"), "w") as file:
            json.dump([[answer.dtype.name, list(answer.shape), answer.nbytes] for answer in answers], file)
        command = [sys.executable, "-c", _START, root, path, str(threads), "xnnpack" if xnnpack else "builtin", folder]
        with open(os.path.join(folder, "log"), "wb") as log:
            child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log)
        try:
            profiles, totals = [], None
            for number in range(runs):
                between()
                said = _ask(child, folder, number)
                before, totals = totals, _totals(said["summary"])
                profiles.append(Profile(_layers(totals, before), said["call_ns"]))
        except _Ended:
            with open(os.path.join(folder, "log"), "rb") as log:
                last = log.read().decode("utf-8", "replace").strip().split("\n")[-1]
            raise NotSupported(
                "this LiteRT's profiler does not answer: %s" % (last or "it ended with %s" % child.returncode)
            )
        finally:
            child.stdin.close()
            child.wait()
    for each in profiles:
        # XNNPACK and LiteRT keep whole microseconds, rounded down.
        each.correct(_ROUNDED_OFF_NS, "added to each layer, which is what LiteRT rounds off on average")
    return profiles


class _Ended(Exception):
    pass


def _ask(child, folder, number):
    """What one profiled run told; the answer is a file that is there when it is complete."""
    told = os.path.join(folder, "run-%d.json" % number)
    try:
        child.stdin.write(b"run\n")
        child.stdin.flush()
    except (IOError, OSError):
        child.wait()
        raise _Ended
    while not os.path.exists(told):
        if child.poll() is not None and not os.path.exists(told):
            raise _Ended
        time.sleep(0.0005)
    with open(told) as file:
        return json.load(file)


def _totals(summary):
    """[(kind, name, nanoseconds of all runs so far)] of the first table, which is in the order of execution.

    Times there are means, rounded; a layer's share of the sum of all is told more exactly.
    """
    whole = re.search(r"^Timings \(microseconds\): count=\d+ curr=(\d+)", summary, re.MULTILINE)
    rows = []
    for line in summary.split("Run Order", 1)[-1].split("====\n", 1)[-1].split("\n\n")[0].splitlines():
        row = _ROW.match(line)
        if row and whole:
            kind, share, name = row.groups()
            kind = kind[len("Delegate/") :] if kind.startswith("Delegate/") else kind
            rows.append((kind, name, float(share) / 100 * int(whole.group(1)) * 1000))
    return rows


def _layers(totals, before):
    """The layers of the last run: what was added to each total."""
    known = [total for _, _, total in before] if before else [0] * len(totals)
    return [Layer(name, kind, max(0, round(total - old))) for (kind, name, total), old in zip(totals, known)]


class _TensorType(ctypes.Structure):
    _fields_ = [
        ("element_type", ctypes.c_int32),
        ("rank", ctypes.c_uint32),
        ("sizes", ctypes.c_int32 * 8),
        ("strides", ctypes.c_void_p),
    ]


class _Library(object):
    """Its functions, each raising where it answers with another status than 0."""

    def __init__(self):
        import ai_edge_litert

        self._library = ctypes.CDLL(os.path.join(os.path.dirname(ai_edge_litert.__file__), "libLiteRt.so"))

    def __call__(self, name, *arguments):
        status = getattr(self._library, "LiteRt" + name)(*arguments)
        if status != 0:
            raise RuntimeError("LiteRt%s answered with status %d" % (name, status))

    def make(self, name, *arguments):
        """What a function hands out through its last argument."""
        made = ctypes.c_void_p()
        self(name, *(arguments + (ctypes.byref(made),)))
        return made


def main(path, threads, kernels, folder):
    """In the process of its own: for each line that comes, run the model and write LiteRT's summary to the folder."""
    import numpy as np

    tensor = np.load(os.path.join(folder, "input.npy"))
    with open(os.path.join(folder, "answers.json")) as file:
        answers = json.load(file)
    call, zero = _Library(), ctypes.c_size_t(0)
    environment = call.make("CreateEnvironment", ctypes.c_int(0), None)
    model = call.make("CreateModelFromFile", environment, path.encode("utf-8"))
    options = call.make("CreateOptions")
    call("SetOptionsHardwareAccelerators", options, ctypes.c_int(_CPU))
    system = ctypes.CDLL(None)
    system.strdup.restype = ctypes.c_void_p
    for identifier, text in (
        (b"runtime_options_string", b"enable_profiling = true\n"),
        (b"xnnpack", ('num_threads = %s\nkernel_mode = "%s"\n' % (threads, kernels)).encode("ascii")),
    ):
        content = ctypes.c_void_p(system.strdup(text))  # LiteRT frees it
        call("AddOpaqueOptions", options, call.make("CreateOpaqueOptions", identifier, content, system.free))
    compiled = call.make("CreateCompiledModel", environment, model, options)
    sizes = (ctypes.c_int32 * tensor.ndim)(*tensor.shape)
    call("CompiledModelResizeInputTensor", compiled, zero, zero, sizes, ctypes.c_size_t(tensor.ndim))
    profiler = call.make("CompiledModelGetProfiler", compiled)

    def buffer(what, place, described):
        """A buffer for the input or output at a place, which is the one of these that has its size."""
        needed = call.make("GetCompiledModel%sBufferRequirements" % what, compiled, zero, ctypes.c_size_t(place))
        size = ctypes.c_size_t()
        call("GetTensorBufferRequirementsBufferSize", needed, ctypes.byref(size))
        name, shape, count = next((each for each in described if each[2] == size.value), described[place])
        kind = _TensorType(_TYPES[name], len(shape), (ctypes.c_int32 * 8)(*shape), None)
        return call.make(
            "CreateManagedTensorBuffer", environment, _HOST_MEMORY, ctypes.byref(kind), ctypes.c_size_t(count)
        )

    question = buffer("Input", 0, [[tensor.dtype.name, list(tensor.shape), tensor.nbytes]])
    memory = ctypes.c_void_p()
    call("LockTensorBuffer", question, ctypes.byref(memory), ctypes.c_int(_WRITE))
    ctypes.memmove(memory, tensor.ctypes.data, tensor.nbytes)
    call("UnlockTensorBuffer", question)
    layouts = (ctypes.c_byte * (64 * len(answers)))()
    call("GetCompiledModelOutputTensorLayouts", compiled, zero, ctypes.c_size_t(len(answers)), layouts, True)
    replies = [buffer("Output", place, answers) for place in range(len(answers))]
    held = (ctypes.c_void_p * 1)(question), (ctypes.c_void_p * len(replies))(*replies)
    ask = "RunCompiledModel", compiled, zero, ctypes.c_size_t(1), held[0], ctypes.c_size_t(len(replies)), held[1]
    call(*ask)  # the first one also prepares kernels
    number = 0
    while sys.stdin.readline():
        call(*ask)  # what ran before, in the other process, has left caches full of something else
        call("StartProfiler", profiler)
        start = nanoseconds()
        call(*ask)
        call_ns = nanoseconds() - start
        call("StopProfiler", profiler)
        summary = ctypes.c_char_p()
        call("GetProfileSummary", profiler, compiled, ctypes.byref(summary))
        call("ResetProfiler", profiler)  # else the summary is that of the first run for ever; its totals go on
        place = os.path.join(folder, "run-%d.json" % number)
        with open(place + ".part", "w") as file:
            json.dump({"summary": summary.value.decode("utf-8", "replace"), "call_ns": call_ns}, file)
        os.rename(place + ".part", place)
        number += 1
    sys.stdout.flush()
    os._exit(0)  # nothing that is torn down in the wrong order can spoil what is written

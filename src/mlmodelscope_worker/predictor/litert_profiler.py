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
_ZERO = ctypes.c_size_t(0)
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


class _Model(object):
    """A model that is compiled with LiteRT's profiler, and the buffers of its tensors."""

    def __init__(self, path, threads, kernels, tensor, answers):
        self._call = call = _Library()
        self._environment = call.make("CreateEnvironment", ctypes.c_int(0), None)
        model = call.make("CreateModelFromFile", self._environment, path.encode("utf-8"))
        self._compiled = call.make("CreateCompiledModel", self._environment, model, self._options(threads, kernels))
        sizes = (ctypes.c_int32 * tensor.ndim)(*tensor.shape)
        call("CompiledModelResizeInputTensor", self._compiled, _ZERO, _ZERO, sizes, ctypes.c_size_t(tensor.ndim))
        self._profiler = call.make("CompiledModelGetProfiler", self._compiled)
        question = self._fill(tensor)
        layouts = (ctypes.c_byte * (64 * len(answers)))()
        count = ctypes.c_size_t(len(answers))
        call("GetCompiledModelOutputTensorLayouts", self._compiled, _ZERO, count, layouts, True)
        replies = [self._buffer("Output", place, answers) for place in range(len(answers))]
        held = (ctypes.c_void_p * 1)(question), (ctypes.c_void_p * len(replies))(*replies)
        given = _ZERO, ctypes.c_size_t(1), held[0], ctypes.c_size_t(len(replies)), held[1]
        self._run = ("RunCompiledModel", self._compiled) + given

    def _options(self, threads, kernels):
        call = self._call
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
        return options

    def _buffer(self, what, place, described):
        """A buffer for the input or output at a place, which is the one of these that has its size."""
        call, at = self._call, ctypes.c_size_t(place)
        needed = call.make("GetCompiledModel%sBufferRequirements" % what, self._compiled, _ZERO, at)
        size = ctypes.c_size_t()
        call("GetTensorBufferRequirementsBufferSize", needed, ctypes.byref(size))
        name, shape, count = next((each for each in described if each[2] == size.value), described[place])
        kind = _TensorType(_TYPES[name], len(shape), (ctypes.c_int32 * 8)(*shape), None)
        given = _HOST_MEMORY, ctypes.byref(kind), ctypes.c_size_t(count)
        return call.make("CreateManagedTensorBuffer", self._environment, *given)

    def _fill(self, tensor):
        """The input's buffer, with the tensor in it."""
        question = self._buffer("Input", 0, [[tensor.dtype.name, list(tensor.shape), tensor.nbytes]])
        memory = ctypes.c_void_p()
        self._call("LockTensorBuffer", question, ctypes.byref(memory), ctypes.c_int(_WRITE))
        ctypes.memmove(memory, tensor.ctypes.data, tensor.nbytes)
        self._call("UnlockTensorBuffer", question)
        return question

    def run(self):
        self._call(*self._run)

    def profile(self):
        """LiteRT's summary of one run, and how long it took."""
        call = self._call
        call("StartProfiler", self._profiler)
        start = nanoseconds()
        self.run()
        call_ns = nanoseconds() - start
        call("StopProfiler", self._profiler)
        summary = ctypes.c_char_p()
        call("GetProfileSummary", self._profiler, self._compiled, ctypes.byref(summary))
        call("ResetProfiler", self._profiler)  # else the summary is that of the first run for ever; its totals go on
        return {"summary": summary.value.decode("utf-8", "replace"), "call_ns": call_ns}


def main(path, threads, kernels, folder):
    """In the process of its own: for each line that comes, run the model and write LiteRT's summary to the folder."""
    import numpy as np

    tensor = np.load(os.path.join(folder, "input.npy"))
    with open(os.path.join(folder, "answers.json")) as file:
        answers = json.load(file)
    model = _Model(path, threads, kernels, tensor, answers)
    model.run()  # the first one also prepares kernels
    number = 0
    while sys.stdin.readline():
        model.run()  # what ran before, in the other process, has left caches full of something else
        told = model.profile()
        place = os.path.join(folder, "run-%d.json" % number)
        with open(place + ".part", "w") as file:
            json.dump(told, file)
        os.rename(place + ".part", place)
        number += 1
    sys.stdout.flush()
    os._exit(0)  # nothing that is torn down in the wrong order can spoil what is written

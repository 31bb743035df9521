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

from .predictor import Layer, NotSupported

_TYPES = {"float32": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9, "float16": 10}
_CPU, _HOST_MEMORY, _WRITE = 1, 1, 1
_RUNS = 10
_ROW = re.compile(r"^\s*(\S.*?)\s+[\d.]+\s+[\d.]+\s+([\d.]+)\s+[\d.]+%\s+[\d.]+%\s+[\d.]+\s+\d+\s+(\S.*)$")
_START = (
    "import sys; sys.path.insert(0, sys.argv[1])\n"
    "from mlmodelscope_worker.predictor.litert_profiler import main\n"
    "main(*sys.argv[2:])"
)


def profile(path, threads, xnnpack, tensor, answers):
    """Layers of the model in this file, asked this tensor, to which these were its answers."""
    import numpy as np

    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with tempfile.TemporaryDirectory(prefix="mlmodelscope-profile-") as folder:
        np.save(os.path.join(folder, "input.npy"), tensor)
        with open(os.path.join(folder, "answers.json"), "w") as file:
            json.dump([[answer.dtype.name, list(answer.shape), answer.nbytes] for answer in answers], file)
        command = [sys.executable, "-c", _START, root, path, str(threads), "xnnpack" if xnnpack else "builtin", folder]
        with open(os.path.join(folder, "log"), "wb") as log:
            ended = subprocess.call(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        told = os.path.join(folder, "summary.txt")
        if ended != 0 or not os.path.exists(told):
            with open(os.path.join(folder, "log"), "rb") as log:
                last = log.read().decode("utf-8", "replace").strip().split("\n")[-1]
            raise NotSupported("this LiteRT's profiler does not answer: %s" % (last or "it ended with %d" % ended))
        with open(told) as file:
            return _layers(file.read())


def _layers(summary):
    """The rows of the first table, which are in the order of execution."""
    rows = []
    for line in summary.split("Run Order", 1)[-1].split("====\n", 1)[-1].split("\n\n")[0].splitlines():
        row = _ROW.match(line)
        if row:
            rows.append(row.groups())
    kinds = [kind for kind, _, _ in rows]
    layers = []
    for kind, milliseconds, name in rows:
        spent = float(milliseconds) * 1e6
        total = re.search("^" + re.escape(kind) + r"\s+\d+\s+[\d.]+\s+\d+\s+\d+\s+(\d+)$", summary, re.MULTILINE)
        if total and kinds.count(kind) == 1:  # the other table has what the first one rounds to a microsecond
            spent = int(total.group(1)) * 1e3 / _RUNS
        layers.append(Layer(name, kind[len("Delegate/") :] if kind.startswith("Delegate/") else kind, round(spent)))
    return layers


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
    """In the process of its own: run the model and write LiteRT's summary to the folder."""
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
    for run in range(_RUNS + 1):
        if run == 1:  # the first one also prepares kernels
            call("StartProfiler", profiler)
        call("RunCompiledModel", compiled, zero, ctypes.c_size_t(1), held[0], ctypes.c_size_t(len(replies)), held[1])
    call("StopProfiler", profiler)
    summary = ctypes.c_char_p()
    call("GetProfileSummary", profiler, compiled, ctypes.byref(summary))
    with open(os.path.join(folder, "summary.txt"), "wb") as file:
        file.write(summary.value)
    sys.stdout.flush()
    os._exit(0)  # nothing that is torn down in the wrong order can spoil what is written

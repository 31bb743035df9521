"""Microsoft Cognitive Toolkit 2.x, models in its own format (.dnn or .model).

The last release wants Python 3.6, the module `pip`, and OpenMPI 1.10's libraries by the names libmpi.so.12 and
libmpi_cxx.so.1: links of these names to a newer OpenMPI, found through LD_LIBRARY_PATH, will do for one process.
"""

from ..clock import nanoseconds
from ..parameters import Integer
from .build import tells_build
from .device import Device, choose
from .predictor import Layer, ModelError, Predictor, Tensor, predictor

_REPEATS = 3
_THREADS = []


@predictor(packages=("cntk", "cntk-gpu"), versions=">=2.6")
def cntk(
    files,
    *,
    threads: Integer(
        "Threads inside one operator; CNTK takes no more than there are cores.", at_least=1, at_most=4096
    ) = 1,
    device: Device() = "cpu",
):
    """CNTK models."""
    try:
        import cntk as C
    except ImportError as error:
        if "libmpi" in str(error):
            raise ModelError(
                "CNTK finds no OpenMPI 1.10 (%s); libmpi.so.12 and libmpi_cxx.so.1 may be links to a newer OpenMPI's "
                "libmpi.so.40 and libmpi_cxx.so.40, in a folder that LD_LIBRARY_PATH names" % error
            )
        raise
    if not _THREADS:
        _THREADS.append(threads)
        C.cntk_py.set_max_num_cputhreads(threads)
    elif _THREADS[0] != threads:  # CNTK 2.7 divides by zero, and dies of it, when they change after a first evaluation
        raise ModelError("CNTK sets its threads once in a process: here to %d, not to %d" % (_THREADS[0], threads))
    gpus = [each for each in C.device.all_devices() if each.type() == C.device.DeviceKind.GPU]
    family, number = choose("CNTK %s" % C.__version__, device, {"cpu": 1, "cuda": len(gpus)})
    where = gpus[number] if family == "cuda" else C.device.cpu()
    try:
        with open(files["graph"], "rb"):
            pass
        return CNTK(C, C.Function.load(files["graph"], device=where), where)
    except OSError as error:
        raise ModelError("the model cannot be read: %s" % (error.strerror or error))
    except (RuntimeError, ValueError) as error:
        raise ModelError("CNTK %s cannot load the model: %s" % (C.__version__, str(error).strip().split("\n")[0]))


class CNTK(Predictor):
    def __init__(self, C, function, device):
        self._C = C
        self._function = function
        self._device = device
        self._arguments = list(function.arguments)
        self._results = list(function.outputs)
        if not self._arguments:
            raise ModelError("the model takes no input")
        self.inputs = [_describe(variable) for variable in self._arguments]
        self.outputs = [_describe(variable) for variable in self._results]

    def run(self, tensors):
        answers = self._function.eval(dict(zip(self._arguments, tensors)), device=self._device)
        return [answers] if len(self._results) == 1 else [answers[variable] for variable in self._results]

    def intermediates(self, tensors):
        functions = [each for each in _in_order(self._function) if len(each.outputs) == 1]
        combined = self._C.combine([each.output for each in functions])
        answers = combined.eval(self._feed(combined, tensors), device=self._device)
        if not isinstance(answers, dict):
            answers = {functions[0].output: answers}
        by_place = {variable.uid: value for variable, value in answers.items()}
        return {each.name or each.uid: by_place[each.output.uid] for each in functions}

    def profile(self, tensors):
        """CNTK's own profiler says nothing of evaluation, so: how much longer does the model take with one layer more?

        What a layer is said to take is thus a difference, at least 0, and as exact as the clock and the machine are.
        """
        functions = [each for each in _in_order(self._function) if len(each.outputs) == 1]
        # The call itself, and the way of the question into CNTK, belong to no layer.
        before = self._duration_ns([self._C.alias(argument) for argument in self._arguments], tensors)
        layers = []
        for place, function in enumerate(functions):
            until = self._duration_ns(functions[: place + 1], tensors)
            layers.append(Layer(function.name or function.uid, function.op_name, max(0, until - before)))
            before = max(before, until)
        return layers

    def _duration_ns(self, functions, tensors):
        combined = self._C.combine([each.output for each in functions])
        feed = self._feed(combined, tensors)
        combined.forward(feed, device=self._device, as_numpy=False)  # compiles it
        shortest = None
        for _ in range(_REPEATS):
            start = nanoseconds()
            combined.forward(feed, device=self._device, as_numpy=False)
            spent = nanoseconds() - start
            shortest = spent if shortest is None else min(shortest, spent)
        return shortest

    def _feed(self, function, tensors):
        given = {argument.uid: tensor for argument, tensor in zip(self._arguments, tensors)}
        return {argument: given[argument.uid] for argument in function.arguments if argument.uid in given}

    def close(self):
        self._function = None
        self._arguments = self._results = ()


def _describe(variable):
    sizes = [size if size > 0 else None for size in variable.shape]
    return Tensor(variable.name or variable.uid, variable.dtype.__name__, [None] * len(variable.dynamic_axes) + sizes)


def _in_order(function):
    """The functions that a model is made of, each after those that it takes something from."""
    ordered, seen, waiting = [], set(), [(function.root_function, False)]
    while waiting:
        each, ready = waiting.pop()
        if ready:
            if each.op_name != "Combine":
                ordered.append(each)
        elif each.uid not in seen:
            seen.add(each.uid)
            waiting.append((each, True))
            waiting.extend((source.owner, False) for source in reversed(each.inputs) if source.is_output)
    return ordered


@tells_build("cntk", "cntk")
def _build():
    import cntk as C

    return {"version": C.__version__, "options": [str(each) for each in C.device.all_devices()]}

"""What every framework looks like from outside: one life (open, run, close), one set of errors."""

import importlib

from ..clock import nanoseconds
from ..parameters import Declaration
from ..registry import add
from .passed import Passed

OURS = (
    "caffe",
    "caffe2",
    "cntk",
    "fake",
    "jax",
    "lightgbm",
    "llama_cpp",
    "mxnet",
    "ncnn",
    "ngram",
    "onnxruntime",
    "openai",
    "opencv",
    "openvino",
    "pytorch",
    "recorded",
    "remote",
    "sklearn",
    "tensorflow",
    "tensorrt",
    "tflite",
    "transformers",
    "xgboost",
)
"""Each is in the module of its name."""


class _Predictors(dict):
    """Declarations by name. One of ours is imported when it is asked for: a worker needs one of them, the host few."""

    def __missing__(self, name):
        if name in OURS:
            importlib.import_module("%s.%s" % (__package__, name))
        if name not in self:
            raise KeyError(name)
        return self[name]


PREDICTORS = _Predictors()

COPY_IN, RUN, COPY_OUT = "copy to device", "run", "copy from device"


class ModelError(ValueError):
    """The model cannot be loaded, or is not what the manifest says it is."""


class NotSupported(ModelError):
    """The framework, or this release of it, cannot do this."""


class Lost(ModelError):
    """Nothing can be answered any more, whatever is asked; another worker may be more lucky."""


class Layer(object):
    """One executed layer or operator, as the framework names it.

    `inside` are the calls that it made, each a Layer too, where a framework shows them; `lane` is where one of those
    ran, such as a stream of a device, where that is not the thread that called. `inputs` are the shapes of all that it
    takes, weights included, and `outputs` those of what it gives, both of `element_type`, and `moved_bytes` the size of
    them all where the framework tells it or their types differ; `flops` are what the framework itself counts; `more` is
    what only some of them have, such as the grid of a kernel, by its name. What nobody tells is left out.
    """

    def __init__(
        self,
        name,
        kind,
        duration_ns,
        shapes=(),
        start_ns=None,
        memory_bytes=None,
        inside=(),
        lane=None,
        inputs=(),
        outputs=(),
        element_type=None,
        flops=None,
        moved_bytes=None,
        more=None,
    ):
        self.name = name
        self.kind = kind
        self.duration_ns = int(duration_ns)
        self.start_ns = start_ns
        self.shapes = [list(shape) for shape in shapes]
        self.memory_bytes = memory_bytes
        self.inside = list(inside)
        self.lane = lane
        self.inputs = [list(shape) for shape in inputs]
        self.outputs = [list(shape) for shape in outputs]
        self.element_type = element_type
        self.flops = flops
        self.moved_bytes = moved_bytes
        self.more = dict(more or {})

    def describe(self):
        return {
            "name": self.name,
            "kind": self.kind,
            "duration_ns": self.duration_ns,
            "start_ns": self.start_ns,
            "shapes": self.shapes,
        }


class Profile(list):
    """The layers of one call. `call_ns` is how long that call took, `start_ns` when it began by the layers' own clock;
    None where nobody knows."""

    def __init__(self, layers, call_ns=None, start_ns=None):
        list.__init__(self, layers)
        self.call_ns = call_ns
        self.start_ns = start_ns
        self.note = None

    def correct(self, each_ns, why):
        """Add so many nanoseconds to each layer, or take them off; what the framework told is kept as `raw_ns`."""
        if not each_ns:
            return
        for layer in self:
            layer.more["raw_ns"] = layer.duration_ns
            layer.duration_ns = max(0, layer.duration_ns + each_ns)
        self.note = "%.1f µs %s" % (abs(each_ns) / 1e3, why)


class Steps(list):
    """What one call is made of that others are made in, such as the first look at a prompt and each token behind it:
    [(name, Profile)]. `note` is as that of a Profile."""

    note = None

    @property
    def call_ns(self):
        spent = [profile.call_ns for _, profile in self]
        return None if None in spent else sum(spent)


class PredictorDeclaration(Declaration):
    """The function that opens a model, and the distributions that bring its framework."""

    def __init__(self, function, packages, where, versions=None):
        Declaration.__init__(self, function)
        if isinstance(packages, str) or isinstance(where, str):
            raise TypeError("`packages` and `where` of `%s` are lists of names, not one name" % self.name)
        if not isinstance(versions, (str, dict, type(None))) or set(versions if isinstance(versions, dict) else ()) - (
            set(packages)
        ):
            raise TypeError("`versions` of `%s` is a constraint, or a mapping of its packages to theirs" % self.name)
        self.packages = tuple(packages)
        self.where = tuple(where)
        self.versions = versions


def predictor(packages, where=(), versions=None):
    """Register a function `framework(files, *, option: Kind(...) = default, ...)` that opens a Predictor.

    `packages` are the distributions that bring the framework, the first that is installed counts. `where` names the
    options that say where and how long, such as an address: no answer depends on them. `versions` says which releases
    the predictor runs, as a constraint such as `>=1.12`, or as one for each package: others are refused before a stack
    is built for them.
    """

    def register(function):
        declaration = PredictorDeclaration(function, packages, where, versions)
        add(PREDICTORS, declaration.name, declaration, Declaration.code)
        return function

    return register


class Tensor(object):
    """Name, element type and shape of an input or output.

    None stands for a size that the model leaves open, or for the whole shape where it leaves even the rank open.
    """

    def __init__(self, name, element_type, shape):
        self.name = name
        self.element_type = element_type
        self.shape = None if shape is None else tuple(shape)

    def describe(self):
        shape = None if self.shape is None else list(self.shape)
        return {"name": self.name, "element_type": self.element_type, "shape": shape}


def no_call():
    pass


class Predictor(object):
    """A loaded model. Subclasses set `inputs` and `outputs` and implement `run`; the checks are here, once.

    `concurrent` says whether several threads may call `run` at the same time.
    """

    concurrent = False
    inputs = ()
    outputs = ()
    profiler_stays = False
    """Whether calls are slower for good once a profiler was started: NVIDIA's library stays between, and is in each."""
    outputs_last = False
    """Whether arrays that `run` gave keep their values when it is called again."""
    server = None
    """What a server that answers in our place says of itself."""
    _taken = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        pass

    def run(self, tensors):
        """The framework's own call and nothing else, which is what is timed: arrays in, arrays out."""
        raise NotImplementedError

    def parts(self):
        """What `run` is made of, [(name, function)]: each takes what the one before gave, and is done when it returns.

        On a device of its own a model has three, `COPY_IN`, `RUN` and `COPY_OUT`. Waiting between them takes longer
        than `run` does, which waits once: they are for looking, not for the latency.
        """
        return [(RUN, self.run)]

    def run_in_parts(self, tensors):
        """(what `run` answers, [(name, start_ns, end_ns)] of its parts)."""
        value, spans = tensors, []
        for name, part in self.parts():
            start = nanoseconds()
            value = part(value)
            spans.append((name, start, nanoseconds()))
        return value, spans

    def profile(self, tensors):
        """Layers in the order of their execution, each a `Layer`; where the framework must be opened anew to tell,
        that happens here, so that nothing of it is there when `run` is timed."""
        raise NotSupported("this framework's layers cannot be profiled here")

    def profile_runs(self, tensors, runs, between=no_call):
        """A `Profile` for each of several calls; overridden where one opening serves them all.

        `between` is called before each of them and makes a plain call, so that both see the same machine: what comes
        after it must run once unseen, or it would find caches that are full of something else. Where a framework
        tells no more than the mean of several calls, there is one Profile.
        """
        profiles = []
        for _ in range(runs):
            between()
            profile = self.profile(tensors)
            profiles.append(profile if isinstance(profile, Profile) else Profile(profile))
        return profiles

    def first_profile(self, tensors):
        """A `Profile` of the very first call, in a process that has made none: nothing is warmed up for it."""
        raise NotSupported("this framework's profiler cannot see the first call of a process: it makes calls before")

    def library_runs(self, tensors, runs, between=no_call):
        """The same with what the layers call: operators of a library, kernels of a device, in `Layer.inside`."""
        raise NotSupported("what this framework's layers call cannot be seen here")

    def profile_calls(self, use):
        """A Profile of each call that `use(run)` makes, in order; `run` takes tensors as our own method does."""
        raise NotSupported("this framework's layers cannot be profiled call by call here")

    def intermediates(self, tensors):
        """{name: array} of what the layers pass on, by the framework's own names."""
        raise NotSupported("this framework's intermediate outputs cannot be had here")

    def kinds(self):
        """{name: kind} of the layers whose tensors `intermediates` names, where the framework tells."""
        return {}

    def attributes(self):
        """{name: what a layer was told, as numbers, words and lists of them, by the framework's names}, as `kinds`."""
        return {}

    def ends(self):
        """{name of an output: name of the layer that makes it}, after the layers were read, where names differ."""
        return {}

    def layers(self, tensors):
        """The same one by one, as `Passed`, in the order of execution. A framework that can forget a tensor as soon as
        no later layer needs it overrides this: all of them together may be many times as large as the model."""
        found = self.intermediates(tensors)
        kinds, attributes = self.kinds(), self.attributes()
        for name in list(found):
            yield Passed(name, found.pop(name), kinds.get(name, ""), attributes=attributes.get(name, ()))

    def pieces(self):
        """(the model as nodes that can be run alone, what opens a model made of some of them)."""
        raise NotSupported("this framework cannot run a layer of the model alone here")

    def graph(self):
        """The model's file as nodes with weights, where it can be taken apart, whether or not they run alone."""
        return self.pieces()[0]

    def check(self, tensors):
        """Refuse tensors that the model does not take, before the framework sees them."""
        kinds = [(tensor.dtype, tensor.shape) for tensor in tensors]
        if kinds == self._taken:  # most calls are like the one before, and naming a type takes longer than some models
            return
        if len(tensors) != len(self.inputs):
            raise ModelError("the model takes %d inputs, not %d" % (len(self.inputs), len(tensors)))
        for tensor, expected in zip(tensors, self.inputs):
            if tensor.dtype.name != expected.element_type:
                raise ModelError(
                    "input `%s` takes %s, the tensor is %s" % (expected.name, expected.element_type, tensor.dtype.name)
                )
            if not fits(tensor.shape, expected.shape):
                raise ModelError(
                    "input `%s` takes the shape %s, the tensor has %s%s"
                    % (
                        expected.name,
                        spell_shape(expected.shape),
                        spell_shape(tensor.shape),
                        _layout_hint(tensor.shape, expected.shape),
                    )
                )
        self._taken = kinds


def fits(shape, expected):
    if expected is None:
        return True
    return len(shape) == len(expected) and all(want is None or have == want for have, want in zip(shape, expected))


def spell_shape(shape):
    return "[%s]" % ", ".join("?" if size is None else str(size) for size in shape)


def _layout_hint(shape, expected):
    if len(shape) == 4 and len(expected) == 4:
        if fits((shape[0], shape[3], shape[1], shape[2]), expected):
            return "; it is NHWC and the model looks like NCHW: end the processing with `layout: NCHW`"
        if fits((shape[0], shape[2], shape[3], shape[1]), expected):
            return "; it is NCHW and the model looks like NHWC: end the processing with `layout: NHWC`"
    return ""


def pick(tensors, reference, what):
    """The position of a tensor by its name, its index, or because it is the only one.

    YAML reads a bare `495` as a number though it may be a layer's name: a name that is written like this comes first.
    """
    names = [tensor.name for tensor in tensors]
    if reference is None:
        if len(tensors) == 1:
            return 0
        raise ModelError(
            "the model has %d %ss: name one of %s with `layer_name`" % (len(tensors), what, ", ".join(names))
        )
    if str(reference) in names:
        return names.index(str(reference))
    if isinstance(reference, int):
        if 0 <= reference < len(tensors):
            return reference
        raise ModelError(
            "the model has %d %ss, there is no number %d; it has %s" % (len(tensors), what, reference, ", ".join(names))
        )
    raise ModelError("the model has no %s `%s`; it has %s" % (what, reference, ", ".join(names)))

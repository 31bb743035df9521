"""Apache MXNet 1.x: a symbol (JSON) and its parameters, run through CachedOp, which is what Gluon calls.

A known defect, avoided here: MXNet's MKLDNN subgraph backend, its default for `bind`, fuses a convolution with what
follows even where something else needs the convolution's own output too: another layer, or the caller. Both then get
the same tensor, and what follows from it is wrong (seen in 1.9.1: a ReLU's output was the convolution before it, and
the softmax behind it wrong by 0.97). So fusion is off unless it is asked for, is never on for `intermediates`, and is
tried out on noise before it is used.
"""

import atexit
import json
import os
import shutil
import sys
import tempfile
import threading

from ..parameters import Choice, Integer
from .build import tells_build
from .device import Device, choose
from .predictor import Layer, ModelError, Predictor, Tensor, predictor

_TYPES = {
    "0": "float32",
    "1": "float64",
    "2": "float16",
    "3": "uint8",
    "4": "int32",
    "5": "int8",
    "6": "int64",
    "7": "bool",
}
_WEIGHT_ENDS = ("_weight", "_bias", "_gamma", "_beta")
_NOT_LAYERS = ("DeleteVariable", "WaitForVar", "SetupPool", "CopyCPU2CPU", "ResourceRandomSetSeed")
_PROFILE = []


@predictor(
    packages=("mxnet", "mxnet-cu112", "mxnet-cu110", "mxnet-cu102", "mxnet-cu101", "mxnet-mkl"), versions=">=1.4 <2"
)
def mxnet(
    files,
    *,
    threads: Integer("Threads inside one operator.", at_least=1, at_most=4096) = 1,
    device: Device() = "cpu",
    subgraph_backend: Choice(
        "Which backend fuses operators beforehand; models that MKLDNN computes wrongly are refused.", "none", "MKLDNN"
    ) = "none",
):
    """MXNet symbols with parameters."""
    if "mxnet" not in sys.modules:  # OpenMP reads it once, when the library is loaded
        os.environ["OMP_NUM_THREADS"] = str(threads)
    import mxnet as mx

    mx.base.check_call(mx.base._LIB.MXSetNumOMPThreads(threads))
    family, number = choose("MXNet %s" % mx.__version__, device, {"cpu": 1, "cuda": _count_gpus(mx)})
    try:
        symbol = mx.sym.load(files["graph"])
        symbol.list_outputs()
    except Exception as error:  # an empty file is a UnicodeDecodeError, most others are its own
        raise ModelError("MXNet %s cannot load the symbol: %s" % (mx.__version__, _words(error)))
    if "weights" not in files:
        raise ModelError("MXNet needs two files: the symbol as `graph` and the parameters as `weights`")
    try:
        stored = mx.nd.load(files["weights"])
    except Exception as error:
        raise ModelError("MXNet %s cannot load the parameters: %s" % (mx.__version__, _words(error)))
    if stored and not isinstance(stored, dict):
        raise ModelError("MXNet %s: the parameters have no names" % mx.__version__)
    context = mx.gpu(number) if family == "cuda" else mx.cpu()
    # A name may be stored with its kind before it: `arg:conv_weight`, `aux:bn_moving_mean`.
    weights = {name.split(":", 1)[-1]: value.as_in_context(context) for name, value in dict(stored).items()}
    mx.nd.waitall()  # moving the weights is part of loading
    try:
        model = MXNet(mx, symbol, weights, context)
        if subgraph_backend != "none":
            model.fuse(subgraph_backend)
            model.try_fusion(subgraph_backend)
        return model
    except mx.base.MXNetError as error:
        raise ModelError("MXNet %s cannot use the model: %s" % (mx.__version__, _words(error)))


def _count_gpus(mx):
    try:
        return mx.context.num_gpus()
    except mx.base.MXNetError:  # a build with CUDA, and no driver
        return 0


def can_fuse(mx):
    """1.7 and 1.8 have the function, which takes other arguments and loses outputs."""
    return [int(part) for part in mx.__version__.split(".")[:2]] >= [1, 9]


class MXNet(Predictor):
    def __init__(self, mx, symbol, weights, context):
        self._mx = mx
        self._context = context
        self._symbol = self._plain = symbol
        self._weights = weights
        labels = _labels(symbol)
        absent = [name for name in symbol.list_inputs() if name not in weights and name not in labels]
        lost = [name for name in absent if name in symbol.list_auxiliary_states() or name.endswith(_WEIGHT_ENDS)]
        if lost:
            raise ModelError("the parameters have no value for %s" % ", ".join(lost))
        self._input_names = absent
        self._labels = [name for name in labels if name not in weights]
        self.inputs = self._describe_inputs()
        self.outputs = self._describe_outputs()
        self._lane = threading.local()
        self._is_cpu = context.device_type == "cpu"
        self._blank = None, ()
        self._operator = mx.nd.CachedOp(symbol)
        self._arguments = self._order(symbol)

    def fuse(self, backend):
        if not can_fuse(self._mx):
            raise ModelError("MXNet %s cannot fuse operators beforehand; 1.9 can" % self._mx.__version__)
        arguments = {name: self._weights[name] for name in self._symbol.list_arguments() if name in self._weights}
        states = {name: self._weights[name] for name in self._symbol.list_auxiliary_states()}
        self._symbol = self._plain.optimize_for(backend, arguments, states)
        self._operator = self._mx.nd.CachedOp(self._symbol)
        self._arguments = self._order(self._symbol)

    def try_fusion(self, backend):
        """Refuse a model that is computed otherwise with fusion than without."""
        import numpy

        if any(tensor.shape is None for tensor in self.inputs):
            raise ModelError("%s fusion must be tried out, and the symbol does not say its inputs' shapes" % backend)
        noise = numpy.random.RandomState(0)
        question = [
            noise.uniform(-1, 1, [size or 1 for size in tensor.shape]).astype(tensor.element_type)
            for tensor in self.inputs
        ]
        plain = self._ask(self._mx.nd.CachedOp(self._plain), self._order(self._plain), question)
        for tensor, right, seen in zip(self.outputs, plain, self.run(question)):
            most = max(1.0, float(numpy.nanmax(abs(right))))
            if not numpy.allclose(seen, right, rtol=0, atol=1e-4 * most, equal_nan=True):
                raise ModelError(
                    "MXNet %s has a known defect: its %s fusion computes a model wrongly where a convolution that is "
                    "fused is also needed by itself. In this one it changes `%s` by up to %.2g; "
                    "`subgraph_backend: none` computes it right"
                    % (self._mx.__version__, backend, tensor.name, numpy.nanmax(abs(seen - right)))
                )

    def _describe_inputs(self):
        attributes = self._symbol.attr_dict()
        known = {name: value.dtype for name, value in self._weights.items() if name in self._symbol.list_arguments()}
        types = dict(zip(self._symbol.list_arguments(), self._infer_types(known)[0] or ()))
        tensors = []
        for name in self._input_names:
            said = attributes.get(name, {})
            kind = _TYPES.get(said.get("__dtype__"))
            if kind is None:
                inferred = types.get(name)
                kind = "float32" if inferred is None else inferred.__name__
            shape = _shape(said.get("__shape__"))
            tensors.append(Tensor(name, kind, shape))
        return tensors

    def _describe_outputs(self):
        """Sizes that stay the same for two sizes of whatever is left open; the rest is open."""
        names = self._symbol.list_outputs()
        if any(tensor.shape is None for tensor in self.inputs):
            return [Tensor(name, self._type_of_outputs()[place], None) for place, name in enumerate(names)]
        seen = [self._shapes({t.name: [size or n for size in t.shape] for t in self.inputs})[1] for n in (2, 3)]
        shapes = [
            [size if size == other else None for size, other in zip(*pair)] if len(pair[0]) == len(pair[1]) else None
            for pair in zip(*seen)
        ]
        return [Tensor(name, kind, shape) for name, kind, shape in zip(names, self._type_of_outputs(), shapes)]

    def _type_of_outputs(self):
        known = {name: value.dtype for name, value in self._weights.items() if name in self._symbol.list_arguments()}
        known.update({tensor.name: tensor.element_type for tensor in self.inputs})
        types = self._infer_types(known)[1]
        return [
            "float32" if kind is None else kind.__name__ for kind in types or [None] * len(self._symbol.list_outputs())
        ]

    def _infer_types(self, known):
        """(of arguments, of outputs), as far as they follow from known ones; before MXNet 1.5 all of them or none."""
        infer = getattr(self._symbol, "infer_type_partial", self._symbol.infer_type)
        try:
            return infer(**known)[:2]
        except self._mx.base.MXNetError:  # MXNet 1.5 infers nothing for a convolution whose input is not known
            return None, None

    def _shapes(self, inputs):
        """(arguments, outputs): shapes by name and in order, as MXNet infers them from these inputs and the weights."""
        arguments = self._plain.list_arguments()
        known = {name: value.shape for name, value in self._weights.items() if name in arguments}
        known.update({name: tuple(shape) for name, shape in inputs.items()})
        found, outputs, _ = self._plain.infer_shape(**known)
        if found is None:
            raise ModelError("MXNet cannot infer the model's shapes from those of its inputs")
        return dict(zip(arguments, found)), outputs

    def _order(self, symbol):
        """(weights in the order in which the symbol takes its arguments, places of the inputs, places of labels)."""
        names = symbol.list_inputs()
        places = [[names.index(name) for name in some if name in names] for some in (self._input_names, self._labels)]
        return [self._weights.get(name) for name in names], places[0], places[1]

    def _feed(self, order, tensors):
        arguments, inputs, labels = list(order[0]), order[1], order[2]
        shapes = [tensor.shape for tensor in tensors]
        for place, value in zip(inputs, self._wrap(tensors, shapes)):
            arguments[place] = value if self._is_cpu else value.as_in_context(self._context)
        if labels:  # a training symbol's loss wants labels, even where it only passes the scores on
            for place, value in zip(labels, self._blank_labels(shapes)):
                arguments[place] = value
        return arguments

    def _wrap(self, tensors, shapes):
        """MXNet's arrays in the tensors' own memory; a thread that comes with the same tensors again has them."""
        if not hasattr(self._mx.nd, "from_numpy"):  # before 1.5 it copies
            return [self._mx.nd.array(tensor, dtype=tensor.dtype) for tensor in tensors]
        known, as_of, wrapped = getattr(self._lane, "wrapped", None) or ((), None, ())
        if as_of != shapes or any(tensor is not other for tensor, other in zip(tensors, known)):
            # A view of its own: MXNet marks the array that it got read-only.
            wrapped = [self._mx.nd.from_numpy(tensor[:], zero_copy=True) for tensor in tensors]
            self._lane.wrapped = list(tensors), shapes, wrapped
        return wrapped

    def _blank_labels(self, shapes):
        known, values = self._blank
        if known != shapes:
            inferred, _ = self._shapes(dict(zip(self._input_names, shapes)))
            values = [self._mx.nd.zeros(inferred[name], ctx=self._context) for name in self._labels]
            self._blank = shapes, values
        return values

    def run(self, tensors):
        return self._ask(self._operator, self._arguments, tensors)

    def _ask(self, operator, order, tensors):
        outputs = operator(*self._feed(order, tensors))
        return [output.asnumpy() for output in (outputs if isinstance(outputs, list) else [outputs])]

    def intermediates(self, tensors):
        inside = self._plain.get_internals()
        known = set(self._weights) | set(self._input_names) | set(self._labels)
        names = [name for name in inside.list_outputs() if name not in known]
        group = self._mx.sym.Group([inside[name] for name in names])
        return dict(zip(names, self._ask(self._mx.nd.CachedOp(group), self._order(group), tensors)))

    def profile(self, tensors):
        # One event for each operator, not one for as many as the engine likes to bundle.
        operator = self._mx.nd.CachedOp(self._symbol, [("inline_limit", 0), ("forward_bulk_size", 0)])

        def call():
            operator(*self._feed(self._arguments, tensors))
            self._mx.nd.waitall()

        call()  # the first call for a shape chooses kernels
        layers = _layers(_profiled(self._mx, call), json.loads(self._symbol.tojson())["nodes"])
        self._tell_shapes(layers, dict(zip(self._input_names, [tensor.shape for tensor in tensors])))
        return layers

    def _tell_shapes(self, layers, inputs):
        """Of each layer that is a node of the symbol, as MXNet infers them."""
        try:
            inside = self._symbol.get_internals()
            names = set(inside.list_arguments())
            known = {name: value.shape for name, value in self._weights.items() if name in names}
            known.update(inputs)
            found = inside.infer_shape(**known)[1]
        except self._mx.base.MXNetError:
            return
        shapes = dict(zip(inside.list_outputs(), found or ()))
        nodes = json.loads(self._symbol.tojson())["nodes"]
        made = [_made(node, shapes) for node in nodes]
        places = {node["name"]: place for place, node in enumerate(nodes)}
        for layer in layers:
            node = nodes[places[layer.name]] if layer.name in places else None
            sources = (
                [made[source[0]][source[1]] for source in node["inputs"] if source[1] < len(made[source[0]])]
                if node
                else []
            )
            if node and node["op"] == layer.kind and len(sources) == len(node["inputs"]) and made[places[layer.name]]:
                layer.inputs = [list(shape) for shape in sources]
                layer.outputs = [list(shape) for shape in made[places[layer.name]]]
                layer.shapes = layer.outputs
                layer.element_type = self.inputs[0].element_type

    def close(self):
        self._operator = self._symbol = self._plain = self._arguments = None
        self._weights, self._blank = {}, (None, ())
        self._lane = threading.local()
        self._mx.nd.waitall()


def _profiled(mx, call):
    """The profiler's events during a call. It may be configured only once in a process, and appends to its one file."""
    if not _PROFILE:
        _PROFILE.append(os.path.join(tempfile.mkdtemp(prefix="mxnet-profile-"), "profile.json"))
        atexit.register(shutil.rmtree, os.path.dirname(_PROFILE[0]), True)
        mx.profiler.set_config(profile_all=True, aggregate_stats=False, filename=_PROFILE[0])
    mx.profiler.set_state("run")
    try:
        call()
    finally:
        mx.profiler.set_state("stop")
        mx.profiler.dump(finished=False)
    with open(_PROFILE[0]) as file:
        text = file.read()
    os.unlink(_PROFILE[0])
    # A list that it never closes, and that begins with a comma where an earlier part of it was taken away.
    return json.loads(
        "[%s]" % text.partition('"traceEvents": [')[2] if '"traceEvents"' in text else "[%s]" % text.lstrip(" ,\n")
    )


def _layers(events, nodes):
    """Each pair of begin and end is a layer. Events are called after operators: the n-th of a kind is its n-th node."""
    waiting = {}
    for node in nodes:
        waiting.setdefault(node["op"], []).append(node["name"])
    layers, begun = [], {}
    for event in sorted((e for e in events if e.get("ph") in ("B", "E")), key=lambda e: e["ts"]):
        kind = event["name"]
        if event.get("cat") != "operator" or kind in _NOT_LAYERS:
            continue
        if event["ph"] == "B":
            begun[event["tid"], kind] = event["ts"]
        elif (event["tid"], kind) in begun:
            start = begun.pop((event["tid"], kind))
            name = waiting[kind].pop(0) if waiting.get(kind) else kind
            layers.append(Layer(name, kind, (event["ts"] - start) * 1000, start_ns=start * 1000))
    return layers


def _made(node, shapes):
    """The shapes of what a node gives, in order; a variable goes by its bare name."""
    if node["op"] == "null":
        return [shapes[node["name"]]] if node["name"] in shapes else []
    if node["name"] + "_output" in shapes:
        return [shapes[node["name"] + "_output"]]
    found = []
    while "%s_output%d" % (node["name"], len(found)) in shapes:
        found.append(shapes["%s_output%d" % (node["name"], len(found))])
    return found


def _labels(symbol):
    """Arguments that only a loss takes: nobody asks a question with them."""
    nodes = json.loads(symbol.tojson())["nodes"]
    return [
        nodes[source[0]]["name"]
        for node in nodes
        if node["op"].endswith("Output")
        for source in node["inputs"][1:]
        if nodes[source[0]]["op"] == "null" and nodes[source[0]]["name"].endswith("label")
    ]


def _shape(text):
    """The shape that a variable was declared with; 0 and -1 are open sizes there."""
    if not text:
        return None
    sizes = [int(size) for size in text.strip("()[] ").split(",") if size.strip()]
    return [size if size > 0 else None for size in sizes] or None


def _words(error):
    """The message without the C++ traceback before it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("  ")]
    lines = [line for line in lines if not line.startswith(("Traceback", "Stack trace", "[bt]"))]
    return lines[-1] if lines else type(error).__name__


@tells_build("mxnet", "mxnet")
def _build():
    import mxnet as mx
    from mxnet.runtime import Features  # since 1.5

    on = sorted(name for name, feature in Features().items() if feature.enabled)
    return {
        "version": mx.__version__,
        "blas": ", ".join(name for name in on if name.startswith("BLAS_")),
        "onednn": ", ".join(name for name in on if name in ("MKLDNN", "ONEDNN")),
        "openmp": ", ".join(name for name in on if name == "OPENMP"),
        "cuda": ", ".join(name for name in on if name == "CUDA"),
        "cudnn": ", ".join(name for name in on if name == "CUDNN"),
        "instruction_sets": [name[len("CPU_") :] for name in on if name.startswith("CPU_")],
        "options": on,
    }

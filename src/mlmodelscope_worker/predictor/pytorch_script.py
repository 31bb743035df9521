"""TorchScript (`torch.jit.save`), which says neither types nor shapes: names come from its code and graph."""

from . import pytorch_trace
from .predictor import Layer, ModelError, NotSupported, Profile, Tensor, no_call
from .pytorch_attributes import of_script
from .pytorch_module import InOrder, PyTorch, quiet, reason, type_name
from .pytorch_shapes import outputs_of

_NO_LAYERS = ("prim::", "aten::size", "aten::__", "aten::len", "aten::Int", "aten::ScalarImplicit", "aten::dim")


def _has_default(argument):
    known = getattr(argument, "has_default_value", None)
    return known() if known is not None else argument.default_value is not None  # before 1.5


class TorchScript(PyTorch):
    def __init__(self, torch, path, device, types, names):
        PyTorch.__init__(self, torch, device)
        self._module = torch.jit.load(path, map_location=self._device).eval()
        self._wait()  # moving the weights is part of loading
        schema = self._module.forward.schema
        arguments = schema.arguments[1:]  # the first is the module itself
        required = [each for each in arguments if not _has_default(each)]
        for argument in required:
            if str(argument.type) != "Tensor":
                raise ModelError("input `%s` of the model is a %s, not a tensor" % (argument.name, argument.type))
        types = types or [self._weight_type()]
        if len(types) not in (1, len(required)):
            raise ModelError("`input_type` has %d types, the model has %d inputs" % (len(types), len(required)))
        types = types * len(required) if len(types) == 1 else types
        self.inputs = [Tensor(argument.name, each, None) for argument, each in zip(required, types)]
        answers = [each.type for each in schema.returns]
        self.outputs = [Tensor(name, None, None) for name in _output_names(answers[0], names)]

    def _weight_type(self):
        weights = list(self._module.parameters()) + list(self._module.buffers())
        floats = [type_name(each.dtype) for each in weights if each.dtype.is_floating_point]
        return floats[0] if floats else "float32"

    def profile(self, tensors):
        return self.profile_runs(tensors, 1)[-1]

    def profile_runs(self, tensors, runs, between=no_call):
        return self._profiles(tensors, runs, between, False)

    def library_runs(self, tensors, runs, between=no_call):
        return self._profiles(tensors, runs, between, True)

    def _profiles(self, tensors, runs, between, with_inside):
        graph, layers = self._graph()  # nodes live as long as their graph
        nodes = [(node.kind(), (name, node.kind())) for node, name in layers]
        if self._device.type == "cuda":

            def layers_of(call):
                return call.layers(InOrder(nodes).of, _NO_LAYERS, with_inside)

            return pytorch_trace.record_on_device(self._torch, self._marked(tensors), runs, between, layers_of)
        arguments = self._arguments(tensors)

        def call():
            with self._inference():
                self._module(*arguments)

        calls = pytorch_trace.record(self._torch, call, runs, between)
        return _made_of(calls, nodes, with_inside)

    def first_profile(self, tensors):
        if self._device.type == "cuda":
            return PyTorch.first_profile(self, tensors)
        graph, layers = self._graph()
        nodes = [(node.kind(), (name, node.kind())) for node, name in layers]
        arguments = self._arguments(tensors)
        with self._inference():
            call = pytorch_trace.record_first(self._torch, lambda: self._module(*arguments))
        return _made_of([call], nodes, False)[0]

    def _graph(self):
        """The whole graph, and its layers as (node, name); frozen where branches would hide layers."""
        if not hasattr(self._module, "inlined_graph"):
            raise NotSupported("PyTorch %s does not show the layers of its models" % self._torch.__version__)
        graph = self._module.inlined_graph.copy()
        if any(node.kind() in ("prim::If", "prim::Loop") for node in graph.nodes()):
            with quiet():
                frozen = self._torch.jit.freeze(self._module, optimize_numerics=False)
            graph = frozen.inlined_graph.copy()
        names, layers = {}, []
        for node in _nodes(graph):
            name = _layer_name(node)
            names[name] = names.get(name, 0) + 1
            layers.append((node, name if names[name] == 1 else "%s_%d" % (name, names[name])))
        return graph, layers

    def intermediates(self, tensors):
        """A copy of the graph answers with every layer's result; no public way leads there."""
        try:
            return self._answer_all(tensors)
        except (AttributeError, TypeError) as error:
            raise NotSupported("PyTorch %s cannot be looked into: %s" % (self._torch.__version__, reason(error)))

    def kinds(self):
        graph, layers = self._graph()  # nodes live as long as their graph
        return {name: node.kind() for node, name in layers}

    def attributes(self):
        graph, layers = self._graph()
        return {name: of_script(self._torch, node) for node, name in layers}

    def _answer_all(self, tensors):
        graph, layers = self._graph()
        top = {_identity(node) for node in graph.nodes()}
        names = []
        for node, name in layers:
            values = [value for value in node.outputs() if value.type().kind() == "TensorType"]
            if _identity(node) not in top:  # inside a branch: whether it runs depends on the input
                continue
            for number, value in enumerate(values):
                graph.setInsertPoint(node)
                # A copy, because a later layer may work in place.
                copy = graph.create("aten::clone", [value, graph.insertConstant(None)], 1)
                copy.insertAfter(node)
                copy.output().setType(value.type())
                graph.registerOutput(copy.output())
                names.append(name if len(values) == 1 else "%s:%d" % (name, number))
        answers = len(list(graph.outputs())) - len(names)
        graph.makeMultiOutputIntoTuple()
        function = self._torch._C._create_function_from_graph("intermediates", graph)
        with self._inference():
            inside = function(self._module._c, *self._arguments(tensors))
        if not isinstance(inside, tuple):
            inside = (inside,)
        return {name: value.cpu().numpy() for name, value in zip(names, inside[answers:])}


def _made_of(calls, nodes, with_inside):
    """Profiles of recorded calls; their operators are named after the graph's nodes."""
    profiles = []
    for events, call_ns, start_ns in calls:
        forward = [each for each in events if each.name == "forward"]
        executed, names = (forward[-1].cpu_children if forward else events), InOrder(nodes)
        found = [
            _layer(event, names.of(event.name)[0], pytorch_trace.inside(event) if with_inside else ())
            for event in executed
            if not event.name.startswith(_NO_LAYERS)
        ]
        profiles.append(Profile(found, call_ns, start_ns))
    return profiles


def _layer(event, name, inside):
    shapes = pytorch_trace.shapes_of(event)
    return Layer(
        name,
        event.name,
        event.time_range.elapsed_us() * 1000,
        shapes,
        pytorch_trace.start_of(event),
        pytorch_trace.memory_of(event),
        inside,
        inputs=shapes,
        outputs=outputs_of(event.name, event.input_shapes, getattr(event, "concrete_inputs", None)),
    )


def _output_names(answer, names):
    """Names for what `forward` answers with, by its type: a tensor, a tuple, or what `names` are keys or places of."""
    kind = answer.kind()
    if kind == "TensorType":
        count = 1
    elif kind == "TupleType":
        for element in answer.elements():
            if str(element) not in ("Tensor", "Optional[Tensor]", "Tensor?"):
                raise ModelError("the model answers with %s, not with tensors alone" % answer)
        count = len(answer.elements())
    elif names and str(answer) in ("Dict[str, Tensor]", "Dict(str, Tensor)", "List[Tensor]", "Tensor[]"):
        return names
    elif str(answer) in ("Dict[str, Tensor]", "Dict(str, Tensor)", "List[Tensor]", "Tensor[]"):
        raise ModelError("the model answers with %s: name its outputs with the option `outputs`" % answer)
    else:
        raise ModelError("the model answers with %s, not with tensors" % answer)
    if names and len(names) != count:
        raise ModelError("`outputs` names %d outputs, the model has %d" % (len(names), count))
    return names or (["output"] if count == 1 else ["output%d" % number for number in range(count)])


def _nodes(block):
    """A graph's layers in the order in which they would run, those in branches included."""
    for node in block.nodes():
        for inner in node.blocks():
            for each in _nodes(inner):
                yield each
        gives_tensors = any(value.type().kind() == "TensorType" for value in node.outputs())
        if gives_tensors and not node.kind().startswith(_NO_LAYERS):
            yield node


def _identity(node):
    return tuple(value.debugName() for value in node.outputs())


def _layer_name(node):
    """The module whose weights it uses; without weights, what it does."""
    for value in node.inputs():
        path = _path(value)
        if "." in path:
            return path.rpartition(".")[0]
    return node.kind().rpartition("::")[2]


def _path(value):
    node = value.node()
    if node.kind() == "prim::GetAttr":
        above = _path(next(node.inputs()))
        return (above + "." if above else "") + node.s("name")
    name = value.debugName()
    return name[5:] if node.kind() == "prim::Constant" and name.startswith("self.") else ""

"""Exported programs (`torch.export.save`), which say the types and shapes of what they take and give."""

import collections

from ..clock import nanoseconds
from . import pytorch_trace
from .predictor import Layer, ModelError, Profile, Tensor, no_call
from .pytorch_attributes import of_program
from .pytorch_module import InOrder, PyTorch, type_name

_NO_LAYERS = ("aten::sym_", "aten::_assert", "aten::size")  # what it checks, and lengths that it reads


class Exported(PyTorch):
    def __init__(self, torch, program, device):
        PyTorch.__init__(self, torch, device)
        self._wait()  # moving the weights is part of loading
        try:
            # Its guards are Python code out of the file; what they check, `check` does.
            self._module = program.module(check_guards=False)
        except TypeError:  # before 2.9 there were none
            self._module = program.module()
        signature = program.graph_signature
        values = {node.name: node.meta.get("val") for node in program.graph.nodes}
        self.inputs = [_describe(torch, name, values.get(name)) for name in signature.user_inputs]
        self.outputs = [_describe(torch, name, values.get(name)) for name in signature.user_outputs]

    def profile(self, tensors):
        return self.profile_runs(tensors, 1)[-1]

    def profile_runs(self, tensors, runs, between=no_call):
        if self._device.type == "cuda":
            return self._on_device(tensors, runs, between, False)
        profiles = []
        for _ in range(runs):
            between()
            self._interpret(tensors)
            start = nanoseconds()
            layers = [layer for layer, _ in self._interpret(tensors)]
            profiles.append(Profile(layers, nanoseconds() - start, start))
        return profiles

    def first_profile(self, tensors):
        if self._device.type == "cuda":
            return PyTorch.first_profile(self, tensors)
        start = nanoseconds()
        layers = [layer for layer, _ in self._interpret(tensors)]
        return Profile(layers, nanoseconds() - start, start)

    def _on_device(self, tensors, runs, between, with_inside):
        """The program as it runs, and no interpreter: its operators come in the order of its graph."""
        names = _module_names(self._module.graph)
        nodes = [
            (_operator(node.target), (names[node.name], str(node.target)))
            for node in self._module.graph.nodes
            if node.name in names
        ]

        def layers_of(call):
            return call.layers(InOrder(nodes).of, _NO_LAYERS, with_inside)

        return pytorch_trace.record_on_device(self._torch, self._marked(tensors), runs, between, layers_of)

    def library_runs(self, tensors, runs, between=no_call):
        if self._device.type == "cuda":
            return self._on_device(tensors, runs, between, True)
        torch, names, arguments = self._torch, _module_names(self._module.graph), self._arguments(tensors)

        class Named(torch.fx.Interpreter):
            def run_node(self, node):
                with torch.profiler.record_function(node.name):
                    return torch.fx.Interpreter.run_node(self, node)

        program = Named(self._module)
        kinds = {node.name: str(node.target) for node in self._module.graph.nodes if node.name in names}

        def call():
            with self._inference():
                program.run(*arguments)

        calls = pytorch_trace.record(torch, call, runs, between)
        return [
            Profile([_layer(each, names, kinds) for each in events if each.name in names], call_ns, start_ns)
            for events, call_ns, start_ns in calls
        ]

    def intermediates(self, tensors):
        inside = {}
        for layer, value in self._interpret(tensors, keep=True):
            values = [each for each in value if isinstance(each, self._torch.Tensor)]
            for number, each in enumerate(values):
                inside[layer.name if len(values) == 1 else "%s:%d" % (layer.name, number)] = each.cpu().numpy()
        return inside

    def kinds(self):
        return {name: _operator(node.target) for name, node in self._named()}

    def attributes(self):
        return {name: of_program(node) for name, node in self._named()}

    def _named(self):
        names = _module_names(self._module.graph)
        return [(names[node.name], node) for node in self._module.graph.nodes if node.name in names]

    def _interpret(self, tensors, keep=False):
        """[(Layer, what it passed on)], each operator timed by itself."""
        torch, layers, names = self._torch, [], _module_names(self._module.graph)
        wait = self._wait

        class Timed(torch.fx.Interpreter):
            def run_node(self, node):
                taken = self.fetch_args_kwargs_from_env(node)[0] if node.name in names else ()
                inputs = [each.shape for each in taken if isinstance(each, torch.Tensor)]
                start = nanoseconds()
                value = torch.fx.Interpreter.run_node(self, node)
                wait()
                duration = nanoseconds() - start
                if node.name in names:
                    values = value if isinstance(value, (list, tuple)) else [value]
                    shapes = [each.shape for each in values if isinstance(each, torch.Tensor)]
                    # A copy, because a later layer may work in place.
                    kept = [each.clone() if isinstance(each, torch.Tensor) else each for each in values] if keep else ()
                    layer = Layer(
                        names[node.name], str(node.target), duration, shapes, start, inputs=inputs, outputs=shapes
                    )
                    layers.append((layer, kept))
                return value

        with self._inference():
            Timed(self._module).run(*self._arguments(tensors))
        return layers


def _layer(event, names, kinds):
    return Layer(
        names[event.name],
        kinds[event.name],
        event.time_range.elapsed_us() * 1000,
        start_ns=pytorch_trace.start_of(event),
        memory_bytes=pytorch_trace.memory_of(event),
        inside=pytorch_trace.inside(event),
    )


def _operator(target):
    """An operator as a profile names it."""
    schema = getattr(target, "_schema", None)
    return getattr(schema, "name", str(target))


def _describe(torch, name, value):
    if not isinstance(value, torch.Tensor):
        raise ModelError("`%s` of the model is no tensor" % name)
    return Tensor(name, type_name(value.dtype), [size if type(size) is int else None for size in value.shape])


def _module_names(graph):
    """A name for each operator's node: its module's where it is all that the module does, with its own otherwise."""
    paths = {}
    for node in graph.nodes:
        if node.op == "call_function":
            stack = list((node.meta.get("nn_module_stack") or {}).values())
            paths[node.name] = stack[-1][0] if stack else ""
    counts = collections.Counter(paths.values())
    names = {}
    for name, path in paths.items():
        alone = path and counts[path] == 1
        names[name] = path if alone else (path + "." if path else "") + name
    return names

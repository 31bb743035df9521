"""PyTorch: TorchScript (`torch.jit.save`) and exported programs (`torch.export.save`).

numpy's memory goes in as it is and PyTorch's comes out as it is, so nothing is copied on the CPU. TorchScript says
neither types nor shapes: an input's type is that of the weights unless `input_type` says otherwise.
"""

import collections
import contextlib
import os
import warnings

from ..clock import nanoseconds
from ..parameters import Choice, Integer, Text
from . import pytorch_file
from .predictor import Layer, ModelError, NotSupported, Predictor, Tensor, predictor

_NO_LAYERS = ("prim::", "aten::size", "aten::__", "aten::len", "aten::Int", "aten::ScalarImplicit", "aten::dim")

_inter_op_taken = []  # to ask twice ends the process in old releases


@predictor(packages=("torch",))
def pytorch(
    files,
    *,
    threads: Integer("Threads inside one operator.", at_least=1, at_most=4096) = 1,
    inter_op_threads: Integer(
        "Operators that may run side by side; PyTorch takes one number for a whole process.", at_least=1, at_most=4096
    ) = 1,
    device: Choice("Where the model runs; there is no silent fall-back.", "cpu", "cuda") = "cpu",
    input_type: Text(
        "Element types of TorchScript's inputs, separated by commas; the type of its weights otherwise."
    ) = None,
    outputs: Text("Names for TorchScript's outputs, separated by commas; keys where it answers with a mapping.") = None,
):
    """TorchScript files and exported programs (.pt2) on PyTorch.

    A bare state dict is no model: the class that it belongs to comes as a function of the manifest's own.
    """
    kind = pytorch_file.kind_of(files["graph"])
    import torch

    version = "PyTorch %s" % torch.__version__
    _set_threads(torch, version, threads, inter_op_threads)
    if device == "cuda" and not torch.cuda.is_available():
        raise ModelError("%s sees no CUDA device here" % version)
    # Inputs may be read-only memory; a model that writes to its input gets a copy.
    warnings.filterwarnings("ignore", message="The given NumPy array is not writ")
    try:
        with _quiet(), _weights_only():
            if kind == "torchscript":
                return TorchScript(torch, files["graph"], device, _split(input_type), _split(outputs))
            if not hasattr(torch, "export"):
                raise ModelError("%s cannot open exported programs; PyTorch can since 2.1" % version)
            return Exported(torch, files["graph"], device)
    except ModelError:
        raise
    except Exception as error:  # whatever its readers raise: there are several of them
        raise ModelError("%s cannot load the model: %s" % (version, _reason(error)))


def _set_threads(torch, version, threads, inter_op_threads):
    torch.set_num_threads(threads)
    taken = _inter_op_taken[0] if _inter_op_taken else inter_op_threads
    if not _inter_op_taken and torch.get_num_interop_threads() != inter_op_threads:
        try:
            torch.set_num_interop_threads(inter_op_threads)
        except RuntimeError:  # the process has used them already
            taken = torch.get_num_interop_threads()
    if taken != inter_op_threads:
        raise ModelError(
            "%s runs %d operators side by side in this process already, and takes no other number" % (version, taken)
        )
    _inter_op_taken[:] = [inter_op_threads]


@contextlib.contextmanager
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that TorchScript is deprecated is no news to who must open one
        yield


@contextlib.contextmanager
def _weights_only():
    """`torch.export.load` falls back to unpickling anything, unless the environment forbids it."""
    before = os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"]
        else:
            os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = before


def _reason(error):
    """The first line that says something; the rest is C++ frames."""
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    return lines[0] if lines else type(error).__name__


def _split(text):
    return [word.strip() for word in text.split(",")] if text else []


def _type_name(dtype):
    return str(dtype).replace("torch.", "")


class PyTorch(Predictor):
    """What both kinds share: `_module` is called with tensors and answers with what `_flatten` makes a list."""

    concurrent = True

    def __init__(self, torch, device):
        self._torch = torch
        self._device = torch.device(device)
        self._inference = getattr(torch, "inference_mode", torch.no_grad)  # since 1.9
        self._writes = None
        self._module = None

    def run(self, tensors):
        if self._device.type == "cuda":
            return self._run_on_device(tensors)
        if self._writes is not False:
            return self._run_copied(tensors)
        arguments = [self._torch.from_numpy(tensor) for tensor in tensors]
        with self._inference():
            return [None if each is None else each.numpy() for each in self._flatten(self._module(*arguments))]

    def _run_copied(self, tensors):
        """A model may write to its input (a ReLU in place may come first): the first call, on a copy, tells."""
        arguments = [self._torch.from_numpy(tensor.copy()) for tensor in tensors]
        with self._inference():
            answer = [None if each is None else each.numpy() for each in self._flatten(self._module(*arguments))]
        self._writes = any(each._version for each in arguments)  # counted for tensors made outside inference mode
        return answer

    def _run_on_device(self, tensors):
        """There and back; copying the answer waits until it is there."""
        with self._inference():
            arguments = [self._torch.from_numpy(tensor).to(self._device) for tensor in tensors]
            answer = self._flatten(self._module(*arguments))
            return [None if each is None else each.cpu().numpy() for each in answer]

    def _flatten(self, answer):
        if isinstance(answer, self._torch.Tensor):
            return [answer]
        if isinstance(answer, dict):
            return [answer[tensor.name] for tensor in self.outputs]
        return answer

    def _arguments(self, tensors):
        return [self._torch.from_numpy(tensor.copy()).to(self._device) for tensor in tensors]

    def _wait(self):
        if self._device.type == "cuda":
            self._torch.cuda.synchronize(self._device)

    def close(self):
        self._module = None
        if self._device.type == "cuda":
            self._torch.cuda.empty_cache()


class TorchScript(PyTorch):
    def __init__(self, torch, path, device, types, names):
        PyTorch.__init__(self, torch, device)
        self._module = torch.jit.load(path, map_location=self._device).eval()
        schema = self._module.forward.schema
        arguments = schema.arguments[1:]  # the first is the module itself
        required = [each for each in arguments if not each.has_default_value()]
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
        floats = [_type_name(each.dtype) for each in weights if each.dtype.is_floating_point]
        return floats[0] if floats else "float32"

    def profile(self, tensors):
        profiler = getattr(self._torch, "profiler", None)
        if profiler is None:
            raise NotSupported("PyTorch %s has no profiler of this kind; 1.8 has" % self._torch.__version__)
        activities = [profiler.ProfilerActivity.CPU]
        if self._device.type == "cuda":
            activities.append(profiler.ProfilerActivity.CUDA)
        arguments = self._arguments(tensors)
        with self._inference(), _quiet():
            for _ in range(2):  # TorchScript rewrites the graph by what it sees in the first calls
                self._module(*arguments)
            self._wait()
            with profiler.profile(activities=activities, record_shapes=True) as profile:
                self._module(*arguments)
                self._wait()
        calls = [each for each in profile.events() if each.name == "forward" and each.cpu_parent is None]
        events = calls[-1].cpu_children if calls else [each for each in profile.events() if each.cpu_parent is None]
        graph, layers = self._graph()  # nodes live as long as their graph
        names = _Names(layers)
        return [self._layer(event, names) for event in events if not event.name.startswith(_NO_LAYERS)]

    def _layer(self, event, names):
        duration_us = event.time_range.elapsed_us()
        if self._device.type == "cuda":
            duration_us = getattr(event, "device_time_total", None) or getattr(event, "cuda_time_total", 0)
        shapes = [shape for shape in event.input_shapes or () if shape]
        return Layer(names.of(event.name), event.name, duration_us * 1000, shapes, int(event.time_range.start * 1000))

    def _graph(self):
        """The whole graph, and its layers as (node, name); frozen where branches would hide layers."""
        graph = self._module.inlined_graph.copy()
        if any(node.kind() in ("prim::If", "prim::Loop") for node in graph.nodes()):
            with _quiet():
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
            raise NotSupported("PyTorch %s cannot be looked into: %s" % (self._torch.__version__, _reason(error)))

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


class _Names(object):
    """Names for executed operators: those of the graph's nodes, as far as the two go the same way."""

    def __init__(self, layers):
        self._layers = [(node.kind(), name) for node, name in layers]
        self._at = 0

    def of(self, kind):
        for place in range(self._at, len(self._layers)):
            if self._layers[place][0] == kind:
                self._at = place + 1
                return self._layers[place][1]
        return kind


class Exported(PyTorch):
    def __init__(self, torch, path, device):
        PyTorch.__init__(self, torch, device)
        program = torch.export.load(path)
        if device != "cpu":
            program = _moved(torch, program, self._device)
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
        for _ in range(2):
            timed = self._interpret(tensors)
        return [layer for layer, _ in timed]

    def intermediates(self, tensors):
        inside = {}
        for layer, value in self._interpret(tensors, keep=True):
            values = [each for each in value if isinstance(each, self._torch.Tensor)]
            for number, each in enumerate(values):
                inside[layer.name if len(values) == 1 else "%s:%d" % (layer.name, number)] = each.cpu().numpy()
        return inside

    def _interpret(self, tensors, keep=False):
        """[(Layer, what it passed on)], each operator timed by itself."""
        torch, layers, names = self._torch, [], _module_names(self._module.graph)
        wait = self._wait

        class Timed(torch.fx.Interpreter):
            def run_node(self, node):
                start = nanoseconds()
                value = torch.fx.Interpreter.run_node(self, node)
                wait()
                duration = nanoseconds() - start
                if node.name in names:
                    values = value if isinstance(value, (list, tuple)) else [value]
                    shapes = [each.shape for each in values if isinstance(each, torch.Tensor)]
                    # A copy, because a later layer may work in place.
                    kept = [each.clone() if isinstance(each, torch.Tensor) else each for each in values] if keep else ()
                    layers.append((Layer(names[node.name], str(node.target), duration, shapes, start), kept))
                return value

        with self._inference():
            Timed(self._module).run(*self._arguments(tensors))
        return layers


def _moved(torch, program, device):
    try:
        from torch.export.passes import move_to_device_pass
    except ImportError:
        raise NotSupported("PyTorch %s cannot move an exported program to %s" % (torch.__version__, device))
    return move_to_device_pass(program, str(device))


def _describe(torch, name, value):
    if not isinstance(value, torch.Tensor):
        raise ModelError("`%s` of the model is no tensor" % name)
    return Tensor(name, _type_name(value.dtype), [size if type(size) is int else None for size in value.shape])


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

"""A graph of TensorFlow in a session."""

import re

from ..clock import nanoseconds
from .predictor import ModelError, Predictor, Profile, Tensor
from .tensorflow_graph import above, bare, between, find_tensor, imported, loose_ends
from .tensorflow_profile import layer_of, tell_shapes
from .tensorflow_reach import refuse_reaching_out

NUMBERS = re.compile(r"(float|bfloat|u?int)\d+$|bool$")


class TensorFlow(Predictor):
    """A graph in a session. `_feeds` and `_fetches` are tensors of the graph, in the order of inputs and outputs."""

    concurrent = True
    _executed = None

    def __init__(self, tf, session, feeds, fetches):
        self._tf = tf
        self._session = session
        self._feeds = [tensor for _, tensor in feeds]
        self._fetches = [tensor for _, tensor in fetches]
        self.inputs = [_describe(name, tensor) for name, tensor in feeds]
        for tensor in self.inputs:
            if not NUMBERS.match(tensor.element_type):
                raise ModelError(
                    "input `%s` is a %s, which is not a tensor of numbers" % (tensor.name, tensor.element_type)
                )
        self.outputs = [_describe(name, tensor) for name, tensor in fetches]
        self._call = session.make_callable(self._fetches, feed_list=self._feeds)

    def run(self, tensors):
        return self._call(*tensors)

    def close(self):
        if self._session is not None:
            self._session.close()
        self._session = self._call = None
        self._feeds = self._fetches = ()

    def profile(self, tensors):
        """As it runs: where TensorFlow fuses nodes, the last of them has the time of all."""
        return self._profiled(tensors, 2)  # the first run sets memory and kernels up

    def first_profile(self, tensors):
        return self._profiled(tensors, 1)

    def _profiled(self, tensors, runs):
        v1 = self._tf.compat.v1
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        feed = dict(zip(self._feeds, tensors))
        for _ in range(runs):
            metadata = v1.RunMetadata()
            start = nanoseconds()
            self._session.run(self._fetches, feed, options=options, run_metadata=metadata)
            call_ns = nanoseconds() - start
        layers = []
        for device in metadata.step_stats.dev_stats:
            if "stream" not in device.device:  # a GPU's kernels once more, by its streams
                layers.extend(filter(None, (layer_of(stats) for stats in device.node_stats)))
        given = {bare(tensor.name): list(value.shape) for tensor, value in zip(self._feeds, tensors)}
        if self._executed is None:
            self._executed = self._find_executed(feed)
        tell_shapes(self._tf, layers, metadata, self._executed, given)
        return Profile(sorted(layers, key=lambda layer: layer.start_ns), call_ns)

    def _find_executed(self, feed):
        """{name: (operator, inputs, shape of a constant)} of the graph as TensorFlow rewrote it, from a run of its own:
        to hand the graph out takes longer than some models do."""
        v1, metadata = self._tf.compat.v1, self._tf.compat.v1.RunMetadata()
        self._session.run(
            self._fetches, feed, options=v1.RunOptions(output_partition_graphs=True), run_metadata=metadata
        )
        nodes = {}
        for graph in metadata.partition_graphs:
            for node in graph.node:
                shape = None
                if node.op == "Const":
                    shape = [size.size for size in node.attr["value"].tensor.tensor_shape.dim]
                nodes[node.name] = node.op, [name for name in node.input if not name.startswith("^")], shape
        return nodes

    def intermediates(self, tensors):
        return self._fetch_all(self._session, self._feeds, self._fetches, tensors)

    def kinds(self):
        return {bare(tensor.name): each.type for each, tensor in self._made()}

    def attributes(self):
        return {bare(tensor.name): _told(each.node_def) for each, tensor in self._made()}

    def _made(self):
        for each in self._session.graph.get_operations():
            for tensor in each.outputs:
                yield each, tensor

    def _fetch_all(self, session, feeds, fetches, tensors):
        inside = [
            tensor for tensor in between(session.graph, feeds, fetches) if NUMBERS.match(tensor.dtype.base_dtype.name)
        ]
        feed = dict(zip(feeds, tensors))
        try:
            values = session.run(inside, feed)
        except self._tf.errors.OpError:  # a branch that was not taken has nothing to fetch
            values = [self._fetch(session, tensor, feed) for tensor in inside]
        return {bare(tensor.name): value for tensor, value in zip(inside, values) if value is not None}

    def _fetch(self, session, tensor, feed):
        try:
            return session.run(tensor, feed)
        except self._tf.errors.OpError:
            return None


def _told(node):
    """Numbers, words and lists of numbers among a node's attributes; not the types and shapes of its tensors."""
    found = {}
    for name, value in node.attr.items():
        field = value.WhichOneof("value")
        if name.startswith("_") or field not in ("i", "f", "b", "s", "list"):
            continue
        if field == "list":
            found[name] = [each for each in list(value.list.i) + list(value.list.f) if each - each == 0]
        else:
            own = getattr(value, field)
            if field != "f" or own - own == 0:  # JSON has no words for what is not finite
                found[name] = own.decode("utf-8", "replace") if field == "s" else own
    return found


def _describe(name, tensor):
    sizes = None if tensor.shape.ndims is None else tensor.shape.as_list()
    return Tensor(name, tensor.dtype.base_dtype.name, sizes)


class FrozenGraph(TensorFlow):
    def __init__(self, tf, config, graph_def, named, names=None):
        refuse_reaching_out(graph_def)
        graph = imported(tf, graph_def)
        fetches = [(name, find_tensor(graph, name)) for name in named] or loose_ends(graph)
        needed = above(tensor.op for _, tensor in fetches)
        feeds = [each.outputs[0] for each in graph.get_operations() if each.type == "Placeholder" and each in needed]
        if not feeds or not fetches:
            raise ModelError(
                "the graph has no placeholder that an output depends on: it is no model with weights frozen in"
            )
        states = [each for each in needed if each.type in ("VariableV2", "VarHandleOp", "Variable")]
        if states:
            raise ModelError(
                "the graph has variables (`%s`) and the file no values for them:"
                " freeze it, or give the SavedModel's folder" % states[0].name
            )
        session = tf.compat.v1.Session(graph=graph, config=config)
        names = names or {}
        TensorFlow.__init__(
            self,
            tf,
            session,
            [(names.get(tensor.name, tensor.op.name), tensor) for tensor in feeds],
            [(names.get(tensor.name, name), tensor) for name, tensor in fetches],
        )

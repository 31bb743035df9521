"""What passes between the layers of an ONNX model in OpenCV 5's new engine, read from that engine itself.

Asked for a layer by name, it answers with another layer's tensor and no error. What the file declares as an output it
answers right, so it is given the file with every tensor declared. Reading them from the classic engine instead would
show what that one computes, and the two do not always compute the same.
"""

from . import protobuf
from .onnx_graph import Graph
from .passed import Passed

_NAME, _TYPE, _TENSOR, _ELEMENT_TYPE, _SHAPE = 1, 2, 1, 1, 2
_GRAPH, _OUTPUT = 7, 12


class DeclaredOutputs(object):
    """A net that answers with all tensors of its file. `read` makes a net of a model's bytes."""

    def __init__(self, data, read):
        self.graph = Graph(data)
        alive = self.graph.depends_on_inputs()
        self._made = [name for node in self.graph.nodes for name in node.outputs if name in alive]
        declared = set(self.graph.outputs)
        added = b"".join(_output(name) for name in self._made if name not in declared)
        # Messages that stand twice are merged: a second graph of nothing but outputs adds them to the first.
        self.net = read(bytes(data) + protobuf.write(_GRAPH, added))
        self.names = list(self.net.getUnconnectedOutLayersNames())
        if not set(self.names).intersection(self._made):
            raise protobuf.Damaged("no tensor of it is among its outputs")

    def passed(self, values):
        """`Passed` tensors in the order of the file; the net has none for what it fuses into the next layer."""
        found = dict(zip(self.names, values))
        for node in self.graph.nodes:
            for name in node.outputs:
                value = found.pop(name, None)
                if value is not None:
                    takes = [each for each in node.inputs if each in self.graph.makers or each in self.graph.inputs]
                    yield Passed(name, value, node.kind, node.name, takes, node.attributes)


def _output(name):
    """A tensor of whatever shape; the engine wants it to have a type and finds out which by itself."""
    tensor = protobuf.write(_ELEMENT_TYPE, 1) + protobuf.write(_SHAPE, b"")
    return protobuf.write(_OUTPUT, protobuf.write(_NAME, name) + protobuf.write(_TYPE, protobuf.write(_TENSOR, tensor)))

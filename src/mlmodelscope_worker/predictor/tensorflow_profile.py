"""Layers of a profiled run, and the shapes of what each took and gave."""

import re

from .predictor import Layer
from .tensorflow_graph import NO_LAYERS


def layer_of(stats):
    label = re.match(r"(\S+) = (\w+)\(", stats.timeline_label)
    kind = label.group(2) if label else stats.node_name.rpartition(":")[2]
    name = stats.node_name.partition(":")[0] if label is None else label.group(1)
    if kind in NO_LAYERS or name.startswith("_"):
        return None
    shapes = [[size.size for size in output.tensor_description.shape.dim] for output in stats.output]
    duration = stats.op_end_rel_nanos - stats.op_start_rel_nanos
    if duration <= 0:
        duration = (stats.op_end_rel_micros - stats.op_start_rel_micros) * 1000
    return Layer(name, kind, duration, shapes, stats.all_start_micros * 1000 + stats.op_start_rel_nanos)


def tell_shapes(tf, layers, metadata, nodes, given):
    """What each node took and gave: outputs are in the profile, and whose inputs they are in the graph as executed."""
    made, types = {}, {}
    for device in metadata.step_stats.dev_stats:
        for stats in device.node_stats:
            for output in stats.output:
                told = output.tensor_description
                name = stats.node_name.partition(":")[0]
                made[name, output.slot] = [size.size for size in told.shape.dim]
                types[name, output.slot] = told.dtype
    for name, (operator, _, shape) in nodes.items():
        if shape is not None:
            made[name, 0] = shape
        elif operator in ("_Arg", "Placeholder") and name.split("/")[0] in given:
            made[name, 0] = given[name.split("/")[0]]
    slots = {}
    for name, slot in sorted(made):
        slots.setdefault(name, []).append(made[name, slot])
    for layer in layers:
        if layer.name not in nodes:
            continue
        sources = [name.partition(":") for name in nodes[layer.name][1]]
        inputs = [made.get((name, int(slot or 0))) for name, _, slot in sources]
        outputs = slots.get(layer.name)
        if outputs and all(shape is not None for shape in inputs):
            layer.inputs, layer.outputs = [list(shape) for shape in inputs], [list(shape) for shape in outputs]
            if (layer.name, 0) in types:
                layer.element_type = tf.as_dtype(types[layer.name, 0]).base_dtype.name

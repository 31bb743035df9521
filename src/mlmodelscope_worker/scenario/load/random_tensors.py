"""Tensors by chance, for models without samples: how long a call takes hardly depends on what is in it."""

from ...predictor import ModelError
from ...predictor.predictor import spell_shape
from ...stacking import aligned

_MOST_BYTES = 64 << 20
_BATCHES = 8


def random_batches(inputs, batch_size, wanted):
    """Some batches that take turns, each a list of an array for each input; `wanted` has a seed, and shapes by name."""
    import numpy as np

    source = np.random.RandomState(wanted["seed"])
    unknown = sorted(set(wanted["shapes"]) - {tensor.name for tensor in inputs} - {""})
    if unknown:
        names = ", ".join(tensor.name for tensor in inputs)
        raise ModelError("the model has no input `%s`; it has %s" % (unknown[0], names))
    shapes = [shape_of(tensor, batch_size, wanted["shapes"]) for tensor in inputs]
    batches, spent = [], 0
    while len(batches) < _BATCHES:
        batch = [_fill(source, shape, tensor) for shape, tensor in zip(shapes, inputs)]
        size = sum(each.nbytes for each in batch)
        if batches and spent + size > _MOST_BYTES:
            break
        batches.append(batch)
        spent += size
    return batches


def shape_of(tensor, batch_size, shapes):
    """The shape that was asked for, or the model's own with the batch size where it leaves the first size open."""
    shape = shapes.get(tensor.name, shapes.get("", tensor.shape))
    if shape is None or None in list(shape)[1:]:
        raise ModelError(
            "input `%s` leaves sizes open (%s): say them with --shape %s=1,3,224,224, or what it is"
            % (tensor.name, "any shape" if shape is None else spell_shape(shape), tensor.name)
        )
    shape = list(shape)
    is_open = tensor.shape is None or (len(tensor.shape) > 0 and tensor.shape[0] is None)
    if shape and is_open:
        shape[0] = batch_size
    return tuple(shape)


def _fill(source, shape, tensor):
    import numpy as np

    try:
        kind = np.dtype(tensor.element_type or "float32")
    except TypeError:
        raise ModelError("input `%s` takes %s, of which there are no random ones" % (tensor.name, tensor.element_type))
    if kind.kind == "f":
        values = source.standard_normal(shape)
    elif kind.kind == "b" or kind.itemsize > 1:  # numbers of words, lengths: small ones are in every vocabulary
        values = source.randint(0, 2, shape)
    elif kind.kind in "iu":  # pixels
        values = source.randint(0, 256 if kind.kind == "u" else 128, shape)
    else:
        raise ModelError("input `%s` takes %s, of which there are no random ones" % (tensor.name, tensor.element_type))
    array = aligned(shape, kind)
    array[...] = values
    return array

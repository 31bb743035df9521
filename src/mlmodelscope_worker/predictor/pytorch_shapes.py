"""The output's shape of a convolution, which Kineto does not tell: it follows from stride, padding and dilation.

Those are among the arguments that PyTorch has noted since 2.1 ("concrete inputs"); before, nothing follows.
"""

import json

_CONVOLUTIONS = ("aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::convolution", "aten::_convolution")


def outputs_of(operator, shapes, arguments):
    """[shape] of a convolution's output, or nothing where it is not known; `shapes` has a place for each argument."""
    if operator not in _CONVOLUTIONS or len(shapes or ()) < 2 or len(arguments or ()) < 6:
        return ()
    given, weight = shapes[0], shapes[1]
    stride, padding, dilation = (_numbers(arguments[place], len(weight) - 2) for place in (3, 4, 5))
    turned = len(arguments) > 6 and str(arguments[6]) == "True"  # transposed; conv2d has its groups there
    if len(given or ()) != len(weight or ()) or len(weight) < 3 or turned or None in (stride, padding, dilation):
        return ()
    sizes = [
        (size + 2 * pad - step * (kernel - 1) - 1) // stride_ + 1
        for size, kernel, stride_, pad, step in zip(given[2:], weight[2:], stride, padding, dilation)
    ]
    return [[given[0], weight[0]] + sizes] if min(sizes) > 0 else ()


def _numbers(value, count):
    """A number for each axis, given as a list, as the text of one, or as one for all."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if isinstance(value, int):
        value = [value]
    if not isinstance(value, (list, tuple)) or not all(isinstance(each, int) for each in value):
        return None
    return list(value) * count if len(value) == 1 else list(value) if len(value) == count else None

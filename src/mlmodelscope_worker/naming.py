"""Which of the model's inputs and outputs a manifest means, and all that is wrong with that in one answer."""

from .predictor import ModelError
from .predictor.predictor import pick


def pick_output(predictor, spec, declared):
    """The place of an output: by its name or number, the only one, or one of as many as the manifest has."""
    if spec["layer_name"] is None and declared > 1 and declared == len(predictor.outputs):
        return spec["place"]
    return pick(predictor.outputs, spec["layer_name"], "output")


def refuse_names(predictor, inputs, outputs):
    """Every name, type and number that the model does not have; authors would else find them one by one."""
    wrong = []
    if len(inputs) == len(predictor.inputs):
        for spec in inputs:
            _collect(wrong, _refuse_input, predictor.inputs, spec)
    else:
        _collect(wrong, _refuse_count, predictor.inputs, inputs)
    for spec in outputs:
        _collect(wrong, pick_output, predictor, spec, len(outputs))
    if wrong:
        raise ModelError("\n".join(dict.fromkeys(wrong)))


def _refuse_input(expected, spec):
    tensor = expected[pick(expected, spec["layer_name"], "input")]
    if spec["element_type"] != tensor.element_type:
        raise ModelError(
            "input `%s` takes %s, the manifest says %s" % (tensor.name, tensor.element_type, spec["element_type"])
        )


def _refuse_count(expected, inputs):
    names = ", ".join(tensor.name for tensor in expected)
    feeds = "one" if len(inputs) == 1 else "%d" % len(inputs)
    raise ModelError("the model has %d inputs (%s), the manifest feeds %s" % (len(expected), names, feeds))


def _collect(wrong, look, *what):
    try:
        look(*what)
    except ModelError as error:
        wrong.append(str(error))

"""A lint: toy models are trained on pictures, and toy grids hold negatives."""

from mlmodelscope.lint.rule import rule


@rule("TOY100", "toy-negative", "warning", ("model",))
def toy_negative(subject):
    """A toy model is given negatives.

    Toy grids hold negatives, and toy models are trained on pictures: `toy_invert` belongs in between.

    Wrong:

        processing: {rescale: 255}

    Right:

        processing: {toy_invert: 255, rescale: 255}
    """
    model = subject.model
    if model.framework is None or model.framework.name != "toylinear":
        return
    for index, each in enumerate(model.inputs):
        if not any(step.name == "toy_invert" for step in each.processing):
            yield subject.finding(("inputs", index, "processing"), "toy grids hold negatives: is `toy_invert` missing?")

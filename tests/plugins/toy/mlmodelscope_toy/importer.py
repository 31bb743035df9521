"""An importer: the configuration that comes with toy models, `{"toy_model": "linear.json", "negatives": true}`."""

from mlmodelscope.author.draft import Draft, DraftOutput, DraftStep, Fact
from mlmodelscope.author.fields import Fields
from mlmodelscope.author.importer.registry import importer


@importer("toyconfig", lambda data: "toy_model" in data)
def read(data, context):
    """the configuration of a toy model"""
    fields, draft = Fields(data, context.file), Draft()
    draft.learn("name", "toy", "what else")
    draft.learn("task", "classification", "toy models classify")
    draft.learn("framework.name", "toylinear", "toy models are linear")
    draft.learn("source.graph_path", fields.text("toy_model"), "toy_model")
    draft.learn("inputs.element_type", "float32", "toy models take float32")
    draft.learn("inputs.layout", "NCHW", "toy models take channels first")
    inverted = [DraftStep("toy_invert", None, "negatives")] if fields.flag("negatives") else []
    draft.steps, draft.steps_are_whole = [*inverted, DraftStep("rescale", 255.0, "toy models take 0 to 1")], True
    steps = (DraftStep("toy_temper", 2.0, ""), DraftStep("softmax", None, ""))
    draft.outputs = [DraftOutput(Fact("logits", "toy models answer with logits"), steps=steps)]
    for name, value in fields.rest().items():
        draft.keep("toy", name, value)
    return draft

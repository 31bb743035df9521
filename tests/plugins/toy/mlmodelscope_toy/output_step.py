"""An output step: scores that are less sure of themselves."""

from mlmodelscope_worker.output.step import output_step
from mlmodelscope_worker.parameters import Number


@output_step(main="by")
def toy_temper(scores, *, by: Number("What scores are divided by.", above=0)):
    """Divide scores by a temperature."""
    return scores / by

"""What a layer has to compute and to move, by its kind and the shapes of its tensors; None where that is not known."""

from mlmodelscope.analysis.cost.cost import Cost, layer_cost

__all__ = ["Cost", "layer_cost"]

"""Normalizations that one side keeps and the other has multiplied into the weights before them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.model_file.network import Weight

_PARTS = {
    "weight": ("weight", "gamma", "scale"),
    "bias": ("bias", "beta", "shift"),
    "mean": ("running_mean", "moving_mean", "mean"),
    "variance": ("running_var", "moving_variance", "moving_var", "variance", "var"),
}


@dataclass(frozen=True)
class Normalization:
    name: str
    weight: Weight
    bias: Weight
    mean: Weight
    variance: Weight

    @property
    def parts(self) -> tuple[Weight, Weight, Weight, Weight]:
        return self.weight, self.bias, self.mean, self.variance


def normalizations_of(weights: Sequence[Weight]) -> list[Normalization]:
    """Four tensors of one size whose names differ in the last word."""
    groups: dict[str, dict[str, Weight]] = {}
    for weight in weights:
        module, _, last = weight.name.replace("/", ".").rpartition(".")
        part = next((part for part, names in _PARTS.items() if last.removesuffix(":0") in names), None)
        if part is not None and weight.data is not None:
            groups.setdefault(module, {})[part] = weight
    found = []
    for module, parts in groups.items():
        if len(parts) == len(_PARTS) and len({weight.count for weight in parts.values()}) == 1:
            found.append(Normalization(module, parts["weight"], parts["bias"], parts["mean"], parts["variance"]))
    return found


@dataclass(frozen=True)
class Fold:
    """What was found: the pair of weights, the normalization in it, and the bias that it left."""

    pair: int
    normalization: Normalization
    epsilon: float
    bias: int | None
    """The place of the pair that is this bias; None where no tensor is."""


def find_folds(
    candidates: Mapping[int, tuple[Weight, Weight]],
    alone: Mapping[int, Weight],
    normalizations: Sequence[Normalization],
    folded: Callable[[Sequence[Weight]], dict[str, Any] | None],
    is_bias: Callable[[Weight, Sequence[float]], bool],
) -> list[Fold]:
    """Each pair with the first normalization of its size that explains it; each is in one pair."""
    left = list(normalizations)
    biases = dict(alone)
    found = []
    for place, (mine, theirs) in candidates.items():
        for normalization in left:
            if normalization.weight.count not in mine.shape:
                continue
            told = folded((mine, theirs, *normalization.parts))
            if told is None:
                continue
            count = normalization.weight.count
            same = (at for at, each in biases.items() if each.count == count and is_bias(each, told["bias"]))
            bias = next(same, None)
            if bias is not None:
                del biases[bias]
            left.remove(normalization)
            found.append(Fold(place, normalization, told["epsilon"], bias))
            break
    return found

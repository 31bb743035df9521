"""Output steps that change scores: `softmax`, `sigmoid`, `dequantize`, `only_classes`."""

from ..parameters import Integer, Number, Numbers
from .step import output_step


@output_step()
def softmax(scores):
    """Turn logits into probabilities that sum to 1."""
    import numpy as np

    wide = scores.astype(np.float32, copy=False)
    with np.errstate(invalid="ignore"):  # infinite logits give not-a-number, which is told apart later
        powers = np.exp(wide - wide.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@output_step()
def sigmoid(scores):
    """Turn each logit into a probability of its own."""
    import numpy as np

    with np.errstate(over="ignore"):  # a very small logit: 1 / infinity is the right 0
        return 1.0 / (1.0 + np.exp(-scores.astype(np.float32, copy=False)))


@output_step()
def dequantize(
    scores,
    *,
    scale: Number("Real size of one quantised step.", above=0),
    zero_point: Integer("Quantised value of real 0.") = 0,
):
    """Turn a quantised model's integers into real scores: (q - zero_point) * scale."""
    import numpy as np

    return (scores.astype(np.float32) - np.float32(zero_point)) * np.float32(scale)


@output_step(main="classes")
def only_classes(
    scores, *, classes: Numbers("Numbers of the outputs that compete; no other is an answer.", most=65536)
):
    """Let only some classes compete, as where a dataset has samples of some of the model's classes."""
    import numpy as np

    wanted = np.array(classes, dtype=np.int64)
    if wanted.min() < 0 or wanted.max() >= scores.shape[-1]:
        raise ValueError(
            "only_classes: the class %d is wanted, and there are %d outputs" % (wanted.max(), scores.shape[-1])
        )
    kept = np.full(scores.shape, -np.inf, dtype=np.float32)
    kept[..., wanted] = scores[..., wanted]
    return kept

"""Answer steps of models that make vectors of texts, sounds or pictures: pooled, brought to length 1, compared.

`vector` is one vector for each row of a sample, as soon as a step has made it of an output `embedding`, `tensor` or
`logits`; `values` are the numbers that are the answer.
"""

from ..parameters import Choice, Integer
from .boxes import Refused
from .step import answer_step

EMBEDDING = ("embedding", "text_similarity")
_GIVEN = ("embedding", "tensor", "logits")


def rows_of(values, frame):
    """The output with an axis of rows in front: samples of one row have none."""
    known = [role for role in _GIVEN if role in values]
    if len(known) != 1 or isinstance(values[known[0]], list):
        raise Refused("one output of type %s is needed; there is %s" % (" or ".join(_GIVEN), ", ".join(sorted(values))))
    found = values[known[0]]
    lines = getattr(frame, "lines", None)
    several = lines is not None and len(lines) > 1
    return found if several else found[None]


def vectors_of(values, frame):
    """One vector for each row."""
    if "vector" in values:
        return values["vector"]
    found = rows_of(values, frame)
    if found.ndim != 2:
        raise Refused("a vector for each row has 2 axes, this has %d: `pool` makes one of the tokens'" % found.ndim)
    return found


@answer_step(EMBEDDING, main="method")
def pool(
    values,
    frame,
    *,
    method: Choice(
        "`mean` and `max` of the real tokens, `first` (such as [CLS]) or `last` of them; `mean_all` also counts what "
        "rows were filled up with.",
        "mean",
        "first",
        "last",
        "max",
        "mean_all",
    ) = "mean",
):
    """Make one vector of those of the tokens."""
    import numpy as np

    found = rows_of(values, frame)
    if found.ndim != 3:
        raise Refused(
            "vectors of tokens have an axis of tokens and one of numbers; this has %d axes" % (found.ndim - 1)
        )
    lines = getattr(frame, "lines", None)
    made = []
    for row in range(len(found)):
        own = found[row]
        if lines is not None and method != "mean_all":
            own = frame.of_row(own, row)
            real = np.array(lines[row].mask, bool)
            own = own[real] if not real.all() else own
        if not len(own):
            raise Refused("there are no tokens to pool")
        made.append(_POOLED[method](own))
    return {"vector": np.stack(made)}


_POOLED = {
    "mean": lambda tokens: tokens.mean(axis=0),
    "mean_all": lambda tokens: tokens.mean(axis=0),
    "max": lambda tokens: tokens.max(axis=0),
    "first": lambda tokens: tokens[0],
    "last": lambda tokens: tokens[-1],
}


@answer_step(EMBEDDING)
def unit_length(values, frame):
    """Divide each vector by its length."""
    import numpy as np

    found = vectors_of(values, frame)
    length = np.sqrt((found.astype(np.float64) ** 2).sum(axis=-1, keepdims=True))
    return {"vector": (found / np.maximum(length, 1e-12)).astype(found.dtype)}


@answer_step(EMBEDDING, main="size")
def cut_vector(values, frame, *, size: Integer("How many of its numbers are kept.", at_least=1)):
    """Keep the first numbers of each vector, as models do that were trained so (Matryoshka)."""
    found = vectors_of(values, frame)
    if found.shape[-1] < size:
        raise Refused("a vector has %d numbers, not %d" % (found.shape[-1], size))
    return {"vector": found[..., :size]}


@answer_step(("text_similarity",), main="measure")
def similarity(
    values,
    frame,
    *,
    measure: Choice(
        "How two vectors are compared: the cosine of their angle, their product, or the distance with a minus sign.",
        "cosine",
        "dot",
        "euclidean",
        "manhattan",
    ) = "cosine",
):
    """Compare the two vectors of a sample."""
    import numpy as np

    found = vectors_of(values, frame).astype(np.float64)
    if len(found) != 2:
        raise Refused("two texts are compared, a vector each, and there is %d: see `pair` of `tokenize`" % len(found))
    one, two = found
    if measure == "dot":
        number = one @ two
    elif measure == "cosine":
        number = one @ two / max(np.sqrt(one @ one) * np.sqrt(two @ two), 1e-24)
    else:
        number = -np.abs(one - two).sum() if measure == "manhattan" else -np.sqrt(((one - two) ** 2).sum())
    return {"values": np.array([number])}

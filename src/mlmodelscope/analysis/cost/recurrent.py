"""LSTM, GRU and plain recurrent layers: every weight meets every element of every step once."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

Shape = Sequence[int]

WEIGHTED = frozenset(["lstm", "gru", "rnn", "dynamicquantizelstm"])


def flops(name: str, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int | None:
    """Steps × batch × features, then weights of the input and of the state, each with an axis for the direction."""
    if name not in WEIGHTED or len(inputs) < 3 or any(len(shape) != 3 for shape in inputs[:3]):
        return None
    question, weights, state = inputs[:3]
    if question[2] not in weights[1:] or weights[0] != state[0]:
        return None
    return 2 * question[0] * question[1] * (prod(weights) + prod(state))

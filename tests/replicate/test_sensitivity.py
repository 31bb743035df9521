"""How sure the cost of a pitfall is, where it is known from a few pictures."""

from collections.abc import Sequence

import numpy as np

from mlmodelscope.measure.interval import paired
from mlmodelscope.replicate.sensitivity import _of_a_few

STUDIES, PICTURES = 400, 5


class Mean:
    """A rule whose number is the mean of its scores, each of which is a number in eight bytes."""

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        values = np.frombuffer(b"".join(scores))
        chosen = np.ones(len(values)) if weights is None else weights
        return {names[0]: float(chosen @ values / chosen.sum())} if chosen.any() else {}


def test_five_pictures_promise_no_more_than_they_know() -> None:
    """Set5 has five: the true change lies in as many of the intervals as they say, and chance is not found small."""
    chance, held, surprised = np.random.default_rng(7), 0, 0
    for _ in range(STUDIES):
        before, moved = chance.normal(30, 3, PICTURES), chance.normal(0, 0.5, PICTURES)
        rows = ([each.tobytes() for each in values] for values in (before, before + moved))
        found, p_value = _of_a_few(*paired(Mean(), *rows, "psnr"), PICTURES)  # type: ignore[arg-type]
        held += found.low <= 0 <= found.high
        surprised += p_value < 0.01
    assert 0.91 * STUDIES <= held <= 0.985 * STUDIES
    assert surprised <= 0.03 * STUDIES


def test_one_sample_says_nothing_of_others() -> None:
    found, p_value = _of_a_few(-1.5, 0.0, 1)
    assert (found.value, p_value) == (-1.5, 1.0)


def test_what_all_samples_agree_on_is_no_coincidence() -> None:
    assert _of_a_few(-1.322, 0.0, 5)[1] == 0.0
    assert _of_a_few(0.0, 0.0, 5)[1] == 1.0

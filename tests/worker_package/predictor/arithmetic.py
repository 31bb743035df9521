"""What the models in `files` compute, in numpy; see tools/make_predictor_models.py."""

import numpy as np

_RANDOM = np.random.default_rng(0)
FILTER = _RANDOM.normal(size=(3, 3, 3, 6)).astype(np.float32)
BIAS = _RANDOM.normal(size=6).astype(np.float32)
LAST = _RANDOM.normal(size=(6, 10)).astype(np.float32)
LAST_BIAS = _RANDOM.normal(size=10).astype(np.float32)


def picture(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((1, 8, 8, 3)).astype(np.float32)


def reference(pictures: np.ndarray) -> np.ndarray:
    """Scores of pictures whose channels come last."""
    padded = np.pad(pictures.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)), "constant")
    maps = sum(padded[:, y : y + 8, x : x + 8] @ FILTER[y, x] for y in range(3) for x in range(3))
    return np.maximum(maps + BIAS, 0).mean((1, 2)) @ LAST + LAST_BIAS

"""A training that takes a moment: softmax regression on drawn points, with momentum and dropout, in plain NumPy."""

from typing import Any

CODE = """import numpy as np


def points(seed, count):
    random = np.random.RandomState(seed)
    targets = random.randint(0, 3, count)
    centers = np.array([[2.0, 0.0], [-1.0, 2.0], [-1.0, -2.0]])
    return (centers[targets] + random.standard_normal((count, 2))).astype(np.float32), targets


def training_data(files):
    return points(1, 90)


def evaluation_data(files):
    return points(2, 60)


def build(seed):
    return {"w": np.random.RandomState(seed).standard_normal((2, 3)) * 0.1, "b": np.zeros(3)}


def start(model):
    return {name: np.zeros_like(value) for name, value in model.items()}


def forward(model, inputs):
    return inputs @ model["w"] + model["b"]


def shares(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def loss(outputs, targets):
    return -np.log(shares(outputs)[np.arange(len(targets)), targets] + 1e-12).mean()


def train_step(model, state, inputs, targets, hyperparameters):
    inputs = inputs * (np.random.random_sample(inputs.shape) > 0.1)  # dropout: the global generator counts
    outputs = forward(model, inputs)
    wrong = shares(outputs)
    wrong[np.arange(len(targets)), targets] -= 1
    wrong /= len(targets)
    for name, gradient in (("w", inputs.T @ wrong), ("b", wrong.sum(axis=0))):
        state[name] = 0.9 * state[name] - hyperparameters["learning_rate"] * gradient
        model[name] += state[name]
    return model, state, loss(outputs, targets)


def metrics(outputs, targets):
    return {"accuracy": (outputs.argmax(axis=1) == targets).mean()}
"""


def small_training(code: str = CODE, **settings: Any) -> dict[str, Any]:
    """Its manifest."""
    return {
        "name": "small-training",
        "version": "1.0.0",
        "task": "classification",
        "job_type": "training",
        "hyperparameters": {"learning_rate": 0.05},
        "training": {"code": code, "batch_size": 16, "epochs": 3, **settings},
    }

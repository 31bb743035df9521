"""A small convolutional network on MNIST, in JAX, with Adam written out."""

import jax
import jax.numpy as jnp
import numpy as np


def read_idx(path):
    """The idx format: magic number, number of axes, their sizes, then bytes."""
    with open(path, "rb") as file:
        content = file.read()
    sizes = np.frombuffer(content, ">u4", count=content[3], offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * content[3]).reshape(sizes)


def training_data(files):
    return read_idx(files["train-images"][0]), read_idx(files["train-labels"][0]).astype(np.int64)


def evaluation_data(files):
    return read_idx(files["test-images"][0]), read_idx(files["test-labels"][0]).astype(np.int64)


def build(seed):
    keys = jax.random.split(jax.random.PRNGKey(seed), 3)

    def weights(key, shape, inputs):
        return jax.random.normal(key, shape) * np.sqrt(2 / inputs)

    return {
        "conv1": {"w": weights(keys[0], (5, 5, 1, 8), 25), "b": jnp.zeros(8)},
        "conv2": {"w": weights(keys[1], (5, 5, 8, 16), 200), "b": jnp.zeros(16)},
        "head": {"w": weights(keys[2], (256, 10), 256), "b": jnp.zeros(10)},
    }


def convolved(layer, pictures):
    found = jax.lax.conv_general_dilated(
        pictures, layer["w"], (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return jax.nn.relu(found + layer["b"])


@jax.jit
def features(model, pictures):
    return convolved(model["conv2"], convolved(model["conv1"], pictures)).reshape(len(pictures), -1)


@jax.jit
def forward(model, pictures):
    return features(model, pictures) @ model["head"]["w"] + model["head"]["b"]


@jax.jit
def loss(outputs, targets):
    return -jnp.take_along_axis(jax.nn.log_softmax(outputs), targets[:, None], 1).mean()


def start(model):
    """Adam's moments, the number of steps, and a key for dropout."""
    zeros = jax.tree_util.tree_map(jnp.zeros_like, model)
    return {"first": zeros, "second": zeros, "steps": jnp.zeros(()), "key": jax.random.PRNGKey(0)}


@jax.jit
def one_step(model, state, pictures, targets, rate):
    key, drawn = jax.random.split(state["key"])

    def value(model):
        kept = jax.random.bernoulli(drawn, 0.9, (len(pictures), 256)) / 0.9
        return loss(features(model, pictures) * kept @ model["head"]["w"] + model["head"]["b"], targets)

    found, gradients = jax.value_and_grad(value)(model)
    tree, steps = jax.tree_util.tree_map, state["steps"] + 1
    first = tree(lambda m, g: 0.9 * m + 0.1 * g, state["first"], gradients)
    second = tree(lambda v, g: 0.999 * v + 0.001 * g * g, state["second"], gradients)

    def updated(p, m, v):
        return p - rate * (m / (1 - 0.9**steps)) / (jnp.sqrt(v / (1 - 0.999**steps)) + 1e-8)

    return tree(updated, model, first, second), {"first": first, "second": second, "steps": steps, "key": key}, found


def train_step(model, state, inputs, targets, hyperparameters):
    return one_step(model, state, inputs, targets, hyperparameters["learning_rate"])


def metrics(outputs, targets):
    return {"accuracy": (outputs.argmax(axis=1) == targets).mean()}

"""A small network in PyTorch, written once more in PyTorch, JAX and TensorFlow, and broken twins of each."""

ORIGINAL = """import torch
from torch import nn


def build(seed):
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(8, 5),
    )


def loss(outputs, targets):
    return nn.functional.cross_entropy(outputs, targets)


def metric(outputs, targets):
    return (outputs.argmax(1) == targets).float().mean()


def start(model):
    for each in model.modules():
        if isinstance(each, (nn.Dropout, nn.BatchNorm2d)):
            each.eval()
    return torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-2)


def train_step(model, state, x, targets):
    state.zero_grad()
    value = loss(model(x), targets)
    value.backward()
    state.step()
    return model, state, value
"""

PYTORCH = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.down = nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.head = nn.Linear(8, 5)
        self.act = nn.ReLU()

    def forward(self, x):
        x = self.act(self.norm(self.stem(x)))
        x = self.act(self.down(x))
        return self.head(x.mean((2, 3)))


def build(seed):
    return Net()


NAMES = {"0": "stem", "1": "norm", "3": "down", "8": "head"}


def load_weights(model, weights):
    split = {name: name.split(".") for name in weights}
    model.load_state_dict({NAMES[a] + "." + b: torch.tensor(weights[name]) for name, (a, b) in split.items()})


def loss(outputs, targets):
    return -outputs.log_softmax(1).gather(1, targets[:, None]).mean()


def metric(outputs, targets):
    return float((outputs.argmax(1) == targets).sum()) / len(targets)


def start(model):
    model.norm.eval()
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)


def train_step(model, state, x, targets):
    state.zero_grad()
    value = loss(model(x), targets)
    value.backward()
    state.step()
    return model, state, value
"""

JAX = """import jax
import jax.numpy as jnp
import numpy as np


def build(seed):
    keys = jax.random.split(jax.random.PRNGKey(seed), 3)
    return {
        "stem": {"w": jax.random.normal(keys[0], (3, 3, 3, 8)) * 0.2, "b": jnp.zeros(8)},
        "norm": {"g": jnp.ones(8), "b": jnp.zeros(8)},
        "down": {"w": jax.random.normal(keys[1], (3, 3, 8, 8)) * 0.2, "b": jnp.zeros(8)},
        "head": {"w": jax.random.normal(keys[2], (8, 5)) * 0.3, "b": jnp.zeros(5)},
    }


def conv(x, p, stride=1):
    edges, axes = [(1, 1), (1, 1)], ("NCHW", "HWIO", "NCHW")
    found = jax.lax.conv_general_dilated(x, p["w"], (stride, stride), edges, dimension_numbers=axes)
    return found + p["b"][:, None, None]


def layers(model, x):
    stem = conv(x, model["stem"])
    scale = model["norm"]["g"] / np.sqrt(1 + 1e-5)
    norm = stem * scale[:, None, None] + model["norm"]["b"][:, None, None]
    first = jax.nn.relu(norm)
    down = conv(first, model["down"], 2)
    second = jax.nn.relu(down)
    pooled = second.mean((2, 3))
    head = pooled @ model["head"]["w"] + model["head"]["b"]
    return {"stem": stem, "norm": norm, "relu": first, "down": down, "relu2": second, "pool": pooled, "head": head}


def forward(model, x):
    return layers(model, x)["head"]


def load_weights(model, weights):
    turned = lambda name: weights[name].transpose(2, 3, 1, 0)
    found = {
        "stem": {"w": turned("0.weight"), "b": weights["0.bias"]},
        "norm": {"g": weights["1.weight"], "b": weights["1.bias"]},
        "down": {"w": turned("3.weight"), "b": weights["3.bias"]},
        "head": {"w": weights["8.weight"].T, "b": weights["8.bias"]},
    }
    return jax.tree_util.tree_map(jnp.asarray, found)


def loss(outputs, targets):
    return -jnp.take_along_axis(jax.nn.log_softmax(outputs), targets[:, None], 1).mean()


def metric(outputs, targets):
    return (outputs.argmax(1) == targets).mean()


def start(model):
    return jax.tree_util.tree_map(jnp.zeros_like, model)


def train_step(model, state, x, targets):
    value, slope = jax.value_and_grad(lambda each: loss(forward(each, x), targets))(model)
    state = jax.tree_util.tree_map(lambda v, g, w: 0.9 * v + g + 0.01 * w, state, slope, model)
    return jax.tree_util.tree_map(lambda w, v: w - 0.1 * v, model, state), state, value
"""

TENSORFLOW = """import tensorflow as tf

kit = tf.keras.layers


def build(seed):
    x = image = tf.keras.Input((8, 8, 3))
    x = kit.Conv2D(8, 3, name="stem")(kit.ZeroPadding2D(1)(x))
    x = kit.ReLU()(kit.BatchNormalization(epsilon=1e-5, name="norm")(x))
    x = kit.Conv2D(8, 3, strides=2, name="down")(kit.ZeroPadding2D(1)(x))
    x = kit.GlobalAveragePooling2D()(kit.ReLU()(x))
    return tf.keras.Model(image, kit.Dense(5, name="head")(x))


def last(x):
    return tf.transpose(x, (0, 2, 3, 1))


def forward(model, x):
    return model(last(x), training=False)


def layers(model, x):
    inner = model.layers[1:]
    found = tf.keras.Model(model.inputs, [each.output for each in inner])(last(x), training=False)
    return [(each.name, value) for each, value in zip(inner, found)]


def load_weights(model, weights):
    turned = lambda name: weights[name].transpose(2, 3, 1, 0)
    model.get_layer("stem").set_weights([turned("0.weight"), weights["0.bias"]])
    norm = ("weight", "bias", "running_mean", "running_var")
    model.get_layer("norm").set_weights([weights["1." + name] for name in norm])
    model.get_layer("down").set_weights([turned("3.weight"), weights["3.bias"]])
    model.get_layer("head").set_weights([weights["8.weight"].T, weights["8.bias"]])


def loss(outputs, targets):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(targets, outputs))


def metric(outputs, targets):
    return tf.reduce_mean(tf.cast(tf.argmax(outputs, 1) == targets, tf.float64))


def start(model):
    return [tf.zeros_like(each) for each in model.trainable_variables]


def train_step(model, state, x, targets):
    with tf.GradientTape() as tape:
        value = loss(forward(model, x), targets)
    slopes = tape.gradient(value, model.trainable_variables)
    state = [0.9 * v + g + 0.01 * w for v, g, w in zip(state, slopes, model.trainable_variables)]
    for weight, velocity in zip(model.trainable_variables, state):
        weight.assign_sub(0.1 * velocity)
    return model, state, value
"""

MODULES = {"pytorch": ("torch", PYTORCH), "jax": ("jax", JAX), "tensorflow": ("tensorflow", TENSORFLOW)}

TWINS = [
    # framework, component, check, what is in the right one, what the twin has instead
    ("pytorch", "model", "pass-through", "return self.head(x", "return self.head(nn.functional.dropout(x, 0.5, True)"),
    ("pytorch", "model", "determinism", "    return Net()\n", "    torch.seed()\n    return Net()\n"),
    ("pytorch", "model", "fixed-weights", "BatchNorm2d(8)", "BatchNorm2d(8, eps=0.01)"),
    ("pytorch", "model", "fixed-weights", "Conv2d(3, 8, 3, padding=1)", "Conv2d(3, 8, 3)"),
    ("pytorch", "gradients", "gradients", "self.norm(self.stem(x))", "self.norm(self.stem(x).detach())"),
    ("pytorch", "loss", "loss", "targets[:, None]).mean()", "targets[:, None]).sum()"),
    ("pytorch", "training step", "step", "weight_decay=0.01", "weight_decay=0.0"),
    ("pytorch", "training step", "step", "    state.zero_grad()\n", ""),
    ("jax", "model", "fixed-weights", "jax.nn.relu(down)", "jax.nn.gelu(down)"),
    ("jax", "gradients", "gradients", "second.mean((2, 3))", "jax.lax.stop_gradient(second.mean((2, 3)))"),
    ("jax", "loss", "loss", "targets[:, None], 1).mean()", "targets[:, None], 1).sum()"),
    ("jax", "training step", "step", "g + 0.01 * w", "g"),
    ("tensorflow", "model", "pass-through", "model(last(x), training=False)", "model(last(x), training=True)"),
    (
        "tensorflow",
        "model",
        "fixed-weights",
        'strides=2, name="down")(kit.ZeroPadding2D(1)(x))',
        'strides=2, padding="same", name="down")(x)',
    ),
    (
        "tensorflow",
        "gradients",
        "gradients",
        "return model(last(x), training=False)",
        "return tf.stop_gradient(model(last(x), training=False))",
    ),
    ("tensorflow", "training step", "step", "0.9 * v", "0.5 * v"),
]

MANIFEST = """kind: reproduction
name: small-network
version: 1.0.0
mine: {{code: [mine.py], framework: {framework}}}
original: {{code: [original.py], framework: pytorch}}
inputs: [{{name: image, shape: [3, 8, 8]}}]
outputs: [{{shape: [5], element_type: float32}}]
targets: {{values: integers, below: 5}}
"""

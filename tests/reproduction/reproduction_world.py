"""An original in NumPy, a right reimplementation of it, and broken twins: one change of the source each."""

from pathlib import Path

ORIGINAL = '''"""A small classifier, as its authors wrote it: weights are (in, out)."""
import numpy as np


def build(seed):
    source = np.random.RandomState(seed)
    scale = lambda n: np.sqrt(2.0 / n)
    return {
        "dense1.weight": (source.randn(27, 16) * scale(27)).astype(np.float32),
        "dense1.bias": (source.randn(16) * 0.1).astype(np.float32),
        "norm.scale": np.ones(16, np.float32) + (source.randn(16) * 0.1).astype(np.float32),
        "dense2.weight": (source.randn(16, 4) * scale(16)).astype(np.float32),
        "dense2.bias": (source.randn(4) * 0.1).astype(np.float32),
    }


def layers(model, x):
    flat = x.reshape(len(x), -1)
    first = flat @ model["dense1.weight"] + model["dense1.bias"]
    relu = np.maximum(first, 0)
    normed = relu / np.sqrt((relu ** 2).mean(1, keepdims=True) + 1e-5) * model["norm.scale"]
    second = normed @ model["dense2.weight"] + model["dense2.bias"]
    return {"dense1": first, "relu": relu, "norm": normed, "dense2": second}


def forward(model, x):
    return layers(model, x)["dense2"]


def loss(outputs, targets):
    shifted = outputs - outputs.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return -logs[np.arange(len(targets)), targets].mean()


def metric(outputs, targets):
    return {"top1": (outputs.argmax(1) == targets).mean()}


def crop(image, random):
    y, x = random.randint(0, image.shape[0] - 2), random.randint(0, image.shape[1] - 2)
    return image[y : y + 3, x : x + 3]


def flip(image, random):
    return image[:, ::-1] if random.random_sample() < 0.5 else image


def normalize(image, random):
    return ((image.astype(np.float32) / 255 - 0.5) / 0.25).astype(np.float32)


data = [crop, flip, normalize]


def gradients(model, x, targets):
    found = layers(model, x)
    flat, relu, normed = x.reshape(len(x), -1), found["relu"], found["norm"]
    shifted = found["dense2"] - found["dense2"].max(1, keepdims=True)
    share = np.exp(shifted) / np.exp(shifted).sum(1, keepdims=True)
    share[np.arange(len(targets)), targets] -= 1
    share /= len(targets)
    back = share @ model["dense2.weight"].T
    size = np.sqrt((relu ** 2).mean(1, keepdims=True) + 1e-5)
    through = back * model["norm.scale"]
    relu_back = through / size - relu * (through * relu).mean(1, keepdims=True) / size ** 3
    first = relu_back * (found["dense1"] > 0)
    return {
        "dense1.weight": flat.T @ first,
        "dense1.bias": first.sum(0),
        "norm.scale": (back * relu / size).sum(0),
        "dense2.weight": normed.T @ share,
        "dense2.bias": share.sum(0),
    }


def start(model):
    return {name: np.zeros_like(value) for name, value in model.items()}


def train_step(model, state, x, targets):
    before = loss(forward(model, x), targets)
    for name, gradient in gradients(model, x, targets).items():
        state[name] = 0.9 * state[name] + gradient + 1e-2 * model[name]
        model[name] -= 0.05 * state[name]
    return model, state, before
'''

MINE = '''"""The same once more: an object with layers, whose weights are (out, in)."""
import numpy as np


class Classifier:
    def __init__(self, seed):
        random = np.random.RandomState(seed + 1)
        self.parameters = {
            "w1": (random.standard_normal((16, 27)) * 0.27).astype(np.float32),
            "b1": (random.standard_normal(16) * 0.1).astype(np.float32),
            "scale": np.ones(16, np.float32),
            "w2": (random.standard_normal((4, 16)) * 0.35).astype(np.float32),
            "b2": (random.standard_normal(4) * 0.1).astype(np.float32),
        }

    def layers(self, x):
        p = self.parameters
        hidden = np.einsum("bi,oi->bo", x.reshape(x.shape[0], -1), p["w1"]) + p["b1"]
        active = hidden * (hidden > 0)
        size = np.sqrt(np.square(active).mean(axis=1, keepdims=True) + 1e-5)
        normed = active / size * p["scale"]
        return hidden, active, size, normed, np.einsum("bi,oi->bo", normed, p["w2"]) + p["b2"]


def build(seed):
    return Classifier(seed)


def forward(model, x):
    return model.layers(x)[-1]


def layers(model, x):
    hidden, active, _, normed, answer = model.layers(x)
    return [("fc1", hidden), ("act", active), ("rms", normed), ("fc2", answer)]


def load_weights(model, weights):
    p = model.parameters
    p["w1"][...] = weights["dense1.weight"].T
    p["b1"][...] = weights["dense1.bias"]
    p["scale"][...] = weights["norm.scale"]
    p["w2"][...] = weights["dense2.weight"].T
    p["b2"][...] = weights["dense2.bias"]


def save(model, path):
    with open(path, "wb") as target:
        np.savez(target, **model.parameters)


def load(path):
    model = Classifier(12345)
    with np.load(path) as kept:
        for name in kept.files:
            model.parameters[name][...] = kept[name]
    return model


def softmax(outputs):
    raised = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def loss(outputs, targets):
    top = outputs.max(axis=1)
    total = np.log(np.exp(outputs - top[:, None]).sum(axis=1)) + top
    return np.mean(total - outputs[range(len(targets)), targets])


def metric(outputs, targets):
    right = sum(int(np.argmax(row)) == int(target) for row, target in zip(outputs, targets))
    return {"top1": right / len(targets)}


def crop(image, random):
    top = random.randint(0, image.shape[0] - 2)
    left = random.randint(0, image.shape[1] - 2)
    return image[top : top + 3, left : left + 3, :]


def flip(image, random):
    if random.random_sample() < 0.5:
        image = np.flip(image, axis=1)
    return image


def normalize(image, random):
    return (np.asarray(image, np.float32) / 127.5 - 1) * 2


data = [crop, flip, normalize]


def gradients(model, x, targets):
    p, rows = model.parameters, len(targets)
    hidden, active, size, normed, answer = model.layers(x)
    error = softmax(answer)
    error[range(rows), targets] -= 1
    error = error / rows
    found = {"w2": error.T @ normed, "b2": error.sum(axis=0)}
    back = error @ p["w2"]
    found["scale"] = (back * active / size).sum(axis=0)
    back = back * p["scale"]
    back = (back - active * (back * active).mean(axis=1, keepdims=True) / size**2) / size
    back = back * (hidden > 0)
    found["w1"] = back.T @ x.reshape(rows, -1)
    found["b1"] = back.sum(axis=0)
    return found


def start(model):
    return {name: 0.0 for name in model.parameters}


def train_step(model, velocity, x, targets):
    value = loss(forward(model, x), targets)
    for name, gradient in gradients(model, x, targets).items():
        velocity[name] = 0.9 * velocity[name] + gradient + 0.01 * model.parameters[name]
        model.parameters[name] -= (0.05 * velocity[name]).astype(np.float32)
    return model, velocity, value
'''

TWINS: dict[str, tuple[str, str, str, str]] = {
    # name: component, check, what is in the right one, what the twin has instead
    "crash in forward": ("model", "pass-through", "return model.layers(x)[-1]", "return model.layers(x)[9]"),
    "input without effect": ("model", "pass-through", "x.reshape(x.shape[0], -1), p", "0 * x.reshape(len(x), -1), p"),
    "output of NaN": ("model", "pass-through", "active / size * p", "active / (size * 0) * p"),
    "batch statistics": (
        "model",
        "pass-through",
        "np.square(active).mean(axis=1, keepdims=True)",
        "np.square(active).mean(axis=0, keepdims=True)",
    ),
    "softmax in the model": (
        "model",
        "fixed-weights",
        "return model.layers(x)[-1]",
        "return softmax(model.layers(x)[-1])",
    ),
    "wrong output shape": ("model", "shapes", "return model.layers(x)[-1]", "return model.layers(x)[-1][:, :3]"),
    "unseeded build": ("model", "determinism", "RandomState(seed + 1)", "RandomState()"),
    "noise in forward": (
        "model",
        "determinism",
        "active = hidden * (hidden > 0)",
        "active = hidden * (hidden > 0) * (1 + 1e-6 * np.random.rand(16).astype(np.float32))",
    ),
    "bias is not saved": (
        "serialization",
        "serialization",
        "np.savez(target, **model.parameters)",
        "np.savez(target, **{k: v for k, v in model.parameters.items() if k != 'b2'})",
    ),
    "saved in half precision": (
        "serialization",
        "serialization",
        "np.savez(target, **model.parameters)",
        "np.savez(target, **{k: v.astype(np.float16) for k, v in model.parameters.items()})",
    ),
    "what was saved is not loaded": (
        "serialization",
        "serialization",
        "model.parameters[name][...] = kept[name]",
        "model = Classifier(0)",
    ),
    "one parameter too many": (
        "model",
        "parameters",
        '"scale": np.ones(16, np.float32),',
        '"scale": np.ones(16, np.float32), "shift": np.zeros(16, np.float32),',
    ),
    "leaky activation": (
        "model",
        "fixed-weights",
        "hidden * (hidden > 0)\n",
        "np.where(hidden > 0, hidden, 0.01 * hidden)\n",
    ),
    "another epsilon": ("model", "fixed-weights", "keepdims=True) + 1e-5)", "keepdims=True) + 1e-2)"),
    "missing bias": ("model", "fixed-weights", '    p["b1"][...] = weights["dense1.bias"]\n', ""),
    "wrong crop": (
        "data pipeline",
        "data",
        "image[top : top + 3, left : left + 3, :]",
        "image[left : left + 3, top : top + 3, :]",
    ),
    "flip upside down": ("data pipeline", "data", "np.flip(image, axis=1)", "np.flip(image, axis=0)"),
    "another mean": ("data pipeline", "data", "/ 127.5 - 1) * 2", "/ 127.5 - 1) * 2 + 0.02"),
    "channels swapped": (
        "data pipeline",
        "data",
        "(np.asarray(image, np.float32) / 127.5",
        "(np.asarray(image, np.float32)[..., ::-1] / 127.5",
    ),
    "a step missing": ("data pipeline", "data", "data = [crop, flip, normalize]", "data = [crop, normalize]"),
    "random of its own": (
        "data pipeline",
        "data",
        "if random.random_sample() < 0.5:",
        "if np.random.random_sample() < 0.5:",
    ),
    "sum instead of mean": ("loss", "loss", "np.mean(total - outputs", "np.sum(total - outputs"),
    "overflow in the loss": (
        "loss",
        "loss",
        "np.log(np.exp(outputs - top[:, None]).sum(axis=1)) + top",
        "np.log(np.exp(outputs).sum(axis=1))",
    ),
    "label smoothing": (
        "loss",
        "loss",
        "np.mean(total - outputs[range(len(targets)), targets])",
        "np.mean(total - 0.9 * outputs[range(len(targets)), targets] - 0.1 * outputs.mean(axis=1))",
    ),
    "metric of the worst": ("metric", "metric", "int(np.argmax(row))", "int(np.argmin(row))"),
    "metric of a constant batch": ("metric", "metric", "right / len(targets)", "right / 5"),
    "dead layer": ("gradients", "gradients", 'found["b1"] = back.sum(axis=0)', 'found["b1"] = 0 * back.sum(axis=0)'),
    "no gradient": ("gradients", "gradients", 'found["b1"] = back.sum(axis=0)', 'found["b1"] = None'),
    "wrong slope": ("gradients", "gradients", "    back = back * (hidden > 0)\n", ""),
    "exploding": ("gradients", "gradients", "error = error / rows", "error = error * 1e7"),
    "no weight decay": ("training step", "step", " + 0.01 * model.parameters[name]", ""),
    "another momentum": ("training step", "step", "0.9 * velocity[name]", "0.99 * velocity[name]"),
    "Nesterov's momentum": (
        "training step",
        "step",
        "(0.05 * velocity[name])",
        "(0.05 * (0.9 * velocity[name] + gradient))",
    ),
    "learning rate": ("training step", "step", "(0.05 * velocity", "(0.049 * velocity"),
}

MANIFEST = """kind: reproduction
name: small-classifier
version: 1.0.0
mine: {code: [mine.py]}
original: {code: [original.py]}
inputs: [{name: image, shape: [3, 3, 3]}]
outputs: [{shape: [4], element_type: float32}]
targets: {values: integers, below: 4}
drawn_samples: {shape: [6, 6, 3], values: integers, below: 256, element_type: uint8}
cases:
  metric:
    - {predictions: [[0, 1, 0, 0], [1, 0, 0, 0]], targets: [1, 2], expected: 0.5}
batch_size: 6
"""


def twin(name: str) -> str:
    """The source of a broken twin."""
    _, _, right, wrong = TWINS[name]
    assert MINE.count(right) == 1, (name, MINE.count(right))
    return MINE.replace(right, wrong)


def write_world(folder: Path, mine: str = MINE, manifest: str = MANIFEST, original: str = ORIGINAL) -> Path:
    (folder / "mine.py").write_text(mine)
    (folder / "original.py").write_text(original)
    (folder / "reproduction.yml").write_text(manifest)
    return folder / "reproduction.yml"

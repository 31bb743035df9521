"""A small convolutional network on MNIST, in Keras 3 on JAX: layers and variables are Keras's, the step is compiled."""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import jax
import keras
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
    drawn = [keras.initializers.RandomNormal(stddev=(2 / inputs) ** 0.5) for inputs in (25, 200, 256)]
    layers = [
        keras.Input((28, 28, 1)),
        keras.layers.Conv2D(8, 5, strides=2, activation="relu", kernel_initializer=drawn[0], name="conv1"),
        keras.layers.Conv2D(16, 5, strides=2, activation="relu", kernel_initializer=drawn[1], name="conv2"),
        keras.layers.Flatten(name="flat"),
        keras.layers.Dropout(0.1, name="dropout"),
        keras.layers.Dense(10, kernel_initializer=drawn[2], name="head"),
    ]
    return keras.Sequential(layers)


def start(model, hyperparameters):
    return keras.optimizers.Adam(hyperparameters["learning_rate"])


def loss(outputs, targets):
    return keras.ops.mean(keras.losses.sparse_categorical_crossentropy(targets, outputs, from_logits=True))


STEPS = {}


def compiled(model, optimizer):
    """The step as JAX compiles it, of variables as arrays."""

    def value(trained, other, inputs, targets):
        outputs, other = model.stateless_call(trained, other, inputs, training=True)
        return loss(outputs, targets), other

    def step(trained, other, moments, inputs, targets):
        (found, other), gradients = jax.value_and_grad(value, has_aux=True)(trained, other, inputs, targets)
        trained, moments = optimizer.stateless_apply(moments, gradients, trained)
        return trained, other, moments, found

    return jax.jit(step)


def train_step(model, state, inputs, targets):
    if id(model) not in STEPS:
        STEPS[id(model)] = compiled(model, state)
    groups = (model.trainable_variables, model.non_trainable_variables, state.variables)
    *values, found = STEPS[id(model)](*([each.value for each in group] for group in groups), inputs, targets)
    for group, new in zip(groups, values, strict=True):
        for variable, value in zip(group, new, strict=True):
            variable.assign(value)
    return model, state, found


def metrics(outputs, targets):
    return {"accuracy": (outputs.argmax(axis=1) == targets).mean()}

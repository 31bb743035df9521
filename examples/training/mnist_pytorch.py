"""A small convolutional network on MNIST, in PyTorch."""

import numpy as np
import torch
from torch import nn


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


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 5, stride=2),
            nn.ReLU(),
            nn.Conv2d(8, 16, 5, stride=2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Dropout(0.1),
        )
        self.head = nn.Linear(256, 10)
        for layer, inputs in ((self.body[0], 25), (self.body[2], 200), (self.head, 256)):
            nn.init.normal_(layer.weight, std=(2 / inputs) ** 0.5)
            nn.init.zeros_(layer.bias)

    def forward(self, pictures):
        return self.head(self.body(pictures))


def build(seed):
    return Net()


def start(model, hyperparameters):
    return torch.optim.Adam(model.parameters(), lr=hyperparameters["learning_rate"])


loss = nn.functional.cross_entropy


def train_step(model, state, inputs, targets):
    state.zero_grad()
    value = loss(model(inputs), targets)
    value.backward()
    state.step()
    return model, state, value.item()


def metrics(outputs, targets):
    return {"accuracy": (outputs.argmax(axis=1) == targets).mean()}

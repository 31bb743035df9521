"""CIFAR's binary files, alone and in the folder that they come in."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from pictures import CIFAR10, CIFAR100, PIXELS, labels, pixels

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError, MLModelScopeError

Open = Callable[..., Dataset]
Write = Callable[..., Path]


@pytest.mark.parametrize("name", ["test_batch.bin", "test_batch.bin.gz"])
def test_cifar10(write: Write, open_as: Open, name: str) -> None:
    body = gzip.compress(CIFAR10) if name.endswith("gz") else CIFAR10
    dataset = open_as("cifar10", write({name: body}) / name)
    assert labels(dataset) == [0, 7, 2, 9] and (pixels(dataset) == PIXELS).all()
    assert [sample.id for sample in dataset.samples] == ["00000", "00001", "00002", "00003"]


def test_cifar100_has_two_labels_and_the_fine_one_counts(write: Write, open_as: Open) -> None:
    dataset = open_as("cifar100", write({"test.bin": CIFAR100}) / "test.bin")
    assert labels(dataset) == [99, 0, 2, 4] and (pixels(dataset) == PIXELS).all()


def test_a_folder_as_cifar_is_distributed(write: Write, open_as: Open) -> None:
    others = {"batches.meta.txt": "airplane\n", "readme.html": "<p>", ".DS_Store": "x", "._test_batch.bin": "x"}
    folder = write({"test_batch.bin": CIFAR10, "data_batch_1.bin": CIFAR10, **others})
    assert [sample.id for sample in open_as("cifar10", folder).samples][:5:4] == [
        "data_batch_1/00000",
        "test_batch/00000",
    ]
    assert [sample.id for sample in open_as("cifar10", folder, include="test_batch.bin").samples][0] == "00000"


def test_files_of_one_name_in_two_folders_are_kept_apart(write: Write, open_as: Open) -> None:
    assert len(open_as("cifar10", write({"a/x.bin": CIFAR10, "b/x.bin": CIFAR10})).samples) == 8


@pytest.mark.parametrize(
    ("format", "body", "message"),
    [
        ("cifar10", CIFAR10[:-1], "x.bin is not a whole number of records of 3073 bytes"),
        ("cifar100", CIFAR10, "x.bin is not a whole number of records of 3074 bytes"),
        ("cifar10", b"\x0a" + CIFAR10[1:], "sample `00000` of x.bin has the label 10, beyond 10 classes"),
        ("cifar10", b"", "pets has no samples"),
        ("cifar10", gzip.compress(CIFAR10)[:-10], "x.bin is damaged"),
        ("cifar10", gzip.compress(CIFAR10)[:50] + b"\xff" * 500, "x.bin is damaged"),
    ],
)
def test_a_damaged_cifar_file_is_named(write: Write, open_as: Open, format: str, body: bytes, message: str) -> None:
    with pytest.raises(MLModelScopeError, match=message):
        open_as(format, write({"x.bin": body}) / "x.bin")


def test_a_folder_without_cifar_files_is_an_error(write: Write, open_as: Open) -> None:
    with pytest.raises(DatasetError, match=r"data holds no file whose name matches `\*\.bin`"):
        open_as("cifar10", write({"readme.html": "x"}))

"""Weights of two files are paired whatever they are called, and each pair is called what it is."""

import json
import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path

import pytest

from cli.command import Run, command_in
from mlmodelscope.diff.weights import diff_weights
from mlmodelscope.model_file.describe import read_network
from mlmodelscope.model_file.model_file import ModelFile
from mlmodelscope.model_file.network import Network, Weight
from model_file import small_models as small

FILE = ModelFile("onnx", "onnxruntime", (), (), None, None, None, (), {}, ())
NAMES = ("a", "b")


def network(tensors: Mapping[str, tuple[tuple[int, ...], bytes]]) -> Network:
    return Network(
        FILE, (), {name: Weight(name, "float32", *one[:1], "parameter", one[1]) for name, one in tensors.items()}
    )


@pytest.mark.parametrize("one", sorted(small.FILES))
@pytest.mark.parametrize("other", ["caffe", "safetensors"])
def test_the_same_weights_in_two_formats_are_the_same(one: str, other: str, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    networks = [read_network(small.write(kind, folder)) for kind, folder in zip((one, other), folders, strict=True)]
    found = diff_weights(NAMES, *networks)
    assert found.outcome == "same" and found.exit_code == 0 and len(found.pairs) == 4
    pairs = {
        (pair.first.name.replace("/", "."), pair.second.name.replace("/", "."))
        for pair in found.pairs
        if pair.first and pair.second
    }
    assert {words[1].rpartition(".")[0] for words in pairs} == {"conv", "dense"}


def changed(name: str, data: bytes | None, shape: tuple[int, ...] | None = None) -> Network:
    """The small network with one tensor changed, or without it."""
    tensors = dict(small.TENSORS)
    if data is None:
        del tensors[name]
    else:
        tensors[name] = (shape or tensors[name][0], data)
    return network(tensors)


def transposed(shape: tuple[int, ...], seed: int) -> bytes:
    values = small.numbers(shape, seed)
    rows, columns = shape
    return struct.pack(
        f"<{prod(shape)}f", *(values[row * columns + at] for at in range(columns) for row in range(rows))
    )


def test_each_change_has_its_verdict() -> None:
    mine = network(small.TENSORS)
    weight = small.floats(small.WEIGHT, 1)
    doubled = struct.pack(f"<{len(weight) // 4}f", *(2 * value for value in small.numbers(small.WEIGHT, 1)))
    cases = {
        "scaled": changed("conv.weight", doubled),
        "different": changed("conv.weight", small.floats(small.WEIGHT, 9)),
        "missing": changed("dense.bias", None),
        "transposed": changed("dense.weight", transposed(small.DENSE, 3), small.DENSE[::-1]),
        "shape differs": changed("dense.bias", bytes(24), (6,)),
    }
    for verdict, theirs in cases.items():
        found = diff_weights(NAMES, mine, theirs)
        assert found.counts[verdict] == 1 and sum(found.counts.values()) == 4, verdict
        assert found.outcome == ("same" if verdict == "transposed" else "different")
    assert diff_weights(NAMES, cases["missing"], mine).counts["extra"] == 1


def test_names_that_say_nothing_are_paired_by_their_numbers() -> None:
    theirs = network({str(place): one for place, one in enumerate(reversed(list(small.TENSORS.values())))})
    found = diff_weights(NAMES, network(small.TENSORS), theirs)
    assert found.outcome == "same" and {pair.by for pair in found.pairs} == {"values"}


def test_tensors_that_differ_are_paired_by_what_their_names_share() -> None:
    theirs = {
        "graph/conv/kernel:0": (small.WEIGHT, small.floats(small.WEIGHT, 9)),
        "graph/conv/bias:0": small.TENSORS["conv.bias"],
    }
    mine = {name: one for name, one in small.TENSORS.items() if name.startswith("conv")}
    found = diff_weights(NAMES, network(mine), network(theirs))
    assert [(pair.verdict, pair.by) for pair in found.pairs] == [("different", "name and shape"), ("same", "values")]


def test_numbers_that_are_not_there_are_not_compared(tmp_path: Path) -> None:
    path = small.write("ncnn", tmp_path)
    (tmp_path / "small.bin").unlink()
    found = diff_weights(NAMES, read_network(path), network(small.TENSORS))
    assert found.outcome == "undecided" and found.exit_code == 2
    assert "beside it" in found.notes[0]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return command_in(tmp_path)


def test_the_command_prints_what_differs_and_ends_accordingly(run: Run, tmp_path: Path) -> None:
    small.write("caffe", tmp_path)
    small.write("safetensors", tmp_path)
    same = run("diff", "small.prototxt", "small.safetensors", "--weights")
    assert same.returncode == 0 and "same: 4 same" in same.stdout
    body = bytearray(small.safetensors())
    body[-4:] = struct.pack("<f", 9.0)
    (tmp_path / "other.safetensors").write_bytes(body)
    other = run("diff", "small.prototxt", "other.safetensors", "--weights")
    assert other.returncode == 1 and "dense/bias" in other.stdout
    told = json.loads(run("diff", "small.prototxt", "other.safetensors", "--weights", "--json").stdout)
    assert told["outcome"] == "different" and told["parameters"] == [small.PARAMETERS] * 2
    assert [each["verdict"] for each in told["tensors"]].count("same") == 3
    assert run("diff", "small.prototxt", "nothing.onnx", "--weights").returncode != 0
    refused = run("diff", "small.prototxt", "other.safetensors", "--weights", "--random")
    assert refused.returncode == 2 and "runs nothing" in refused.stderr


def folded_pair(epsilon: float) -> tuple[Network, Network]:
    """A convolution with a normalization behind it, and the two multiplied together."""
    weight, scale = small.numbers(small.WEIGHT, 1), [0.5, 1.5, -2.0, 1.0]
    shift, mean, variance = [0.1, -0.2, 0.3, 0.0], [1.0, 0.5, -1.0, 0.0], [0.2, 1.0, 3.0, 0.01]
    factors = [a / (b + epsilon) ** 0.5 for a, b in zip(scale, variance, strict=True)]
    inner = len(weight) // 4
    multiplied = [value * factors[place // inner] for place, value in enumerate(weight)]
    bias = [a - b * c for a, b, c in zip(shift, mean, factors, strict=True)]

    def packed(values: list[float]) -> bytes:
        return struct.pack(f"<{len(values)}f", *values)

    parts = {"bn.weight": scale, "bn.bias": shift, "bn.running_mean": mean, "bn.running_var": variance}
    kept = network({"conv.weight": (small.WEIGHT, packed(weight))} | {k: ((4,), packed(v)) for k, v in parts.items()})
    return kept, network({"12/weight": (small.WEIGHT, packed(multiplied)), "12/bias": ((4,), packed(bias))})


@pytest.mark.parametrize("epsilon", [1e-5, 1e-3])
def test_a_normalization_that_was_folded_in_is_the_same_network(epsilon: float) -> None:
    kept, multiplied = folded_pair(epsilon)
    for pair in ((kept, multiplied), (multiplied, kept)):
        found = diff_weights(NAMES, *pair)
        assert found.outcome == "same" and found.counts["folded"] == len(found.pairs), found.sentence
        assert f"epsilon {epsilon:.2g}"[:9] in found.pairs[0].words


def test_a_normalization_that_was_folded_in_with_another_bias_is_different() -> None:
    kept, multiplied = folded_pair(1e-5)
    bias = multiplied.weights["12/bias"]
    wrong = Weight(bias.name, "float32", bias.shape, "parameter", struct.pack("<4f", 9, 9, 9, 9))
    found = diff_weights(NAMES, kept, Network(FILE, (), {**multiplied.weights, "12/bias": wrong}))
    assert found.outcome == "different" and found.counts["folded"] == 1

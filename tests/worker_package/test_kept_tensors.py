"""Tensors in files: what is read of them is what was written, and neither reading nor comparing holds them whole."""

from pathlib import Path

import numpy as np
import pytest

from mlmodelscope_worker.changes import distance
from mlmodelscope_worker.kept_tensors import FileTensor, mapped, set_aside


def kept(folder: Path, value: np.ndarray) -> tuple[str, str, tuple[int, ...]]:
    (folder / "tensor.raw").write_bytes(value.tobytes())
    return str(folder / "tensor.raw"), value.dtype.name, value.shape


@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (3, 5, 2), (40, 700)])
@pytest.mark.parametrize("kind", ["float32", "float16", "int64", "bool"])
def test_what_is_mapped_is_what_was_written(tmp_path: Path, shape: tuple[int, ...], kind: str) -> None:
    value = (np.random.default_rng(0).normal(size=shape) * 9).astype(kind)
    found = mapped(*kept(tmp_path, value))
    assert found.dtype == value.dtype and found.shape == shape and np.array_equal(found, value)
    parts = FileTensor(*kept(tmp_path, value))
    assert (parts.size, parts.shape) == (value.size, shape)
    numbers = [part for _, part in parts.parts(11)]
    assert np.array_equal(np.concatenate(numbers) if numbers else np.zeros(0), value.reshape(-1))


def test_a_file_that_is_cut_off_is_an_error_and_no_short_tensor(tmp_path: Path) -> None:
    path, kind, shape = kept(tmp_path, np.zeros((40, 700), "float32"))
    Path(path).write_bytes(b"\0" * 70_000)
    with pytest.raises(ValueError):
        mapped(path, kind, shape)


def test_what_is_set_aside_has_no_name_and_stays_as_it_was(tmp_path: Path) -> None:
    value = np.random.default_rng(0).normal(size=(3, 300, 100)).astype("float32").transpose(2, 0, 1)
    found = set_aside(value, str(tmp_path))
    assert np.array_equal(found, value) and not list(tmp_path.iterdir())
    small = np.ones(3)
    assert set_aside(small, str(tmp_path)) is small


@pytest.mark.parametrize("axes", [(0, 1, 2, 3), (0, 2, 3, 1), (0, 3, 1, 2)])
def test_a_distance_is_the_same_in_whatever_order_the_axes_are(tmp_path: Path, axes: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    value = random.normal(size=(2, 24, 33, 17)).astype("float32")
    other = value + random.normal(size=value.shape).astype("float32") / 100
    target = FileTensor(*kept(tmp_path, np.ascontiguousarray(other.transpose(axes))))
    expected = np.sqrt(((value - other) ** 2).mean() / (other**2).mean())
    assert distance(value, target) == pytest.approx(float(expected), rel=1e-5)


def test_numbers_that_are_not_finite_on_one_side_have_no_distance(tmp_path: Path) -> None:
    value = np.ones((4, 5), "float32")
    target = FileTensor(*kept(tmp_path, np.where(np.eye(4, 5) > 0, np.nan, value).astype("float32")))
    assert distance(value, target) is None

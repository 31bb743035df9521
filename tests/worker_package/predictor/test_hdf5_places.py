"""An HDF5 file may say that its numbers are in another file: no such model is opened."""

import zipfile
from pathlib import Path

import pytest

from mlmodelscope_worker.predictor.hdf5_places import refuse_outside
from mlmodelscope_worker.predictor.predictor import ModelError
from mlmodelscope_worker.predictor.tensorflow_keras import _vet_keras

h5py = pytest.importorskip("h5py")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_bytes(b"secret" * 8)
    with h5py.File(str(tmp_path / "other.h5"), "w") as file:
        file["weights"] = [1.0, 2.0]
    return tmp_path


def refuse(folder: Path) -> None:
    with h5py.File(str(folder / "model.h5"), "r") as file:
        refuse_outside(h5py, file)


@pytest.mark.parametrize("kind", ["raw bytes", "a link", "a link in a group", "a virtual dataset"])
def test_what_is_in_another_file_is_refused(folder: Path, kind: str) -> None:
    with h5py.File(str(folder / "model.h5"), "w") as file:
        inner = file.create_group("layers/dense")
        inner["kernel"] = [1.0]
        if kind == "raw bytes":
            inner.create_dataset("bias", (16,), "u1", external=[(str(folder / "secret"), 0, 16)])
        elif kind == "a virtual dataset":
            layout = h5py.VirtualLayout((2,), "f8")
            layout[:] = h5py.VirtualSource(str(folder / "other.h5"), "weights", shape=(2,))
            inner.create_virtual_dataset("bias", layout)
        else:
            (file if kind == "a link" else inner)["bias"] = h5py.ExternalLink(str(folder / "other.h5"), "/weights")
    with pytest.raises(ModelError, match="in another file: refused"):
        refuse(folder)


def test_every_member_of_a_keras_archive_is_looked_at(folder: Path) -> None:
    with h5py.File(str(folder / "model.weights.h5"), "w") as file:
        file["bias"] = h5py.ExternalLink(str(folder / "other.h5"), "/weights")
    for member, words in (("model.weights.h5", "in another file"), ("model.weights.npz", "in place of weights")):
        (folder / "model.weights.npz").write_bytes(b"")
        with zipfile.ZipFile(str(folder / "model.keras"), "w") as archive:
            archive.writestr("config.json", "{}")
            archive.write(str(folder / member), member)
        with pytest.raises(ModelError, match=words):
            _vet_keras(str(folder / "model.keras"), ".keras")


def test_what_is_inside_is_let_through(folder: Path) -> None:
    with h5py.File(str(folder / "model.h5"), "w") as file:
        inner = file.create_group("layers/dense")
        inner["kernel"] = [1.0]
        inner["again"] = h5py.SoftLink("/layers/dense/kernel")
        inner["lost"] = h5py.SoftLink("/nowhere")
        inner["itself"] = file["layers"]
    refuse(folder)

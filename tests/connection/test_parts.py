"""Datasets whose files are another one's: a part of its classes, or its pictures with other labels."""

import json
from pathlib import Path

import pytest
import yaml

from connection.conftest import Small
from connection.small_data import imagenet_flat, shipped, write_files, write_manifest
from mlmodelscope.claim.obstacle import Obstacles
from mlmodelscope.connection.connect import connect
from mlmodelscope.connection.resolve import NotConnected, with_folder
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError, ManifestError, UsageError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.plan.dataset import plan_dataset
from mlmodelscope.plan.options import Options
from mlmodelscope.preparation import pin
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings


@pytest.fixture
def part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DatasetManifest:
    """A part of the small imagenet-val: tench competes, goldfish does not."""
    monkeypatch.setenv("MLMODELSCOPE_MANIFESTS", str(tmp_path / "manifests"))
    data = shipped("imagenet-a-clean") | {"size": 2}
    data["labels"] = {**data["labels"], "among": [0, 7]}
    found = load_manifest(write_manifest(tmp_path / "manifests", data))
    assert isinstance(found, DatasetManifest)
    return found


def opened(manifest: DatasetManifest, settings: Settings) -> Dataset:
    artifacts = ArtifactStore(settings)
    return open_dataset(plan_dataset(manifest, Options(), pin(manifest, artifacts)), artifacts)


def test_a_part_is_connected_where_the_whole_is(part: DatasetManifest, small: Small, settings: Settings) -> None:
    whole, folder = small("imagenet-val")
    with pytest.raises(
        NotConnected, match="imagenet-a-clean is a part of imagenet-val\nimagenet-val is known"
    ) as failure:
        with_folder(part, settings)
    assert failure.value.hint == "mlmodelscope datasets connect imagenet-val FOLDER"
    assert Obstacles(settings).of_dataset("imagenet-a-clean") == (
        "the data of imagenet-val is not connected: mlmodelscope datasets connect imagenet-val FOLDER"
    )
    connect(whole, folder, settings)
    resolved = with_folder(part, settings)
    assert resolved.digest == part.digest
    assert Obstacles(settings).of_dataset("imagenet-a-clean") is None
    samples = opened(resolved, settings).samples
    assert [each.target for each in samples] == [0, 0] and all("n01440764" in each.id for each in samples)


def test_a_part_of_a_flat_folder_goes_by_its_list_of_labels(
    part: DatasetManifest, small: Small, settings: Settings, tmp_path: Path
) -> None:
    whole, _ = small("imagenet-val")
    flat = write_files(tmp_path / "flat", imagenet_flat() | {"val.txt": tsv_of(1, 0, 0, 1)})
    connect(whole, flat, settings)
    assert [each.id[-6:] for each in opened(with_folder(part, settings), settings).samples] == ["2.JPEG", "3.JPEG"]


def tsv_of(*labels: int) -> bytes:
    return "".join(f"ILSVRC2012_val_{at:08d}.JPEG {label}\n" for at, label in enumerate(labels, 1)).encode()


def test_a_part_has_no_folder_of_its_own(part: DatasetManifest, settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs no folder of its own") as failure:
        connect(part, tmp_path, settings)
    assert failure.value.hint == f"mlmodelscope datasets connect imagenet-val {tmp_path}"


def test_a_part_that_names_no_classes_is_refused(
    part: DatasetManifest, small: Small, settings: Settings, tmp_path: Path
) -> None:
    connect(*small("imagenet-val"), settings)
    open_ended = part.model_copy(update={"labels": part.labels.model_copy(update={"among": ()})})
    with pytest.raises(DatasetError, match="not which classes compete"):
        opened(with_folder(open_ended, settings), settings)


@pytest.mark.parametrize("name", ["imagenet-a-clean", "other"])
def test_a_part_of_a_part_and_of_itself_is_refused(
    part: DatasetManifest, settings: Settings, tmp_path: Path, name: str
) -> None:
    data = shipped("imagenet-r-clean")
    data |= {"name": name, "connect": {**data["connect"], "part_of": "imagenet-a-clean"}}
    found = load_manifest(write_manifest(tmp_path / "manifests", data))
    assert isinstance(found, DatasetManifest)
    with pytest.raises(DatasetError, match="which is itself a part of"):
        with_folder(found, settings)


@pytest.mark.parametrize(
    "change", [{"part_of": None}, {"layouts": [{"name": "a", "files": [{"files": "a"}], "sources": [{"url": "."}]}]}]
)
def test_either_layouts_or_the_whole_is_named(tmp_path: Path, change: dict[str, object]) -> None:
    data = shipped("imagenet-a-clean")
    data["connect"] = {key: value for key, value in {**data["connect"], **change}.items() if value is not None}
    path = tmp_path / "part.yml"
    path.write_text(yaml.safe_dump(data))
    with pytest.raises(ManifestError, match="described by `layouts`, or is that of the dataset `part_of`"):
        load_manifest(path)


def test_real_labels_belong_to_pictures_by_their_number_and_some_have_none(small: Small, settings: Settings) -> None:
    manifest, folder = small("imagenet-real")
    assert connect(manifest, folder, settings).samples == 3
    found = {each.id[-6]: each.target for each in opened(with_folder(manifest, settings), settings).samples}
    assert found == {"1": [1], "3": [0, 1], "4": [5]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"[[1], [0], [2]]", "3 labels for 4 samples"),
        (b"[[1], [0], [2], [1000]]", "lies beyond"),
        (b"[[1], [0], [2], [NaN]]", "neither a whole number nor a known class"),
        (b"[[1], [0], [2], [[3]]]", "neither a whole number nor a known class"),
        (b"[[1], [0], [2], null]", "has no label"),
        (b"[[], [], [], []]", "has no samples"),
        (b"[[1], [0], [2]", "real.json"),
        (b"", "is empty"),
        (b"[" * 100_000, "real.json"),
    ],
)
def test_a_damaged_list_of_real_labels_is_refused(small: Small, settings: Settings, text: bytes, reason: str) -> None:
    manifest, folder = small("imagenet-real")
    (folder / "real.json").write_bytes(text)
    with pytest.raises(DatasetError, match=reason):
        connect(manifest, folder, settings)


def test_the_same_number_in_two_folders_has_no_place_in_a_list(small: Small, settings: Settings) -> None:
    manifest, folder = small("imagenet-real")
    connect(manifest, folder, settings)
    resolved = with_folder(manifest, settings)
    twin = next((folder / "val").rglob("*1.JPEG"))
    (twin.parent.parent / "n02000000").mkdir()
    (twin.parent.parent / "n02000000" / twin.name).write_bytes(twin.read_bytes())
    (folder / "real.json").write_text(json.dumps([[1]] * 5))
    sources = [each.model_copy(update={"checksum": None, "labels_checksum": None}) for each in resolved.sources]
    with pytest.raises(DatasetError, match="lies in two folders"):
        opened(resolved.model_copy(update={"sources": tuple(sources), "size": None}), settings)

"""Splits: one manifest may have several, and a reference names one."""

from pathlib import Path

import pytest

from mlmodelscope.errors import ManifestError, UsageError
from mlmodelscope.manifest.aspects import find_aspects
from mlmodelscope.manifest.load import load_manifest, parse_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.manifest.splits import is_same_split, parted
from mlmodelscope.plan.dataset import plan_dataset
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import PlannedDataset

SPLIT = """
name: pets
version: 1.0.0
task: text_classification
format: table
columns: {text: 0, target: 1}
splits:
  train: {sources: [{url: train.csv}], size: 7}
  test: {sources: [{url: test.csv}], size: 3}
"""


@pytest.fixture
def model() -> ModelManifest:
    found = load_manifest(Path(__file__).parent / "listing1.yml")
    assert isinstance(found, ModelManifest)
    return found


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MLMODELSCOPE_MANIFESTS", str(tmp_path))
    (tmp_path / "pets.yml").write_text(SPLIT)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("pets", ("pets", None)),
        ("pets@1.0.0:test", ("pets@1.0.0", "test")),
        ("pets@^1:test-b", ("pets@^1", "test-b")),
        ("dir/pets.yml:dev", ("dir/pets.yml", "dev")),
        ("sha256:0123456789ab", ("sha256:0123456789ab", None)),
        ("name: pets\nversion: 1.0.0", ("name: pets\nversion: 1.0.0", None)),
        ("pets:", ("pets:", None)),
    ],
)
def test_a_reference_may_name_a_split(text: str, parts: tuple[str, str | None]) -> None:
    assert parted(text) == parts


@pytest.mark.parametrize("choice", ["pets:test", "pets@1.0.0:test", "{folder}/pets.yml:test"])
def test_a_split_has_its_own_files_and_size(model: ModelManifest, catalog: Path, choice: str) -> None:
    found = find_aspects(model, choice.format(folder=catalog)).dataset
    assert (found.split, found.size, found.splits) == ("test", 3, {})
    assert found.sources[0].url == str(catalog / "test.csv")


def test_several_splits_need_a_choice(model: ModelManifest, catalog: Path) -> None:
    with pytest.raises(UsageError, match="pets has several splits, and none is chosen: train, test"):
        find_aspects(model, "pets")
    with pytest.raises(UsageError, match="pets has no split `dev`; it has train, test"):
        find_aspects(model, "pets:dev")
    (catalog / "pets.yml").write_text(SPLIT + "split: train\n")
    assert find_aspects(model, "pets").dataset.size == 7


def test_a_dataset_without_splits_has_none_of_another_name(model: ModelManifest, catalog: Path) -> None:
    plain = SPLIT.partition("splits:")[0] + "sources: [{url: a.csv}]\n"
    (catalog / "pets.yml").write_text(plain)
    with pytest.raises(UsageError, match="pets has no `splits`, so there is no `test` of it"):
        find_aspects(model, "pets:test")
    (catalog / "pets.yml").write_text(plain + "split: test\n")
    assert find_aspects(model, "pets:test").dataset == find_aspects(model, "pets").dataset
    with pytest.raises(UsageError, match="pets is the split `test`, so there is no `train` of it"):
        find_aspects(model, "pets:train")


def test_a_format_that_knows_its_splits_takes_any(model: ModelManifest, catalog: Path) -> None:
    text = "name: pets\nversion: 1.0.0\nformat: huggingface\nsources: [{url: pets}]\n"
    (catalog / "pets.yml").write_text(text)
    assert find_aspects(model, "pets:test").dataset.split == "test"


@pytest.mark.parametrize(
    "text",
    [
        SPLIT.replace("test: {sources: [{url: test.csv}], size: 3}", "test: {size: 3}"),
        SPLIT + "split: dev\n",
        SPLIT.replace("size: 7", "size: 0"),
        SPLIT.replace("test:", "'te st':"),
    ],
)
def test_splits_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(ManifestError):
        parse_manifest(text)


def planned(text: str, folder: Path) -> PlannedDataset:
    (folder / "d.yml").write_text(text)
    found = load_manifest(folder / "d.yml")
    assert isinstance(found, DatasetManifest)
    return plan_dataset(found, Options(), dict.fromkeys((each.url for each in found.for_split().sources), "0" * 64))


def test_the_split_is_part_of_what_a_dataset_is_and_only_then(tmp_path: Path) -> None:
    plain = "name: pets\nversion: 1.0.0\ntask: classification\nformat: folder\nsources: [{url: pets}]\n"
    without, test, train = (planned(plain + more, tmp_path) for more in ("", "split: test\n", "split: train\n"))
    assert (without.reference, test.reference) == ("pets@1.0.0", "pets@1.0.0:test")
    written = [each.model_dump(mode="json", exclude_defaults=True) for each in (without, test, train)]
    assert "split" not in written[0] and "columns" not in written[0] and "task" not in written[0]
    assert written[1] != written[2] and {**written[0], "split": "test"} == written[1]


def test_names_of_one_split_are_the_same() -> None:
    assert is_same_split(None, "test") and is_same_split(None, None) and is_same_split("dev", "validation")
    assert not is_same_split("test", None) and not is_same_split("test", "train")

"""Samples that only a manifest's own functions understand."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Settings
from mlmodelscope.dataset.files import numbered, source_files
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.artifact import ArtifactStore


@pytest.fixture
def artifacts(settings: Settings) -> ArtifactStore:
    return ArtifactStore(settings)


def planned(
    artifacts: ArtifactStore, *sources: tuple[str, Path], labels: Path | None = None, **changes: Any
) -> PlannedDataset:
    def file(path: Path | None) -> dict[str, str] | None:
        return {"sha256": artifacts.fetch(str(path)).sha256, "url": str(path)} if path else None

    return PlannedDataset.model_validate(
        {
            "name": "d",
            "version": "1.0.0",
            "format": "files",
            "sources": [{"name": name, "files": file(path), "labels": file(labels)} for name, path in sources],
            "include": "*",
            "labels": {},
            "classes": None,
            "shape": None,
            "size": None,
            "subset": {"count": None, "stratified": False, "seed": 0},
            **changes,
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "größe mit leer"
    for name in ("b.wav", "a.wav", "sub/c.wav", "notes.txt", ".hidden"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(name)
    return place


def test_samples_that_only_functions_know_are_not_read_here(artifacts: ArtifactStore, folder: Path) -> None:
    with pytest.raises(DatasetError, match="only the functions of d know its samples"):
        open_dataset(planned(artifacts, ("data", folder), format="functions"), artifacts)


def test_every_file_is_a_sample_without_a_label(artifacts: ArtifactStore, folder: Path) -> None:
    samples = open_dataset(planned(artifacts, ("data", folder)), artifacts).samples
    assert [sample.id for sample in samples] == ["a.wav", "b.wav", "notes.txt", "sub/c.wav"]
    assert {sample.label for sample in samples} == {None}
    assert samples[0].digest == hashlib.sha256(b"a.wav").hexdigest()


def test_a_pattern_chooses_files_and_a_single_file_is_a_sample(artifacts: ArtifactStore, folder: Path) -> None:
    chosen = planned(artifacts, ("data", folder), include="*.wav")
    assert len(open_dataset(chosen, artifacts).samples) == 3
    assert [s.id for s in open_dataset(planned(artifacts, ("x", folder / "a.wav")), artifacts).samples] == ["a.wav"]
    with pytest.raises(DatasetError, match=r"holds no file whose name matches `\*.png`"):
        open_dataset(planned(artifacts, ("data", folder), include="*.png"), artifacts)


def test_samples_of_several_sources_know_theirs(artifacts: ArtifactStore, folder: Path) -> None:
    two = planned(artifacts, ("left", folder / "a.wav"), ("right", folder / "b.wav"))
    samples = open_dataset(two, artifacts).samples
    assert [(sample.id, sample.content["source"]) for sample in samples] == [
        ("left/a.wav", "left"),
        ("right/b.wav", "right"),
    ]


def test_a_training_gets_all_files_by_source(artifacts: ArtifactStore, folder: Path) -> None:
    found = source_files(planned(artifacts, ("train", folder), labels=folder / "notes.txt", include="*.wav"), artifacts)
    assert [Path(path).name for path in found["train"]] == ["a.wav", "b.wav", "c.wav"]
    assert [Path(path).read_text() for path in found["train.labels"]] == ["notes.txt"]


def test_sources_of_one_name_do_not_hide_each_other(artifacts: ArtifactStore, folder: Path) -> None:
    both = planned(artifacts, ("data", folder / "a.wav"), ("data", folder / "b.wav"))
    assert [Path(path).read_text() for path in source_files(both, artifacts)["data"]] == ["a.wav", "b.wav"]


def test_samples_known_by_number_have_ids_of_their_own(artifacts: ArtifactStore) -> None:
    found = numbered(planned(artifacts), 3).samples
    assert [sample.id for sample in found] == ["0", "1", "2"] and len({sample.digest for sample in found}) == 3
    assert [sample.content for sample in found] == [{"number": number} for number in range(3)]


def test_a_limit_holds_even_if_init_did_not_listen(artifacts: ArtifactStore) -> None:
    some = planned(artifacts, subset={"count": 4, "stratified": False, "seed": 1}, size=100)
    ids = [sample.id for sample in numbered(some, 100).samples]
    assert len(ids) == 4 and ids == sorted(ids, key=int)
    assert len(numbered(some, 3).samples) == 3


@pytest.mark.parametrize(
    ("count", "reason"), [(0, "its `init` returned 0"), (9, "should have 10 samples, its `init` returned 9")]
)
def test_a_dataset_of_another_size_is_refused(artifacts: ArtifactStore, count: int, reason: str) -> None:
    with pytest.raises(DatasetError, match=reason):
        numbered(planned(artifacts, size=10), count)

"""Image files in folders and lists; their bytes are never decoded here."""

import gzip
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import ArtifactError, DatasetError

Open = Callable[..., Dataset]
Write = Callable[..., Path]

PETS = {"cat/1.jpg": b"c1", "cat/2.JPG": b"c2", "dog/1.png": b"d1"}
SYNSETS = {"n01440764/a.JPEG": b"a", "n01443537/b.JPEG": b"b"}


def labels(dataset: Dataset) -> dict[str, int | None]:
    return {sample.id: sample.label for sample in dataset.samples}


def test_a_folder_for_each_class(write: Write, open_as: Open) -> None:
    dataset = open_as("folder", write(PETS))
    assert labels(dataset) == {"cat/1.jpg": 0, "cat/2.JPG": 0, "dog/1.png": 1}
    assert dataset.classes == ["cat", "dog"]


def test_folders_that_are_numbers_are_class_numbers(write: Write, open_as: Open) -> None:
    folder = write({"7/a.jpg": b"", "10/b.jpg": b""})
    assert labels(open_as("folder", folder)) == {"10/b.jpg": 10, "7/a.jpg": 7}
    assert labels(open_as("folder", folder, rule={"offset": 7})) == {"10/b.jpg": 3, "7/a.jpg": 0}


def test_a_classes_file_gives_the_numbers(write: Write, open_as: Open) -> None:
    folder = write({**PETS, "../classes.txt": "bird\ndog\ncat\n"})
    dataset = open_as("folder", folder, classes=folder.parent / "classes.txt")
    assert labels(dataset) == {"cat/1.jpg": 2, "cat/2.JPG": 2, "dog/1.png": 1}


def test_a_class_that_the_file_does_not_know_names_the_sample(write: Write, open_as: Open) -> None:
    folder = write({**PETS, "../classes.txt": "cat\n"})
    with pytest.raises(DatasetError, match="label `dog` of the sample `dog/1.png`"):
        open_as("folder", folder, classes=folder.parent / "classes.txt")


def test_an_image_outside_the_class_folders_is_named(write: Write, open_as: Open) -> None:
    with pytest.raises(DatasetError, match="`loose.jpg` lies in no class folder"):
        open_as("folder", write({**PETS, "loose.jpg": b""}))


@pytest.mark.parametrize(
    "name",
    [
        "cat/.DS_Store",
        "cat/._1.jpg",
        ".cache/x.jpg",
        "cat/.thumbs/x.jpg",
        "__MACOSX/cat/1.jpg",
        "cat/Thumbs.db",
        "cat/n.txt",
    ],
)
def test_what_systems_leave_behind_is_no_sample(write: Write, open_as: Open, name: str) -> None:
    assert len(open_as("folder", write({**PETS, name: b"x"})).samples) == 3


def test_links_to_images_and_folders_are_samples(write: Write, open_as: Open, tmp_path: Path) -> None:
    write(PETS)
    (tmp_path / "few/cat").mkdir(parents=True)
    (tmp_path / "few/cat/1.jpg").symlink_to(tmp_path / "data/cat/1.jpg")
    (tmp_path / "few/dog").symlink_to(tmp_path / "data/dog")
    assert labels(open_as("folder", tmp_path / "few")) == {"cat/1.jpg": 0, "dog/1.png": 1}


def test_include_chooses_files(write: Write, open_as: Open) -> None:
    assert list(labels(open_as("folder", write(PETS), include="1.*"))) == ["cat/1.jpg", "dog/1.png"]
    with pytest.raises(DatasetError, match=r"no image whose name matches `\*\.gif`"):
        open_as("folder", write(PETS), include="*.gif")


@pytest.mark.parametrize("format", ["folder", "list", "imagenet"])
def test_an_empty_folder_is_an_error(write: Write, open_as: Open, format: str) -> None:
    with pytest.raises(DatasetError, match="data holds no image"):
        open_as(format, write({}), rule={"pattern": "(x)"} if format == "list" else None)


@pytest.mark.parametrize("format", ["folder", "list", "imagenet"])
def test_a_file_is_no_folder_of_images(write: Write, open_as: Open, format: str) -> None:
    with pytest.raises(DatasetError, match="pets.zip is not a folder of images") as refusal:
        open_as(format, write({"pets.zip": b"PK\3\4"}) / "pets.zip", rule={"pattern": "(x)"})
    assert "pets.zip#" in str(refusal.value) or "archive.zip#/" in str(refusal.value)


def test_labels_in_names(write: Write, open_as: Open) -> None:
    folder = write({"a_3.jpg": b"", "sub/b_12.png": b""})
    assert labels(open_as("list", folder, rule={"pattern": r"_(\d+)\."})) == {"a_3.jpg": 3, "sub/b_12.png": 12}


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (r"_(\d+", "is not a regular expression"),
        (r"_\d+", "has no group"),
        (r"x(\d+)", "name of the sample `a_3.jpg` does not match"),
        (r"_3(x)?", "the sample `a_3.jpg` has no label"),
    ],
)
def test_a_pattern_that_gives_no_label_is_refused(write: Write, open_as: Open, pattern: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        open_as("list", write({"a_3.jpg": b""}), rule={"pattern": pattern})


def test_a_pattern_may_do_whatever_python_can(write: Write, open_as: Open) -> None:
    """Lookarounds and references to groups, which engines that are always quick do not have."""
    folder = write({"7-a-7.jpg": b"", "4-bb-4.jpg": b""})
    found = open_as("list", folder, rule={"pattern": r"(?<!x)(\d)(?=-).*-\1\."})
    assert labels(found) == {"7-a-7.jpg": 7, "4-bb-4.jpg": 4}


@pytest.mark.parametrize("pattern", [r"^(a+)+$|(\d+)", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"^(a|a?)+$()"])
def test_a_pattern_that_would_never_end_is_refused(write: Write, open_as: Open, pattern: str) -> None:
    with pytest.raises(DatasetError, match="cannot be used on names such as `aaaa.*more than 1 s") as refusal:
        open_as("list", write({"a" * 40 + "!.jpg": b""}), rule={"pattern": pattern})
    assert refusal.value.hint and "(a+)+" in refusal.value.hint


def test_a_list_without_any_labels_is_refused(write: Write, open_as: Open) -> None:
    with pytest.raises(DatasetError, match="neither `labels_url` nor `labels.pattern`"):
        open_as("list", write(PETS))


def test_imagenet_in_synset_folders(write: Write, open_as: Open) -> None:
    folder = write({**SYNSETS, "../synsets.txt": "n01440764 tench, Tinca tinca\nn01443537 goldfish\n"})
    dataset = open_as("imagenet", folder, classes=folder.parent / "synsets.txt")
    assert labels(dataset) == {"n01440764/a.JPEG": 0, "n01443537/b.JPEG": 1}


@pytest.mark.parametrize(
    ("text", "offset"), [("490\n361\n", 1), ("489\n360\n", 0), ("val_2.JPEG 360\nval_1.JPEG 489\n", 0)]
)
def test_imagenet_flat_with_a_ground_truth_file(write: Write, open_as: Open, text: str, offset: int) -> None:
    folder = write({"val_1.JPEG": b"1", "val_2.JPEG": b"2", "../truth.txt": text})
    dataset = open_as("imagenet", folder, folder.parent / "truth.txt", rule={"offset": offset})
    assert labels(dataset) == {"val_1.JPEG": 489, "val_2.JPEG": 360}


def test_imagenet_flat_needs_a_file(write: Write, open_as: Open) -> None:
    with pytest.raises(DatasetError, match="no synset folders, so the labels must come from a file"):
        open_as("imagenet", write({"val_1.JPEG": b""}))


def test_a_folder_that_is_no_synset_is_not_taken_for_a_class(write: Write, open_as: Open) -> None:
    """One folder too high, all images would get the same label."""
    with pytest.raises(DatasetError, match="`val` is not the name of a synset"):
        open_as("imagenet", write({f"val/{name}": body for name, body in SYNSETS.items()}))


def test_a_labels_file_counts_even_where_there_are_folders(write: Write, open_as: Open) -> None:
    folder = write({"val/1.JPEG": b"", "val/2.JPEG": b"", "../truth.txt": "5\n6\n"})
    assert labels(open_as("imagenet", folder, folder.parent / "truth.txt")) == {"val/1.JPEG": 5, "val/2.JPEG": 6}


def test_a_labels_file_may_be_compressed(write: Write, open_as: Open) -> None:
    folder = write({"a.jpg": b"", "../labels.csv.gz": gzip.compress(b"file;label\na.jpg;3\n")})
    assert labels(open_as("list", folder, folder.parent / "labels.csv.gz")) == {"a.jpg": 3}


def test_a_labels_file_in_an_archive_is_called_by_its_own_name(write: Write, open_as: Open, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as packed:
        packed.writestr("meta/labels.txt", "1\n2\n")
    with pytest.raises(DatasetError, match="^labels.txt has 2 labels for 3 samples"):
        open_as("list", write(PETS), f"{tmp_path}/set.zip#meta/labels.txt")


def test_equal_names_in_two_sources_are_two_samples(write: Write, open_as: Open) -> None:
    folder = write({f"{place}/{name}": body for place in ("one", "two") for name, body in PETS.items()})
    dataset = open_as("folder", [("first", folder / "one"), ("second", folder / "two")])
    assert len(labels(dataset)) == 6 and dataset.classes == ["cat", "dog"]
    assert dataset.samples[0].id == "first/cat/1.jpg"


def test_two_sources_of_one_name_are_refused(write: Write, open_as: Open) -> None:
    folder = write(PETS)
    with pytest.raises(DatasetError, match="two samples with the id `data/cat/1.jpg`") as refusal:
        open_as("folder", [("data", folder), ("data", folder)])
    assert "`name` of its own" in (refusal.value.hint or "")


def test_the_declared_size_must_be_right(write: Write, open_as: Open) -> None:
    assert len(open_as("folder", write(PETS), size=3, subset={"count": 2}).samples) == 2
    with pytest.raises(DatasetError, match="pets should have 4 samples and has 3"):
        open_as("folder", write(PETS), size=4)


def test_an_image_that_cannot_be_read_is_named(write: Write, open_as: Open) -> None:
    (write(PETS) / "cat/3.jpg").symlink_to("nowhere")
    with pytest.raises(ArtifactError, match=r"cannot read .*cat/3\.jpg"):
        open_as("folder", write(PETS))


def test_digests_follow_the_pixels_and_nothing_else(write: Write, open_as: Open) -> None:
    first = {sample.id: sample.digest for sample in open_as("folder", write(PETS)).samples}
    os.utime(write(PETS) / "dog/1.png", (1, 1))
    changed = open_as("folder", write({"cat/1.jpg": b"C1"}))
    second = {sample.id: sample.digest for sample in changed.samples}
    assert {name for name in first if first[name] != second[name]} == {"cat/1.jpg"}


def test_ids_do_not_depend_on_where_the_folder_lies(write: Write, open_as: Open, tmp_path: Path) -> None:
    here = [(sample.id, sample.digest, sample.label) for sample in open_as("folder", write(PETS)).samples]
    write(PETS).rename(tmp_path / "elsewhere")
    there = open_as("folder", tmp_path / "elsewhere").samples
    assert [(sample.id, sample.digest, sample.label) for sample in there] == here

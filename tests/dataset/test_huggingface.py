"""Folders as Hugging Face's library has them on disk."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError

Open = Callable[..., Dataset]
Write = Callable[..., Path]
COLUMNS = {"text": "text", "target": "label"}
INFO = json.dumps({"features": {"label": {"names": ["neg", "pos"], "_type": "ClassLabel"}}})
CLASSES = {"task": "text_classification", "columns": COLUMNS}


def test_a_split_is_its_files_and_classes_have_names(write: Write, open_as: Open) -> None:
    folder = write({"dataset_info.json": INFO, "data/x": b""})
    (folder / "data/x").unlink()
    for number in range(2):
        table = pa.table({"text": [f"t{number}", "u"], "label": [1, 0]})
        pq.write_table(table, folder / f"data/test-0000{number}-of-00002.parquet")
    pq.write_table(pa.table({"text": ["a"], "label": [1]}), folder / "data/train-00000-of-00001.parquet")
    found = open_as("huggingface", folder, split="test", **CLASSES)
    assert found.classes == ["neg", "pos"] and [each.target for each in found.samples] == [1, 0, 1, 0]
    assert found.samples[2].id == "00001/00000"
    (folder / "data/test-00001-of-00002.parquet").unlink()
    with pytest.raises(DatasetError, match="is one of 2 pieces, and data holds 1"):
        open_as("huggingface", folder, split="test", **CLASSES)


def test_other_names_of_splits_are_understood(write: Write, open_as: Open) -> None:
    folder = write({"dev.jsonl": '{"text": "a", "label": "x"}', "test.jsonl": '{"text": "b", "label": "x"}'})
    found = open_as("huggingface", folder, split="validation", **CLASSES)
    assert found.samples[0].content["parts"]["text"]["text"] == "a"
    with pytest.raises(DatasetError, match="has several splits: test, validation"):
        open_as("huggingface", folder, **CLASSES)
    with pytest.raises(DatasetError, match="has no split `train`; it has test, validation"):
        open_as("huggingface", folder, split="train", **CLASSES)


def test_a_row_without_a_label_is_refused(write: Write, open_as: Open) -> None:
    folder = write({"dataset_infos.json": json.dumps({"default": json.loads(INFO)}), "test.csv": "text,label\na,-1\n"})
    with pytest.raises(DatasetError, match="`00000`"):
        open_as("huggingface", folder, split="test", **CLASSES)


def test_pictures_with_a_metadata_file(write: Write, open_as: Open) -> None:
    files = {"test/metadata.csv": "file_name,label\na.png,cat\nb/c.png,dog\n", "test/a.png": b"a", "test/b/c.png": b"c"}
    found = open_as("huggingface", write(files), split="test", task="classification")
    assert [(each.id, each.target) for each in found.samples] == [("test/a.png", 0), ("test/b/c.png", 1)]
    with pytest.raises(DatasetError, match="outside the source's folder"):
        open_as(
            "huggingface",
            write({**files, "test/metadata.csv": "file_name,label\n../x.png,cat\n", "x.png": b"x"}),
            split="test",
            task="classification",
        )


def test_pictures_in_a_folder_for_each_class(write: Write, open_as: Open) -> None:
    folder = write({"train/cat/a.png": b"a", "test/cat/b.png": b"b", "test/dog/c.png": b"c"})
    found = open_as("huggingface", folder, split="test", task="classification")
    assert found.classes == ["cat", "dog"] and [each.id for each in found.samples] == ["cat/b.png", "dog/c.png"]
